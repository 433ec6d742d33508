#include <algorithm>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "describe.hpp"
#include "sections.hpp"

namespace tessera::deck {

namespace {

constexpr const char* introduction = R"(# The deck

What a run is told, in [TOML](https://toml.io). A deck needs `data.file`, the wavelength
(`experiment.energy_eV` or `voltage_V`) and the detector's geometry; everything else has a default.

This page is made from the key tables in `settings/`; do not edit it. After a change there, run
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
- **Words of a job**: capitals in braces in a value, `output.file = "result_{SLURM_ARRAY_TASK_ID}.h5"`,
  stand for a word of the environment, also for a number (`"{DEFOCUS}"`); one that is not set is an error.
- **Several solvers** run one after another: a `[[solver]]` section for each instead of `[solver]`.
  Object, probe and all else go on from one to the next. An override then numbers the one that it
  means, from 0: `'solver[1].epochs=50'`.
- **Wavelength**: exactly one of `energy_eV` (X-rays) and `voltage_V` (electrons).
- **Detector**: `distance_m` and `detector_pixel_m`; for electrons `detector_pixel_rad` may replace
  both.
- **Positions** are read from `data.positions`. With `data.positions = ""` they are a raster:
  `data.raster_step_m` is then needed, and only then are `data.raster_*` allowed.
- **Files** of known formats have their own names: what `data.patterns`, `data.positions` and the mask are
  left as below is then taken from there ([formats](formats.md)).
- **Orientation**: `transpose`, `flip_y`, `flip_x` turn what the detector recorded; all other keys mean the
  turned patterns.
- **Optics**: `aperture` needs `semi_angle_rad`; `zone_plate` needs `zone_plate_diameter_m` and
  `outer_zone_width_m`. `simulate` makes its probe from one of these two.
- **Methods** do not go with every model: `tessera methods` prints the table, and what is excluded
  is refused. So is a key of another method. `dm`, `raar`, `ml` and `lbfgs` take the whole scan at
  once: `batch_size = 0`.
- **Batches** are given by `batch_size` or by `batch_coverage`, not by both.
- `epie` has both alphas 1 and refuses others.
- **Slices**: `object.n_slices` above 1 needs `slice_thickness_m` or `slice_distances_m`, not both;
  `beam_tilt_rad`, and `refine` of tilt and thickness, need slices.
- **Near field** needs `distance_m` and `detector_pixel_m`; only there is `source_distance_m` allowed.
  Patterns are images in the detector's order then: `data.zero_frequency` says nothing.
- **Fly scans**: `fly_sub_positions` above 1 needs `fly_travel_m`.
- `run.resume` brings its own object and probe, whatever `initial` says.
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

std::string names_of(const std::vector<std::string>& methods) {
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const std::string& method : methods) names.push_back(code(method));
  return joined(names);
}

std::string default_of(const Key& key) {
  return value_text(key).value_or("");
}

/// @param others what follows the default: those of other methods
std::string row(const Key& key, const std::string& others = "") {
  const std::string of = key.methods.empty() ? "" : text("Of ", names_of(key.methods), ". ");
  return text("| ", code(key.name), " | ", type_name(key), " | ", code(default_of(key)), others,
              " | ", cell(allowed_text(key)), " | ", cell(of + key.meaning), " |\n");
}

constexpr const char* table_head =
    "| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n";

std::string table(const std::vector<Key>& keys) {
  std::string rows = table_head;
  for (const Key& key : keys) rows += row(key);
  return rows;
}

/// Methods with the same keys, but for those that name them.
struct Family {
  std::vector<std::string> methods;
  std::vector<std::string> meanings;
  std::vector<Solver> defaults;  ///< one of each method

  /// Each key once, as the first method has it.
  std::vector<Key> keys() {
    std::vector<Key> all;
    for (Solver& solver : defaults)
      for (const Key& key : solver.own_keys())
        if (std::ranges::count(all, key.name, &Key::name) == 0) all.push_back(key);
    return all;
  }

  /// Of the methods whose default is not that of `key`, ", of NAME: DEFAULT" each.
  std::string other_defaults(const Key& key, bool as_code) {
    std::string others;
    for (Solver& solver : defaults)
      for (const Key& own : solver.own_keys())
        if (own.name == key.name && default_of(own) != default_of(key))
          others += as_code ? text(", of ", code(solver.method), ": ", code(default_of(own)))
                            : text(", of ", solver.method, ": ", default_of(own));
    return others;
  }
};

std::vector<Family> families() {
  std::vector<Family> all(std::variant_size_v<settings::OwnSettings>);
  for (const auto& method : settings::methods()) {
    Family& family = all[method.start.index()];
    family.methods.push_back(method.name);
    family.meanings.push_back(method.meaning);
    family.defaults.push_back(Solver::of(method.name));
  }
  return all;
}

std::string methods_keys() {
  std::string page;
  for (Family& family : families()) {
    page += text("\n### ", names_of(family.methods), "\n\n");
    for (std::size_t i = 0; i < family.methods.size(); ++i)
      page += text("- ", code(family.methods[i]), ": ", family.meanings[i], "\n");
    page += text("\n", table_head);
    for (const Key& key : family.keys()) page += row(key, family.other_defaults(key, true));
  }
  return page;
}

std::string list_row(const std::string& section, const Key& key, const std::string& others = "") {
  const std::string default_text = default_of(key);
  const std::string allowed = allowed_text(key);
  return text("  ", section, section.empty() ? "" : ".", key.name,
              default_text.empty() ? "" : " = " + default_text, others, "  (", type_name(key),
              allowed.empty() ? "" : ", " + allowed, ")\n");
}

}  // namespace

std::string reference() {
  Deck defaults;
  std::string page = introduction;
  for (const Section& section : sections(defaults)) {
    page +=
        section.name.empty() ? "\n## Top of the deck\n\n" : text("\n## [", section.name, "]\n\n");
    if (section.name == "solver") {
      page += text("What all methods share:\n\n", table(defaults.solvers.front().shared_keys()),
                   methods_keys());
    } else {
      page += table(section.keys);
    }
  }
  return page;
}

std::string key_list() {
  Deck defaults;
  std::string list = "Deck keys, with defaults; units are part of the names:\n";
  for (const Section& section : sections(defaults)) {
    const bool is_solver = section.name == "solver";
    for (const Key& key : is_solver ? defaults.solvers.front().shared_keys() : section.keys)
      list += list_row(section.name, key);
    if (!is_solver) continue;
    for (Family& family : families()) {
      list += text(" of ", joined(family.methods), ":\n");
      for (const Key& key : family.keys())
        list += list_row(section.name, key, family.other_defaults(key, false));
    }
  }
  return list;
}

}  // namespace tessera::deck
