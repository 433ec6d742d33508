#include "object_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "tessera/base/progress.hpp"
#include "tessera/base/random.hpp"

#include "optics/fourier_tools.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;

/// Blocks reach this share of their side past their own pixels on every side. There they blend into
/// their neighbours, and as far again they fall to 0, for a shift by transforms wraps round.
constexpr int margin_share = 32;

/// 0 to 1 over the first `length` pixels from an edge.
double rise(int pixel, int length) {
  if (pixel >= length) return 1;
  return std::pow(std::sin(std::numbers::pi / 2 * (pixel + 0.5) / length), 2);
}

/// Lets the images fall to 0 towards those edges of `box` where `whole` goes on.
void taper(WaveStack& images, const Box& box, const Box& whole, int width_px) {
  const auto factor = [&](int i, int n, bool from_begin, bool from_end) {
    return (from_begin ? rise(i, width_px) : 1) * (from_end ? rise(n - 1 - i, width_px) : 1);
  };
  for (int i = 0; i < images.n(); ++i)
    for (int y = 0; y < images.h(); ++y)
      for (int x = 0; x < images.w(); ++x)
        images(i, y, x) *=
            factor(y, images.h(), box.begin.y > whole.begin.y, box.end.y < whole.end.y) *
            factor(x, images.w(), box.begin.x > whole.begin.x, box.end.x < whole.end.x);
}

/// Takes out phase, scale and the ramp about `centre`; pixel [0, 0] of the images is `corner`.
void remove(const Ambiguity& ambiguity, WaveStack& images, Pixel corner, Pixel centre) {
  const Complex factor = std::polar(1 / ambiguity.scale, -ambiguity.phase_rad);
  const Vec2 ramp = ambiguity.ramp_rad_per_px;
  for (int y = 0; y < images.h(); ++y)
    for (int x = 0; x < images.w(); ++x) {
      const Pixel from_centre = corner + Pixel{y, x} - centre;
      const Complex turned =
          factor * std::polar(1.0, -ramp.y * from_centre.y - ramp.x * from_centre.x);
      for (int i = 0; i < images.n(); ++i) images(i, y, x) *= turned;
    }
}

/// Where a length is cut into parts of at most `most`, all but the last equal and, if long, of a
/// multiple of 32 pixels: with margins of as many, lengths with large prime factors make transforms
/// several times as slow.
std::vector<int> cuts(int length, int most) {
  const int multiple = most < 256 ? 1 : 32;
  const int n = (length - 1) / most + 1;
  const int equal = (length - 1) / n + 1;
  const int part = std::min(most, (equal - 1) / multiple * multiple + multiple);
  std::vector<int> edges;
  for (int edge = 0; edge < length; edge += part) edges.push_back(edge);
  edges.push_back(length);
  return edges;
}

std::vector<Box> parts_of(Shape2 whole, int most) {
  const std::vector<int> y = cuts(whole.h, most);
  const std::vector<int> x = cuts(whole.w, most);
  std::vector<Box> boxes;
  for (std::size_t i = 0; i + 1 < y.size(); ++i)
    for (std::size_t j = 0; j + 1 < x.size(); ++j)
      boxes.push_back({{y[i], x[j]}, {y[i + 1], x[j + 1]}});
  return boxes;
}

Pixel nearest(Vec2 shift_px) {
  return {static_cast<int>(std::lround(shift_px.y)), static_cast<int>(std::lround(shift_px.x))};
}

Ambiguity together_with(const Ambiguity& first, const Ambiguity& then) {
  return {first.phase_rad + then.phase_rad, first.ramp_rad_per_px + then.ramp_rad_per_px,
          first.scale * then.scale, first.shift_px + then.shift_px};
}

double greatest_light(const optics::Illumination& light, int side_px,
                      const comm::Communicator& comm) {
  std::array<double, 1> max{};
  comm.together([&] {
    int number = 0;
    for (const Box& box : optics::equal_boxes(Box::at({0, 0}, light.shape()), side_px)) {
      if (number++ % comm.size() != comm.rank()) continue;
      for (const double value : light.in(box)) max[0] = std::max(max[0], value);
      note_progress();
    }
  });
  comm.maximum(max);
  return max[0];
}

}  // namespace

struct ObjectPair::Objects {
  ObjectSource a;
  ObjectSource b;
  const comm::Communicator& comm;
  Vec2 offset_px;             ///< of a on the grid of b
  Pixel whole = {};           ///< the same, rounded
  Box overlap = {};           ///< on the grid of b
  std::vector<Box> own = {};  ///< of every block, in the overlap
  int margin_px = 0;
  std::int64_t n_counted = 0;
  std::vector<std::vector<bool>> lit = {};  ///< of this rank's blocks, with their margins

