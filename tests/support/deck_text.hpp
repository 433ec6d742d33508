#pragma once
/// Decks and temporary folders for tests that run the whole thing.

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "tessera/base/text.hpp"

#include "deck/parse.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// A beam of 32 x 32 pixels, in decks that begin with it.
inline const std::string small_beam = R"(
[experiment]
energy_eV = 8000.0
distance_m = 1.0
detector_pixel_m = 200e-6
[probe]
initial = "aperture"
semi_angle_rad = 1.2e-3
defocus_m = 60e-6
)";

/// Its near field is recorded.
inline const std::string near_beam = R"(
[experiment]
energy_eV = 8000.0
propagation = "fresnel"
distance_m = 6e-3
detector_pixel_m = 200e-9
[probe]
initial = "aperture"
semi_angle_rad = 2e-4
defocus_m = 10e-3
)";

/// A jittered raster; small enough for seconds, large enough for six tiles.
inline const std::string small_deck = small_beam + R"(
[data]
file = "scan.h5"
valid_pixels = "valid_pixels"
[solver]
epochs = 3
batch_size = 16
[simulation]
scan = "raster"
n_positions = 81
step_m = 120e-9
detector_shape = [32, 32]
dead_pixel_fraction = 0.01
)";

/// Atoms that lsqml recovers from a sound scan: what tests of recovery spoil.
inline const std::string atoms_deck = small_beam + R"(
[data]
file = "scan.h5"
[solver]
method = "lsqml"
epochs = 150
batch_size = 9
object_step = 1.0
probe_step = 1.0
[simulation]
object = "atoms"
n_positions = 81
step_m = 90e-9
detector_shape = [32, 32]
counts_per_pattern = 1e7
)";

inline deck::Deck parsed(const std::filesystem::path& folder, std::vector<std::string> overrides,
                         const std::string& toml = small_deck) {
  return deck::parse(toml, (folder / "deck.toml").string(), overrides);
}

/// A folder of this test's own, the same on all ranks, removed with the object. Collective.
class SharedFolder {
 public:
  explicit SharedFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              text("tessera_", name, "_", world().all_gather(std::to_string(getpid())).front())) {
    if (world().is_root()) {
      std::filesystem::remove_all(path_);
      std::filesystem::create_directories(path_);
    }
    world().barrier();
  }
  ~SharedFolder() {
    world().barrier();
    if (world().is_root()) std::filesystem::remove_all(path_);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::testing
