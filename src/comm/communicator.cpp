#include "tessera/comm/communicator.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "comm/pieces.hpp"
#include "comm/ranks_of.hpp"

namespace tessera::comm {

void check_mpi(int code, std::source_location where) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> message{};
  int length = 0;
  MPI_Error_string(code, message.data(), &length);
  throw SystemError(text("MPI: ", message.data(), " (in ", where.function_name(), ")"));
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  check_mpi(MPI_Get_library_version(version.data(), &length));
  const std::string all(version.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

namespace {

void leave(std::string_view line) {
  std::ignore = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(ExitCode::failed));
}

void has_not_started(int) {
  leave(
      "tessera: error: MPI has not started within its time (600 s, or TESSERA_START_TIMEOUT_S): a "
      "rank did not come\n");
}

void has_not_ended(int) {
  leave(
      "tessera: error: MPI has not ended within its time (600 s, or TESSERA_START_TIMEOUT_S): "
      "another rank or the launcher is stopped; what this job has written is whole\n");
}

/// A rank that does not come leaves the others in MPI_Init or MPI_Finalize, where no Watchdog is:
/// SIGALRM ends the process.
class TimeLimit {
 public:
  explicit TimeLimit(void (*when_over)(int)) {
    std::signal(SIGALRM, when_over);
    const char* given = std::getenv("TESSERA_START_TIMEOUT_S");
    ::alarm(given ? static_cast<unsigned>(std::max(0, std::atoi(given))) : default_s);
  }
  ~TimeLimit() {
    ::alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  static constexpr unsigned default_s = 600;
};

/// Words of the environment for MPI's start alone: programs that this one starts are others'
/// concern. What the user has set stays.
class StartWords {
 public:
  StartWords() = default;
  ~StartWords() {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  StartWords(const StartWords&) = delete;
  StartWords& operator=(const StartWords&) = delete;

  void set(const std::string& name, const std::string& value) {
    if (std::getenv(name.c_str())) return;
    ::setenv(name.c_str(), value.c_str(), 0);
    set_.push_back(name);
  }

 private:
  std::vector<std::string> set_;
};

bool has_launcher() {
  for (const char* of_launcher :
       {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD", "SLURM_STEP_ID", "ALPS_APP_PE"})
    if (std::getenv(of_launcher)) return true;
  return false;
}

/// A process that no launcher started talks to no other: Open MPI neither looks for networks nor
/// starts a daemon, which takes up to half a second.
void start_alone(StartWords& words) {
  // All such processes would share one folder for temporary files, which the first to end removes.
  std::error_code error;
  const std::string folder =
      (std::filesystem::temp_directory_path(error) / ("tessera." + std::to_string(::getpid())))
          .string();
  words.set("OMPI_MCA_ess_singleton_isolated", "1");
  words.set("OMPI_MCA_pml", "ob1");
  words.set("OMPI_MCA_btl", "self");
  words.set("OMPI_MCA_orte_top_session_dir", folder);
}

/// Through TCP Open MPI asks the receiver before a message above this limit leaves (by default 64
/// KiB): three latencies in the place of one. Messages below are copied twice and keep 2.5 times
/// their bytes for each peer (measured: src/halo/README.md).
constexpr const char* tcp_eager_bytes = "1048576";

}  // namespace

Environment::Environment(int& argc, char**& argv) {
  const TimeLimit limit(has_not_started);
  StartWords words;
  if (has_launcher())
    words.set("OMPI_MCA_btl_tcp_eager_limit", tcp_eager_bytes);
  else
    start_alone(words);
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_mpi(MPI_Barrier(MPI_COMM_WORLD));  // a rank that came with too little memory may not talk
}

Environment::~Environment() {
  const TimeLimit limit(has_not_ended);
  MPI_Finalize();
}

Communicator::Communicator(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &comm_));
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  check_mpi(MPI_Comm_rank(comm_, &rank_));
  check_mpi(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() {
  MPI_Comm_free(&comm_);
}

void Communicator::abort(int exit_code) const {
  MPI_Abort(comm_, exit_code);
  std::abort();
}

int Communicator::local_rank() const {
  return ranks_of_host(*this).rank();
}

void Communicator::barrier() const {
  const Doing doing("a barrier");
  check_mpi(MPI_Barrier(comm_));
}

namespace {

/// In pieces, because MPI counts are ints.
template <class T>
void all_reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  const Doing doing("an all-reduce");
  constexpr std::size_t max = 1u << 30;
  for (std::size_t begin = 0; begin < values.size(); begin += max) {
    const auto count = static_cast<int>(std::min(max, values.size() - begin));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data() + begin, count, type, operation, comm));
  }
}

}  // namespace

void Communicator::sum(std::span<double> v) const {
  all_reduce(v, MPI_DOUBLE, MPI_SUM, comm_);
}
void Communicator::sum(std::span<float> v) const {
  all_reduce(v, MPI_FLOAT, MPI_SUM, comm_);
}
void Communicator::sum(std::span<std::int64_t> v) const {
  all_reduce(v, MPI_INT64_T, MPI_SUM, comm_);
}
void Communicator::minimum(std::span<double> v) const {
  all_reduce(v, MPI_DOUBLE, MPI_MIN, comm_);
}
void Communicator::maximum(std::span<double> v) const {
  all_reduce(v, MPI_DOUBLE, MPI_MAX, comm_);
}

bool Communicator::any(bool here) const {
  const Doing doing("an all-reduce");
  int flag = here ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_LOR, comm_));
  return flag != 0;
}

