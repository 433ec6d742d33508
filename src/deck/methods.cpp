#include "deck/methods.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "tessera/base/text.hpp"

#include "deck/keys.hpp"
#include "describe.hpp"

namespace tessera::deck {
namespace {

/// A solver in its place among the others.
struct Stage {
  const Deck& deck;
  const Solver& solver;
  std::string section;
  int end_epoch;  ///< of the run, one past the solver's last
};

struct Column {
  Option option;
  const char* name;
  const char* meaning;
  /// What uses it, such as "object.n_slices = 2"; empty: nothing does. Null: there is no method
  /// that excludes it.
  std::string (*setting)(const Stage&);
};

std::string above(const char* key, int value, int min) {
  return value > min ? text(key, " = ", value) : "";
}

/// Before its first epoch nothing is refined.
std::string refined(const char* key, std::optional<int> from_epoch, const Stage& stage) {
  return from_epoch >= 0 && from_epoch < stage.end_epoch ? text(key, " = ", *from_epoch) : "";
}

constexpr std::array columns{
    Column{Option::probe_modes, "probe modes", "probe.n_modes > 1",
           [](const Stage& s) { return above("probe.n_modes", s.deck.probe.n_modes, 1); }},
    Column{Option::object_modes, "object modes", "object.n_modes > 1",
           [](const Stage& s) { return above("object.n_modes", s.deck.object.n_modes, 1); }},
    Column{Option::opr, "OPR", "probe.opr_modes > 0",
           [](const Stage& s) { return above("probe.opr_modes", s.deck.probe.opr_modes, 0); }},
    Column{Option::slices, "slices", "object.n_slices > 1",
           [](const Stage& s) { return above("object.n_slices", s.deck.object.n_slices, 1); }},
    Column{Option::positions, "positions",
           "refine.positions_from_epoch, within the solver's epochs",
           [](const Stage& s) {
             return refined("refine.positions_from_epoch", s.deck.refine.positions.from_epoch, s);
           }},
    Column{Option::constraints, "constraints", "bounds, supports, regularisers", nullptr},
    Column{Option::background, "background",
           "refine.background_from_epoch, within the solver's epochs",
           [](const Stage& s) {
             return refined("refine.background_from_epoch", s.deck.refine.background.from_epoch, s);
           }},
    Column{Option::intensity, "intensity",
           "refine.intensity_from_epoch, within the solver's epochs",
           [](const Stage& s) {
             return refined("refine.intensity_from_epoch", s.deck.refine.intensity.from_epoch, s);
           }},
    Column{Option::fly_scan, "fly scan", "experiment.fly_sub_positions > 1",
           [](const Stage& s) {
             return above("experiment.fly_sub_positions", s.deck.experiment.fly_sub_positions, 1);
           }},
    Column{Option::near_field, "near field",
           R"(experiment.propagation = "fresnel" or "angular_spectrum")",
           [](const Stage& s) {
             const std::string& propagation = s.deck.experiment.propagation;
             return propagation == "far_field" ? ""
                                               : "experiment.propagation = " + quoted(propagation);
           }},
    Column{Option::point_spread, "point spread", "experiment.point_spread_px > 0",
           [](const Stage& s) {
             const double width_px = s.deck.experiment.point_spread_px;
             return width_px > 0 ? "experiment.point_spread_px = " + number_text(width_px) : "";
           }},
    Column{Option::noise, "noise", R"(solver.noise = "intensity" or "poisson")",
           [](const Stage& s) {
             const std::string& noise = s.solver.noise;
             return settings::noise_is_open(noise) || noise == "amplitude"
                        ? ""
                        : s.section + ".noise = " + quoted(noise);
           }},
    Column{Option::batches, "batches",
           "solver.batch_size > 0 or batch_coverage; else the whole scan at once",
           [](const Stage& s) {
             if (s.solver.batch_coverage)
               return text(s.section, ".batch_coverage = ", number_text(*s.solver.batch_coverage));
             return above((s.section + ".batch_size").c_str(), s.solver.batch_size.value_or(0), 0);
           }},
};

int end_epoch(const Deck& deck, std::size_t stage) {
  int end = 0;
  for (std::size_t i = 0; i <= stage; ++i) end += deck.solvers[i].epochs;
  return end;
}

std::string padded(std::string words, std::size_t width) {
  words.resize(std::max(width, words.size()), ' ');
  return words;
}

}  // namespace

std::string excluded_option(const Deck& deck, std::size_t stage) {
  const Solver& solver = deck.solvers[stage];
  const Stage used{deck, solver, solver_section(deck, stage), end_epoch(deck, stage)};
  for (const Column& column : columns) {
    if (!column.setting || allows(solver.method, column.option)) continue;
    const std::string setting = column.setting(used);
    if (setting.empty()) continue;
    std::vector<std::string> others;
    for (const std::string& method : method_names())
      if (allows(method, column.option)) others.push_back(method);
    return text(used.section, ".method = ", quoted(solver.method), " does not go with ", setting,
                ": change one of them; methods that do: ", joined(others));
  }
  return "";
}

std::string methods_table() {
  std::string table = padded("solver.method", 15);
  for (const Column& column : columns) table += text(column.name, "  ");
  for (const std::string& method : method_names()) {
    table += text("\n", padded(method, 15));
    for (const Column& column : columns)
      table += padded(allows(method, column.option) ? "yes" : "-",
                      std::string_view(column.name).size() + 2);
  }
  table += "\n\nA dash: the deck is refused. What uses a column:\n";
  for (const Column& column : columns)
    table += text("  ", padded(column.name, 14), column.meaning, "\n");
  return table;
}

std::string methods_page() {
  std::string page = "| `solver.method` |";
  for (const Column& column : columns) page += text(' ', column.name, " |");
  page += "\n| --- |";
  for (std::size_t i = 0; i < columns.size(); ++i) page += " --- |";
  std::string names;
  const auto& methods = settings::methods();
  for (std::size_t i = 0; i < methods.size(); ++i) {
    names += text(names.empty() ? "`" : ", `", methods[i].name, '`');
    const bool next_is_alike = i + 1 < methods.size() &&
                               methods[i + 1].start.index() == methods[i].start.index() &&
                               methods[i + 1].excludes == methods[i].excludes;
    if (next_is_alike) continue;
    page += text("\n| ", names, " |");
    for (const Column& column : columns)
      page += allows(methods[i].name, column.option) ? " x |" : " |";
    names.clear();
  }
  return page + "\n";
}

}  // namespace tessera::deck
