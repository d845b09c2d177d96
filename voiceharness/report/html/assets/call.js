// The page of a call: the time line, its player, and everything on the page that can be heard.

const LEAD = 0.5; // seconds heard before a mark, so that the ear knows where it is
const TRAIL = 1.0;
const MOMENT = 2.0; // seconds heard of a mark that has no length
const CLOSE = 90; // pixels per second from which single words are shown
const CLOSEST = 800;

const byId = (id) => document.getElementById(id);

class TimeLine {
  constructor(call, sound) {
    this.call = call;
    this.sound = sound;
    this.scroller = byId("scroller");
    this.sheet = byId("sheet");
    this.lanes = [...document.querySelectorAll(".lane")].map((element) => new Lane(element, call));
    this.rows = [...document.querySelectorAll(".row")].map((element) => new Row(element));
    this.zoom = 1;
  }

  get perPixel() { return this.call.samples / this.width; } // samples
  get width() { return this.scroller.clientWidth * this.zoom; }

  async show() {
    await Promise.all(this.lanes.map((lane) => lane.load()));
    this.scroller.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.place()).observe(this.scroller);
    addEventListener("schemechange", () => { this.lanes.forEach((lane) => lane.recolour()); this.draw(); });
    for (const canvas of this.sheet.querySelectorAll("canvas")) {
      canvas.addEventListener("click", (event) => {
        const x = event.clientX - this.sheet.getBoundingClientRect().left;
        this.sound.seek((x * this.perPixel) / this.call.rate);
      });
    }
    this.place();
  }

  place() {
    this.sheet.style.width = `${this.width}px`;
    this.sheet.classList.toggle("close", this.call.rate / this.perPixel >= CLOSE);
    this.rows.forEach((row) => row.place(this.perPixel, this.width));
    this.draw();
    this.follow();
  }

  draw() {
    const view = { start: this.scroller.scrollLeft * this.perPixel, perPixel: this.perPixel, width: this.scroller.clientWidth };
    this.lanes.forEach((lane) => lane.draw(view));
    drawRuler(byId("ruler"), view, this.call.rate);
  }

  scale(factor) {
    const most = Math.max(1, (CLOSEST * this.call.samples) / this.call.rate / this.scroller.clientWidth);
    this.zoom = Math.max(1, Math.min(this.zoom * factor, most));
    this.place();
    this.scroller.scrollLeft = this.cursor - this.scroller.clientWidth / 2;
  }

  get cursor() { return (this.sound.at * this.call.rate) / this.perPixel; }

  follow() {
    const cursor = this.cursor;
    byId("cursor").style.transform = `translateX(${cursor}px)`;
    const { scrollLeft, clientWidth } = this.scroller;
    if (cursor < scrollLeft || cursor > scrollLeft + clientWidth) this.scroller.scrollLeft = cursor - clientWidth * 0.2;
  }
}

class CallPage {
  constructor() {
    const call = JSON.parse(byId("call").textContent);
    this.rate = call.rate;
    this.sound = new Sound(byId("sound"), call.samples / call.rate);
    this.line = new TimeLine(call, this.sound);
    this.marks = [...document.querySelectorAll(".row.events .mark, .row.findings .mark, .row.latencies .mark")]
      .sort((one, other) => one.dataset.at - other.dataset.at);
    this.connectPlayer();
    this.connectMarks();
    document.addEventListener("keydown", (event) => this.key(event));
    this.ready = this.line.show();
  }

  connectPlayer() {
    const { element } = this.sound;
    byId("play").addEventListener("click", () => this.sound.toggle());
    byId("position").addEventListener("input", (event) => this.sound.seek(+event.target.value));
    byId("speed").addEventListener("change", (event) => { element.playbackRate = +event.target.value; });
    byId("tracks").addEventListener("change", (event) => this.sound.choose(event.target.value));
    byId("tracks").closest("label").hidden = !this.sound.embedded;
    byId("closer").addEventListener("click", () => this.line.scale(2));
    byId("wider").addEventListener("click", () => this.line.scale(0.5));
    byId("fit").addEventListener("click", () => this.line.scale(0));
    for (const name of ["play", "pause", "ended"]) {
      element.addEventListener(name, () => { byId("play").textContent = this.sound.playing ? "Pause" : "Play"; });
    }
    for (const name of ["seeked", "timeupdate"]) element.addEventListener(name, () => this.tell());
    element.addEventListener("play", () => this.move());
    element.addEventListener("error", () => { byId("chosen").textContent = "The sound cannot be played. It is beside this page: recording.wav"; });
  }

  connectMarks() {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-at]");
      if (button) this.hear(button);
    });
  }

  hear(button) {
    const at = +button.dataset.at / this.rate;
    const end = "end" in button.dataset ? +button.dataset.end / this.rate + TRAIL : at + MOMENT;
    document.querySelector("[aria-current]")?.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    byId("chosen").textContent = `${at.toFixed(3)} s: ${button.title || button.getAttribute("aria-label")}`;
    this.sound.excerpt(at - LEAD, end);
    this.tell();
  }

  move() {
    this.tell();
    if (this.sound.playing) requestAnimationFrame(() => this.move());
  }

  tell() {
    const at = this.sound.at.toFixed(2);
    const position = byId("position");
    position.value = at;
    position.setAttribute("aria-valuetext", `${at} seconds`);
    byId("time").textContent = `${at} / ${this.sound.seconds.toFixed(2)} s`;
    this.line.follow();
  }

  step(direction) {
    const now = this.sound.at * this.rate + (this.sound.playing ? 0 : LEAD * this.rate);
    const current = this.marks.indexOf(document.querySelector(".mark[aria-current]"));
    const next = current >= 0 ? current + direction : this.marks.findIndex((mark) => +mark.dataset.at >= now);
    if (this.marks[next]) this.hear(this.marks[next]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, summary")) return;
    if (event.key === " " && event.target.closest("button, a")) return;
    const far = event.shiftKey ? 5 : 1;
    const does = {
      " ": () => this.sound.toggle(),
      ArrowLeft: () => this.sound.seek(this.sound.at - far),
      ArrowRight: () => this.sound.seek(this.sound.at + far),
      n: () => this.step(1),
      p: () => this.step(-1),
      "+": () => this.line.scale(2),
      "-": () => this.line.scale(0.5),
      0: () => this.line.scale(0),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }
}

const callPage = new CallPage();
