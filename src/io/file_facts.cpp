#include "file_facts.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "dataset_series.hpp"

namespace tessera::io {
namespace {

/// Factor to the base unit.
double factor(const std::map<std::string, double>& units, const std::string& word) {
  const auto found = units.find(word);
  return found == units.end() ? 0 : found->second;
}

constexpr double joules_per_eV = 1.602176634e-19;
constexpr double planck_light_eV_m = 1.239841984e-6;

std::string comment(const Fact& fact, const std::string& unit) {
  return text(fact.name, " = ", number(fact.value), ' ', unit,
              fact.unit.empty() ? " (unit not said)" : "");
}

}  // namespace

std::string first_dataset(const File& file, std::initializer_list<const char*> names) {
  for (const char* name : names) try {
      if (!file.has(name)) continue;
      file.info(name);
      return name;
    } catch (const InputError&) {  // a group
    }
  return "";
}

std::string unit_of(const File& file, const std::string& name) {
  for (const char* attribute : {"units", "unit"}) try {
      if (const auto unit = file.text_attribute(name, attribute)) return *unit;
    } catch (const InputError&) {  // something else goes by that name
    }
  return "";
}

Vec2 scale_of_positions(const File& file, const std::string& y, const std::string& x) {
  const auto metres = [&](const std::string& name) {
    const double factor = metres_per(unit_of(file, name));
    return factor > 0 ? factor : 1;
  };
  return {metres(y), metres(x)};
}

std::optional<Fact> find_number(const File& file, std::initializer_list<const char*> names) {
  for (const char* name : names) try {
      if (first_dataset(file, {name}).empty()) continue;
      const DatasetInfo info = file.info(name);
      if (!is_real(info.type)) continue;
      for (const std::int64_t n : info.extents)
        if (n == 0) throw InputError("empty");
      Fact fact{name, 0, unit_of(file, name)};
      file.read_slab_alone(name, Extents(info.extents.size(), 0), Extents(info.extents.size(), 1),
                           ElementType::f64, &fact.value);
      if (std::isfinite(fact.value)) return fact;
    } catch (const InputError&) {  // of another kind than this name has elsewhere
    }
  return {};
}

double metres_per(const std::string& unit) {
  return factor({{"m", 1},
                 {"meter", 1},
                 {"metre", 1},
                 {"cm", 1e-2},
                 {"mm", 1e-3},
                 {"um", 1e-6},
                 {"µm", 1e-6},
                 {"μm", 1e-6},
                 {"\xb5m", 1e-6},  // Latin-1
                 {"micron", 1e-6},
                 {"microns", 1e-6},
                 {"micrometer", 1e-6},
                 {"micrometre", 1e-6},
                 {"millimeter", 1e-3},
                 {"millimetre", 1e-3},
                 {"nm", 1e-9},
                 {"[n_m]", 1e-9},
                 {"A", 1e-10},
                 {"Å", 1e-10},
                 {"angstrom", 1e-10},
                 {"Angstrom", 1e-10},
                 {"pm", 1e-12}},
                unit);
}

double radians_per(const std::string& unit) {
  return factor({{"rad", 1}, {"mrad", 1e-3}, {"urad", 1e-6}, {"deg", 0.017453292519943295}}, unit);
}

double electronvolts_per(const std::string& unit) {
  return factor({{"eV", 1},
                 {"ev", 1},
                 {"keV", 1e3},
                 {"kev", 1e3},
                 {"J", 1 / joules_per_eV},
                 {"joule", 1 / joules_per_eV},
                 {"joules", 1 / joules_per_eV}},
                unit);
}

std::string number(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

double rounded(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", value);
  return std::strtod(digits, nullptr);
}

std::string number_pair(double a, double b) {
  return text('[', number(a), ", ", number(b), ']');
}

std::string in_quotes(const std::string& words) {
  std::string quoted = "\"";
  for (const char c : words) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= ' ') quoted += c;
  }
  return quoted + '"';
}

void state_length(const std::string& key, const std::optional<Fact>& fact,
                  const std::string& default_unit, ScanDescription& scan) {
  if (!fact || fact->value == 0) return;
  const std::string unit = fact->unit.empty() ? default_unit : fact->unit;
  const bool is_pixel = key.ends_with("pixel_m");
  const auto is_possible = [&](double metres) {
    return is_pixel ? metres >= 2e-7 && metres <= 5e-3 : metres >= 1e-4 && metres <= 100;
  };
  const double said = std::abs(fact->value) * metres_per(unit);
  if (said == 0)
    return scan.warnings.push_back(text(fact->name, " = ", number(fact->value), ": its unit \"",
                                        unit, "\" is not known; give ", key));
  if (is_possible(said))
    return scan.statements.push_back({key, number(rounded(said)), comment(*fact, unit)});
  for (const std::string other : {"mm", "um", "m"}) {
    const double meant = std::abs(fact->value) * metres_per(other);
    if (!is_possible(meant)) continue;
    scan.warnings.push_back(text(fact->name, " = ", number(fact->value), ' ', unit,
                                 " cannot be; taken as ", other, ": check ", key));
    scan.statements.push_back({key, number(rounded(meant)),
                               text(fact->name, " = ", number(fact->value), ", taken as ", other)});
    return;
  }
  scan.warnings.push_back(text(fact->name, " = ", number(fact->value), ' ', unit,
                               " cannot be, in any unit; give ", key));
}

void state_energy(const std::optional<Fact>& energy, const std::string& default_unit,
                  ScanDescription& scan) {
  if (!energy || energy->value <= 0) return;
  const std::string unit = energy->unit.empty() ? default_unit : energy->unit;
  const auto is_possible = [](double eV) { return eV >= 50 && eV <= 1e6; };
  double eV = energy->value * electronvolts_per(unit);
  std::string from = comment(*energy, unit);
  if (!is_possible(eV))
    for (const std::string other : {"eV", "J", "keV"}) {
      const double meant = energy->value * electronvolts_per(other);
      if (!is_possible(meant)) continue;
      eV = meant;
      from = text(energy->name, " = ", number(energy->value), ", taken as ", other);
      scan.warnings.push_back(text(energy->name, " = ", number(energy->value), ' ', unit,
                                   " cannot be; taken as ", other, ", ", number(eV),
                                   " eV: check experiment.energy_eV"));
      break;
    }
  // What the file says is rarely known to more digits than these.
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.8g", eV);
  if (is_possible(eV)) scan.statements.push_back({"experiment.energy_eV", digits, from});
}

void state_wavelength(const std::optional<Fact>& wavelength, const std::string& default_unit,
                      ScanDescription& scan) {
  if (!wavelength || wavelength->value <= 0) return;
  const std::string unit = wavelength->unit.empty() ? default_unit : wavelength->unit;
  const double metres = wavelength->value * metres_per(unit);
  if (metres <= 0) return;
  const std::size_t n_before = scan.statements.size();
  state_energy(Fact{wavelength->name, planck_light_eV_m / metres, "eV"}, "eV", scan);
  if (scan.statements.size() > n_before) scan.statements.back().from = comment(*wavelength, unit);
}

void state_words(const std::string& key, const File& file, std::initializer_list<const char*> names,
                 ScanDescription& scan) {
  for (const char* name : names) try {
      if (first_dataset(file, {name}).empty()) continue;
      const std::string words = file.read_text(name);
      if (words.empty()) continue;
      scan.statements.push_back({key, in_quotes(words), name});
      return;
    } catch (const InputError&) {  // no text
    }
}

}  // namespace tessera::io
