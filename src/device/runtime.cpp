#include "tessera/device/runtime.hpp"

#include <system_error>

#include "tessera/base/error.hpp"
#include "tessera/device/device.hpp"

namespace tessera::device {
namespace {

void start_kokkos([[maybe_unused]] const std::optional<Gpu>& gpu) {
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  if (gpu) settings.set_device_id(gpu->index);
  Kokkos::initialize(settings);
#else
  Kokkos::initialize();  // so old a Kokkos runs on hosts only
#endif
}

/// Its driver and context are then there for every thread.
void wake_gpu(int local_rank) noexcept {
  try {
    use_gpu(local_rank);
  } catch (const Error&) {  // Runtime will say it
  }
}

}  // namespace

Runtime::Runtime(int local_rank) : gpu_(use_gpu(local_rank)) {
  start_kokkos(gpu_);
}

Runtime::~Runtime() {
  Kokkos::finalize();
}

EarlyStart::EarlyStart(int local_rank) {
  if (device_is_host) return;
  try {
    thread_ = std::thread(wake_gpu, local_rank);
  } catch (const std::system_error&) {  // then it is woken when it is needed
  }
}

EarlyStart::~EarlyStart() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace tessera::device
