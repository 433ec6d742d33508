#include "settings/key.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::settings {

Key first_epoch(const std::string& name, Field field, const std::string& what) {
  return {.name = name,
          .field = field,
          .meaning = text("First epoch, from 0, ", what, "; -1: never."),
          .min = -1,
          .max = 1000000};
}

std::vector<Key> joined(std::vector<std::vector<Key>> parts) {
  std::vector<Key> all;
  for (std::vector<Key>& part : parts) std::move(part.begin(), part.end(), std::back_inserter(all));
  return all;
}

void require(bool holds, const std::string& problem) {
  if (!holds) throw InputError(problem);
}

std::string number_text(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string digits(buffer.data(), end);
  const std::size_t exponent = digits.find('e');
  if (exponent == std::string::npos) return digits;
  const std::size_t sign = exponent + 1;
  while (digits[sign + 1] == '0') digits.erase(sign + 1, 1);  // 1e-06 -> 1e-6
  if (digits[sign] == '+') digits.erase(sign, 1);
  return digits;
}

}  // namespace tessera::settings
