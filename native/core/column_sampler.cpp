#include "core/column_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace gossamer {
namespace {

// -log(1 - u) for the uniform u given by 64 random bits, by + - * / alone: the same on every machine.
double exponential(std::uint64_t bits) {
  int exponent = 0;
  double m = std::frexp(static_cast<double>(~bits >> 11) * 0x1.0p-53 + 0x1.0p-54, &exponent);  // 1 - u
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  double sum = 0.0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * s * s + 1.0 / k;             // log(m) = 2 artanh(s)
  return std::max(0.0, -(2.0 * s * sum + exponent * 0.69314718055994531));  // never -0
}

// The arrival time of a feature of this weight, as an integer of the same order. Features of weight 0 come after all
// others, in random order.
std::uint64_t arrival(std::uint64_t bits, double weight) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double time = weight > 0.0 ? exponential(bits) / weight : kNever;
  return std::bit_cast<std::uint64_t>(time) + (time == kNever ? bits >> 12 : 0);
}

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

constexpr std::uint64_t kLevelStream = 0x6c6576656cull;
constexpr std::uint64_t kNodeStream = 0x6e6f6465ull;

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
