// Plots, by Chart.js.

Chart.defaults.animation = false;
Chart.defaults.font.size = 13;
Chart.defaults.maintainAspectRatio = true;

const colours = ['#1f5fa8', '#c8501e', '#2e8540', '#7a3fa0', '#9a6b00', '#00838f'];

const least = values => values.reduce((a, b) => Math.min(a, b));
const greatest = values => values.reduce((a, b) => Math.max(a, b));

function axis(title, more = {}) {
  return {title: {display: true, text: title}, ticks: {maxTicksLimit: 9}, ...more};
}

/** Around the curves' values, labelled at 1, 2 and 5 of each decade. */
function logAxis(title, curves) {
  const values = curves.flatMap(curve => curve.points.map(point => point.y));
  const isShort = greatest(values) < 5 * least(values);
  const words = value => (isShort || /^[125]e/.test(value.toExponential(3).replace('.000', '')) ? value.toExponential(isShort ? 1 : 0) : '');
  return axis(title, {type: 'logarithmic', min: least(values) / 1.2, max: greatest(values) * 1.2, ticks: {callback: words}});
}

function plot(parent, config, size = 'chart') {
  const canvas = element('canvas');
  parent.append(element('div', {class: size}, canvas));
  return new Chart(canvas, config);
}

/** Curves: [{label, points: [{x, y}], colour, dashed}] */
function plotCurves(parent, curves, x, y, size) {
  const datasets = curves.map(curve => ({
    label: curve.label, data: curve.points, borderColor: curve.colour, backgroundColor: curve.colour, borderWidth: 1.5,
    borderDash: curve.dashed ? [6, 4] : [], pointRadius: curve.points.length > 1 ? 0 : 3, pointHitRadius: 6,
    pointStyle: 'line',
  }));
  plot(parent, {
    type: 'line', data: {datasets},
    options: {
      parsing: false, aspectRatio: 2, interaction: {mode: 'nearest', axis: 'x', intersect: false},
      plugins: {legend: {labels: {usePointStyle: true}}}, scales: {x: {type: 'linear', ...x}, y},
    },
  }, size);
}

/** Epochs of each solver in a colour of its own; what was held out is dashed. */
function historyCurves(history, run) {
  const stages = history.stage ?? (history.error ?? []).map(() => 0);
  const curves = [];
  for (const [name, words, dashed] of [['error', 'error E', false], ['validation_error', 'validation error', true]]) {
    const values = history[name];
    if (!values) continue;
    for (const stage of new Set(stages)) {
      const points = [];
      values.forEach((value, i) => { if (stages[i] === stage && value > 0) points.push({x: i + 1, y: value}); });
      const solver = history.solvers[stage] ?? `solver ${stage}`;
      curves.push({label: `${words}, ${solver}${run}`, points, dashed, stage});
    }
  }
  return curves.filter(curve => curve.points.length > 0);
}

/** Positions in micrometres, y downwards, on square axes; sets, the first on top: [{label, points: [[y, x]], colour or colours}] */
function plotPositions(parent, sets) {
  const all = sets.flatMap(set => set.points);
  const middle = axisIndex => {
    const values = all.map(point => 1e6 * point[axisIndex]);
    const [min, max] = [least(values), greatest(values)];
    return {centre: (min + max) / 2, half: (max - min) / 2};
  };
  const [y, x] = [middle(0), middle(1)];
  const half = 1.05 * Math.max(y.half, x.half, 1e-6);
  const inner = {maxTicksLimit: 9, includeBounds: false};
  const radius = all.length > 2000 ? 1.5 : 2.5;
  const datasets = sets.map(set => ({
    label: set.label, data: set.points.map(point => ({x: 1e6 * point[1], y: 1e6 * point[0]})), pointRadius: set.radius ?? radius,
    backgroundColor: set.colours ?? set.colour, borderColor: set.colour ?? 'transparent', borderWidth: set.colours ? 0 : 0.5, words: set.words,
  }));
  const label = item => `${item.dataset.label}: y ${digits(item.parsed.y)} µm, x ${digits(item.parsed.x)} µm` +
    (item.dataset.words ? `: ${item.dataset.words[item.dataIndex]}` : '');
  plot(parent, {
    type: 'scatter', data: {datasets},
    options: {
      aspectRatio: 1, plugins: {tooltip: {callbacks: {label}}, legend: {labels: {usePointStyle: true}}},
      scales: {
        x: axis('x / µm', {min: x.centre - half, max: x.centre + half, ticks: inner}),
        y: axis('y / µm', {min: y.centre - half, max: y.centre + half, reverse: true, ticks: inner}),
      },
    },
  });
}

/** Seconds of every rank, one upon the other: {name: [seconds]} */
function plotSeconds(parent, parts) {
  const datasets = Object.entries(parts).map(([label, data], i) => ({label, data, backgroundColor: colours[i]}));
  plot(parent, {
    type: 'bar', data: {labels: datasets[0].data.map((_, rank) => rank), datasets},
    options: {aspectRatio: 1.6, scales: {x: axis('rank', {stacked: true}), y: axis('seconds', {stacked: true})}},
  });
}

/** A quantity at every position, from blue (least) to yellow (most). */
function plotOverScan(parent, label, points, values) {
  const [min, max] = [least(values), greatest(values)];
  const colour = value => {
    const t = max > min ? (value - min) / (max - min) : 0;
    return `rgb(${Math.round(40 + 215 * t)}, ${Math.round(60 + 160 * t)}, ${Math.round(160 - 130 * t)})`;
  };
  plotPositions(parent, [{
    label: `${label}: ${digits(min)} (blue) to ${digits(max)} (yellow)`, points, colours: values.map(colour),
    words: values.map(value => digits(value)), radius: points.length > 2000 ? 2 : 4,
  }]);
}
