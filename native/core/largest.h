// The k largest of many numbers, without sorting them: counts of their leading digits say which few
// numbers the border lies among.
//
// Numbers are below 2^31. Non-negative floats are such numbers: they order like their bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/parallel.h"

namespace gossamer {

// Rows of a block are handled by one thread; block boundaries do not depend on the threads.
constexpr std::int64_t kSampleBlock = 8192;

// The leading digit: of a float its exponent and 4 bits of its mantissa.
constexpr int kLeadingShift = 19;
constexpr int kLeadingDigits = 1 << (31 - kLeadingShift);

// How often each leading digit occurs. Every thread counts on its own; sums of integers have no order.
class DigitCounts {
 public:
  void clear(int n_threads);
  std::uint32_t* of_thread(int thread) { return counts_.data() + static_cast<std::size_t>(thread) * kStride; }
  const std::vector<std::uint32_t>& sum();

 private:
  static constexpr std::size_t kStride = kLeadingDigits + 64;  // threads must not write to one cache line
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> sum_;
};

// Divides the numbers: the k largest, and the others. Of equal numbers the first ones belong to the largest.
struct Border {
  std::uint32_t value = 0;
  std::int64_t last_tie = 0;  // the last place where a number equal to `value` is one of the largest

  // Calls body(first, last, bound) for the parts of [begin, end): what is above `bound` is one of the largest.
  template <class Body>
  void for_parts(std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::int64_t middle = std::clamp(last_tie + 1, begin, end);
    const auto bound = static_cast<std::int32_t>(value);
    if (begin < middle) body(begin, middle, bound - 1);
    if (middle < end) body(middle, end, bound);
  }
};

// `counts` holds the leading digits of all values. 1 <= k <= n.
Border find_border(Team& team, const std::uint32_t* values, std::int64_t n, std::int64_t k, DigitCounts& counts);

}  // namespace gossamer
