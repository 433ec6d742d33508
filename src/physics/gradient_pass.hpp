#pragma once
/// Everything from object and probe to the sums of their updates, for one chunk.

#include "tessera/device/stream.hpp"

#include "physics/forward_model.hpp"

namespace tessera::physics {

/// Of places whose windows stay on the chip, in the chip's order; null: not kept.
struct KeptOnChip {
  device::complex* probes = nullptr;  ///< shifted
  device::complex* chi = nullptr;
};

/// chi: what the modulus constraint adds to the exit wave.
class GradientPass {
 public:
  explicit GradientPass(ForwardModel& model) : model_(model) {}

  /// @param with_probe false: sums.probe and sums.overlap stay as they are
  void add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
           const GradientSums& sums, bool with_probe);
  /// The same, and `kept` = chi / unitary_scale(), (chunk.count, image, h, w), where kernels are
  /// fused in the form that ProductsPass reads.
  void add_and_keep(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                    const GradientSums& sums, bool with_probe, WavesView kept);

  /// Where Illumination::shifts_on_chip says so.
  void add_on_chip(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                   const GradientSums& sums, bool with_probe, const KeptOnChip& kept);

  /// Where `slices_better_on_chip` of hot_path.hpp says so.
  void add_slices_on_chip(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                          const GradientSums& sums, bool with_probe,
                          const hot_path::KeptOfSlices& kept);

  /// From now on `add` gathers the sums of the probe there, behind the chunk.
  void gather_beside(device::Beside& beside) { beside_ = &beside; }

  /// Of the chunks so far, each before its update.
  RunningFigures& figures() { return figures_; }

 private:
  void find_chi(const device::Device& exec, const ObjectView& object, const Chunk& chunk);
  void add_through_slices(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                          const GradientSums& sums, bool with_probe, device::complex* kept);
  /// @param may_be_dense whether DenseCoverage may take dose and overlap. Three kernels add them
  /// behind their transforms; but all chunks of a batch do as those on the chip do.
  /// @param work what does it, from (scan, chunk, waves) as hot_path knows them
  template <class Work>
  void add_at_once(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
                   const GradientSums& sums, bool with_probe, bool may_be_dense, const Work& work);

  /// Where the sums of a chunk that `exec` has made are gathered.
  device::Device gathering(const device::Device& exec) {
    return beside_ ? beside_->fork(exec) : exec;
  }

  /// Before a chunk's kernel: the slots' sums of the last one may still be read there.
  void wait_for_gathering(const device::Device& exec) {
    if (beside_) beside_->join(exec);
  }

  ForwardModel& model_;
  RunningFigures figures_;
  device::Beside* beside_ = nullptr;
};

}  // namespace tessera::physics
