#include "requests.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

namespace tessera::run {
namespace {

double since_1970_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Requests::Requests(const deck::Output& output, const comm::Communicator& comm)
    : comm_(comm), output_(output.file), signals_(output.on_usr1 == "save") {
  if (const char* end = std::getenv("SLURM_JOB_END_TIME"))
    if (const double seconds = std::atof(end); seconds > 0) job_end_s_ = seconds;
}

bool Requests::signalled() {
  return comm_.any(signals_.ask_to_stop());
}

/// Looking and removing are one call: a file that cannot be removed would ask again for ever.
bool Requests::take(const char* suffix) const {
  std::error_code ignored;
  return comm_.is_root() && std::filesystem::remove(output_ + suffix, ignored);
}

Request Requests::agreed(double room_s) {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  const bool job_ends = comm_.is_root() && since_1970_s() + room_s > job_end_s_;
  const bool save = take(".save") || signals_.take_save();
  std::array<double, 5> all{static_cast<double>(signals_.ask_to_stop()),
                            static_cast<double>(take(".stop")), static_cast<double>(save),
                            static_cast<double>(job_ends), comm_.is_root() ? seconds.count() : 0.0};
  comm_.maximum(all);
  return {all[0] > 0, all[1] > 0, all[2] > 0, all[3] > 0, all[4]};
}

}  // namespace tessera::run
