// What this machine can do, for predictions: the rates of `tessera plan --machine`.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/comm/later_sum.hpp"
#include "tessera/device/gpu.hpp"

#include "comm/ranks_of.hpp"
#include "commands.hpp"
#include "cost/machine_file.hpp"
#include "deck/methods.hpp"
#include "machine_links.hpp"
#include "machine_windows.hpp"
#include "measure.hpp"
#include "settings/solver.hpp"

namespace tessera::scaling {
namespace {

/// A file of the working folder that nobody has in memory, as far as the system lets it go.
double file_bytes_per_s() {
  constexpr std::size_t piece = 4 << 20;
  constexpr int n_pieces = 32;
  const std::string path = "tessera_bench_machine.part";
  std::vector<char> bytes(piece, 'x');
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0)
    throw SystemError(text("the file ", path,
                           " cannot be made in the working folder, which is "
                           "needed to time reading; remove it, or go where you may write"));
  ::unlink(path.c_str());  // it lives as long as it is open
  bool whole = true;
  for (int i = 0; i < n_pieces; ++i) whole &= ::write(file, bytes.data(), piece) == ssize_t{piece};
  whole &= ::fsync(file) == 0;
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::lseek(file, 0, SEEK_SET);
  const Kokkos::Timer timer;
  for (int i = 0; i < n_pieces; ++i) whole &= ::read(file, bytes.data(), piece) == ssize_t{piece};
  const double seconds = timer.seconds();
  ::close(file);
  if (!whole)
    throw SystemError("128 MB cannot be written to the working folder and read again; make room");
  return static_cast<double>(piece) * n_pieces / seconds;
}

/// 1, 2, 4 ..., one for each core, and all.
std::vector<int> rank_counts(int all, int cores) {
  std::set<int> counts{all};
  for (int n = 1; n < all; n *= 2) counts.insert(n);
  if (cores > 0 && cores < all) counts.insert(cores);
  return {counts.begin(), counts.end()};
}

/// `work(ranks)` on the first n ranks while the others sleep: MPI would have them look for messages
/// all the time, on cores that may be those at work. Collective.
template <class Work>
void on_first(int n, const comm::Communicator& comm, const Work& work) {
  const bool works = comm.rank() < n;
  const comm::Communicator part = comm::ranks_of_colour(comm, works ? 1 : 0);
  comm::LaterSum done(comm);
  if (works) work(part);
  done.start({});
  while (!done.has_arrived()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

class Measurement {
 public:
  Measurement(const MachineOptions& options, const comm::Communicator& comm)
      : options_(options), comm_(comm) {}

  cost::Machine machine() {
    machine_.name = options_.name.empty() ? machine_name(comm_) : options_.name;
    machine_.on_gpu = !device::device_is_host;
    machine_.real_bytes = sizeof(Real);
    if (const auto gpu = device::use_gpu(comm_.local_rank()))
      machine_.cache_bytes = static_cast<double>(gpu->cache_bytes);
    if (!machine_.on_gpu) machine_.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    on_first(1, comm_, [&](const comm::Communicator&) { alone(); });
    for (const int n : rank_counts(comm_.size(), machine_.cores))
      on_first(n, comm_, [&](const comm::Communicator& ranks) { together(ranks); });
    for (cost::WindowRates& rates : machine_.windows) {
      const std::vector<double>& usual_s = usual_s_[rates.window_px];  // by rank 0 in all
      for (const double seconds : usual_s) rates.slowdown.push_back(seconds / usual_s.front());
      // Ranks that take turns find all cores at work, as one rank a core does.
      rates.slowdown.resize(machine_.links.size(), rates.slowdown.back());
    }
    return machine_;
  }

 private:
  void alone() {
    step("copies, multiply-adds, a file");
    const Roof roof = measure_roof(device::Device());
    machine_.copy_bytes_per_s = roof.bytes_per_s;
    machine_.flops_per_s = roof.flops_per_s;
    machine_.file_bytes_per_s = file_bytes_per_s();
    for (const int window_px : options_.windows_px) {
      step(text("windows of ", window_px));
      machine_.windows.push_back(measure_window(window_px, cost::cached_px(machine_)));
    }
    step("methods");
    // The second of the usual windows fills a device and takes little time.
    const cost::WindowRates& rates = machine_.windows[machine_.windows.size() > 1 ? 1 : 0];
    const MethodEpochs usual = epochs_of(usual_method_, rates);
    for (const std::string& method : deck::method_names())
      machine_.methods[method] =
          method == usual_method_ ? cost::MethodCost{} : beside(usual, epochs_of(method, rates));
  }

  static constexpr int few = 16;
  static constexpr int many = 256;

  /// Seconds of an epoch less what the default method takes for each batch, however small.
  struct MethodEpochs {
    double whole_s = 0;
    double few_batches_s = 0;  ///< 0: the method knows no batches
    double many_batches_s = 0;
  };
  static MethodEpochs epochs_of(const std::string& method, const cost::WindowRates& rates) {
    const comm::Communicator self(MPI_COMM_SELF);
    const auto epoch_s = [&](int n_batches) {
      return seconds_of_epoch(static_cast<int>(rates.window_px), method, n_batches, self) -
             n_batches * rates.batch_s - rates.epoch_s;
    };
    MethodEpochs epochs;
    epochs.whole_s = epoch_s(1);
    if (!deck::allows(method, deck::Option::batches)) return epochs;
    epochs.few_batches_s = epoch_s(few);
    epochs.many_batches_s = epoch_s(many);
    return epochs;
  }
  /// Two epochs give both numbers; a batch that costs nothing besides leaves the factor alone.
  static cost::MethodCost beside(const MethodEpochs& usual, const MethodEpochs& method) {
    if (method.few_batches_s == 0) return {.factor = method.whole_s / usual.whole_s};
    const double determinant = usual.few_batches_s * many - usual.many_batches_s * few;
    const cost::MethodCost cost{
        .factor = (method.few_batches_s * many - method.many_batches_s * few) / determinant,
        .batch_s = (usual.few_batches_s * method.many_batches_s -
                    usual.many_batches_s * method.few_batches_s) /
                   determinant};
    if (cost.batch_s >= 0 && cost.factor > 0) return cost;
    return {.factor = method.few_batches_s / usual.few_batches_s};
  }

  void together(const comm::Communicator& ranks) {
    step(text(ranks.size(), " rank(s) at once"));
    machine_.links.push_back(measure_link(ranks));
    if (machine_.cores > 0 && ranks.size() > machine_.cores) return;
    for (const int window_px : options_.windows_px)
      usual_s_[window_px].push_back(seconds_of_epoch(window_px, usual_method_, few, ranks));
  }

  void step(const std::string& what) const {
    if (comm_.is_root()) fmt::print(stderr, "{:>7.1f} s  {}\n", timer_.seconds(), what);
  }

  const std::string usual_method_ = settings::Solver().method;  ///< others are measured by it
  const MachineOptions& options_;
  const comm::Communicator& comm_;
  cost::Machine machine_;
  std::map<double, std::vector<double>> usual_s_;  ///< by window, on 1, 2 ... ranks at once
  Kokkos::Timer timer_;
};

}  // namespace

void bench_machine(MachineOptions& options, const comm::Communicator& comm) {
  std::ranges::sort(options.windows_px);
  const auto repeated = std::ranges::unique(options.windows_px);
  options.windows_px.erase(repeated.begin(), repeated.end());
  const cost::Machine machine = Measurement(options, comm).machine();
  comm.together([&] {
    if (!comm.is_root()) return;
    const std::string file_text = cost::machine_text(
        machine, text("# Measured rates, for tessera plan --machine. Written by tessera_bench "
                      "machine on ",
                      comm.size(), " rank(s) of one host.\n"));
    if (options.out.empty()) return fmt::print("{}", file_text);
    std::ofstream file(options.out);
    file << file_text;
    if (!file.flush())
      throw SystemError(text("-o ", options.out, " cannot be written; name a file that can"));
    fmt::print("{} written\n", options.out);
  });
}

}  // namespace tessera::scaling
