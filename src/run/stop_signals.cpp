#include "stop_signals.hpp"

#include <csignal>

namespace tessera::run {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t signal_arrived = 0;

void note_signal(int) {
  signal_arrived = 1;
}

constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1};

}  // namespace

StopSignals::StopSignals() {
  signal_arrived = 0;
  for (const int number : signals) std::signal(number, note_signal);
}

StopSignals::~StopSignals() {
  for (const int number : signals) std::signal(number, SIG_DFL);
}

bool StopSignals::arrived() const {
  return signal_arrived != 0;
}

}  // namespace tessera::run
