/// Run: results, and states saved on the way.

#include <algorithm>
#include <utility>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "result_file.hpp"
#include "run/run.hpp"
#include "stored_fields.hpp"
#include "worst_patterns.hpp"

namespace tessera::run {

/// The first save shall not stand still for longer than the others.
void Run::prepare_copies() {
  std::vector<std::size_t> sizes;
  for (const solvers::Fields& fields : {state(), memory()})
    for (const solvers::Field& field : fields)
      sizes.push_back(static_cast<std::size_t>(copy_bytes(scan_, field)));
  copies_.prepare(std::move(sizes));
}

ResultContents Run::contents(const EpochFigures& final_figures, const std::string& status) const {
  solvers::Fields remembered = memory();
  const bool is_large = std::ranges::any_of(remembered, &solvers::Field::is_large);
  if (is_large && !deck_.output.save_memory) remembered.clear();
  return {deck_,  scan_,      state(), std::move(remembered), stage_, history_, final_figures,
          status, finished(), times()};
}

std::int64_t Run::result_bytes() const {
  return ResultFile::bytes(contents({}, ""));
}

namespace {

void warn_of_save(const AgreedError& error, const Log& log) {
  log.warning(text("a save failed, and the run goes on: ", error.what()));
}

}  // namespace

void Run::check_output() const {
  const io::AtomicFile writable(deck_.output.file, result_bytes(), comm_);
}

void Run::write_result(const EpochFigures& final_figures, const std::string& status) {
  const Kokkos::Timer timer;
  const Doing doing("the write of the result");
  finish_save(Log(comm_.is_root()));
  ResultContents result = contents(final_figures, status);
  result.worst = worst_.get();
  save_ = ResultFile::begin_write(result, comm_, copies_);
  save_->finish();
  save_.reset();
  write_seconds_ += timer.seconds();
}

void Run::fall_back() {
  deck_.output.file = std::exchange(deck_.output.fallback, "");
}

void Run::begin_save(const Log& log) {
  finish_save(log);
  const Kokkos::Timer timer;
  try {
    save_ = ResultFile::begin_write(contents(history_.back(), "running"), comm_, copies_);
  } catch (const AgreedError& error) {
    warn_of_save(error, log);
  }
  write_seconds_ += timer.seconds();
}

std::optional<double> Run::take_ended_save(const Log& log) {
  if (!save_ || comm_.any(!save_->is_over())) return {};
  const double seconds = save_->seconds();
  finish_save(log);
  return seconds;
}

void Run::finish_save(const Log& log) {
  if (!save_) return;
  const Kokkos::Timer timer;
  try {
    save_->finish();
  } catch (const AgreedError& error) {
    warn_of_save(error, log);
  }
  save_.reset();
  write_seconds_ += timer.seconds();
}

}  // namespace tessera::run
