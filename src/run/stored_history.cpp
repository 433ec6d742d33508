#include "stored_history.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// As many numbers as there are epochs.
std::vector<double> read_column(const io::File& file, const std::string& name, std::size_t n) {
  std::vector<double> values = file.read_doubles(name);
  if (values.size() != n)
    throw InputError(text('\'', name, "' in '", file.path(), "' holds ", values.size(),
                          " values but 'history/error' has ", n, "; start from another result"));
  return values;
}

void read_stages(const io::File& file, std::vector<EpochFigures>& history) {
  const std::vector<double> stage = read_column(file, "history/stage", history.size());
  for (std::size_t i = 0; i < stage.size(); ++i) {
    const double before = i == 0 ? 0 : stage[i - 1];
    if (!(stage[i] >= before && stage[i] <= before + static_cast<double>(stage.size())))
      throw InputError(text("'history/stage' in '", file.path(), "' says ", stage[i], " in epoch ",
                            i + 1,
                            "; stages are counted from 0 and do not fall: start from "
                            "another result"));
    history[i].stage = static_cast<int>(stage[i]);
  }
}

void read_noise(const io::File& file, std::vector<EpochFigures>& history) {
  constexpr auto last = static_cast<double>(physics::Noise::stabilised);
  const std::vector<double> noise = read_column(file, "history/noise", history.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    if (!(noise[i] >= 0 && noise[i] <= last))
      throw InputError(text("'history/noise' in '", file.path(), "' says ", noise[i], " in epoch ",
                            i + 1, "; allowed: 0 to ", last, "; start from another result"));
    history[i].noise = static_cast<physics::Noise>(static_cast<int>(noise[i]));
  }
}

}  // namespace

void write_history(io::StagedFile& file, const std::vector<EpochFigures>& history) {
  const auto write = [&](const std::string& name, auto field) {
    std::vector<double> values;
    values.reserve(history.size());
    for (const EpochFigures& epoch : history) values.push_back(static_cast<double>(epoch.*field));
    file.write_doubles("history/" + name, {static_cast<std::int64_t>(values.size())}, values);
  };
  write("error", &EpochFigures::error);
  write("r_factor", &EpochFigures::r_factor);
  write("stage", &EpochFigures::stage);
  write("noise", &EpochFigures::noise);
  const bool validated = std::ranges::any_of(
      history, [](const EpochFigures& epoch) { return std::isfinite(epoch.validation_error); });
  if (validated) write("validation_error", &EpochFigures::validation_error);
}

std::vector<EpochFigures> read_history(const io::File& file) {
  const std::vector<double> error = file.read_doubles("history/error");
  const std::size_t n = error.size();
  const std::vector<double> r_factor = read_column(file, "history/r_factor", n);
  std::vector<EpochFigures> history;
  history.reserve(n);
  for (std::size_t i = 0; i < n; ++i) history.push_back({error[i], r_factor[i]});
  // Results of earlier versions know one solver, its noise alone, and no validation.
  if (file.has("history/stage")) read_stages(file, history);
  if (file.has("history/noise")) read_noise(file, history);
  if (file.has("history/validation_error")) {
    const std::vector<double> validation_error = read_column(file, "history/validation_error", n);
    for (std::size_t i = 0; i < n; ++i) history[i].validation_error = validation_error[i];
  }
  return history;
}

}  // namespace tessera::run
