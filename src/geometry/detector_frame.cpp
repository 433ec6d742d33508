#include "geometry/detector_frame.hpp"

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::geometry {
namespace {

/// The largest square about `centre` that `bin` divides into an even number of pixels.
Shape2 square_about(Pixel centre, Shape2 recorded, int bin) {
  const int reach =
      std::min({centre.y, recorded.h - centre.y, centre.x, recorded.w - centre.x}) / bin * bin;
  return {2 * reach, 2 * reach};
}

void check_centre(Pixel centre, Shape2 recorded, Shape2 cut) {
  if (Box::at({0, 0}, recorded).contains(centre) && cut.size() > 0 &&
      Box::at({0, 0}, recorded).contains(Box::at(centre - Pixel{cut.h / 2, cut.w / 2}, cut)))
    return;
  const Shape2 fits = square_about(centre, recorded, 1);
  throw InputError(text("data.centre_px = [", centre.y, ", ", centre.x, "] leaves no ", cut.h,
                        " x ", cut.w, " pixels about it in patterns of ", recorded.h, " x ",
                        recorded.w, "; at most data.crop = [", fits.h, ", ", fits.w, "] fits"));
}

}  // namespace

DetectorFrame make_frame(Shape2 stored, Shape2 crop, int bin, Shape2 pad_to, const Turn& turn,
                         std::optional<Vec2> centre) {
  const Shape2 recorded = turned_shape(stored, turn);
  DetectorFrame frame = whole_detector(recorded);
  frame.bin = bin;
  frame.turn = turn;
  if (centre) {
    frame.centre = {static_cast<int>(std::lround(centre->y)),
                    static_cast<int>(std::lround(centre->x))};
    frame.cut = square_about(frame.centre, recorded, bin);
  }
  if (crop != Shape2{}) frame.cut = crop;
  if (frame.cut.h > recorded.h || frame.cut.w > recorded.w)
    throw InputError(text("data.crop = [", crop.h, ", ", crop.w, "] is larger than the patterns, ",
                          recorded.h, " x ", recorded.w, " pixels"));
  if (frame.cut.h % bin != 0 || frame.cut.w % bin != 0)
    throw InputError(text("data.bin = ", bin, " does not divide patterns of ", frame.cut.h, " x ",
                          frame.cut.w, " pixels; set data.crop = [", frame.cut.h / bin * bin, ", ",
                          frame.cut.w / bin * bin, "]"));
  if (centre) check_centre(frame.centre, recorded, frame.cut);
  frame.pattern = pad_to == Shape2{} ? frame.binned() : pad_to;
  if (frame.pattern.h < frame.binned().h || frame.pattern.w < frame.binned().w)
    throw InputError(text("data.pad_to = [", pad_to.h, ", ", pad_to.w,
                          "] is smaller than the patterns after cropping and binning, ",
                          frame.binned().h, " x ", frame.binned().w,
                          " pixels; make it larger or use data.crop"));
  return frame;
}

double binned_zero_frequency_px(int n, int bin) {
  const int first = n / bin / 2 * bin - n / 2;
  return first + (bin - 1) / 2.0;
}

}  // namespace tessera::geometry
