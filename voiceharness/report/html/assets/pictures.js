// What a lane looks like: waveform above, spectrogram below. A view says which samples are in sight:
// {start, perPixel, width}, in samples, samples and CSS pixels.

const WAVE_SHARE = 0.55;

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function prepared(canvas, width) {
  const ratio = devicePixelRatio || 1;
  const height = canvas.clientHeight;
  canvas.style.width = `${width}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return { context, height };
}

class Lane {
  constructor(element, call) {
    const party = element.dataset.party;
    this.canvas = element.querySelector("canvas");
    this.named = element.querySelector(".name");
    this.samples = call.samples;
    this.envelope = new Int8Array(bytesOf(call.envelopes[party]).buffer);
    this.spoken = [...document.querySelectorAll(`.row.${party} .mark`)].map((mark) => [+mark.dataset.at, +mark.dataset.end]);
    this.picture = new Image();
    this.picture.src = `data:image/png;base64,${call.spectrograms[party]}`;
  }

  async load() {
    await this.picture.decode();
    this.mask = new OffscreenCanvas(this.picture.width, this.picture.height);
    const context = this.mask.getContext("2d");
    context.drawImage(this.picture, 0, 0);
    const image = context.getImageData(0, 0, this.mask.width, this.mask.height);
    for (let at = 0; at < image.data.length; at += 4) image.data[at + 3] = image.data[at]; // loudness as opacity
    context.putImageData(image, 0, 0);
    this.recolour();
  }

  recolour() {
    this.colour = getComputedStyle(this.named).color;
    this.tinted = new OffscreenCanvas(this.mask.width, this.mask.height);
    const context = this.tinted.getContext("2d");
    context.drawImage(this.mask, 0, 0);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = this.colour;
    context.fillRect(0, 0, this.mask.width, this.mask.height);
  }

  draw(view) {
    const { context, height } = prepared(this.canvas, view.width);
    const wave = Math.round(height * WAVE_SHARE);
    context.fillStyle = this.colour;
    this.drawSpoken(context, view, wave);
    this.drawWave(context, view, wave);
    this.drawSpectrogram(context, view, wave, height - wave);
  }

  drawSpoken(context, view, height) {
    context.globalAlpha = 0.1;
    for (const [onset, offset] of this.spoken) {
      context.fillRect((onset - view.start) / view.perPixel, 0, (offset - onset) / view.perPixel, height);
    }
    context.globalAlpha = 1;
  }

  drawWave(context, view, height) {
    const columns = this.envelope.length / 2;
    const perSample = columns / this.samples;
    const middle = height / 2;
    const scale = (middle - 3) / 127;
    for (let x = 0; x < view.width; x += 1) {
      const first = Math.floor((view.start + x * view.perPixel) * perSample);
      const last = Math.max(first + 1, Math.floor((view.start + (x + 1) * view.perPixel) * perSample));
      let low = 127;
      let high = -127;
      for (let column = first; column < Math.min(last, columns); column += 1) {
        low = Math.min(low, this.envelope[2 * column]);
        high = Math.max(high, this.envelope[2 * column + 1]);
      }
      if (low <= high) context.fillRect(x, middle - high * scale - 0.4, 1, (high - low) * scale + 0.8);
    }
  }

  drawSpectrogram(context, view, top, height) {
    const perSample = this.tinted.width / this.samples;
    const end = Math.min(this.samples, view.start + view.width * view.perPixel);
    const from = view.start * perSample;
    const shown = (end - view.start) * perSample;
    context.drawImage(this.tinted, from, 0, shown, this.tinted.height, 0, top, (end - view.start) / view.perPixel, height);
  }
}

function drawRuler(canvas, view, rate) {
  const { context, height } = prepared(canvas, view.width);
  const perPixel = view.perPixel / rate;
  const tick = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600].find((each) => each / perPixel >= 64) ?? 1200;
  const style = getComputedStyle(canvas);
  context.fillStyle = style.color;
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  for (let number = Math.floor(view.start / rate / tick); ; number += 1) {
    const x = (number * tick - view.start / rate) / perPixel;
    if (x > view.width) break;
    context.globalAlpha = 0.4;
    context.fillRect(x, height - 7, 1, 7);
    context.globalAlpha = 0.8;
    const label = `${+(number * tick).toFixed(1)} s`;
    if (x + 8 + context.measureText(label).width < view.width) context.fillText(label, x + 5, height / 2);
  }
}
