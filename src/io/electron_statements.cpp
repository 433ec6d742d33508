#include "electron_statements.hpp"

#include <cstdio>
#include <utility>

#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"

namespace tessera::io {
namespace {

std::string as_read(const Fact& fact) {
  return text(fact.name, ": ", number(fact.value), ' ', fact.unit);
}

/// 0 if the word is not known.
double inverse_metres_per(const std::string& unit) {
  for (const auto& [words, per_metre] : {std::pair{"A^-1", 1e10},
                                         {"1/A", 1e10},
                                         {"1/Å", 1e10},
                                         {"Å^-1", 1e10},
                                         {"[1/A]", 1e10},
                                         {"[A^-1]", 1e10},
                                         {"[n_m^-1]", 1e9},
                                         {"nm^-1", 1e9},
                                         {"1/nm", 1e9},
                                         {"[1/n_m]", 1e9},
                                         {"1/m", 1.0}})
    if (unit == words) return per_metre;
  return 0;
}

/// What it comes to at usual voltages, of a detector that is calibrated in inverse lengths.
std::string at_usual_voltages(double per_metre) {
  std::string all;
  for (const double voltage_V : {80e3, 120e3, 200e3, 300e3}) {
    char words[64];
    std::snprintf(words, sizeof words, "%s%.5g at %g kV", all.empty() ? "" : ", ",
                  per_metre * geometry::electron_wavelength_m(voltage_V), voltage_V / 1e3);
    all += words;
  }
  return all;
}

}  // namespace

double state_voltage(const Fact& voltage, ScanDescription& scan) {
  const double volts = voltage.value < 2000 ? 1e3 * voltage.value : voltage.value;
  scan.statements.push_back({"experiment.voltage_V", number(volts), voltage.name});
  return volts;
}

void state_detector(const std::optional<Fact>& step, std::optional<double> voltage_V,
                    ScanDescription& scan) {
  if (!step || step->value <= 0) return;
  const std::string key = "experiment.detector_pixel_rad";
  if (const double radians = radians_per(step->unit); radians > 0)
    scan.statements.push_back({key, number(rounded(step->value * radians)), as_read(*step)});
  const double per_metre = step->value * inverse_metres_per(step->unit);
  if (per_metre <= 0) return;
  if (voltage_V)
    scan.statements.push_back(
        {key, number(rounded(per_metre * geometry::electron_wavelength_m(*voltage_V))),
         as_read(*step) + " times the wavelength"});
  else
    scan.statements.push_back(
        {key, "", text(as_read(*step), " times the wavelength: ", at_usual_voltages(per_metre))});
}

void state_raster(const std::optional<Fact>& y, const std::optional<Fact>& x,
                  ScanDescription& scan) {
  if (!y || !x || metres_per(y->unit) == 0 || metres_per(x->unit) == 0) return;
  scan.statements.push_back({"data.raster_step_m",
                             number_pair(rounded(y->value * metres_per(y->unit)),
                                         rounded(x->value * metres_per(x->unit))),
                             text(y->name, y->name == x->name ? "" : ", " + x->name, ": ",
                                  number(y->value), ' ', y->unit)});
}

}  // namespace tessera::io
