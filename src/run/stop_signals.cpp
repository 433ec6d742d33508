#include "stop_signals.hpp"

#include <csignal>
#include <initializer_list>

#include <unistd.h>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t end_arrived = 0;
volatile std::sig_atomic_t usr1_arrived = 0;

const StopSignals* heeded_at_once = nullptr;
ExitCode code_at_once = ExitCode::interrupted;

void note_end(int) {
  end_arrived = 1;
}

void note_usr1(int) {
  usr1_arrived = 1;
}

/// Without a word: a launcher whose job has failed ends the other ranks so.
void leave(int) {
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void expect_signals() {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, leave);
  std::signal(SIGUSR1, note_usr1);
}

StopSignals::StopSignals(bool usr1_saves) : usr1_saves_(usr1_saves) {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, note_end);
  std::signal(SIGUSR1, note_usr1);
}

StopSignals::~StopSignals() {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, SIG_DFL);
  forget();
}

bool StopSignals::ask_to_stop() const {
  return end_arrived != 0 || (!usr1_saves_ && usr1_arrived != 0);
}

bool StopSignals::take_save() {
  const bool asked = usr1_saves_ && usr1_arrived != 0;
  if (asked) usr1_arrived = 0;
  return asked;
}

void StopSignals::forget() {
  end_arrived = 0;
  usr1_arrived = 0;
}

NothingToSave::NothingToSave(const StopSignals& signals, ExitCode code) {
  heeded_at_once = &signals;
  code_at_once = code;
}

NothingToSave::~NothingToSave() {
  heeded_at_once = nullptr;
}

void end_at_once() {
  if (heeded_at_once && heeded_at_once->ask_to_stop())
    throw Error(code_at_once, text(signal_status, " before the first epoch; nothing is written"));
}

}  // namespace tessera::run
