// The object in tiles of every resolution (zoom_tiles.hpp), which Leaflet shows.

const contents = JSON.parse(document.getElementById('contents').textContent);
const deepest = 4;  // a pixel of the object as 16 x 16 of the screen

// y runs down, a unit is a pixel of the object.
const map = L.map('map', {
  crs: L.extend({}, L.CRS.Simple, {transformation: new L.Transformation(1, 0, 1, 0)}),
  attributionControl: false,
  fadeAnimation: false,
  maxZoom: deepest,
});

const pictureChoice = element('select', {title: 'picture'},
                              ...contents.pictures.map((p, i) => element('option', {value: i}, p.name)));
const quantityChoice = element('select', {title: 'quantity'},
                               ...contents.pictures[0].quantities.map((q, i) => element('option', {value: i}, q.name)));
const bar = element('span', {class: 'bar'});
const place = element('span');
document.title = `Tessera: ${contents.title || contents.file}`;
document.querySelector('header').append(element('b', {}, contents.title || contents.file), pictureChoice, quantityChoice, bar);
document.querySelector('footer').append(place);

/** Tiles at the right and lower edge are smaller. */
function keepSize(event) {
  event.tile.style.width = `${event.tile.naturalWidth}px`;
  event.tile.style.height = `${event.tile.naturalHeight}px`;
}

let layer = null;
function show() {
  const picture = contents.pictures[pictureChoice.value];
  const quantity = picture.quantities[quantityChoice.value];
  const [h, w] = picture.shape_px;
  const last = picture.last_level;
  map.setMinZoom(-last);
  if (layer) layer.remove();
  else map.fitBounds([[0, 0], [h, w]]);
  layer = L.tileLayer(`${quantity.tiles}/{z}/{x}_{y}.png`, {
    tileSize: contents.tile_px,
    bounds: [[0, 0], [h, w]],
    noWrap: true,
    minZoom: -last,
    maxZoom: deepest,
    maxNativeZoom: 0,
    zoomOffset: last,
  });
  layer.on('tileload', keepSize);
  layer.on('load', () => { document.body.dataset.state = 'shown'; });
  layer.on('tileerror', () => { document.body.dataset.state = 'a tile is missing'; });
  layer.addTo(map);
  const unit = quantity.unit ? ` ${quantity.unit}` : '';
  bar.replaceChildren(digits(quantity.range[0], 3), element('i'), `${digits(quantity.range[1], 3)}${unit}`);
}

const scale = element('div', {class: 'scale'}, element('i'), element('span'));
const ScaleBar = L.Control.extend({onAdd: () => scale});

function drawScale() {
  const longest_px = 150;
  const metresPerPixel = contents.pixel_m / 2 ** map.getZoom();
  const length_m = roundLength(longest_px * metresPerPixel);
  scale.firstChild.style.width = `${length_m / metresPerPixel}px`;
  scale.lastChild.textContent = metres(length_m);
}

function sayPlace({latlng}) {
  const picture = contents.pictures[pictureChoice.value];
  const [y, x] = [Math.floor(latlng.lat), Math.floor(latlng.lng)];
  const isInside = y >= 0 && x >= 0 && y < picture.shape_px[0] && x < picture.shape_px[1];
  const pixel = `pixel y ${y + picture.begin_px[0]}, x ${x + picture.begin_px[1]} of the object`;
  const length = contents.pixel_m > 0
      ? `: y ${metres((y + picture.begin_px[0]) * contents.pixel_m)}, x ${metres((x + picture.begin_px[1]) * contents.pixel_m)}` : '';
  place.textContent = isInside ? pixel + length : ' ';
}

if (contents.pixel_m > 0) {
  new ScaleBar({position: 'bottomleft'}).addTo(map);
  map.on('zoomend', drawScale);
}
map.on('zoomend', () => map.getContainer().classList.toggle('magnified', map.getZoom() > 0));
map.on('mousemove', sayPlace);
pictureChoice.addEventListener('change', show);
quantityChoice.addEventListener('change', show);
show();
