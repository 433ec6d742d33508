// The sections, from the embedded contents.

const contents = JSON.parse(document.getElementById('contents').textContent);
const main = document.querySelector('main');

function section(title, words) {
  const made = element('section', {}, element('h2', {}, title));
  if (words) made.append(element('p', {}, words));
  main.append(made);
  return made;
}

function row(parent) {
  return parent.appendChild(element('div', {class: 'row'}));
}

function thinned(stride) {
  return stride > 1 ? `; one pixel of ${stride}, either way` : '';
}

/** Of samples `stride` object pixels apart, the first at pixel `begin`; null: sizes are not known. */
function place(run, stride, begin) {
  const pixel = run.figures.object_pixel_m;
  return pixel ? {pixel: [stride * pixel, stride * pixel], origin: begin.map(px => px * pixel)} : {pixel: null};
}

/** " (a.h5)" where several runs are shown. */
function of(run) {
  return contents.runs.length > 1 ? ` (${run.file})` : '';
}

function showFigures() {
  const {runs} = contents;
  main.append(element('h1', {}, runs[0].figures.title || 'Tessera report'));
  document.title = runs[0].figures.title || runs[0].file;
  const words = {object_pixel_m: metres, wavelength_m: metres};
  const names = [...new Set(runs.flatMap(run => Object.keys(run.figures)))];
  const rows = names.map(name => [name, ...runs.map(run => {
    const value = run.figures[name];
    return typeof value === 'number' ? (words[name] ?? (v => digits(v, 6)))(value) : (value ?? '-');
  })]);
  main.append(table([['file', ...runs.map(run => run.file)], ...rows,
                     ['object', ...runs.map(run => `${run.object.whole_px.join(' x ')} pixels`)],
                     ['probe', ...runs.map(run => `${run.probe.shape_px.join(' x ')} pixels, ${digits(run.probe.power_counts)} counts`)],
                     ['positions', ...runs.map(run => run.positions.count)],
                     ['ranks', ...runs.map(run => run.tiles.owned?.length ?? '-')]]));
}

async function showObject() {
  const parent = section('Object', 'The wheel zooms, dragging moves, a double click shows the whole. Illuminated pixels only; ramp and mean phase removed.');
  const view = new View();
  for (const run of contents.runs) {
    const line = row(parent);
    const {object} = run;
    const at = place(run, object.stride, object.begin_px);
    const more = thinned(object.stride);
    const amplitude = await decoded(object.amplitude);
    const phase = await decoded(object.phase);
    line.append(greyPicture(`Amplitude${of(run)}`, amplitude, '', at, view, [], more).figure);
    line.append(greyPicture(`Phase${of(run)}`, phase, 'rad', at, view, [], more).figure);
    if (object.turns)
      line.append(greyPicture(`Phase, unwrapped${of(run)}`, unwrapped(phase, await decoded(object.turns)), 'rad', at, view, [],
                              `${more}; by least squares, whole turns may be wrong beside vortices`).figure);
    const parts = row(parent);
    for (const image of object.images ?? []) {
      parts.append(greyPicture(`Amplitude, ${image.name}${of(run)}`, await decoded(image.amplitude), '', at, view, [240, 240], more).figure);
      parts.append(greyPicture(`Phase, ${image.name}${of(run)}`, await decoded(image.phase), 'rad', at, view, [240, 240], more).figure);
    }
  }
}

function unwrapped(phase, turns) {
  const values = phase.values.map((value, r) => value + 2 * Math.PI * Math.round(turns.values[r]));
  const known = values.filter(value => !Number.isNaN(value)).sort();
  const quantile = q => known[Math.floor(q * (known.length - 1))];
  return {...phase, values, min: known[0], max: known[known.length - 1], shown: [quantile(0.005), quantile(0.995)]};
}

async function showProbe() {
  const parent = section('Probe');
  for (const run of contents.runs) {
    const {probe} = run;
    if (of(run)) parent.append(element('h3', {}, run.file));
    const at = place(run, probe.stride, probe.shape_px.map(n => -Math.floor(n / 2)));
    const view = new View();
    const line = row(parent);
    for (const image of probe.images) {
      const share = image.share === undefined ? `${digits(image.power_counts)} counts` : `${(100 * image.share).toFixed(2)} %`;
      line.append(wavePicture(`${image.name}, ${share}`, await decoded(image.amplitude), await decoded(image.phase),
                              at, view, [240, 240], thinned(probe.stride)).figure);
    }
    if (probe.along_z) await showAlongZ(parent, run);
  }
}

