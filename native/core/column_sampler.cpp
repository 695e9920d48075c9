#include "core/column_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace gossamer {
namespace {

// Keeps round(fraction * n), at least one: those with the smallest random numbers.
std::vector<std::int32_t> draw(const std::vector<std::int32_t>& from, double fraction, std::uint64_t key) {
  if (fraction >= 1.0 || from.empty()) return from;
  const auto wanted = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(from.size())));
  const std::size_t n = std::clamp<std::size_t>(wanted, 1, from.size());
  std::vector<std::pair<std::uint64_t, std::int32_t>> keyed;
  keyed.reserve(from.size());
  for (const std::int32_t f : from) keyed.emplace_back(random_bits(key, static_cast<std::uint64_t>(f)), f);
  std::nth_element(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(n - 1), keyed.end());
  std::vector<std::int32_t> chosen;
  chosen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(keyed[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

constexpr std::uint64_t kLevelStream = 0x6c6576656cull;
constexpr std::uint64_t kNodeStream = 0x6e6f6465ull;

}  // namespace

ColumnSampler::ColumnSampler(std::int64_t n_features, ColumnFractions fractions, std::uint64_t key)
    : fractions_(fractions), key_(key), tree_(static_cast<std::size_t>(n_features)) {
  std::iota(tree_.begin(), tree_.end(), 0);
  tree_ = draw(tree_, fractions_.by_tree, key_);
}

std::vector<std::int32_t> ColumnSampler::node_features(int depth, std::uint64_t node_key) {
  const auto level = static_cast<std::size_t>(depth);
  while (levels_.size() <= level) {
    levels_.push_back(draw(tree_, fractions_.by_level, mix_bits(key_ ^ kLevelStream) ^ levels_.size()));
  }
  return draw(levels_[level], fractions_.by_node, mix_bits(key_ ^ kNodeStream) ^ node_key);
}

}  // namespace gossamer
