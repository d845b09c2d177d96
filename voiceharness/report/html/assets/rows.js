// The marks below and between the lanes: placed by their time, in as many lines as they need.

const LINE = 25;
const MOST_LINES = 8;
const SINGLE = new Set(["line", "user", "agent", "words"]); // rows of one line: what does not fit before the next mark is cut
const LEAST = 5; // pixels
const THIN = 26; // pixels in which no text fits

class Row {
  constructor(element) {
    this.element = element;
    this.single = [...element.classList].some((name) => SINGLE.has(name));
    this.marks = [...element.querySelectorAll(".mark")];
    this.marks.forEach((mark, index) => { mark.tabIndex = index ? -1 : 0; });
    element.addEventListener("keydown", (event) => this.walk(event));
  }

  // One mark of a row takes part in the page's tab order; arrows go from mark to mark.
  walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = this.marks.indexOf(document.activeElement) + step;
    if (!step || event.shiftKey || !this.marks[index]) return;
    event.stopPropagation();
    event.preventDefault();
    this.marks.forEach((mark) => { mark.tabIndex = -1; });
    this.marks[index].tabIndex = 0;
    this.marks[index].focus();
  }

  place(perPixel, width) {
    this.marks.forEach((mark) => { mark.style.width = ""; });
    const naturals = this.marks.map((mark) => Math.ceil(mark.getBoundingClientRect().width) + 1);
    const starts = this.marks.map((mark) => +mark.dataset.at / perPixel);
    const ends = [];
    this.marks.forEach((mark, index) => {
      const length = (+(mark.dataset.end ?? mark.dataset.at) - +mark.dataset.at) / perPixel;
      const room = this.single ? (starts[index + 1] ?? width) - starts[index] - 2 : Infinity;
      const size = Math.max(length, LEAST, Math.min(naturals[index], room));
      const left = Math.max(0, Math.min(starts[index], width - size));
      const free = ends.findIndex((end) => end <= left);
      const line = free >= 0 || this.single ? Math.max(0, free) : Math.min(ends.length, MOST_LINES - 1);
      ends[line] = left + size + 2;
      mark.style.left = `${left}px`;
      mark.style.top = `${line * LINE}px`;
      mark.style.width = `${size}px`;
      mark.style.setProperty("--from", `${starts[index] - left - 1}px`);
      mark.style.setProperty("--length", `${Math.max(2, length)}px`);
      mark.classList.toggle("late", left < starts[index] - 1);
      mark.classList.toggle("thin", size < THIN);
    });
    this.element.style.height = `${Math.max(1, ends.length) * LINE + 1}px`;
  }
}
