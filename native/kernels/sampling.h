// What decides whether a row gets into a sample: the same on the CPU and on a GPU. No standard library but <cstdint>.
#pragma once

#include <cstdint>

#include "core/random.h"

namespace gossamer {

// Rows of a block are handled together; blocks do not depend on the threads.
constexpr std::int64_t kSampleBlock = 8192;

// The leading digit of a score: its exponent and 4 bits of its mantissa.
constexpr int kLeadingShift = 19;
constexpr int kLeadingDigits = 1 << (31 - kLeadingShift);
// The digits below it: 12 and 7 bits.
constexpr int kMiddleShift = 7;

// The i-th number of the splitmix64 sequence that starts at `key`: half the work of random_bits, for keys that are
// random themselves.
inline std::uint64_t draw_bits(std::uint64_t key, std::uint64_t i) { return mix_bits(key + i * 0x9E3779B97F4A7C15ull); }

// Uniform in [0, 1).
inline double draw_unit(std::uint64_t key, std::uint64_t i) {
  return static_cast<double>(draw_bits(key, i) >> 11) * 0x1.0p-53;
}

// Floyd's algorithm: a place of at most `last`, from 32 random bits.
inline std::uint64_t draw_place(std::uint64_t random, std::int64_t last) {
  return random * (static_cast<std::uint64_t>(last) + 1) >> 32;
}

// A gradient or hessian of a row that stands for others; it stays finite.
inline float weighted(float x, double weight) {
  constexpr double kMost = 0x1.fffffep127;
  const double found = x * weight;
  return static_cast<float>(found < -kMost ? -kMost : found > kMost ? kMost : found);
}

}  // namespace gossamer
