#include "tessera/base/text.hpp"
#include "tessera/deck/keys.hpp"

#include "describe.hpp"

namespace tessera::deck {

namespace {

constexpr const char* introduction = R"(# The deck

What a run is told, in [TOML](https://toml.io). A deck needs `data.file`, the wavelength
(`experiment.energy_eV` or `voltage_V`) and the detector's geometry; everything else has a default.

This page is made from the key table in `src/deck/`; do not edit it. After a change there, run
`TESSERA_UPDATE_REFERENCE=1 build/bin/test_deck` to write it anew.

## Rules

- **Units** are part of the names: `_m` metres, `_rad` radians, `_eV`, `_V`, `_px` pixels.
- **Unknown keys are errors**, with the nearest known name. So are wrong types (a whole number may
  stand for a number, not the other way round), values out of range, NaN and infinity.
- **Overrides** follow the deck on the command line and win over it:
  `tessera reconstruct deck.toml solver.epochs=200 probe.n_modes=5`. Values are TOML; a bare word
  that is no TOML value is taken as text, so `data.file=scan.h5` needs no quotes.
- **Paths** in the deck, and default paths, start at the deck's folder. Paths in overrides start at
  the working folder, as a shell completes them. Absolute paths stay as they are.
- **Several solvers** run one after another: a `[[solver]]` section for each instead of `[solver]`.
  Object, probe and all else go on from one to the next. An override then numbers the one that it
  means, from 0: `'solver[1].epochs=50'`.
- **Wavelength**: exactly one of `energy_eV` (X-rays) and `voltage_V` (electrons).
- **Detector**: `distance_m` and `detector_pixel_m`; for electrons `detector_pixel_rad` may replace
  both.
- **Positions** are read from `data.positions`. With `data.positions = ""` they are a raster:
  `data.raster_step_m` is then needed, and only then are `data.raster_*` allowed.
- **Optics**: `aperture` needs `semi_angle_rad`; `zone_plate` needs `zone_plate_diameter_m` and
  `outer_zone_width_m`. `simulate` makes its probe from one of these two.
- **Methods** do not go with every model: `tessera methods` prints the table, and what is excluded
  is refused. `dm`, `raar`, `ml` and `lbfgs` take the whole scan at once: `batch_size = 0`.
- `method = "epie"` sets both alphas to 1 and refuses others.
- **Slices**: `object.n_slices` above 1 needs `slice_thickness_m`; `beam_tilt_rad`, and `refine` of
  tilt and thickness, need slices.
- **Near field** needs `distance_m` and `detector_pixel_m`; only there is `source_distance_m` allowed.
  Patterns are images in the detector's order then: `data.zero_frequency` says nothing.
- **Fly scans**: `fly_sub_positions` above 1 needs `fly_travel_m`.
- `run.resume` brings its own object and probe and excludes `initial = "file"`.
- Every one of the `[constraints]` acts from its `..._from_epoch` on. `phase_ramp` and `probe_aperture`
  exclude each other, `probe_centring` is for the far field, `slice_coupling` for several slices.
- `simulate` needs `simulation.step_m`, and `data.valid_pixels` if there are dead pixels.

The result of a run holds the resolved deck: every key with the value that was used.
)";

/// A bar would end the table's cell.
std::string cell(const std::string& words) {
  std::string escaped;
  for (const char c : words) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string code(const std::string& words) {
  return words.empty() ? "" : "`" + words + "`";
}

std::string row(const Key& key) {
  const std::string word = key.name.substr(key.name.find('.') + 1);
  const std::string default_text = value_text(key).value_or("");
  return text("| ", code(word), " | ", type_name(key), " | ", code(default_text), " | ",
              cell(allowed_text(key)), " | ", cell(key.meaning), " |\n");
}

}  // namespace

std::string reference() {
  Deck defaults;
  std::string page = introduction;
  std::string open_section = "none yet";
  for (const Key& key : keys(defaults)) {
    const std::size_t dot = key.name.find('.');
    const std::string section = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (section != open_section) {
      page += section.empty() ? "\n## Top of the deck\n\n" : text("\n## [", section, "]\n\n");
      page += "| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n";
      open_section = section;
    }
    page += row(key);
  }
  return page;
}

std::string key_list() {
  Deck defaults;
  std::string list = "Deck keys, with defaults; units are part of the names:\n";
  for (const Key& key : keys(defaults)) {
    const std::string default_text = value_text(key).value_or("");
    const std::string allowed = allowed_text(key);
    list += text("  ", key.name, default_text.empty() ? "" : " = " + default_text, "  (",
                 type_name(key), allowed.empty() ? "" : ", " + allowed, ")\n");
  }
  return list;
}

}  // namespace tessera::deck
