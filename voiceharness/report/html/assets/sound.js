// The sound of the call, and which of its two tracks is heard.

class Sound {
  constructor(element, seconds) {
    this.element = element;
    this.seconds = seconds;
    this.until = Infinity;
    this.embedded = element.src.startsWith("data:");
    element.addEventListener("play", () => this.watch());
  }

  get at() { return Math.min(this.element.currentTime, this.seconds); }
  get playing() { return !this.element.paused; }

  seek(seconds) {
    this.until = Infinity;
    this.element.currentTime = Math.max(0, Math.min(seconds, this.seconds));
  }

  toggle() {
    this.until = Infinity;
    if (this.playing) this.element.pause();
    else this.play();
  }

  play() {
    if (this.at >= this.seconds - 0.01) this.element.currentTime = 0;
    this.element.play().catch(() => {}); // the element itself tells of its errors
  }

  excerpt(from, to) {
    this.seek(from);
    this.until = Math.min(to, this.seconds);
    this.play();
  }

  watch() {
    if (!this.playing) return;
    if (this.at >= this.until) this.element.pause();
    requestAnimationFrame(() => this.watch());
  }

  // A page from disk may not route sound of another file, so only sound inside the page is routed.
  choose(tracks) {
    this.gains ??= this.routed();
    const heard = { both: [1, 0, 0, 1], user: [1, 1, 0, 0], agent: [0, 0, 1, 1] }[tracks];
    this.gains.forEach((gain, index) => { gain.gain.value = heard[index]; });
    this.context.resume();
  }

  routed() {
    this.context = new AudioContext();
    const splitter = this.context.createChannelSplitter(2);
    const merger = this.context.createChannelMerger(2);
    this.context.createMediaElementSource(this.element).connect(splitter);
    merger.connect(this.context.destination);
    return [[0, 0], [0, 1], [1, 0], [1, 1]].map(([track, ear]) => {
      const gain = this.context.createGain();
      splitter.connect(gain, track).connect(merger, 0, ear);
      return gain;
    });
  }
}
