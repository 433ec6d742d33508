#pragma once
/// Pictures as the page holds them: values, not colours.

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "tessera/base/image_stack.hpp"

namespace tessera::report {

using Json = nlohmann::ordered_json;

/// Levels of a value between the least and the greatest: 12 bits, half of which cost little more
/// than 8 would.
inline constexpr int n_levels = 4096;
/// Level of pixels that have no value.
inline constexpr int no_level = 65535;

/// {shape, min, max, shown, samples}: value = min + level / (n_levels - 1) * (max - min). `shown`
/// is what black and white stand for. Samples are base64 of a zlib stream: for all pixels the low,
/// then the high bytes of the level's difference (modulo 65536) from that of the pixel before in
/// its row.
/// @param values NaN: no value
Json encoded_picture(Shape2 shape, std::span<const double> values);

}  // namespace tessera::report
