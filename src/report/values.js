'use strict';
// Numbers, units and encoded pictures (encoded_picture.hpp).

const noLevel = 65535;
const nLevels = 4096;

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** {h, w, min, max, shown, values}; NaN where there is no value. */
async function decoded(picture) {
  const bytes = await inflated(picture.samples);
  const [h, w] = picture.shape;
  const n = h * w;
  const values = new Float64Array(n);
  const step = (picture.max - picture.min) / (nLevels - 1);
  let level = 0;
  for (let r = 0; r < n; ++r) {
    if (r % w === 0) level = 0;
    level = (level + bytes[r] + 256 * bytes[n + r]) & 65535;
    values[r] = level === noLevel ? NaN : picture.min + step * level;
  }
  return {h, w, min: picture.min, max: picture.max, shown: picture.shown, values};
}

function digits(value, n = 4) {
  return value === null || value === undefined || Number.isNaN(value) ? '-' : String(Number(value.toPrecision(n)));
}

/** 2.53e-8 m as "25.3 nm" */
function metres(value, n = 4) {
  const prefixes = [['m', 1], ['mm', 1e-3], ['µm', 1e-6], ['nm', 1e-9], ['pm', 1e-12]];
  const [name, unit] = prefixes.find(p => Math.abs(value) >= p[1]) ?? (value === 0 ? prefixes[2] : prefixes[4]);
  return `${digits(value / unit, n)} ${name}`;
}

/** The greatest 1, 2 or 5 times a power of ten up to `limit`. */
function roundLength(limit) {
  const power = 10 ** Math.floor(Math.log10(limit));
  return [5, 2, 1].map(k => k * power).find(length => length <= limit * 1.0001);
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function table(rows, attributes = {}) {
  return element('table', attributes,
                 ...rows.map(row => element('tr', {}, ...row.map((cell, i) => element(i ? 'td' : 'th', {}, cell)))));
}
