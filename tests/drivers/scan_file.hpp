#pragma once
/// A scan small enough to start the program on it a hundred times, and its deck.

#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

#include "support/scratch_folder.hpp"

namespace tessera::testing {

/// What goes into the file; a test spoils some of it.
struct SmallScan {
  io::Extents pattern_extents{16, 16, 16};
  io::ElementType pattern_type = io::ElementType::f32;
  std::vector<double> patterns;  ///< counts, a spot in the centre
  io::Extents position_extents{16, 2};
  std::vector<double> positions_m;  ///< 4 x 4
  io::Extents mask_extents{16, 16};
  std::vector<double> valid_pixels;
  io::Extents probe_extents{1, 16, 16};

  SmallScan();
  double& count(int position, int y, int x) {
    return patterns[static_cast<std::size_t>((position * 16 + y) * 16 + x)];
  }
  /// Distance between positions, object pixels.
  void set_step(double step_px);
  void write(const std::string& path) const;
};

/// A folder with the scan and a deck that reconstructs it.
class ScanFolder {
 public:
  explicit ScanFolder(const SmallScan& scan = {});
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string deck() const { return path("deck.toml"); }
  std::string scan() const { return path("scan.h5"); }
  std::string result() const { return path("result.h5"); }

  /// `tessera reconstruct deck overrides...`
  std::vector<std::string> reconstruct(const std::vector<std::string>& overrides = {}) const;
  /// Removes the deck's line of this key.
  void leave_out(const std::string& key) const;
  void write_deck(const std::string& text) const;
  /// Names of all files, sorted.
  std::vector<std::string> files() const;

 private:
  ScratchFolder folder_;
};

/// The deck of ScanFolder.
std::string small_deck();

/// Object pixel of that deck's experiment with patterns of 16 x 16.
double small_pixel_m();

}  // namespace tessera::testing
