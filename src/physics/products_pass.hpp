#pragma once
/// What the directions of a batch change in its exit waves, and how that fits what is missing
/// there.

#include <memory>
#include <span>

#include "tessera/physics/sizes.hpp"

#include "physics/gradient_pass.hpp"

namespace tessera::physics {

/// Of one position, over all images: with chi = a u + b v in the least-squares sense.
struct NormalEquations {
  static constexpr int uu = 0;    ///< ||u||^2
  static constexpr int uv = 1;    ///< Re <u, v>
  static constexpr int vv = 2;    ///< ||v||^2
  static constexpr int uchi = 3;  ///< Re <u, chi>
  static constexpr int vchi = 4;  ///< Re <v, chi>
  static constexpr int n = 5;
};

using Products = device::DeviceView<double * [NormalEquations::n]>;

/// Where a batch's step may lead from object O and probe P.
struct Directions {
  ObjectView object;  ///< dO
  ProbeView probe;    ///< dP
  ObjectView moved;   ///< O + dO, for thick samples alone
};

/// chi of a whole batch, kept for its products with u and v, what dO and dP change in the exit
/// waves: P dO and dP O for a thin sample, for a thick one u is the difference that dO makes.
class ProductsPass {
 public:
  /// @param max_in_batch positions of this rank
  ProductsPass(ForwardModel& model, int max_in_batch);
  ~ProductsPass();
  /// Device memory that it takes: chi and the probe's shifted directions; of a thick sample what
  /// the object's direction changes, and those of the probe where windows stay on the chip.
  static std::int64_t bytes(const Sizes& sizes, int max_in_batch);

  /// GradientPass::add of a chunk, whose chi is kept if it is sampled.
  /// @param first_place of the batch, in the epoch's order
  void add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
           int first_place, const GradientSums& sums, bool with_probe);
  /// Those of every position of the batch that is in `sampled`, by its place from the first on; O
  /// and P are as they were for chi. Afterwards the model's probe has to be set anew.
  /// @param sampled chunks
  const Products& find(const device::Device& exec, const ObjectView& object,
                       const Directions& directions, std::span<const Chunk> sampled,
                       int first_place);

  /// See GradientPass.
  void gather_beside(device::Beside& beside) { gradient_.gather_beside(beside); }

  /// Of the chunks so far, each before its update.
  RunningFigures& figures() { return gradient_.figures(); }

 private:
  void find_of_thin(const device::Device& exec, const ObjectView& object,
                    const Directions& directions, std::span<const Chunk> sampled, int first_place);
  /// Whether add_on_chip takes the chunk, and its probes are kept.
  bool stays_on_chip(const ObjectView& object, const Chunk& chunk, int place) const;
  void multiply_on_chip(const device::Device& exec, const ObjectView& object,
                        const Directions& directions, const Chunk& chunk, int place);
  void multiply(const device::Device& exec, const ObjectView& object, const Directions& directions,
                const Chunk& chunk, int place);
  void multiply_at_once(const device::Device& exec, const ObjectView& object,
                        const Directions& directions, const Chunk& chunk, int place);
  void find_of_thick(const device::Device& exec, const ObjectView& object,
                     const Directions& directions, std::span<const Chunk> sampled, int first_place);
  /// Whether the gradient's windows stay on the chip, and kept_at() is kept.
  bool slices_stay_on_chip(const ObjectView& object, const Chunk& chunk) const;
  hot_path::KeptOfSlices kept_at(int place, const Chunk& chunk) const;
  void multiply_slices_on_chip(const device::Device& exec, const ObjectView& object,
                               const Directions& directions, const Chunk& chunk, int place);
  void find_exit_waves(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  void multiply_changes(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                        int place);
  void find_object_change(const device::Device& exec, const ObjectView& object,
                          const ObjectView& moved, const Chunk& chunk, int place);
  WavesView waves_at(const WavesView& of_batch, int place, const Chunk& chunk) const;
  Products products_at(int place, const Chunk& chunk) const;

  ForwardModel& model_;
  GradientPass gradient_;
  WavesView chi_;      ///< of the batch, (place, image, h, w)
  WavesView changes_;  ///< u, the same, exit waves before it; of thick samples alone
  Products products_;  ///< by place
  WavesView probes_;   ///< shifted, on the chip; of thin samples alone
  std::unique_ptr<Illumination> direction_;  ///< shifted dP; null: thick, and not on the chip
};

}  // namespace tessera::physics
