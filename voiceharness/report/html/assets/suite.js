// The page of a suite: which calls are shown, and in which order.

const rows = [...document.querySelectorAll("#calls-table tbody tr")];

function filterCalls() {
  const wanted = document.getElementById("search").value.trim().toLowerCase().split(/\s+/);
  const outcomes = new Set([...document.querySelectorAll("[name=outcome]:checked")].map((box) => box.value));
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !outcomes.has(row.dataset.outcome) || !wanted.every((word) => text.includes(word));
  }
  document.getElementById("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
}

function sortCalls(button) {
  const heading = button.closest("th");
  const column = [...heading.parentElement.children].indexOf(heading);
  const direction = heading.ariaSort === "ascending" ? -1 : 1;
  const numbers = button.dataset.sort === "number";
  const value = (row) => row.children[column].dataset.value ?? row.children[column].textContent;
  const order = (one, other) => {
    const [first, second] = [value(one), value(other)];
    if (!numbers) return direction * first.localeCompare(second);
    if (first === "" || second === "") return (first === "") - (second === ""); // what has no figure comes last
    return direction * (first - second);
  };
  for (const each of heading.parentElement.children) each.ariaSort = "none";
  heading.ariaSort = direction > 0 ? "ascending" : "descending";
  document.querySelector("#calls-table tbody").append(...rows.toSorted(order));
}

document.querySelector(".filters").addEventListener("input", filterCalls);
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
document.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => sortCalls(button)));
