// The page as a browser has it.

#include <cmath>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "report/chromium.hpp"
#include "report/report.hpp"
#include "report/small_result.hpp"
#include "support/environment.hpp"
#include "support/scratch_folder.hpp"

namespace tessera::report {
namespace {

using tessera::testing::SmallResult;
using ::testing::HasSubstr;
using ::testing::Not;

class Page : public ::testing::Test {
 protected:
  std::string written(const SmallResult& result) const {
    result.write(folder_.path("result.h5"));
    write({folder_.path("result.h5")}, folder_.path("report.html"), comm_);
    std::ostringstream page;
    page << std::ifstream(folder_.path("report.html")).rdbuf();
    return page.str();
  }
  const tessera::testing::ScratchFolder folder_;
  const comm::Communicator comm_;
};

TEST_F(Page, HoldsEverythingAndAsksForNothing) {
  SmallResult result;
  result.title = "</script><b>not ours</b>";
  const std::string page = written(result);
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; script-src 'unsafe-inline'; "
                              "style-src 'unsafe-inline'; img-src data:\""));
  EXPECT_THAT(page, HasSubstr("Chart.js v"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("<b>not ours")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_LT(page.size(), 500'000u);
}

TEST_F(Page, NamesThePackageOfAMissingLibrary) {
  const tessera::testing::EnvironmentVariable missing("TESSERA_CHART_JS", "/no/chart.min.js");
  try {
    check_plotting_library();
    ADD_FAILURE() << "found";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/chart.min.js"));
    EXPECT_THAT(error.what(), HasSubstr("libjs-chart.js"));
  }
}

/// Moves the pointer over the middle of every picture once the page stands, and keeps what is said;
/// turns the wheel there for twice the size, and keeps what is said 110 pixels to the lower right.
constexpr const char* pointer = R"(<script>
setTimeout(() => {
  const canvases = [...document.querySelectorAll('canvas.image')];
  const point = (canvas, Kind, name, by, more) => {
    const at = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new Kind(name, {clientX: at.left + at.width / 2 + by, clientY: at.top + at.height / 2 + by, ...more}));
  };
  for (const canvas of canvases) point(canvas, PointerEvent, 'pointermove', 0);
  const zoomed = document.body.appendChild(document.createElement('p'));
  const caption = canvases[0].closest('figure').querySelector('figcaption');
  const before = caption.textContent;
  point(canvases[0], WheelEvent, 'wheel', 0, {deltaY: -300});
  point(canvases[0], PointerEvent, 'pointermove', 110);
  zoomed.textContent = 'zoomed: ' + caption.textContent;
  caption.textContent = before;
}, 3000);
</script></body>)";

TEST_F(Page, SaysTheFilesValuesUnderThePointer) {
  const SmallResult result;
  std::string page = written(result);
  page.replace(page.find("</body>"), 7, pointer);
  std::ofstream(folder_.path("pointed.html")) << page;
  const auto shown =
      tessera::testing::shown_in_chromium(folder_.path("pointed.html"), folder_.path("browser"));
  if (!shown) GTEST_SKIP() << "there is no chromium on this machine (Debian's package chromium)";
  EXPECT_THAT(shown->page, HasSubstr("data-state=\"shown\"")) << shown->console;
  EXPECT_THAT(shown->console, Not(HasSubstr("CONSOLE")));
  // The middle of the lit box, 32 x 40 from (4, 4), is the corner of sample (16, 20).
  const auto amplitude = [&](int y, int x) {
    std::ostringstream words;
    words.precision(3);
    words << "y " << 20 * y << " nm, x " << 20 * x << " nm: " << std::abs(result.object(0, y, x));
    return words.str();
  };
  EXPECT_THAT(shown->page, HasSubstr(amplitude(20, 24)));
  // 420 pixels for 40 samples, and twice that: 110 pixels are 5.2 samples.
  EXPECT_THAT(shown->page, HasSubstr("zoomed: " + amplitude(25, 29)));
  EXPECT_THAT(shown->page, HasSubstr("y 0 µm, x 0 µm: amplitude 3 √counts, phase -0.8 rad"));
  EXPECT_THAT(shown->page, HasSubstr("<td>0.04</td>"));
  EXPECT_THAT(shown->page, HasSubstr("mode 2, 30.77 %"));
  EXPECT_THAT(shown->page, HasSubstr("rank 1: owns y 0 to 40, x 24 to 48; holds 40 x 30"));
  EXPECT_THAT(shown->page, HasSubstr("0.75 of Nyquist, half period 26.67 nm"));
  EXPECT_THAT(shown->page, HasSubstr("default 100"));
}

}  // namespace
}  // namespace tessera::report
