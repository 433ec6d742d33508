#include "run/good_state.hpp"

#include <cstring>

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

GoodState::GoodState(Fields fields) : now_(std::move(fields)), kept_(now_) {
  for (Field& field : kept_)
    field.data = field.on_host ? allocate(field, host_memory_) : allocate(field, device_memory_);
}

void GoodState::keep(const device::Device& exec) const {
  copy(exec, now_, kept_);
}

void GoodState::put_back(const device::Device& exec) const {
  copy(exec, kept_, now_);
}

}  // namespace tessera::run
