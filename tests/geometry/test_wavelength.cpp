#include <cmath>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/geometry/wavelength.hpp"

namespace tessera::geometry {
namespace {

TEST(PhotonWavelength, MatchesKnownValues) {
  EXPECT_NEAR(photon_wavelength_m(8800), 1.40891e-10, 1e-15);
  EXPECT_NEAR(photon_wavelength_m(12398.419843), 1e-10, 1e-19);  // h c = 12398.419843 eV Angstrom
}

TEST(ElectronWavelength, MatchesKnownValues) {
  EXPECT_NEAR(electron_wavelength_m(80e3), 4.1757e-12, 1e-16);
  EXPECT_NEAR(electron_wavelength_m(200e3), 2.50793e-12, 1e-17);
  EXPECT_NEAR(electron_wavelength_m(300e3), 1.96875e-12, 1e-17);
}

TEST(Wavelength, RefusesWhatIsNotPositive) {
  for (const double value : {0.0, -300e3, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(photon_wavelength_m(value), InputError) << value;
    EXPECT_THROW(electron_wavelength_m(value), InputError) << value;
  }
}

}  // namespace
}  // namespace tessera::geometry
