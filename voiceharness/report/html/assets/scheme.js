"use strict";

// Light or dark: as the system says, until the reader chooses.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const announce = () => dispatchEvent(new Event("schemechange"));
  dark.addEventListener("change", announce);
  document.getElementById("scheme").addEventListener("click", () => {
    const now = root.dataset.scheme ?? (dark.matches ? "dark" : "light");
    root.dataset.scheme = now === "dark" ? "light" : "dark";
    announce();
  });
}
