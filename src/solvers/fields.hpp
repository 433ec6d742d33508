#pragma once
/// What a reconstruction is, as a list: all that its next epoch depends on. Whoever keeps, writes,
/// reads or searches a reconstruction walks the list.

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tessera/device/device.hpp"

namespace tessera::solvers {

/// What its values go with, from rank to rank.
enum class Lives {
  object,     ///< pixels: (plane, H, W) of the rank's ghosted box, of which the owned ones count
  probe,      ///< (image, h, w), the same on all ranks
  position,   ///< the rank's scan positions, ascending: (position, ...)
  everywhere  ///< the same on all ranks
};

enum class Element { integer, real, number, complex };  ///< int, Real, double, device::complex

/// A view without its type. It lasts as long as what it looks at.
struct Field {
  std::string name;
  Lives lives = Lives::everywhere;
  Element element = Element::number;
  void* data = nullptr;
  std::int64_t n_values = 0;               ///< on this rank
  std::vector<std::int64_t> extents = {};  ///< C order, on all ranks alike but for the object's; of
                                           ///< what lives with positions, those of one
  bool on_host = false;
  bool is_large = false;  ///< a wave for every position
  Pixel origin = {};      ///< of integers (y, x): where they count from, object pixels

  std::int64_t n_bytes() const;
};

using Fields = std::vector<Field>;

template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, int>) return Element::integer;
  if constexpr (std::is_same_v<T, device::complex>) return Element::complex;
  if constexpr (std::is_same_v<T, double>) return Element::number;
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, device::complex> ||
                std::is_same_v<T, double> || std::is_same_v<T, Real>);
  return Element::real;
}

/// @param rows_of_position rows of what lives with positions that belong to one
template <class View>
Field field(std::string name, Lives lives, const View& view, int rows_of_position = 1) {
  Field made{std::move(name), lives, element_of<typename View::non_const_value_type>(), view.data(),
             static_cast<std::int64_t>(view.size())};
  const bool by_position = lives == Lives::position;
  if (rows_of_position > 1) made.extents.push_back(rows_of_position);
  for (unsigned axis = by_position ? 1 : 0; axis < View::rank; ++axis)
    made.extents.push_back(static_cast<std::int64_t>(view.extent(axis)));
  if (made.extents.empty()) made.extents = {1};
  return made;
}

/// Of the host, the same on all ranks.
template <class T>
Field host_field(std::string name, T& value) {
  return {std::move(name), Lives::everywhere, element_of<T>(), &value, 1, {1}, true};
}

void append(Fields& to, Fields more);
/// With `prefix` in front of every name.
Fields named(const std::string& prefix, Fields fields);

/// `count` values from number `first` on, between field and host memory. Wait for the device.
void copy_out(const Field& field, std::int64_t first, std::int64_t count, void* to);
void copy_in(const Field& field, std::int64_t first, std::int64_t count, const void* from);
/// All values of this rank as doubles, and back: any element but complex. Wait for the device.
std::vector<double> to_doubles(const Field& field);
void from_doubles(const Field& field, std::span<const double> values);

}  // namespace tessera::solvers
