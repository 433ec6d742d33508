#include <gtest/gtest.h>

#include "tessera/base/text.hpp"

namespace tessera {
namespace {

const std::vector<std::string> keys{"batch_size", "batch_order", "epochs", "object_step"};

TEST(Text, ConcatenatesWhatCanBeStreamed) {
  EXPECT_EQ(text("tiles = [", 2, ", ", 3, "], step ", 0.5, 'm'), "tiles = [2, 3], step 0.5m");
}

TEST(NearestName, FindsAMisspeltName) {
  EXPECT_EQ(nearest_name("bacth_size", keys), "batch_size");
  EXPECT_EQ(nearest_name("batch_ordr", keys), "batch_order");
  EXPECT_EQ(nearest_name("epoch", keys), "epochs");
  EXPECT_EQ(nearest_name("object_steps", keys), "object_step");
}

TEST(NearestName, ReturnsTheNameItself) {
  EXPECT_EQ(nearest_name("epochs", keys), "epochs");
}

TEST(NearestName, KeepsSilentWhenNothingIsClose) {
  EXPECT_EQ(nearest_name("wavelength", keys), "");
  EXPECT_EQ(nearest_name("epochs", {}), "");
}

TEST(Printable, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\x07 \x7f"), "a\\x1b[31m\\x07 \\x7f");
  EXPECT_EQ(printable("two lines\n\tÅ µm"), "two lines\n\tÅ µm");
}

TEST(Joined, SeparatesTheParts) {
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined({"a", "b"}, " or "), "a or b");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({}), "");
}

}  // namespace
}  // namespace tessera
