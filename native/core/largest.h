// The k largest of many numbers, without sorting them: counts of their digits say where the border
// lies. Only numbers with the leading digit of the border are compared further.
//
// Numbers are below 2^31. Non-negative floats are such numbers: they order like their bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "kernels/sampling.h"

namespace gossamer {

// Numbers handled at a time: arrays of that length stay in the first-level cache.
constexpr std::int64_t kSampleChunk = 1024;

inline std::int64_t count_sample_blocks(std::int64_t n) { return (n + kSampleBlock - 1) / kSampleBlock; }

// Numbers by position: the bits themselves, or the bits of |x| for floats (0 for NaN). The latter
// are computed wherever they are read, which is faster than storing them.
struct Numbers {
  const std::uint32_t* bits = nullptr;
  const float* x = nullptr;  // used if `bits` is nullptr

  // Numbers begin ... begin + n - 1. `buffer` holds n numbers.
  const std::uint32_t* chunk(std::int64_t begin, std::int64_t n, std::uint32_t* buffer) const;
};

// How often each digit occurs. Every thread counts on its own; sums of integers have no order.
class DigitCounts {
 public:
  void clear(int n_threads);
  // digit_of(i) is the digit of the i-th of n numbers.
  template <class DigitOf>
  void add(int thread, std::int64_t n, const DigitOf& digit_of) {
    // Two tables: neighbours are often equal, and counting one of them would have to wait for the other.
    std::uint32_t* const even = counts_.data() + static_cast<std::size_t>(2 * thread) * kStride;
    std::uint32_t* const odd = even + kStride;
    std::int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
      ++even[digit_of(i)];
      ++odd[digit_of(i + 1)];
    }
    if (i < n) ++even[digit_of(i)];
  }
  const std::vector<std::uint32_t>& sum();

 private:
  static constexpr std::size_t kStride = kLeadingDigits + 64;  // threads must not write to one cache line
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> sum_;
};

// Divides the numbers into the k largest and the others. Among equal numbers the first ones belong to the largest.
struct Border {
  std::uint32_t value = 0;
  std::int64_t last_tie = 0;  // the last position where a number equal to `value` is one of the largest

  // Bit i says whether numbers[i], at position begin + i, is one of the largest. Bits past the last number are zeros.
  void find_largest(const std::uint32_t* numbers, std::int64_t begin, std::int64_t n, std::uint64_t* words) const;
};

// Finds the k largest of n numbers, again and again.
class Largest {
 public:
  explicit Largest(std::int64_t n);

  // Counts leading digits. chunk_of(begin, n, buffer) returns numbers begin ... begin + n - 1; `buffer` holds n
  // numbers.
  template <class ChunkOf>
  void count(Team& team, const ChunkOf& chunk_of) {
    counts_.clear(team.n_threads());
    for_blocks(team, n_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
      std::uint32_t buffer[kSampleChunk];
      for (std::int64_t first = begin; first < end; first += kSampleChunk) {
        const std::int64_t n = end - first < kSampleChunk ? end - first : kSampleChunk;
        const std::uint32_t* const numbers = chunk_of(first, n, buffer);
        counts_.add(thread, n, [=](std::int64_t i) { return numbers[i] >> kLeadingShift; });
      }
    });
  }
  // How many have each leading digit.
  const std::vector<std::uint32_t>& counts() { return counts_.sum(); }
  // 1 <= k <= n. `is_counted`: whether these numbers were counted; throws if others were.
  Border find(Team& team, const Numbers& numbers, std::int64_t k, bool is_counted);
  // How many of the k largest are in each block.
  const std::vector<std::int64_t>& n_by_block() const { return n_largest_; }

 private:
  bool collect(Team& team, const Numbers& numbers, std::int64_t k, std::int64_t& rank);
  std::uint32_t find_value(Team& team, std::int64_t& rank);
  std::int64_t find_tie(const Numbers& numbers, std::uint32_t value, std::int64_t rank) const;

  std::int64_t n_;
  DigitCounts counts_;
  std::uint32_t digit_ = kLeadingDigits;  // the leading digit of the last border
  Buffer<std::uint32_t> near_;            // by block: the numbers with that digit
  std::vector<std::int64_t> n_near_;      // by block
  std::vector<std::int64_t> n_ties_;      // by block: how many equal the border
  std::vector<std::int64_t> n_largest_;
  DigitCounts inner_;  // counts of the other digits
};

}  // namespace gossamer
