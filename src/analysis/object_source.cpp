#include "object_source.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::analysis {
namespace {

/// Reads a slab as it is stored: HDF5 takes longer to convert numbers than to read them. `put`
/// gets every value and its index.
template <class T, class Put>
void read_slab(const io::File& file, const std::string& name, const io::Extents& begin,
               const io::Extents& count, std::int64_t n_values, io::ElementType type,
               const Put& put) {
  std::vector<T> values(static_cast<std::size_t>(n_values));
  file.read_slab_alone(name, begin, count, type, values.data());
  for (std::int64_t i = 0; i < n_values; ++i) put(i, values[static_cast<std::size_t>(i)]);
}

}  // namespace

ObjectSource::ObjectSource(std::shared_ptr<const io::File> file, std::string dataset) {
  const io::DatasetInfo info = file->info(dataset);
  const std::size_t n_axes = info.extents.size();
  const auto refuse = [&](const auto&... why) {
    throw InputError(text("dataset \"", dataset, "\" of \"", file->path(), "\" ", why...));
  };
  if (n_axes < 2 || !(io::is_real(info.type) || io::is_complex(info.type)))
    refuse("is not an object: it must be real or complex, (h, w) or (n, h, w)");
  std::int64_t n = 1;
  for (std::size_t i = 0; i + 2 < n_axes; ++i) n *= info.extents[i];
  const std::int64_t h = info.extents[n_axes - 2];
  const std::int64_t w = info.extents[n_axes - 1];
  if (std::max({h, w, n}) > std::numeric_limits<int>::max() / 2)
    refuse("is ", n, " images of ", h, " x ", w, "; at most ", std::numeric_limits<int>::max() / 2,
           " each are possible");
  n_ = static_cast<int>(n);
  shape_ = {static_cast<int>(h), static_cast<int>(w)};
  from_ = Dataset{std::move(file), std::move(dataset), info.extents, info.type};
}

WaveStack ObjectSource::read(const Box& box, int first, int n_images) const {
  WaveStack out(n_images, box.shape());
  const Box held = intersection(box, Box::at({0, 0}, shape_));
  if (held.empty()) return out;
  if (const auto* waves = std::get_if<WaveStack>(&from_)) {
    for (int i = 0; i < n_images; ++i)
      for (int y = held.begin.y; y < held.end.y; ++y)
        std::copy_n(&(*waves)(first + i, y, held.begin.x), held.width(),
                    &out(i, y - box.begin.y, held.begin.x - box.begin.x));
    return out;
  }
  const auto& from = std::get<Dataset>(from_);
  const std::size_t n_axes = from.extents.size();
  io::Extents begin(n_axes, 0);
  io::Extents count(n_axes, 1);
  begin[n_axes - 2] = held.begin.y;
  begin[n_axes - 1] = held.begin.x;
  count[n_axes - 2] = held.height();
  count[n_axes - 1] = held.width();
  for (int i = 0; i < n_images; ++i) {
    std::int64_t rest = first + i;
    for (std::size_t axis = n_axes - 2; axis-- > 0; rest /= from.extents[axis])
      begin[axis] = rest % from.extents[axis];
    const auto read_as = [&]<class T>(T, io::ElementType type) {
      read_slab<T>(*from.file, from.name, begin, count, held.area(), type,
                   [&](std::int64_t r, const T& value) {
                     const Pixel at{static_cast<int>(r / held.width()),
                                    static_cast<int>(r % held.width())};
                     const Pixel to = held.begin - box.begin + at;
                     out(i, to.y, to.x) = value;
                   });
    };
    if (from.type == io::ElementType::complex64)
      read_as(std::complex<float>(), from.type);
    else if (io::is_complex(from.type))
      read_as(std::complex<double>(), io::ElementType::complex128);
    else
      read_as(double(), io::ElementType::f64);
  }
  return out;
}

}  // namespace tessera::analysis
