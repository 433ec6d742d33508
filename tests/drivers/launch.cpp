#include "launch.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto glance = std::chrono::milliseconds(10);

/// What can be read of it: a process under /proc may end meanwhile.
std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  if (command.n_ranks > 1) {
    std::istringstream mpiexec(TESSERA_MPIEXEC);
    words.assign(std::istream_iterator<std::string>(mpiexec), {});
    words.push_back(std::to_string(command.n_ranks));
  }
  if (!command.limit.empty())
    words.insert(words.end(), {"/bin/sh", "-c", command.limit + "; exec \"$0\" \"$@\""});
  words.emplace_back(TESSERA_PROGRAM);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  return words;
}

[[noreturn]] void become(std::vector<std::string> words, const std::string& out,
                         const std::string& err, const std::string& folder) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // if ctest kills this test, its jobs end too
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(127);
  dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(::open(out.c_str(), O_CREAT | O_WRONLY, 0666), STDOUT_FILENO);
  dup2(::open(err.c_str(), O_CREAT | O_WRONLY, 0666), STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// The fourth word of /proc/PID/stat; the second, the name, may hold blanks but ends with ')'.
pid_t parent_of(const std::string& stat) {
  std::istringstream after_name(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  char state = 0;
  pid_t parent = -1;
  after_name >> state >> parent;
  return parent;
}

}  // namespace

Job::Job(const Command& command) : is_mpi_(command.n_ranks > 1) {
  const std::vector<std::string> words = words_of(command);
  pid_ = fork();
  if (pid_ == 0) become(words, folder_.path("out"), folder_.path("err"), command.folder);
}

Job::~Job() {
  if (pid_ > 0) kill_all();
}

bool Job::ended() {
  if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ < 0;
}

void Job::kill_all() {
  const std::vector<pid_t> processes = ranks();
  kill(-pid_, SIGKILL);
  for (const pid_t process : processes) kill(process, SIGKILL);
  waitpid(pid_, &status_, 0);
  pid_ = -1;
}

Outcome Job::wait(Seconds max) {
  const auto start = Clock::now();
  while (!ended() && Clock::now() - start < max) std::this_thread::sleep_for(glance);
  Outcome outcome;
  outcome.timed_out = pid_ > 0;
  if (outcome.timed_out) kill_all();
  outcome.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.out = content(folder_.path("out"));
  outcome.err = content(folder_.path("err"));
  return outcome;
}

bool Job::prints(const std::string& words, Seconds max) {
  return writes("out", words, max);
}

bool Job::warns(const std::string& words, Seconds max) {
  return writes("err", words, max);
}

bool Job::writes(const char* stream, const std::string& words, Seconds max) {
  const auto start = Clock::now();
  while (Clock::now() - start < max) {
    if (content(folder_.path(stream)).find(words) != std::string::npos) return true;
    if (ended()) return false;
    std::this_thread::sleep_for(glance);
  }
  return false;
}

std::vector<pid_t> Job::ranks() const {
  if (!is_mpi_) return {pid_};
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    if (parent_of(content(entry.path() / "stat")) == pid_) found.push_back(std::stoi(name));
  }
  return found;
}

Outcome run_tessera(const Command& command) {
  return Job(command).wait();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::erase(line, '\0');  // mpirun of Open MPI 5 ends its banners with one
    all.push_back(line);
  }
  return all;
}

std::string the_error(const Outcome& outcome) {
  const std::string mark = "tessera: error: ";
  std::vector<std::string> found;
  bool follows_error = false;
  for (const std::string& line : lines(outcome.err)) {
    const bool is_banner = line.empty() || line[0] == '-' || line[0] == '[';  // mpirun's
    const bool is_error = line.starts_with(mark);
    EXPECT_TRUE(!follows_error || is_banner || is_error) << "a second line: " << line;
    follows_error = is_error;
    if (is_error) found.push_back(line.substr(mark.size()));
  }
  EXPECT_EQ(found.size(), 1u) << outcome.err;
  EXPECT_EQ(outcome.err.find("HDF5-DIAG"), std::string::npos) << outcome.err;
  return found.empty() ? "" : found.front();
}

void expect_error(const Outcome& outcome, int exit_code, const std::vector<std::string>& names) {
  EXPECT_FALSE(outcome.timed_out) << outcome.err;
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  const std::string error = the_error(outcome);
  for (const std::string& name : names) EXPECT_THAT(error, ::testing::HasSubstr(name));
}

}  // namespace tessera::testing
