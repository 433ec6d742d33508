#pragma once
/// Wavelengths of the two probes that Tessera knows.

namespace tessera::geometry {

/// Photon wavelength, metres: h c / E (CODATA 2018).
/// @throws InputError if the energy is not a positive number
double photon_wavelength_m(double energy_eV);

/// Relativistic electron wavelength, metres: h / sqrt(2 m e V (1 + e V / (2 m c^2)))
/// (Kirkland, Advanced Computing in Electron Microscopy, eq. 2.5).
/// @throws InputError if the voltage is not a positive number
double electron_wavelength_m(double voltage_V);

}  // namespace tessera::geometry
