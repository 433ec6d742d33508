#include "tessera/geometry/wavelength.hpp"

#include <cmath>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::geometry {
namespace {

// CODATA 2018; the first three are exact.
constexpr double planck_J_s = 6.62607015e-34;
constexpr double light_m_per_s = 299792458.0;
constexpr double elementary_charge_C = 1.602176634e-19;
constexpr double electron_mass_kg = 9.1093837015e-31;

void require_positive(std::string_view key, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw InputError(text(key, " = ", value, " gives no wavelength; use a positive number"));
}

}  // namespace

double photon_wavelength_m(double energy_eV) {
  require_positive("experiment.energy_eV", energy_eV);
  return planck_J_s * light_m_per_s / (elementary_charge_C * energy_eV);
}

double electron_wavelength_m(double voltage_V) {
  require_positive("experiment.voltage_V", voltage_V);
  const double energy_J = elementary_charge_C * voltage_V;
  const double rest_energy_J = electron_mass_kg * light_m_per_s * light_m_per_s;
  return planck_J_s /
         std::sqrt(2 * electron_mass_kg * energy_J * (1 + energy_J / (2 * rest_energy_J)));
}

}  // namespace tessera::geometry
