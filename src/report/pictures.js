// Pictures: zoom by the wheel, pan by dragging, a double click for the whole; the value under the pointer.

const grey = t => [255 * t, 255 * t, 255 * t];

/** Fully saturated colour of a phase, as in the pictures that the program draws. */
function hue(phase) {
  const turn = (phase / (2 * Math.PI) + 1) % 1;
  return [0, 1, 2].map(i => 255 * Math.min(1, Math.max(0, Math.abs(6 * ((turn + 1 - i / 3) % 1) - 3) - 1)));
}

/** What the pictures of a row have in common: the box, in units of the picture, that is shown. */
class View {
  constructor() { this.pictures = []; this.reset(); }
  reset() { Object.assign(this, {zoom: 1, y: 0.5, x: 0.5}); }
  draw() { for (const picture of this.pictures) picture.draw(); }
}

/**
 * spec: title; planes, decoded; colour(value, ...) as [r, g, b], 0 to 255; pixel, metres (y, x) of one sample, or null; origin,
 * metres of sample [0, 0]; read(values, ...) in words; note below it; bar: [words at the top, at the bottom, colour of t = 0 ... 1];
 * fills: both sides of the frame, whatever the pixels; axis: x = 0 is marked
 */
class Picture {
  constructor(spec, view, width = 420, height = 420) {
    Object.assign(this, {spec, view, width, height});
    view.pictures.push(this);
    const ratio = window.devicePixelRatio || 1;
    this.canvas = element('canvas', {class: 'image', width: width * ratio, height: height * ratio});
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context = this.canvas.getContext('2d');
    this.context.scale(ratio, ratio);
    this.caption = element('figcaption');
    this.image = this.painted();
    this.figure = element('figure', {class: 'picture'}, element('h3', {}, spec.title),
                          element('div', {class: 'shown'}, this.canvas, this.bar()), this.caption);
    this.figure.style.width = `${width + 80}px`;
    this.listen();
    this.draw();
    this.say();
  }

  painted() {
    const {h, w} = this.spec.planes[0];
    const image = element('canvas', {width: w, height: h});
    const pixels = new ImageData(w, h);
    for (let r = 0; r < h * w; ++r) {
      const values = this.spec.planes.map(plane => plane.values[r]);
      if (values.some(Number.isNaN)) continue;
      pixels.data.set([...this.spec.colour(...values), 255], 4 * r);
    }
    image.getContext('2d').putImageData(pixels, 0, 0);
    return image;
  }

  bar() {
    const [top, bottom, colour] = this.spec.bar;
    const gradient = element('canvas', {width: 1, height: 256});
    const context = gradient.getContext('2d');
    for (let i = 0; i < 256; ++i) {
      context.fillStyle = `rgb(${colour(1 - i / 255).map(Math.round)})`;
      context.fillRect(0, i, 1, 1);
    }
    return element('div', {class: 'bar'}, gradient, element('span', {}, top), element('span', {}, bottom));
  }

  /** Screen pixels of a sample, (y, x), and where sample [0, 0] begins. */
  placing() {
    const {h, w} = this.spec.planes[0];
    const [pixelY, pixelX] = this.spec.pixel ?? [1, 1];
    let scaleY = this.height / h;
    let scaleX = this.width / w;
    if (!this.spec.fills) {
      const perMetre = Math.min(scaleY / pixelY, scaleX / pixelX);
      [scaleY, scaleX] = [perMetre * pixelY, perMetre * pixelX];
    }
    scaleY *= this.view.zoom;
    scaleX *= this.view.zoom;
    return {scaleY, scaleX, top: this.height / 2 - this.view.y * h * scaleY, left: this.width / 2 - this.view.x * w * scaleX};
  }

