#include "stop_signals.hpp"

#include <csignal>
#include <initializer_list>

namespace tessera::run {
namespace {

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t end_arrived = 0;
volatile std::sig_atomic_t usr1_arrived = 0;

void note_end(int) {
  end_arrived = 1;
}

void note_usr1(int) {
  usr1_arrived = 1;
}

}  // namespace

StopSignals::StopSignals(bool usr1_saves) : usr1_saves_(usr1_saves) {
  end_arrived = 0;
  usr1_arrived = 0;
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, note_end);
  std::signal(SIGUSR1, note_usr1);
}

StopSignals::~StopSignals() {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, SIG_DFL);
}

bool StopSignals::ask_to_stop() const {
  return end_arrived != 0 || (!usr1_saves_ && usr1_arrived != 0);
}

bool StopSignals::take_save() {
  const bool asked = usr1_saves_ && usr1_arrived != 0;
  if (asked) usr1_arrived = 0;
  return asked;
}

}  // namespace tessera::run
