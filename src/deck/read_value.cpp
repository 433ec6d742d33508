#include "read_value.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <sstream>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "describe.hpp"

namespace tessera::deck {

namespace {

std::string shown(const toml::node& node) {
  if (node.is_table()) return "{...}";
  if (node.is_floating_point()) return float_text(node.as_floating_point()->get());
  std::ostringstream out;
  out << toml::toml_formatter(node, toml::format_flags::none);
  return out.str();
}

[[noreturn]] void refuse(const toml::node& node, const Key& key, const std::string& problem) {
  const std::string allowed = allowed_text(key);
  throw InputError(text(key.name, " = ", shown(node), " ", problem, "; allowed: ", type_name(key),
                        allowed.empty() ? "" : ", " + allowed,
                        key.hint.empty() ? "" : "; " + key.hint));
}

void check_range(const toml::node& node, const Key& key, double value) {
  if ((key.min && value < *key.min) || (key.max && value > *key.max)) {
    refuse(node, key, "is out of range");
  }
}

void read(const toml::node& node, const Key& key, bool& field) {
  const auto* value = node.as_boolean();
  if (!value) refuse(node, key, "has the wrong type");
  field = value->get();
}

template <std::integral Integer>
void read(const toml::node& node, const Key& key, Integer& field) {
  const auto* value = node.as_integer();
  if (!value) refuse(node, key, "has the wrong type");
  check_range(node, key, static_cast<double>(value->get()));
  if (!std::in_range<Integer>(value->get())) refuse(node, key, "is out of range");
  field = static_cast<Integer>(value->get());
}

void read(const toml::node& node, const Key& key, double& field) {
  if (!node.is_number()) refuse(node, key, "has the wrong type");
  const double value = node.value_or(0.0);
  if (!std::isfinite(value)) refuse(node, key, "is not finite");
  check_range(node, key, value);
  field = value;
}

void read(const toml::node& node, const Key& key, std::string& field) {
  const auto* value = node.as_string();
  if (!value) refuse(node, key, "has the wrong type (write text in quotes)");
  const bool known =
      key.choices.empty() || std::ranges::find(key.choices, value->get()) != key.choices.end();
  if (!known) refuse(node, key, "is not known");
  field = value->get();
}

template <class T>
void read(const toml::node& node, const Key& key, std::optional<T>& field) {
  T value{};
  read(node, key, value);
  field = value;
}

template <class T>
void read(const toml::node& node, const Key& key, std::vector<T>& field) {
  const toml::array* list = node.as_array();
  if (!list) refuse(node, key, "has the wrong type");
  if (key.length > 0 && !list->empty() && list->size() != static_cast<std::size_t>(key.length)) {
    refuse(node, key, "has the wrong length");
  }
  std::vector<T> values;
  for (const toml::node& element : *list) read(element, key, values.emplace_back());
  field = values;
}

}  // namespace

void read_value(const toml::node& node, const Key& key) {
  const bool is_none = key.none && node.is_string() && node.as_string()->get() == *key.none;
  std::visit(
      [&](auto* field) {
        if (is_none) {
          *field = {};
        } else {
          read(node, key, *field);
        }
      },
      key.field);
}

}  // namespace tessera::deck