  bool is_whole() const { return own.size() == 1; }
  Box all() const { return Box::at({0, 0}, overlap.shape()); }
  /// With `n_margins`, as far as there are pixels.
  Box around(int block, int n_margins) const {
    return intersection(grown(own[block], n_margins * margin_px), all());
  }
  bool is_here(int block) const { return block % comm.size() == comm.rank(); }
  void cut(BlockLimits limits);
  std::vector<int> find_lit(const std::function<optics::PixelSet(const Box&)>& lit_in);
};

void ObjectPair::Objects::cut(BlockLimits limits) {
  whole = nearest(offset_px);
  overlap = intersection(Box::at(whole, a.shape()), Box::at({0, 0}, b.shape()));
  if (b.n() * b.shape().size() <= limits.whole_px) {
    own = {all()};
    return;
  }
  // Of many slices a block has fewer pixels.
  constexpr int least_px = 256;
  const int side = std::max(std::min(least_px, limits.side_px),
                            static_cast<int>(limits.side_px / std::sqrt(b.n())));
  margin_px = side / margin_share;
  own = parts_of(all().shape(), side - 4 * margin_px);
}

std::vector<int> ObjectPair::Objects::find_lit(
    const std::function<optics::PixelSet(const Box&)>& lit_in) {
  lit.resize(own.size());
  std::vector<std::int64_t> n_lit(own.size());
  std::array<std::int64_t, 1> n_own{};
  comm.together([&] {
    for (int block = 0; block < std::ssize(own); ++block) {
      if (!is_here(block)) continue;
      const optics::PixelSet pixels = lit_in(moved(around(block, 1), overlap.begin));
      lit[block].assign(pixels.begin(), pixels.end());
      n_lit[block] = std::count(pixels.begin(), pixels.end(), 1);
      const Box inside = moved(own[block], Pixel{} - around(block, 1).begin);
      for (int y = inside.begin.y; y < inside.end.y; ++y)
        n_own[0] += std::count(&pixels(0, y, inside.begin.x),
                               &pixels(0, y, inside.begin.x) + inside.width(), 1);
      note_progress();
    }
  });
  comm.sum(n_lit);
  comm.sum(n_own);
  n_counted = n_own[0];
  std::vector<int> found;
  for (int block = 0; block < std::ssize(own); ++block)
    if (n_lit[block] > 0) found.push_back(block);
  return found;
}

ObjectPair::ObjectPair(const ObjectSource& a, const ObjectSource& b, Vec2 offset_px,
                       const optics::Illumination& light, const comm::Communicator& comm,
                       BlockLimits limits) {
  const auto objects =
      std::make_shared<Objects>(Objects{.a = a, .b = b, .comm = comm, .offset_px = offset_px});
  objects->cut(limits);
  const double least = optics::least_light * greatest_light(light, limits.side_px, comm);
  blocks_ = objects->find_lit([&](const Box& box) {
    const ImageStack<double> here = light.in(box);
    optics::PixelSet pixels(1, box.shape());
    std::ranges::transform(here, pixels.begin(),
                           [&](double value) { return least > 0 && value >= least ? 1 : 0; });
    return pixels;
  });
  objects_ = objects;
}

ObjectPair::ObjectPair(const WaveStack& a, const WaveStack& b, const optics::PixelSet& region,
                       const comm::Communicator& comm, BlockLimits limits) {
  const auto objects =
      std::make_shared<Objects>(Objects{.a = a, .b = b, .comm = comm, .offset_px = {}});
  objects->cut(limits);
  blocks_ = objects->find_lit([&](const Box& box) { return optics::cropped(region, box); });
  objects_ = objects;
}

Shape2 ObjectPair::shape() const {
  return objects_->overlap.shape();
}

Vec2 ObjectPair::place_px(Vec2 on_reference_px) const {
  const Vec2 rest = as_vec2(objects_->whole) - objects_->offset_px;
  return on_reference_px + removed_.shift_px + rest - as_vec2(objects_->overlap.begin);
}

int ObjectPair::n_images() const {
  return image_ ? 1 : objects_->b.n();
}

Shape2 ObjectPair::block_shape() const {
  Shape2 most;
  for (const int block : blocks_) {
    const Box box = objects_->around(block, 2);
    most = {std::max(most.h, box.height()), std::max(most.w, box.width())};
  }
  return most;
}

