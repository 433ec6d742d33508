#pragma once
/// Two objects on one grid, seen block by block, so that neither need fit in memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/comm/communicator.hpp"

#include "ambiguity.hpp"
#include "object_source.hpp"
#include "optics/illuminated_region.hpp"

namespace tessera::analysis {

/// An object of no more pixels, slices counted, is one block. A larger one is cut into blocks of at
/// most this side, margins included.
struct BlockLimits {
  std::int64_t whole_px = 1 << 21;
  int side_px = 1024;
};

/// Pixels of both objects, freed of an ambiguity.
struct PairBlock {
  Box box;  ///< these pixels, of those that are compared
  WaveStack a;
  WaveStack b;               ///< moved as a is
  optics::PixelSet lit;      ///< by the reference's windows
  optics::PixelSet counted;  ///< lit pixels of this block alone; of all blocks: every lit one once
};

class ObjectPair {
 public:
  /// @param b the reference
  /// @param offset_px pixel (0, 0) of a on the grid of b
  /// @param light on b
  /// `comm` must outlive it. Collective.
  ObjectPair(const ObjectSource& a, const ObjectSource& b, Vec2 offset_px,
             const optics::Illumination& light, const comm::Communicator& comm,
             BlockLimits limits = {});
  /// Arrays on one grid, `region` the lit pixels.
  ObjectPair(const WaveStack& a, const WaveStack& b, const optics::PixelSet& region,
             const comm::Communicator& comm, BlockLimits limits = {});

  /// Where both have pixels; (0, 0) is its corner.
  Shape2 shape() const;
  int n_images() const;
  /// Of every block's arrays, at most.
  Shape2 block_shape() const;
  /// Lit pixels of one image.
  std::int64_t n_counted() const;
  /// Where a point of the reference lies on the compared pixels, with the shift of a that has been
  /// removed.
  Vec2 place_px(Vec2 on_reference_px) const;
  int n_blocks() const { return static_cast<int>(blocks_.size()); }
  const comm::Communicator& comm() const;

  /// The same with an ambiguity of a removed, beyond what is removed already.
  ObjectPair without(const Ambiguity& ambiguity) const;
  ObjectPair image(int i) const;
  /// Some lit blocks, spread over the object; all if there are no more.
  ObjectPair sample(int n_blocks) const;

  /// Every block on one of the ranks. Collective.
  void for_each(const std::function<void(const PairBlock&)>& use) const;
  /// The lit pixels of every block alone, for which no object is read. Collective.
  void for_each_lit(const std::function<void(const optics::PixelSet&)>& use) const;

 private:
  struct Objects;
  PairBlock read(int block) const;
  optics::PixelSet lit_of(int block) const;
  WaveStack moved_reference(int block) const;

  std::shared_ptr<const Objects> objects_;
  std::vector<int> blocks_;  ///< lit ones, of all ranks
  Ambiguity removed_;
  std::optional<int> image_;
};

/// ||a - b|| / ||b|| over the counted pixels. Collective.
double relative_difference(const ObjectPair& pair);

}  // namespace tessera::analysis
