#include "not_finite.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

using solvers::Element;
using solvers::Field;
using solvers::Lives;

template <class T>
std::optional<std::int64_t> first_not_finite(const Field& field, int parts) {
  std::vector<T> parts_of_all(static_cast<std::size_t>(parts * field.n_values));
  solvers::copy_out(field, 0, field.n_values, parts_of_all.data());
  const auto found =
      std::ranges::find_if(parts_of_all, [](T part) { return !std::isfinite(part); });
  if (found == parts_of_all.end()) return std::nullopt;
  return (found - parts_of_all.begin()) / parts;
}

/// Number of the value; integers are always finite.
std::optional<std::int64_t> first_not_finite(const Field& field) {
  if (field.element == Element::complex) return first_not_finite<Real>(field, 2);
  if (field.element == Element::real) return first_not_finite<Real>(field, 1);
  if (field.element == Element::number) return first_not_finite<double>(field, 1);
  return std::nullopt;
}

std::string pixel_text(Pixel pixel) {
  return text("pixel (", pixel.y, ", ", pixel.x, ")");
}

/// Of value number `at` of an image stack: its image, and the pixel there.
std::pair<std::int64_t, Pixel> place_of(const Field& field, std::int64_t at) {
  const std::int64_t h = field.extents[1];
  const std::int64_t w = field.extents[2];
  return {at / (h * w), {static_cast<int>(at / w % h), static_cast<int>(at % w)}};
}

std::string object_place(const Scan& scan, Pixel in_tile) {
  const Pixel at = scan.tile().ghosted.begin + in_tile;
  for (const int position : scan.tile().positions)
    if (Box::at(scan.corner()[static_cast<std::size_t>(position)], scan.grid.window).contains(at))
      return text(" at ", pixel_text(at), ", under scan position ", position);
  return text(" at ", pixel_text(at));
}

std::string place_text(const Scan& scan, const Field& field, std::int64_t at) {
  if (field.lives == Lives::object) return object_place(scan, place_of(field, at).second);
  if (field.lives == Lives::probe) {
    const auto [mode, pixel] = place_of(field, at);
    return text(", mode ", mode, " at ", pixel_text(pixel));
  }
  if (field.lives == Lives::everywhere) return {};
  const auto n = static_cast<std::int64_t>(scan.tile().positions.size());
  const auto local = static_cast<std::size_t>(at / (field.n_values / n));
  return text(" of scan position ", scan.tile().positions[local]);
}

/// Its dataset's name without the group, as words.
std::string words_of(const Field& field) {
  std::string words = field.name.substr(field.name.rfind('/') + 1);
  std::ranges::replace(words, '_', ' ');
  return words;
}

/// Of this rank; empty: all is finite.
std::string where_here(const Scan& scan, const solvers::Fields& fields) {
  for (const Field& field : fields)
    if (const auto at = first_not_finite(field))
      return text("the ", words_of(field), place_text(scan, field, *at));
  return {};
}

}  // namespace

std::string where_not_finite(const Scan& scan, const solvers::Fields& fields,
                             const comm::Communicator& comm) {
  for (const std::string& where : comm.all_gather(where_here(scan, fields)))
    if (!where.empty()) return where;
  return {};
}

std::string remedy_for(const deck::Solver& solver) {
  const auto has = [&](const char* key) {
    return std::ranges::count(settings::methods_with_key(key), solver.method) > 0;
  };
  if (!has("object_step"))
    return "a later solver.probe_start_epoch, or a method with steps, such as rpie,";
  return text("smaller solver.object_step and solver.probe_step",
              has("object_alpha") ? ", or larger solver.object_alpha," : "");
}

}  // namespace tessera::run
