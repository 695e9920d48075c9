// Counter-based random numbers: a choice is a function of its key (seed, round, row or column), so
// it depends neither on the order in which choices are made nor on the number of threads.
#pragma once

#include <cstdint>

namespace gossamer {

// The finaliser of splitmix64: every input bit reaches every output bit.
inline std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) { return mix_bits(key ^ mix_bits(counter)); }

// Uniform in [0, 1).
inline double random_unit(std::uint64_t key, std::uint64_t counter) {
  return static_cast<double>(random_bits(key, counter) >> 11) * 0x1.0p-53;
}

}  // namespace gossamer