std::int64_t ObjectPair::n_counted() const {
  return objects_->n_counted;
}

const comm::Communicator& ObjectPair::comm() const {
  return objects_->comm;
}

ObjectPair ObjectPair::without(const Ambiguity& ambiguity) const {
  ObjectPair freed = *this;
  freed.removed_ = together_with(removed_, ambiguity);
  return freed;
}

ObjectPair ObjectPair::image(int i) const {
  ObjectPair one = *this;
  one.image_ = i;
  return one;
}

ObjectPair ObjectPair::sample(int n_blocks) const {
  ObjectPair some = *this;
  constexpr std::uint64_t seed = 1;
  std::ranges::sort(some.blocks_, {},
                    [](int block) { return random_bits(seed, static_cast<std::uint64_t>(block)); });
  some.blocks_.resize(std::min(some.blocks_.size(), static_cast<std::size_t>(n_blocks)));
  return some;
}

/// The reference on the pixels of a block, moved as a is.
WaveStack ObjectPair::moved_reference(int block) const {
  const Objects& from = *objects_;
  const int first = image_.value_or(0);
  const Vec2 rest = as_vec2(from.whole) - from.offset_px;
  if (from.is_whole()) {
    if (rest == Vec2{})
      return optics::shifted(from.b.read(from.overlap, first, n_images()), removed_.shift_px);
    const Box all_of_b = Box::at({0, 0}, from.b.shape());
    WaveStack b = optics::shifted(from.b.read(all_of_b, first, n_images()), rest);
    return optics::shifted(optics::cropped(b, from.overlap), removed_.shift_px);
  }
  const Vec2 shift_px = removed_.shift_px + rest;
  const Pixel steps = nearest(shift_px);
  const Box box = from.around(block, 2);
  WaveStack b =
      from.b.read(moved(moved(box, from.overlap.begin), Pixel{} - steps), first, n_images());
  taper(b, box, from.all(), from.margin_px);
  return optics::shifted(std::move(b), shift_px - as_vec2(steps));
}

PairBlock ObjectPair::read(int block) const {
  const Objects& from = *objects_;
  PairBlock found;
  found.box = from.around(block, 2);
  const Box on_b = moved(found.box, from.overlap.begin);
  found.a = from.a.read(moved(on_b, Pixel{} - from.whole), image_.value_or(0), n_images());
  remove(removed_, found.a, found.box.begin, {shape().h / 2, shape().w / 2});
  found.b = moved_reference(block);
  found.lit = lit_of(block);
  found.counted = found.lit;
  const Box own = moved(from.own[block], Pixel{} - found.box.begin);
  for (int y = 0; y < found.lit.h(); ++y)
    for (int x = 0; x < found.lit.w(); ++x)
      if (!own.contains(Pixel{y, x})) found.counted(0, y, x) = 0;
  return found;
}

/// On the pixels of PairBlock::box.
optics::PixelSet ObjectPair::lit_of(int block) const {
  const Box box = objects_->around(block, 2);
  const Box inner = moved(objects_->around(block, 1), Pixel{} - box.begin);
  optics::PixelSet lit(1, box.shape());
  auto next = objects_->lit[block].begin();
  for (int y = inner.begin.y; y < inner.end.y; ++y)
    for (int x = inner.begin.x; x < inner.end.x; ++x) lit(0, y, x) = *next++ ? 1 : 0;
  return lit;
}

void ObjectPair::for_each(const std::function<void(const PairBlock&)>& use) const {
  objects_->comm.together([&] {
    for (const int block : blocks_) {
      if (!objects_->is_here(block)) continue;
      use(read(block));
      note_progress();
    }
  });
}

void ObjectPair::for_each_lit(const std::function<void(const optics::PixelSet&)>& use) const {
  objects_->comm.together([&] {
    for (const int block : blocks_)
      if (objects_->is_here(block)) use(lit_of(block));
  });
}

double relative_difference(const ObjectPair& pair) {
  std::array<double, 2> sums{};
  pair.for_each([&](const PairBlock& block) {
    for (int i = 0; i < block.a.n(); ++i)
      for (std::int64_t r = 0; r < block.box.area(); ++r) {
        if (!block.counted.data()[r]) continue;
        sums[0] += std::norm(block.a.image(i)[r] - block.b.image(i)[r]);
        sums[1] += std::norm(block.b.image(i)[r]);
      }
  });
  pair.comm().sum(sums);
  return std::sqrt(sums[0] / sums[1]);
}

}  // namespace tessera::analysis
