#include "stage_clock.hpp"

#include <stdexcept>

namespace tessera::scaling {
namespace {

namespace tools = Kokkos::Tools::Experimental;

StageClock* listening = nullptr;  // Kokkos' callbacks carry no state

void begin_kernel(const char* name, std::uint32_t, std::uint64_t*) {
  listening->begin(name);
}
void end_kernel(std::uint64_t) {
  listening->end();
}
void begin_region(const char* name) {
  listening->begin(name);
}
void end_region() {
  listening->end();
}
void begin_copy(Kokkos::Tools::SpaceHandle, const char* to, const void*, Kokkos::Tools::SpaceHandle,
                const char*, const void*, std::uint64_t) {
  listening->begin(std::string("copy to ") + to);
}
void end_copy() {
  listening->end();
}

}  // namespace

StageClock::StageClock() {
  if (listening) throw std::logic_error("two stage clocks at a time");
  listening = this;
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  tools::set_begin_parallel_reduce_callback(begin_kernel);
  tools::set_end_parallel_reduce_callback(end_kernel);
  tools::set_begin_deep_copy_callback(begin_copy);
  tools::set_end_deep_copy_callback(end_copy);
  tools::set_push_region_callback(begin_region);
  tools::set_pop_region_callback(end_region);
}

StageClock::~StageClock() {
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_end_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_end_parallel_reduce_callback(nullptr);
  tools::set_begin_deep_copy_callback(nullptr);
  tools::set_end_deep_copy_callback(nullptr);
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  listening = nullptr;
}

void StageClock::begin(const std::string& name) {
  charge();
  Stage& stage = stages_[name];
  ++stage.n_calls;
  open_.push_back(&stage);
  timer_.reset();  // finding the stage is nobody's time
}

void StageClock::end() {
  charge();
  open_.pop_back();
  timer_.reset();
}

/// The time since the last event to the stage that is open.
void StageClock::charge() {
  Kokkos::fence();
  if (!open_.empty()) open_.back()->seconds += timer_.seconds();
}

}  // namespace tessera::scaling