async function showAlongZ(parent, run) {
  const {z_m, sharpest_m, x, y} = run.probe.along_z;
  parent.append(element('p', {}, `Along the beam, in free space, from ${metres(-z_m[0])} before the sample (left) to ${metres(z_m[1])} behind it; ` +
    `sharpest at ${metres(sharpest_m)}. Intensity of all modes, summed over the other direction.`));
  const line = row(parent);
  const view = new View();
  for (const [name, picture] of [['x', x], ['y', y]]) {
    const plane = await decoded(picture);
    const step = (z_m[1] - z_m[0]) / (plane.w - 1);
    const pixel = run.figures.object_pixel_m;
    line.append(new Picture({
      title: `${name} (down) against z`, planes: [plane], pixel: [pixel, step], fills: true,
      origin: [-Math.floor(plane.h / 2) * pixel, z_m[0]], colour: v => grey(Math.sqrt(Math.max(0, v) / (plane.max || 1))),
      read: v => `${digits(v)} counts`, note: `${extremes(plane, 'counts')}; brightness is its root`, names: [name, 'z'],
      bar: [`${digits(plane.max, 3)} counts`, '0', t => grey(Math.sqrt(t))], axis: true,
    }, view, 460, 240).figure);
  }
}

function showHistory() {
  const curves = contents.runs.flatMap((run, i) =>
    historyCurves(run.history, of(run)).map(curve => ({...curve, colour: colours[(curve.stage + 3 * i) % colours.length]})));
  if (curves.length === 0) return;
  plotCurves(section('Error'), curves, axis('epoch'), logAxis('E', curves), 'chart wide');
}

/** A fraction of the Nyquist frequency, and what it means in metres. */
function resolved(fraction, pixel) {
  const period = fraction > 0 && pixel ? `, half period ${metres(pixel / fraction)}` : '';
  return `${fraction >= 1 ? 'at least 1' : digits(fraction)} of Nyquist${period}`;
}

function showHalves() {
  for (const run of contents.runs) {
    if (!run.halves) continue;
    const parent = section(`Two halves of the scan${of(run)}`, 'Reconstructed apart from one another and aligned: up to where their spectra agree.');
    parent.append(table([
      ['resolution, 1 bit', resolved(run.halves.one_bit_nyquist_fraction, run.figures.object_pixel_m)],
      ['resolution, 1/2 bit', resolved(run.halves.half_bit_nyquist_fraction, run.figures.object_pixel_m)]]));
    plotRings(parent, run.halves.rings);
  }
}

function showComparison() {
  const {comparison} = contents;
  if (!comparison) return;
  const {found} = comparison;
  const parent = section('Comparison', `a = ${comparison.a}, reference b = ${comparison.b}; ` +
    (found ? 'ambiguities removed.' : `not comparable: ${comparison.refused}`));
  if (!found) return;
  const {resolution} = found;
  const pixel = resolution.half_bit_half_period_m * resolution.half_bit_nyquist_fraction;
  parent.append(table([
    ['object, ||a - b|| / ||b||', digits(found.after.object_difference)],
    ['probe, ||a - b|| / ||b||', digits(found.after.probe_difference)],
    ['resolution, 1 bit', resolved(resolution.one_bit_nyquist_fraction, pixel)],
    ['resolution, 1/2 bit', resolved(resolution.half_bit_nyquist_fraction, pixel)],
    ['positions, rms apart', found.position_error_px === null ? '-' : `${digits(found.position_error_px)} px`]]));
  plotRings(parent, found.rings);
}

function plotRings(parent, rings) {
  const points = values => values.map((y, i) => ({x: rings.nyquist_fraction[i], y}));
  plotCurves(parent, [
    {label: 'Fourier ring correlation', points: points(rings.correlation), colour: colours[0]},
    {label: '1 bit', points: points(rings.one_bit), colour: colours[1], dashed: true},
    {label: '1/2 bit', points: points(rings.half_bit), colour: colours[2], dashed: true}],
  axis('frequency / Nyquist', {max: 1}), axis('correlation'), 'chart wide');
}

function showPositions() {
  const parent = section('Positions');
  for (const run of contents.runs) {
    const {count, every, after_m: after, before_m: before, intensity, opr_weight: opr} = run.positions;
    const thinned = every > 1 ? `, every ${every}th shown` : '';
    parent.append(element('p', {}, `${count} positions${thinned}${before ? `; moved by ${metres(rms(moves(before, after)))} rms` : ''}${of(run)}`));
    const line = row(parent);
    plotPositions(line, [{label: before ? 'refined' : 'as given', points: after, colour: colours[0]},
                         ...(before ? [{label: 'given', points: before, colour: '#bbb'}] : [])]);
    if (before) plotOverScan(line, 'moved, nm', after, moves(before, after).map(move => 1e9 * move));
    if (intensity?.some(row => row[0] !== intensity[0][0])) plotOverScan(line, 'intensity', after, intensity.map(row => row[0]));
    for (let i = 0; i < (opr ? opr[0].length : 0); ++i)
      plotOverScan(line, `weight of OPR mode ${i + 1}`, after, opr.map(row => row[i]));
  }
}

function moves(before, after) {
  return before.map(([y, x], i) => Math.hypot(after[i][0] - y, after[i][1] - x));
}

function rms(values) {
  return Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
}

