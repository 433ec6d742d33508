#include "cost/machine_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <utility>

#include <toml++/toml.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::cost {
namespace {

// The numbers of a row and of the machine, by the names of their keys.
constexpr std::pair<const char*, double WindowRates::*> window_keys[] = {
    {"window_px", &WindowRates::window_px},
    {"position_s", &WindowRates::position_s},
    {"wave_s", &WindowRates::wave_s},
    {"wave_of_modes_s", &WindowRates::wave_of_modes_s},
    {"few_wave_s", &WindowRates::few_wave_s},
    {"far_wave_s", &WindowRates::far_wave_s},
    {"shift_s", &WindowRates::shift_s},
    {"chip_shift_s", &WindowRates::chip_shift_s},
    {"touched_px_s", &WindowRates::touched_px_s},
    {"batch_s", &WindowRates::batch_s},
    {"batch_mode_s", &WindowRates::batch_mode_s},
    {"epoch_s", &WindowRates::epoch_s},
    {"transform_s", &WindowRates::transform_s}};
constexpr std::pair<const char*, double Link::*> link_keys[] = {
    {"latency_s", &Link::latency_s},
    {"bytes_per_s", &Link::bytes_per_s},
    {"all_reduce_step_s", &Link::all_reduce_step_s},
    {"all_reduce_bytes_per_s", &Link::all_reduce_bytes_per_s}};
constexpr std::pair<const char*, double Machine::*> machine_keys[] = {
    {"copy_bytes_per_s", &Machine::copy_bytes_per_s},
    {"flops_per_s", &Machine::flops_per_s},
    {"file_bytes_per_s", &Machine::file_bytes_per_s},
    {"cache_bytes", &Machine::cache_bytes}};
constexpr std::pair<const char*, double MethodCost::*> method_keys[] = {
    {"factor", &MethodCost::factor}, {"batch_s", &MethodCost::batch_s}};

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {
    try {
      root_ = toml::parse_file(path_);
    } catch (const toml::parse_error& error) {
      const toml::source_position at = error.source().begin;
      throw InputError(
          text(path_, ":", at.line, ":", at.column, ": not a machine file: ", error.description()));
    }
  }

  Machine machine() const {
    Machine machine;
    machine.name = root_["name"].value_or(path_);
    machine.on_gpu = root_["on_gpu"].value_or(false);
    machine.cores = root_["cores"].value_or(0);
    machine.real_bytes = static_cast<int>(number(root_, "real_bytes"));
    read(root_, machine_keys, machine);
    for (const toml::table* row : rows("links")) {
      machine.links.push_back({.n_ranks = static_cast<int>(number(*row, "ranks"))});
      read(*row, link_keys, machine.links.back());
    }
    for (const toml::table* row : rows("windows")) {
      read(*row, window_keys, machine.windows.emplace_back());
      machine.windows.back().at_once = static_cast<int>(number(*row, "at_once"));
      machine.windows.back().at_least = static_cast<int>(number(*row, "at_least"));
      machine.windows.back().slowdown = slowdown(*row, machine.links.size());
    }
    if (const toml::table* methods = root_["methods"].as_table())
      for (const auto& [name, node] : *methods) {
        if (!node.is_table()) refuse(text("methods.", name.str(), " must be a table"));
        read(*node.as_table(), method_keys, machine.methods[std::string(name.str())]);
      }
    check(machine);
    return machine;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw InputError(text(path_, ": ", what, "; write the file anew: tessera_bench machine"));
  }
  double number(const toml::table& table, std::string_view key) const {
    const double value = table[key].value<double>().value_or(-1);
    if (!std::isfinite(value) || value < 0) refuse(text(key, " must be a number >= 0"));
    return value;
  }
  template <class Keys, class Row>
  void read(const toml::table& table, const Keys& keys, Row& row) const {
    for (const auto& [key, field] : keys) row.*field = number(table, key);
  }
  std::vector<const toml::table*> rows(std::string_view key) const {
    std::vector<const toml::table*> found;
    if (const toml::array* array = root_[key].as_array())
      for (const toml::node& node : *array)
        if (const toml::table* table = node.as_table()) found.push_back(table);
    if (found.empty()) refuse(text("there is no [[", key, "]]"));
    return found;
  }
  std::vector<double> slowdown(const toml::table& row, std::size_t n) const {
    std::vector<double> values;
    if (const toml::array* array = row["slowdown"].as_array())
      for (const toml::node& node : *array) values.push_back(node.value_or(0.0));
    const bool positive = std::ranges::all_of(values, [](double value) { return value > 0; });
    if (values.size() != n || !positive)
      refuse(text("slowdown must hold ", n, " numbers > 0, one for each of [[links]]"));
    return values;
  }
  void check(const Machine& machine) const {
    if (machine.cores < 0) refuse("cores must be >= 0");
    if (machine.real_bytes != 4 && machine.real_bytes != 8) refuse("real_bytes must be 4 or 8");
    const auto rises = [](const auto& all, auto field) {
      return all.front().*field >= 1 &&
             std::ranges::adjacent_find(all, std::ranges::greater_equal(), field) == all.end();
    };
    if (!rises(machine.windows, &WindowRates::window_px)) refuse("window_px must rise from >= 1");
    for (const WindowRates& rates : machine.windows)
      if (rates.at_once < 1) refuse("at_once must be >= 1");
    if (machine.links.front().n_ranks != 1 || !rises(machine.links, &Link::n_ranks))
      refuse("ranks of [[links]] must rise from 1");
    for (const Link& link : machine.links)
      if (link.n_ranks > 1 && (link.bytes_per_s <= 0 || link.all_reduce_bytes_per_s <= 0))
        refuse("the bytes_per_s of [[links]] with more than one rank must be > 0");
    if (machine.copy_bytes_per_s <= 0) refuse("copy_bytes_per_s must be > 0");
  }

  std::string path_;
  toml::table root_;
};

template <class Keys, class Row>
void write(std::ostream& out, const Keys& keys, const Row& row) {
  for (const auto& [key, field] : keys) out << key << " = " << row.*field << "\n";
}

}  // namespace

Machine read_machine(const std::string& path) {
  return Reader(path).machine();
}

std::string machine_text(const Machine& machine, const std::string& head) {
  std::ostringstream out;
  out.precision(4);  // no measurement says more
  out << head << "name = " << toml::value(machine.name) << "\n";
  out << "on_gpu = " << (machine.on_gpu ? "true" : "false") << "\n";
  out << "cores = " << machine.cores << "\n";
  out << "real_bytes = " << machine.real_bytes << "\n";
  write(out, machine_keys, machine);
  for (const Link& link : machine.links) {
    out << "\n[[links]]\nranks = " << link.n_ranks << "\n";
    write(out, link_keys, link);
  }
  for (const WindowRates& rates : machine.windows) {
    out << "\n[[windows]]\n";
    write(out, window_keys, rates);
    out << "at_once = " << rates.at_once << "\nat_least = " << rates.at_least << "\n";
    out << "slowdown = [";
    for (std::size_t i = 0; i < rates.slowdown.size(); ++i)
      out << (i > 0 ? ", " : "") << rates.slowdown[i];
    out << "]\n";
  }
  for (const auto& [name, cost] : machine.methods) {
    out << "\n[methods." << name << "]\n";
    write(out, method_keys, cost);
  }
  return out.str();
}

}  // namespace tessera::cost
