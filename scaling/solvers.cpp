#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "commands.hpp"
#include "committed_ratios.hpp"
#include "deck/methods.hpp"
#include "measure.hpp"
#include "run/run.hpp"
#include "solvers/methods.hpp"
#include "synthetic_scan.hpp"

namespace tessera::scaling {
namespace {

/// One row of the table.
struct Case {
  std::string method;
  std::string model = "plain";
  std::vector<std::string> overrides;
};

/// Of every family that goes with every model one: the default, or its first.
std::vector<std::string> methods_for_models() {
  const settings::Solver usual;
  std::vector<std::string> names;
  std::set<std::size_t> families;
  for (const auto& method : settings::methods()) {
    if (!method.excludes.empty()) continue;
    const bool has_the_usual = method.start.index() == usual.own.index();
    if (has_the_usual ? method.name == usual.method : families.insert(method.start.index()).second)
      names.push_back(method.name);
  }
  return names;
}

std::vector<Case> cases(const SolversOptions& options) {
  std::vector<Case> all;
  for (const int n : options.n_modes)
    for (const std::string& method : deck::method_names())
      all.push_back({method, text(n, n == 1 ? " mode" : " modes"), {text("probe.n_modes=", n)}});
  for (const std::string& method : methods_for_models()) {
    all.push_back({method, "2 OPR modes", {"probe.opr_modes=2"}});
    all.push_back({method, "positions refined", {"refine.positions_from_epoch=0"}});
    all.push_back({method, "2 slices", {"object.n_slices=2", "object.slice_thickness_m=20e-6"}});
  }
  return all;
}

deck::Deck deck_of_case(const Case& wanted, const SolversOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  overrides.insert(overrides.end(), wanted.overrides.begin(), wanted.overrides.end());
  overrides.push_back("solver.method=" + wanted.method);
  if (!deck::allows(wanted.method, deck::Option::batches))
    overrides.emplace_back("solver.batch_size=0");
  return synthetic_deck(options.scan, overrides);
}

/// One rank waits for nobody: what else the machine does is then not in its ratios.
Clock* clock_of(const comm::Communicator& comm) {
  return comm.size() == 1 ? work_s : wall_s;
}

struct Row {
  Case of;
  int batch_size = 0;
  double transforms = 0;  ///< needed per position and mode
  double epoch_s = 0;     ///< of the slowest rank, as the two that follow
  double bare_s = 0;      ///< 2 transforms of every wave
  double bare_and_pass_s = 0;
  double first_error = 0;
  double last_error = 0;

  double ratio_to_bare() const { return epoch_s / bare_s; }
  double ratio_to_own() const { return ratio_to_bare() * 2 / transforms; }
  bool is_sound() const {
    return std::isfinite(ratio_to_bare()) && ratio_to_bare() > 0 && last_error < first_error;
  }
};

/// Epochs and bare transforms in turn, so that a processor's changing speed is in both.
void time_in_turn(run::Run& run, const BareTransforms& bare, int n_epochs, Clock* clock, Row& row) {
  const device::Device exec;
  std::vector<double> epochs_s;
  std::vector<Reference> rounds;
  // The first batches are recorded where the device can: not timed.
  for (int i = 0; i <= n_epochs; ++i) {
    const double epoch_s = seconds_of(exec, [&] { row.last_error = run.run_epoch().error; }, clock);
    const Reference round = bare.once(exec, clock);
    if (i == 0) continue;
    epochs_s.push_back(epoch_s);
    rounds.push_back(round);
  }
  const Reference reference = median(rounds);
  row.epoch_s = median(epochs_s);
  row.bare_s = reference.transforms_s;
  row.bare_and_pass_s = reference.transforms_and_pass_s;
}

Row measured(const Case& wanted, const SolversOptions& options, const comm::Communicator& comm) {
  deck::Deck deck;
  comm.together([&] { deck = deck_of_case(wanted, options); });
  run::Run run(deck, comm, make_synthetic_scan(deck, options.scan, comm), Log(false));
  Row row{.of = wanted, .batch_size = deck.solvers.front().batch_size.value()};
  row.first_error = run.run_epoch().error;
  time_in_turn(run, bare_transforms_of(run, deck, comm.size()), options.n_epochs, clock_of(comm),
               row);
  row.transforms = solvers::transforms_needed(deck.solvers.front(), deck.object.n_slices,
                                              run.model().illumination().shifts_per_position());
  for (double* of_rank : {&row.epoch_s, &row.bare_s, &row.bare_and_pass_s})
    comm.maximum(std::span(of_rank, 1));
  if (!row.is_sound())
    throw AgreedError(
        ExitCode::failed,
        text(wanted.method, ", ", wanted.model, ": the error went from ", row.first_error, " to ",
             row.last_error, ", the benchmark does not reconstruct"));
  return row;
}

/// Of some measurements the one with the least ratio, until one is good enough: a busy machine is
/// not a slower program.
Row least(const Case& wanted, const SolversOptions& options, const CommittedRatios& committed,
          const comm::Communicator& comm) {
  constexpr int n_tries = 4;
  Row best = measured(wanted, options, comm);
  for (int i = 1; i < n_tries; ++i) {
    const auto was = committed.ratio(best.of.method, best.of.model, best.batch_size);
    std::array<double, 1> excess{was ? best.ratio_to_bare() / *was - 1 : 0};
    comm.maximum(excess);
    if (excess[0] <= CommittedRatios::tolerance) break;
    Row row = measured(wanted, options, comm);
    if (row.ratio_to_bare() < best.ratio_to_bare()) best = std::move(row);
  }
  return best;
}

/// A line for each that is slower than committed, or was not measured then.
std::vector<std::string> complaints(const std::vector<Row>& rows,
                                    const CommittedRatios& committed) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    const std::string name = text(row.of.method, ", ", row.of.model);
    const auto was = committed.ratio(row.of.method, row.of.model, row.batch_size);
    if (!was)
      lines.push_back(name + ": not in the file");
    else if (row.ratio_to_bare() > (1 + CommittedRatios::tolerance) * *was)
      lines.push_back(fmt::format("{}: epoch / bare transforms is {:.2f}, was {:.2f}: {:+.0f} %",
                                  name, row.ratio_to_bare(), *was,
                                  100 * (row.ratio_to_bare() / *was - 1)));
  }
  return lines;
}

