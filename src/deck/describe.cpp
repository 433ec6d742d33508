#include "describe.hpp"

#include <concepts>
#include <sstream>
#include <string_view>

#include <toml++/toml.h>

#include "tessera/base/text.hpp"

namespace tessera::deck {

namespace {

using MaybeText = std::optional<std::string>;

MaybeText toml_text(const Key&, bool value) {
  return value ? "true" : "false";
}

template <std::integral Integer>
MaybeText toml_text(const Key&, Integer value) {
  return std::to_string(value);
}

MaybeText toml_text(const Key&, double value) {
  return float_text(value);
}

MaybeText toml_text(const Key&, const std::string& value) {
  return quoted(value);
}

MaybeText none_text(const Key& key) {
  return key.none ? MaybeText(quoted(*key.none)) : std::nullopt;
}

template <class T>
MaybeText toml_text(const Key& key, const std::optional<T>& value) {
  return value ? toml_text(key, *value) : none_text(key);
}

template <class T>
MaybeText toml_text(const Key& key, const std::vector<T>& values) {
  if (values.empty()) return none_text(key);
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const T& value : values) parts.push_back(toml_text(key, value).value_or(""));
  return text("[", joined(parts), "]");
}

std::string type_of(const Key&, bool) {
  return "true or false";
}
template <std::integral Integer>
std::string type_of(const Key&, Integer) {
  return "whole number";
}
std::string type_of(const Key&, double) {
  return "number";
}
std::string type_of(const Key&, const std::string&) {
  return "text";
}
template <class T>
std::string type_of(const Key& key, const std::optional<T>&) {
  return type_of(key, T{});
}
template <class T>
std::string type_of(const Key& key, const std::vector<T>&) {
  if (key.length == 0) return text("list of ", type_of(key, T{}), "s");
  return text("list of ", key.length, " ", type_of(key, T{}), "s");
}

}  // namespace

std::string float_text(double value) {
  const std::string digits = number_text(value);
  return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
}

std::string quoted(const std::string& value) {
  std::ostringstream out;
  const toml::value<std::string> node(value);
  out << toml::toml_formatter(node, toml::format_flags::none);
  return out.str();
}

std::optional<std::string> value_text(const Key& key) {
  return std::visit([&](const auto* field) { return toml_text(key, *field); }, key.field);
}

std::string type_name(const Key& key) {
  return std::visit([&](const auto* field) { return type_of(key, *field); }, key.field);
}

std::string allowed_text(const Key& key) {
  std::vector<std::string> words;
  if (key.min && key.max) {
    words.push_back(text(number_text(*key.min), " to ", number_text(*key.max)));
  }
  for (const std::string& choice : key.choices) words.push_back(quoted(choice));
  if (key.none) words.push_back((words.empty() ? "any or " : "or ") + quoted(*key.none));
  return joined(words);
}

}  // namespace tessera::deck