  draw() {
    const {h, w} = this.spec.planes[0];
    const {scaleY, scaleX, top, left} = this.placing();
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.image, left, top, w * scaleX, h * scaleY);
    if (!this.spec.pixel) return;
    const [pixelY, pixelX] = this.spec.pixel;
    if (this.spec.axis) this.drawAxis(left - this.spec.origin[1] / pixelX * scaleX);
    this.drawScale(scaleX / pixelX, true);
    if (this.spec.fills) this.drawScale(scaleY / pixelY, false);
  }

  drawAxis(x) {
    this.context.strokeStyle = '#fff';
    this.context.setLineDash([3, 5]);
    this.context.beginPath();
    this.context.moveTo(x, 0);
    this.context.lineTo(x, this.height);
    this.context.stroke();
  }

  drawScale(perMetre, isHorizontal) {
    const length = roundLength(0.3 * (isHorizontal ? this.width : this.height) / perMetre);
    const context = this.context;
    const long = length * perMetre;
    const words = metres(length);
    context.font = '13px "DejaVu Sans", sans-serif';
    const wide = Math.max(isHorizontal ? long : 0, context.measureText(words).width) + 12;
    const bottom = this.height - 8;
    context.fillStyle = 'rgba(0, 0, 0, 0.6)';
    if (isHorizontal) context.fillRect(8, bottom - 28, wide, 28);
    else context.fillRect(8, 8, wide + 12, long + 12);
    context.fillStyle = '#fff';
    if (isHorizontal) context.fillRect(14, bottom - 7, long, 3);
    else context.fillRect(14, 14, 3, long);
    context.fillText(words, isHorizontal ? 14 : 22, isHorizontal ? bottom - 12 : 14 + long / 2 + 5);
  }

  listen() {
    const at = event => [event.offsetY, event.offsetX];
    this.canvas.addEventListener('wheel', event => {
      event.preventDefault();
      const {h, w} = this.spec.planes[0];
      const before = this.placing();
      const [y, x] = at(event);
      const inY = (y - before.top) / (h * before.scaleY);
      const inX = (x - before.left) / (w * before.scaleX);
      this.view.zoom = Math.min(200, Math.max(1, this.view.zoom * 2 ** (-event.deltaY / 300)));
      const after = this.placing();
      this.view.y = inY - (y - this.height / 2) / (h * after.scaleY);
      this.view.x = inX - (x - this.width / 2) / (w * after.scaleX);
      this.view.draw();
    });
    this.canvas.addEventListener('dblclick', () => { this.view.reset(); this.view.draw(); });
    this.canvas.addEventListener('pointermove', event => {
      const {h, w} = this.spec.planes[0];
      const {scaleY, scaleX, top, left} = this.placing();
      if (event.buttons & 1) {
        this.view.y -= event.movementY / (h * scaleY);
        this.view.x -= event.movementX / (w * scaleX);
        this.view.draw();
      }
      const [y, x] = at(event);
      this.say(Math.floor((y - top) / scaleY), Math.floor((x - left) / scaleX));
    });
    this.canvas.addEventListener('pointerleave', () => this.say());
  }

  /** The value of a sample, and where it lies; without one, the extremes. */
  say(y, x) {
    const {h, w} = this.spec.planes[0];
    if (!(y >= 0 && y < h && x >= 0 && x < w)) {
      this.caption.textContent = this.spec.note;
      return;
    }
    const values = this.spec.planes.map(plane => plane.values[y * w + x]);
    const [nameY, nameX] = this.spec.names ?? ['y', 'x'];
    const metresAt = (axisIndex, sample) => metres(this.spec.origin[axisIndex] + sample * this.spec.pixel[axisIndex]);
    const place = this.spec.pixel ? `${nameY} ${metresAt(0, y)}, ${nameX} ${metresAt(1, x)}` : `row ${y}, column ${x}`;
    this.caption.textContent = values.some(Number.isNaN) ? `${place}: not illuminated` : `${place}: ${this.spec.read(...values)}`;
  }
}

function extremes(plane, unit) {
  return `${digits(plane.min)} to ${digits(plane.max)}${unit ? ' ' + unit : ''}`;
}

/** Grey between `shown`. */
function greyPicture(title, plane, unit, place, view, size, more = '') {
  const [black, white] = plane.shown;
  const span = white > black ? white - black : 1;
  const words = value => `${digits(value, 3)}${unit ? ' ' + unit : ''}`;
  return new Picture({
    title, planes: [plane], ...place, read: words, note: `${extremes(plane, unit)}${more}`,
    colour: value => grey(Math.min(1, Math.max(0, (value - black) / span))), bar: [words(white), words(black), grey],
  }, view, ...size);
}

/** Colour of the phase, as bright as the amplitude. */
function wavePicture(title, amplitude, phase, place, view, size, more) {
  return new Picture({
    title, planes: [amplitude, phase], ...place,
    read: (a, p) => `amplitude ${digits(a, 3)} √counts, phase ${digits(p, 3)} rad`,
    note: `amplitude ${extremes(amplitude, '√counts')}, as brightness; phase as colour${more}`,
    colour: (a, p) => hue(p).map(c => c * Math.min(1, a / (amplitude.max || 1))),
    bar: ['π rad', '-π rad', t => hue((2 * t - 1) * Math.PI)],
  }, view, ...size);
}
