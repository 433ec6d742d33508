#pragma once
/// Numbers with units, and names, looked for in an HDF5 file.

#include <initializer_list>
#include <optional>
#include <string>

#include "tessera/io/hdf5.hpp"

#include "scan_description.hpp"

namespace tessera::io {

/// The first of `names` that is a dataset which can be opened; empty: none.
std::string first_dataset(const File& file, std::initializer_list<const char*> names);

/// What its attribute "units" says; empty: nothing.
std::string unit_of(const File& file, const std::string& name);
/// From the units that datasets of y and of x say to metres; 1 where they say none that is known.
Vec2 scale_of_positions(const File& file, const std::string& y, const std::string& x);

/// A number with the name of the dataset that holds it.
struct Fact {
  std::string name;
  double value = 0;
  std::string unit;  ///< as the file writes it; empty: not said
};

/// The first of `names` that holds a number; of an array its first.
std::optional<Fact> find_number(const File& file, std::initializer_list<const char*> names);

/// Units of length, angle, energy and their inverses to m, rad, eV; 0 if the word is not known.
double metres_per(const std::string& unit);
double radians_per(const std::string& unit);
double electronvolts_per(const std::string& unit);

/// The shortest digits, as TOML.
std::string number(double value);
/// To ten digits: what was multiplied by a unit is not known to more.
double rounded(double value);
std::string number_pair(double a, double b);
std::string in_quotes(const std::string& words);

// Each adds a statement, with a warning where the number can only be meant in another unit.
/// Without a unit `default_unit` is taken.
void state_length(const std::string& key, const std::optional<Fact>& fact,
                  const std::string& default_unit, ScanDescription& scan);
void state_energy(const std::optional<Fact>& energy, const std::string& default_unit,
                  ScanDescription& scan);
/// @param wavelength of photons
void state_wavelength(const std::optional<Fact>& wavelength, const std::string& default_unit,
                      ScanDescription& scan);
/// The first of `names` that is a text.
void state_words(const std::string& key, const File& file, std::initializer_list<const char*> names,
                 ScanDescription& scan);

}  // namespace tessera::io
