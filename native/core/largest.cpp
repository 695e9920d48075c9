#include "core/largest.h"

#include <functional>

namespace gossamer {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// All numbers with this leading digit, in no particular order.
std::vector<std::uint32_t> collect(Team& team, const std::uint32_t* values, std::int64_t n, std::uint32_t digit) {
  constexpr std::int64_t kTogether = 32;  // few numbers have the digit: most groups are passed over
  std::vector<std::vector<std::uint32_t>> found(at(team.n_threads()));
  for_blocks(team, n, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    for (std::int64_t first = begin; first < end; first += kTogether) {
      const std::uint32_t* const group = values + first;
      const std::int64_t size = std::min(kTogether, end - first);
      std::uint32_t any = 0;
      for (std::int64_t i = 0; i < size; ++i) any |= group[i] >> kLeadingShift == digit;
      if (any == 0) continue;
      for (std::int64_t i = 0; i < size; ++i) {
        if (group[i] >> kLeadingShift == digit) found[at(thread)].push_back(group[i]);
      }
    }
  });
  for (std::size_t t = 1; t < found.size(); ++t) found[0].insert(found[0].end(), found[t].begin(), found[t].end());
  return std::move(found[0]);
}

// The place of the k-th number that equals `value`.
std::int64_t find_tie(Team& team, const std::uint32_t* values, std::int64_t n, std::uint32_t value, std::int64_t k) {
  std::vector<std::int64_t> ties(at((n + kSampleBlock - 1) / kSampleBlock));
  for_blocks(team, n, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    ties[at(b)] = std::count(values + begin, values + end, value);
  });
  std::size_t b = 0;
  while (k > ties[b]) k -= ties[b++];
  std::int64_t place = static_cast<std::int64_t>(b) * kSampleBlock;
  for (;; ++place) {
    if (values[place] == value && --k == 0) return place;
  }
}

}  // namespace

void DigitCounts::clear(int n_threads) { counts_.assign(static_cast<std::size_t>(n_threads) * kStride, 0); }

const std::vector<std::uint32_t>& DigitCounts::sum() {
  sum_.assign(counts_.begin(), counts_.begin() + kLeadingDigits);
  for (std::size_t other = kStride; other < counts_.size(); other += kStride) {
    for (std::size_t d = 0; d < kLeadingDigits; ++d) sum_[d] += counts_[other + d];
  }
  return sum_;
}

Border find_border(Team& team, const std::uint32_t* values, std::int64_t n, std::int64_t k, DigitCounts& counts) {
  const std::vector<std::uint32_t>& sum = counts.sum();
  std::uint32_t digit = kLeadingDigits - 1;
  while (digit > 0 && k > sum[digit]) k -= sum[digit--];
  // The border is the k-th largest of those with this digit.
  std::vector<std::uint32_t> near = collect(team, values, n, digit);
  std::nth_element(near.begin(), near.begin() + (k - 1), near.end(), std::greater<>());
  Border border;
  border.value = near[at(k - 1)];
  const std::int64_t n_above =
      std::count_if(near.begin(), near.begin() + k, [&](std::uint32_t v) { return v > border.value; });
  const std::int64_t n_ties = std::count(near.begin(), near.end(), border.value);
  const bool are_all_in = n_above + n_ties == k;
  border.last_tie = are_all_in ? n : find_tie(team, values, n, border.value, k - n_above);
  return border;
}

}  // namespace gossamer
