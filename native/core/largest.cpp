#include "core/largest.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::uint32_t kLastMask = (1u << kMiddleShift) - 1;

// The digit of the number whose rank from above is `rank`, which becomes its rank among the numbers with this digit.
std::uint32_t find_digit(const std::vector<std::uint32_t>& counts, std::int64_t& rank) {
  std::uint32_t digit = kLeadingDigits - 1;
  while (digit > 0 && rank > counts[digit]) rank -= counts[digit--];
  return digit;
}

// Narrow sums are faster.
template <class Condition>
std::int64_t count_if(const std::uint32_t* numbers, std::int64_t n, const Condition& condition) {
  std::int32_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += condition(static_cast<std::int32_t>(numbers[i]));
  return count;
}

}  // namespace

const std::uint32_t* Numbers::chunk(std::int64_t begin, std::int64_t n, std::uint32_t* buffer) const {
  if (bits != nullptr) return bits + begin;
  kernels().size_bits(x + begin, n, buffer);
  return buffer;
}

void DigitCounts::clear(int n_threads) { counts_.assign(static_cast<std::size_t>(2 * n_threads) * kStride, 0); }

const std::vector<std::uint32_t>& DigitCounts::sum() {
  sum_.assign(counts_.begin(), counts_.begin() + kLeadingDigits);
  for (std::size_t other = kStride; other < counts_.size(); other += kStride) {
    for (std::size_t d = 0; d < kLeadingDigits; ++d) sum_[d] += counts_[other + d];
  }
  return sum_;
}

void Border::find_largest(const std::uint32_t* numbers, std::int64_t begin, std::int64_t n,
                          std::uint64_t* words) const {
  const auto bound = static_cast<std::int32_t>(value);
  const std::int64_t n_with_ties = std::clamp(last_tie + 1 - begin, std::int64_t{0}, n);
  kernels().find_above(numbers, n_with_ties, bound - 1, words);
  if (n_with_ties == n) return;
  const std::int64_t first = n_with_ties / 64;  // the word in which ties end
  const std::uint64_t ties = n_with_ties % 64 != 0 ? words[first] : 0;
  kernels().find_above(numbers + 64 * first, n - 64 * first, bound, words + first);
  words[first] |= ties;
}

Largest::Largest(std::int64_t n)
    : n_(n), near_(n), n_near_(at(count_sample_blocks(n))), n_ties_(n_near_.size()), n_largest_(n_near_.size()) {}

Border Largest::find(Team& team, const Numbers& numbers, std::int64_t k, bool is_counted) {
  // From one time to the next, the border seldom gets another leading digit: the last one is tried before all digits
  // are counted.
  std::int64_t rank = 0;
  if (is_counted || !collect(team, numbers, k, rank)) {
    if (!is_counted) count(team, [&](auto... of) { return numbers.chunk(of...); });
    std::int64_t counted = k;
    digit_ = find_digit(counts(), counted);
    if (!collect(team, numbers, k, rank) || rank != counted) {
      throw std::invalid_argument("these are not the gradients that were scored");
    }
  }
  Border border;
  border.value = find_value(team, rank);
  // The numbers above the leading digit, plus the numbers above the border and its first `rank` ties.
  const auto value = static_cast<std::int32_t>(border.value);
  for_blocks(team, n_, kSampleBlock, [&](std::int64_t begin, std::int64_t, std::int64_t b, int) {
    const std::uint32_t* const near = near_.data() + begin;
    n_ties_[at(b)] = count_if(near, n_near_[at(b)], [=](std::int32_t v) { return v == value; });
    n_largest_[at(b)] += count_if(near, n_near_[at(b)], [=](std::int32_t v) { return v > value; });
  });
  const bool are_all_in = std::accumulate(n_ties_.begin(), n_ties_.end(), std::int64_t{0}) == rank;
  border.last_tie = are_all_in ? n_ : find_tie(numbers, border.value, rank);
  for (std::size_t b = 0; b < n_ties_.size(); ++b) {
    const std::int64_t n_in = std::min(n_ties_[b], rank);
    n_largest_[b] += n_in;
    rank -= n_in;
  }
  return border;
}

// Keeps the numbers with the leading digit, counts their next digit, and counts the numbers above. Returns whether the
// k-th largest number is one of them; `rank` is its rank among them.
bool Largest::collect(Team& team, const Numbers& numbers, std::int64_t k, std::int64_t& rank) {
  if (digit_ == kLeadingDigits) return false;
  inner_.clear(team.n_threads());
  for_blocks(team, n_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int thread) {
    std::uint32_t buffer[kSampleChunk];
    std::uint32_t* const near = near_.data() + begin;
    std::int64_t n_near = 0;
    std::int64_t n_above = 0;
    for (std::int64_t first = begin; first < end; first += kSampleChunk) {
      const std::int64_t n = std::min(kSampleChunk, end - first);
      const std::uint32_t* const chunk = numbers.chunk(first, n, buffer);
      n_near += kernels().keep_digit(chunk, n, kLeadingShift, digit_, near + n_near, &n_above);
    }
    inner_.add(thread, n_near, [=](std::int64_t i) { return (near[i] >> kMiddleShift) % kLeadingDigits; });
    n_near_[at(b)] = n_near;
    n_largest_[at(b)] = n_above;
  });
  rank = k - std::accumulate(n_largest_.begin(), n_largest_.end(), std::int64_t{0});
  return rank >= 1 && rank <= std::accumulate(n_near_.begin(), n_near_.end(), std::int64_t{0});
}

// The number whose rank among the collected ones is `rank`, which becomes its rank among its ties.
std::uint32_t Largest::find_value(Team& team, std::int64_t& rank) {
  const std::uint32_t leading = digit_ << (kLeadingShift - kMiddleShift) | find_digit(inner_.sum(), rank);
  inner_.clear(team.n_threads());
  for_blocks(team, n_, kSampleBlock, [&](std::int64_t begin, std::int64_t, std::int64_t b, int thread) {
    const std::uint32_t* const near = near_.data() + begin;
    inner_.add(thread, n_near_[at(b)], [=](std::int64_t i) {
      return near[i] >> kMiddleShift == leading ? (near[i] & kLastMask) + 1 : 0;  // 0: another middle digit
    });
  });
  return leading << kMiddleShift | (find_digit(inner_.sum(), rank) - 1);
}

// The position of the number whose rank among the numbers equal to `value` is `rank`.
std::int64_t Largest::find_tie(const Numbers& numbers, std::uint32_t value, std::int64_t rank) const {
  std::size_t b = 0;
  while (b < n_ties_.size() && rank > n_ties_[b]) rank -= n_ties_[b++];
  std::int64_t first = static_cast<std::int64_t>(b) * kSampleBlock;
  for (; first < n_; first += kSampleChunk) {
    std::uint32_t buffer[kSampleChunk];
    const std::int64_t n = std::min(kSampleChunk, n_ - first);
    const std::uint32_t* const chunk = numbers.chunk(first, n, buffer);
    for (std::int64_t i = 0; i < n; ++i) {
      if (chunk[i] == value && --rank == 0) return first + i;
    }
  }
  return n_;
}

}  // namespace gossamer