void Communicator::broadcast_bytes(void* data, std::int64_t n_bytes) const {
  const Doing doing("a broadcast");
  constexpr std::int64_t max = 1 << 30;
  for (std::int64_t begin = 0; begin < n_bytes; begin += max) {
    const int count = static_cast<int>(std::min(max, n_bytes - begin));
    check_mpi(MPI_Bcast(static_cast<char*>(data) + begin, count, MPI_BYTE, 0, comm_));
  }
}

void Communicator::broadcast(std::string& text) const {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast_bytes(&length, sizeof length);
  text.resize(static_cast<std::size_t>(length));
  broadcast_bytes(text.data(), length);
}

std::vector<std::byte> Communicator::all_gather_bytes(std::span<const std::byte> bytes) const {
  return gather_in_pieces(bytes, comm_);
}

std::vector<std::byte> Communicator::exchange_bytes(
    std::span<const std::span<const std::byte>> to) const {
  return exchange_in_pieces(to, comm_);
}

std::vector<std::string> Communicator::all_gather(const std::string& text) const {
  const auto length = static_cast<std::int64_t>(text.size());
  const std::vector<std::int64_t> lengths = all_gather(std::span(&length, 1));
  const std::vector<char> characters = all_gather(std::span<const char>(text));
  std::vector<std::string> all;
  auto next = characters.begin();
  for (const std::int64_t n : lengths) {
    all.emplace_back(next, next + n);
    next += n;
  }
  return all;
}

void Communicator::together(const std::function<void()>& work) const {
  std::string message;
  int verdict = size_;  // the rank that failed; size_ means none
  auto exit_code = static_cast<int>(ExitCode::done);
  try {
    work();
  } catch (const AgreedError&) {
    throw;  // every rank has heard of it
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    // What nobody foresaw, such as memory that this rank lacks, does not say where it happened.
    message = known ? error.what() : text("[rank ", rank_, "] ", error.what());
    exit_code = static_cast<int>(known ? known->exit_code() : ExitCode::failed);
    verdict = rank_;
  }
  const Doing doing("an all-reduce");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_MIN, comm_));
  if (verdict == size_) return;
  check_mpi(MPI_Bcast(&exit_code, 1, MPI_INT, verdict, comm_));
  auto length = static_cast<int>(message.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, verdict, comm_));
  message.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(message.data(), length, MPI_CHAR, verdict, comm_));
  throw AgreedError(static_cast<ExitCode>(exit_code), message);
}

}  // namespace tessera::comm
