#pragma once
/// Random bits that are the same on every machine, rank and standard library.

#include <cstdint>

namespace tessera {

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014, OOPSLA): every input bit reaches every
/// output bit.
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// 64 random bits that belong to `index` in the sequence of `seed`; needs no state, any index at
/// once.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15u;
  return mixed(mixed(seed + golden_ratio) + (index + 1) * golden_ratio);
}

/// Uniform in [0, 1), 53 random bits.
constexpr double random_unit(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

}  // namespace tessera
