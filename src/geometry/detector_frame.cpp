#include "tessera/geometry/detector_frame.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::geometry {

DetectorFrame make_frame(Shape2 recorded, Shape2 crop, int bin, Shape2 pad_to) {
  DetectorFrame frame{recorded, crop == Shape2{} ? recorded : crop, bin, {}};
  if (frame.cut.h > recorded.h || frame.cut.w > recorded.w)
    throw InputError(text("data.crop = [", crop.h, ", ", crop.w, "] is larger than the patterns, ",
                          recorded.h, " x ", recorded.w, " pixels"));
  if (frame.cut.h % bin != 0 || frame.cut.w % bin != 0)
    throw InputError(text("data.bin = ", bin, " does not divide patterns of ", frame.cut.h, " x ",
                          frame.cut.w, " pixels; set data.crop = [", frame.cut.h / bin * bin, ", ",
                          frame.cut.w / bin * bin, "]"));
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
