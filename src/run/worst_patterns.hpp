#pragma once
/// The patterns that the model explains worst, with what it expects in their place: few, whatever
/// the scan.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/staged_file.hpp"

#include "run/chunk_figures.hpp"

namespace tessera::run {

class WorstPatterns {
 public:
  static constexpr int max_kept = 6;
  /// Of a picture's side: larger patterns are added up in squares.
  static constexpr int max_px = 256;

  /// @param window of a pattern
  /// @param chunk_size positions of the model's largest chunk
  /// @param centres zero frequency at [0, 0] goes to [h/2, w/2]
  WorstPatterns(Shape2 window, int chunk_size, bool centres);
  /// Device memory of this.
  static std::int64_t bytes(const physics::Sizes& sizes);
  /// Of their part of a result, at most.
  static std::int64_t stored_bytes(Shape2 window);

  /// Looks at the positions of `chunk`, which `model` has just compared.
  /// @param positions of the chunk, in the whole scan
  void look(const device::Device& exec, const physics::ForwardModel& model,
            const physics::Chunk& chunk, std::span<const int> positions);
  /// Keeps what is among the worst of all ranks. Collective.
  void agree(const comm::Communicator& comm);
  /// What was agreed on, "worst_patterns/...": each rank its own. All ranks make the call.
  void write(io::StagedFile& file) const;

 private:
  struct Kept {
    int position = 0;
    double cost = 0;  ///< by the noise model, above that of a perfect one
    double error = 0;
    std::vector<float> measured;
    std::vector<float> expected;
  };
  /// Of all ranks, in order.
  struct Entry {
    double cost;
    double position;
    double error;
    bool operator<(const Entry& other) const {
      return cost != other.cost ? cost > other.cost : position < other.position;
    }
  };
  bool belongs(double cost) const;
  std::vector<float> picture(int image) const;

  Shape2 window_;
  bool centres_;
  int bin_;
  ChunkFigures figures_;
  device::DeviceView<Real***> images_;
  device::HostView<Real***> host_images_;
  std::vector<Kept> kept_;     ///< worst first
  std::vector<Entry> agreed_;  ///< worst first
};

}  // namespace tessera::run
