#pragma once
/// What files of electron microscopes say in their own units.

#include <optional>

#include "file_facts.hpp"

namespace tessera::io {

/// Volts, or kilovolts below 2,000. @return volts
double state_voltage(const Fact& voltage, ScanDescription& scan);
/// @param step of a detector pixel, an angle or an inverse length; the latter wants the voltage,
/// without which the deck is told what it comes to at usual ones
void state_detector(const std::optional<Fact>& step, std::optional<double> voltage_V,
                    ScanDescription& scan);
/// @param y, x between rows and columns of the scan
void state_raster(const std::optional<Fact>& y, const std::optional<Fact>& x,
                  ScanDescription& scan);

}  // namespace tessera::io
