#include "run/versions.hpp"

#include <algorithm>

#include "tessera/base/text.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/device/device.hpp"
#include "tessera/device/gpu.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/halo/transport.hpp"
#include "tessera/io/hdf5.hpp"

#include "settings/transports.hpp"

namespace tessera::run {
namespace {

std::string transports() {
  const std::vector<std::string> names = halo::transport_names();
  std::vector<std::string> missing;
  for (const std::string& name : settings::transport_choices())
    if (name != "auto" && std::ranges::find(names, name) == names.end()) missing.push_back(name);
  return joined(names) +
         (missing.empty() ? "" : text(" (not in this build: ", joined(missing), ")"));
}

}  // namespace

std::string versions() {
  const char* precision = sizeof(Real) == sizeof(double) ? "double" : "float";
  return text("tessera ", TESSERA_VERSION, " (", precision, ")\n",  //
              "compiler ", TESSERA_COMPILER, "\n",                  //
              "kokkos ", KOKKOS_VERSION / 10000, ".", KOKKOS_VERSION / 100 % 100, ".",
              KOKKOS_VERSION % 100, " (", device::Device::name(), ")\n",  //
              "gpu ", device::gpu_versions(), "\n",                       //
              "mpi ", comm::library_version(), "\n",                      //
              "hdf5 ", io::library_version(), "\n",                       //
              "fft ", fft::library_version(), "\n",                       //
              "transports ", transports(), "\n");
}

}  // namespace tessera::run
