#include "run/good_state.hpp"

#include <cstring>
#include <limits>
#include <utility>

namespace tessera::run {
namespace {

using solvers::Field;
using solvers::Fields;

template <class View>
char* allocate(const Field& field, std::vector<View>& memory) {
  memory.emplace_back(Kokkos::view_alloc("tessera::run::good_state", Kokkos::WithoutInitializing),
                      static_cast<std::size_t>(field.n_bytes()));
  return memory.back().data();
}

void copy(const device::Device& exec, const Fields& from, const Fields& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto n = static_cast<std::size_t>(from[i].n_bytes());
    if (n == 0) continue;
    auto* const of = static_cast<char*>(from[i].data);
    auto* const into = static_cast<char*>(to[i].data);
    if (from[i].on_host)
      std::memcpy(into, of, n);
    else
      Kokkos::deep_copy(exec, device::DeviceView<char*>(into, n), device::DeviceView<char*>(of, n));
  }
}

}  // namespace

GoodState::GoodState(Fields fields, const device::Device& exec, int n_epochs)
    : now_(std::move(fields)), best_(room()), last_(room()) {
  forget_cost();
  keep(exec, n_epochs);
  std::swap(best_, last_);
  keep(exec, n_epochs);  // which the first epoch judges
}

GoodState::Copy GoodState::room() {
  Copy room{now_, 0};
  for (Field& field : room.fields)
    field.data = field.on_host ? allocate(field, host_memory_) : allocate(field, device_memory_);
  return room;
}

void GoodState::keep(const device::Device& exec, int n_epochs) {
  copy(exec, now_, last_.fields);
  last_.n_epochs = n_epochs;
}

void GoodState::judge(double cost) {
  if (!(cost <= least_cost_)) return;
  least_cost_ = cost;
  std::swap(best_, last_);
}

void GoodState::forget_cost() {
  least_cost_ = std::numeric_limits<double>::infinity();
}

int GoodState::put_back(const device::Device& exec) {
  copy(exec, best_.fields, now_);
  keep(exec, best_.n_epochs);
  return best_.n_epochs;
}

}  // namespace tessera::run