nlohmann::json as_json(const Row& row) {
  return {{"method", row.of.method},
          {"model", row.of.model},
          {"overrides", row.of.overrides},
          {"batch_size", row.batch_size},
          {"epoch_ms", 1e3 * row.epoch_s},
          {"transforms_ms", 1e3 * row.bare_s},
          {"transforms_and_pass_ms", 1e3 * row.bare_and_pass_s},
          {"transforms_needed", row.transforms},
          {"ratio", row.ratio_to_bare()},
          {"ratio_to_own", row.ratio_to_own()},
          {"first_error", row.first_error},
          {"last_error", row.last_error}};
}

void print(const Row& row) {
  fmt::print(
      "{:<6} {:<18} {:>6} {:>10.2f} {:>10.2f} {:>7.2f} {:>7.2f} {:>7.2f}   {:.4g} -> {:.4g}\n",
      row.of.method, row.of.model, row.batch_size, 1e3 * row.epoch_s, 1e3 * row.bare_s,
      row.transforms, row.ratio_to_bare(), row.ratio_to_own(), row.first_error, row.last_error);
  std::fflush(stdout);
}

/// @throws AgreedError if any is slower than committed
void hold_against(const std::vector<Row>& rows, const CommittedRatios& committed,
                  const std::string& path, const comm::Communicator& comm) {
  const std::vector<std::string> lines = complaints(rows, committed);
  if (comm.is_root())
    for (const std::string& line : lines) fmt::print("{}\n", line);
  if (comm.any(!lines.empty()))
    throw AgreedError(ExitCode::failed,
                      text(lines.size(), " of ", rows.size(), " rows do not hold against ", path));
  if (comm.is_root())
    fmt::print("{} rows are at most {:.0f} % above those of {}\n", rows.size(),
               100 * CommittedRatios::tolerance, path);
}

}  // namespace

void bench_solvers(SolversOptions& options, const comm::Communicator& comm) {
  nlohmann::json json = case_json("solvers", options, deck_of(options, comm), comm.size());
  json["machine"] = machine_name(comm);
  json["clock"] = clock_of(comm) == work_s ? "work" : "wall";
  std::optional<CommittedRatios> committed;
  comm.together([&] {
    if (!options.against.empty()) committed.emplace(options.against, json);
  });
  if (comm.is_root())
    fmt::print(
        "{} positions of {} px, {} rank(s)\n"
        "method model               batch   ms/epoch    bare ms   needs   ratio  to own   error\n",
        options.scan.raster.size(), options.scan.window_px, comm.size());
  std::vector<Row> rows;
  for (const Case& wanted : cases(options)) {
    rows.push_back(committed ? least(wanted, options, *committed, comm)
                             : measured(wanted, options, comm));
    if (comm.is_root()) print(rows.back());
    json["solvers"].push_back(as_json(rows.back()));
  }
  write_json(options.json, json, comm);
  if (committed) hold_against(rows, *committed, options.against, comm);
}

}  // namespace tessera::scaling
