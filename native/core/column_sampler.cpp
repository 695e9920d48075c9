#include "core/column_sampler.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace gossamer {
namespace {

using std::uint64_t;

#include "kernels/column_draw.inl"

// Keeps round(fraction * n) features, at least one: the ones with the smallest random numbers, or with weights the ones
// that arrive first at rates equal to their weights.
std::vector<std::int32_t> draw(const std::vector<std::int32_t>& from, double fraction, std::uint64_t key,
                               const std::vector<double>& weights) {
  if (fraction >= 1.0 || from.empty()) return from;
  const auto wanted = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(from.size())));
  const std::size_t n = std::clamp<std::size_t>(wanted, 1, from.size());
  std::vector<std::pair<std::uint64_t, std::int32_t>> keyed;
  keyed.reserve(from.size());
  for (const std::int32_t f : from) {
    const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(f));
    keyed.emplace_back(weights.empty() ? bits : arrival(bits, weights[static_cast<std::size_t>(f)]), f);
  }
  std::nth_element(keyed.begin(), keyed.begin() + static_cast<std::ptrdiff_t>(n - 1), keyed.end());
  std::vector<std::int32_t> chosen;
  chosen.reserve(n);
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(keyed[i].second);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

ColumnSampler::ColumnSampler(std::int64_t n_features, ColumnFractions fractions, std::uint64_t key,
                             std::vector<double> weights)
    : fractions_(fractions), key_(key), weights_(std::move(weights)), tree_(static_cast<std::size_t>(n_features)) {
  // Equal weights are the same as none, whatever their rounding.
  if (std::adjacent_find(weights_.begin(), weights_.end(), std::not_equal_to<>()) == weights_.end()) weights_.clear();
  std::iota(tree_.begin(), tree_.end(), 0);
  tree_ = draw(tree_, fractions_.by_tree, key_, weights_);
}

std::vector<std::int32_t> ColumnSampler::node_features(int depth, std::uint64_t node_key,
                                                       const std::function<bool(std::int32_t)>& allowed) {
  const auto level = static_cast<std::size_t>(depth);
  while (levels_.size() <= level) {
    levels_.push_back(draw(tree_, fractions_.by_level, mix_bits(key_ ^ kLevelStream) ^ levels_.size(), weights_));
  }
  const std::uint64_t key = mix_bits(key_ ^ kNodeStream) ^ node_key;
  if (!allowed) return draw(levels_[level], fractions_.by_node, key, weights_);
  std::vector<std::int32_t> from;
  std::copy_if(levels_[level].begin(), levels_[level].end(), std::back_inserter(from), allowed);
  return draw(from, fractions_.by_node, key, weights_);
}

}  // namespace gossamer