async function showBackground() {
  for (const run of contents.runs) {
    if (!run.background) continue;
    const plane = await decoded(run.background);
    const parent = row(section(`Background${of(run)}`, 'Counts of a pattern, as the detector sees them.'));
    parent.append(greyPicture('', plane, 'counts', {pixel: null}, new View(), []).figure);
  }
}

/** Both pictures of a pattern share their levels of grey. */
async function showWorstPatterns() {
  for (const run of contents.runs) {
    if (!run.worst_patterns) continue;
    const parent = section(`Worst-fitting patterns${of(run)}`,
      'Those that add most to the cost of what is stored, and what the model expects in their place: roots of counts, as the detector sees them.');
    const line = row(parent);
    for (const pattern of run.worst_patterns) {
      const view = new View();
      const [measured, expected] = [await decoded(pattern.measured), await decoded(pattern.expected)];
      const shown = [Math.min(measured.shown[0], expected.shown[0]), Math.max(measured.shown[1], expected.shown[1])];
      for (const [words, plane] of [['measured', measured], ['expected', expected]])
        line.append(greyPicture(`Position ${pattern.position}, ${words}`, {...plane, shown}, '√counts', {pixel: null}, view, [200, 200],
                                words === 'measured' ? `; error E ${digits(pattern.error)}` : '').figure);
    }
  }
}

function showTiles() {
  const parent = section('Tiles and ranks', 'What each rank owns, and (dashed) holds, of the object; where its time went; its memory, as planned.');
  for (const run of contents.runs) {
    const line = row(parent);
    if (run.tiles.owned) line.append(tilesDrawn(run));
    const parts = Object.entries(run.ranks).filter(([name]) => name.endsWith('_s'));
    if (parts.length > 0) plotSeconds(line, Object.fromEntries(parts.map(([name, values]) => [name.slice(0, -2), values])));
    for (const [name, words] of [['device_bytes', 'device'], ['host_bytes', 'host']]) {
      const bytes = run.ranks[name];
      if (bytes) parent.append(element('p', {}, `${words} memory of a rank: ${digits(least(bytes) / 1e6)} to ${digits(greatest(bytes) / 1e6)} MB${of(run)}`));
    }
  }
}

function tilesDrawn(run) {
  const [h, w] = run.object.whole_px;
  const scale = 420 / Math.max(h, w);
  const drawn = (name, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const rectangle = (box, attributes, ...children) => drawn('rect', {
    y: box[0] * scale, x: box[1] * scale, height: (box[2] - box[0]) * scale, width: (box[3] - box[1]) * scale, ...attributes}, ...children);
  const svg = drawn('svg', {width: w * scale + 2, height: h * scale + 2, viewBox: `-1 -1 ${w * scale + 2} ${h * scale + 2}`});
  const boxes = run.tiles.owned.map((owned, rank) => [owned, run.tiles.ghosted?.[rank] ?? owned, rank]);
  for (const [owned, ghosted, rank] of boxes) {
    const words = `rank ${rank}: owns y ${owned[0]} to ${owned[2]}, x ${owned[1]} to ${owned[3]}; holds ${ghosted[2] - ghosted[0]} x ${ghosted[3] - ghosted[1]}`;
    svg.append(rectangle(owned, {fill: `hsl(${(rank * 137) % 360}, 45%, 82%)`, stroke: '#555'}, drawn('title', {}, words)));
  }
  for (const [owned, ghosted, rank] of boxes) {
    if (boxes.length <= 16) svg.append(rectangle(ghosted, {fill: 'none', stroke: `hsl(${(rank * 137) % 360}, 60%, 35%)`, 'stroke-dasharray': '4 3'}));
    if (boxes.length <= 64) svg.append(drawn('text', {y: (owned[0] + owned[2]) / 2 * scale, x: (owned[1] + owned[3]) / 2 * scale}, String(rank)));
  }
  return svg;
}

function showDeck() {
  for (const run of contents.runs) {
    if (run.deck.length > 0) {
      const parent = section(`Deck${of(run)}`, 'Keys at their default are grey; the pointer on a key shows what it means.');
      const rows = table(run.deck.map(entry => [entry.key, entry.value, entry.value === entry.default ? '' : `default ${entry.default ?? 'none'}`]),
                         {class: 'deck'});
      [...rows.rows].forEach((line, i) => {
        line.title = run.deck[i].meaning;
        if (run.deck[i].value === run.deck[i].default) line.className = 'is_default';
      });
      parent.append(rows);
    }
    if (run.versions) section(`Versions${of(run)}`).append(element('pre', {}, run.versions));
    if (run.hosts) section(`Hosts of the ranks${of(run)}`).append(element('pre', {}, run.hosts));
  }
}

async function show() {
  showFigures();
  await showObject();
  await showProbe();
  showHistory();
  showHalves();
  showComparison();
  showPositions();
  await showBackground();
  await showWorstPatterns();
  showTiles();
  showDeck();
}

show().then(() => { document.body.dataset.state = 'shown'; }, error => {
  document.body.dataset.state = 'failed';
  main.prepend(element('p', {class: 'failed'}, `This page cannot be shown here: ${error}`));
  throw error;
});
