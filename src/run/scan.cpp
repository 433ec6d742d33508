#include "run/scan.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "run/doubts.hpp"
#include "run/few_counts.hpp"
#include "run/memory.hpp"
#include "run/possible_beams.hpp"
#include "run/scan_layout.hpp"
#include "run/settled_solvers.hpp"
#include "scan_patterns.hpp"

namespace tessera::run {

bool tiles_are_due(const deck::Refine& refine, double drift_px) {
  return refine.positions.from_epoch >= 0 &&
         refine.positions.margin_px < refine.positions.limit_px &&
         drift_px > refine.positions.margin_px / 2;
}

std::vector<int> Scan::batch_sizes() const {
  std::vector<int> sizes;
  sizes.reserve(plan.solvers.size());
  for (const deck::Solver& solver : plan.solvers) sizes.push_back(solver.max_in_batch(n_fitted()));
  return sizes;
}

std::vector<int> Scan::fitted() const {
  std::vector<int> positions;
  positions.reserve(static_cast<std::size_t>(n_fitted()));
  auto next_empty = empty.begin();
  auto next_bad = bad.begin();
  auto next_held_out = held_out.begin();
  const auto takes = [](int position, auto& next, auto end) {
    if (next == end || *next != position) return false;
    ++next;
    return true;
  };
  for (int position = 0; position < n_positions(); ++position)
    if (!takes(position, next_empty, empty.end()) && !takes(position, next_bad, bad.end()) &&
        !takes(position, next_held_out, held_out.end()))
      positions.push_back(position);
  return positions;
}

double Scan::counts_per_pixel() const {
  return counts_per_pattern / static_cast<double>(std::max<std::int64_t>(1, info.n_trusted()));
}

namespace {

/// Collective.
std::int64_t max_of_ranks(std::int64_t bytes, const comm::Communicator& comm) {
  std::array<double, 1> worst{static_cast<double>(bytes)};
  comm.maximum(worst);
  return static_cast<std::int64_t>(worst[0]);
}

/// Said where it is not a matter of course: on devices, and when patterns stream. Collective.
void tell_memory(const Scan& scan, const comm::Communicator& comm, const Log& log) {
  using decomposition::PatternsIn;
  const PatternsIn place = scan.memory.patterns;
  if (device::device_is_host && place == PatternsIn::device) return;
  const auto pattern_bytes =
      scan.info.pattern.size() * static_cast<std::int64_t>(io::size_of(scan.info.type));
  const auto n_mine = static_cast<std::int64_t>(scan.tile().positions.size());
  const std::string all = decomposition::bytes_text(max_of_ranks(n_mine * pattern_bytes, comm));
  const std::string device =
      decomposition::bytes_text(max_of_ranks(total_bytes(scan.memory.device), comm));
  const std::string host =
      decomposition::bytes_text(max_of_ranks(total_bytes(scan.memory.host), comm));
  const char* where = place == PatternsIn::device        ? " on the device"
                      : place == PatternsIn::host_memory ? " streamed from pinned host memory"
                                                         : " streamed from the file";
  log.info(text("patterns: ", all, where, "; a rank takes ", device, " of device memory and ", host,
                " of host memory"));
}

/// Of what all ranks have read: the mean pattern, and sum (sqrt(mean) - sqrt(I))^2 / sum I.
void find_mean(const io::PatternTotals& totals, Scan& scan) {
  const auto n_fitted = static_cast<double>(scan.n_fitted());
  scan.mean_pattern = totals.sum;
  double explained = 0;
  double amplitudes = 0;
  for (std::size_t i = 0; i < scan.mean_pattern.size(); ++i) {
    double& mean = scan.mean_pattern.data()[i];
    mean /= std::max(1.0, n_fitted - totals.n_ignored.data()[i]);
    amplitudes += std::sqrt(mean);
    explained += std::sqrt(mean) * totals.roots.data()[i];
  }
  scan.counts_per_pattern =
      std::accumulate(scan.mean_pattern.begin(), scan.mean_pattern.end(), 0.0);
  scan.lit_pixels = amplitudes * amplitudes / scan.counts_per_pattern;
  if (std::isfinite(counts_of(scan))) {
    scan.poisson_error = poisson_error(scan.mean_pattern);
    scan.dark_pixels = find_dark_pixels(totals, scan.info, scan.mean_pattern, scan.n_fitted());
  }
  const double counts = std::accumulate(totals.sum.begin(), totals.sum.end(), 0.0);
  scan.empty_error = 2 * (1 - explained / counts);
}

/// Takes `others`, ascending, from `positions`.
void without(const std::vector<int>& others, std::vector<int>& positions) {
  std::erase_if(positions,
                [&](int position) { return std::ranges::binary_search(others, position); });
}

void load_patterns(const deck::Deck& deck, const comm::Communicator& comm, const Log& log,
                   Scan& scan) {
  io::ScanSource source = scan.source;
  source.held_out.assign(static_cast<std::size_t>(scan.n_positions()), false);
  for (const std::vector<int>* kept_out : {&scan.bad, &scan.held_out})
    for (const int position : *kept_out) source.held_out[static_cast<std::size_t>(position)] = true;
  std::optional<PatternSample> sample;
  if (measures_curvature(deck, scan)) sample.emplace(deck, scan, comm);
  const io::PatternTotals totals =
      read_patterns(source, scan.plan.max_in_chunk(scan.tile().positions.size()), comm,
                    sample ? &*sample : nullptr, scan);
  scan.pattern_bytes_read = totals.bytes_read;
  scan.empty = totals.all_zero;
  without(scan.empty, scan.bad);
  without(scan.empty, scan.held_out);
  without(scan.bad, scan.held_out);
  if (!totals.all_zero.empty())
    log.warning(text(totals.all_zero.size(), " of ", scan.n_positions(),
                     " patterns hold no counts and are left out, the first at position ",
                     totals.all_zero.front()));
  scan.moments = totals.moments;
  if (sample) find_possible_beams(deck, *sample, comm, log, scan);
  find_mean(totals, scan);
  settle_solvers(deck, scan);
  for (const std::string& words : {words_on_counts(deck, scan), words_on_steps(deck, scan)})
    if (!words.empty()) log.info(words);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Collective.
void leave_out_bad_pixels(const io::ScanSource& source, const comm::Communicator& comm,
                          const Log& log, io::ScanInfo& info) {
  const io::BadPixels bad = io::leave_out_bad_pixels(source, comm, info);
  if (const std::string doubt = doubt_of_pixels(bad, info.frame.stored()); !doubt.empty())
    log.warning(doubt);
}

}  // namespace

SeenScan look_at_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
                      const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  io::ScanInfo info = io::read_scan_info(source, comm);
  if (deck.data.find_bad_pixels) leave_out_bad_pixels(source, comm, log, info);
  return {std::move(source), std::move(info), seconds_since(start)};
}

Scan load_scan(const deck::Deck& deck, SeenScan seen, const comm::Communicator& comm,
               const Log& log) {
  const auto start = std::chrono::steady_clock::now();
  Scan scan = with_windows(deck, std::move(seen.info), comm);
  check_least_memory(deck, scan, comm);
  cut_tiles(deck, comm, scan);
  scan.source = std::move(seen.source);
  scan.memory = agreed_memory_plan(deck, scan, comm);
  tell_memory(scan, comm, log);
  if (const std::string doubt = doubt_of_mask(scan); !doubt.empty()) log.warning(doubt);
  load_patterns(deck, comm, log, scan);
  if (log.speaks())
    for (const std::string& doubt : doubts_of_batches(deck, scan)) log.warning(doubt);
  scan.read_seconds = seen.seconds + seconds_since(start);
  return scan;
}

Scan load_scan(const deck::Deck& deck, io::ScanSource source, const comm::Communicator& comm,
               const Log& log) {
  return load_scan(deck, look_at_scan(deck, std::move(source), comm, log), comm, log);
}

}  // namespace tessera::run
