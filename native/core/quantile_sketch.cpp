#include "core/quantile_sketch.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/radix_sort.h"

namespace gossamer {
namespace {

// The harmonic number of the first n levels: 1 + 1/2 + ... + 1/n.
constexpr double harmonic(std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = n; i > 0; --i) sum += 1.0 / static_cast<double>(i);
  return sum;
}

constexpr double kHarmonic = harmonic(QuantileSketch::kLevels);

// No number of entries or rows ever exceeds this.
std::int64_t to_count(double x) { return static_cast<std::int64_t>(std::min(std::ceil(x), 0x1p60)); }

// n_l in the header's comment.
std::int64_t prune_size(double eps, std::size_t level) {
  return to_count(kHarmonic * static_cast<double>(level + 1) / eps);
}

// The error bound of a level from the header's comment, relative to the weight.
double level_error(double eps, std::size_t level) { return eps * harmonic(level + 1) / kHarmonic; }

// A multiple of the entries kept from a block, so that sorting is most of the work; not so many that sorting needs
// 64-bit counters.
std::int64_t block_size_for(double eps) {
  return std::clamp<std::int64_t>(to_count(64.0 / eps), 1024, std::int64_t{1} << 24);
}

// Equal values keep their order, so that their weights are added in a fixed order.
void sort_by_value(std::vector<WeightedValue>& values) {
  radix_sort(values, [](const WeightedValue& v) { return ordered_key(v.value); });
}

// Turns -0 into 0: the sort would treat them as different keys.
double plain_zero(double value) { return value + 0.0; }

void check_state(bool is_right, const char* what) {
  if (!is_right) throw std::invalid_argument(what);
}

}  // namespace

QuantileSketch::QuantileSketch(double eps) {
  if (!(eps > 0.0 && eps < 1.0)) throw std::invalid_argument("eps must be between 0 and 1");
  state_.eps = eps;
  block_size_ = block_size_for(eps);
}

QuantileSketch::QuantileSketch(SketchState state) : QuantileSketch(state.eps) {
  const auto is_weight = [](double w) { return w >= 0.0 && w <= kMaxTotalWeight; };
  check_state(is_weight(state.missing_weight), "missing_weight must be finite and >= 0");
  check_state(state.levels.size() <= kLevels, "there are too many levels");
  check_state(static_cast<std::int64_t>(state.buffer.size()) <= block_size_, "the buffer is too long");
  for (std::size_t l = 0; l < state.levels.size(); ++l) {
    const QuantileSummary& level = state.levels[l];
    check_state(is_consistent(level), "ranks contradict each other");
    check_state(level.error() <= (level_error(state.eps, l) + 1e-9) * level.total_weight(), "the error is too large");
  }
  for (WeightedValue& v : state.buffer) {
    check_state(!std::isnan(v.value) && v.weight > 0.0 && is_weight(v.weight), "the buffer has a wrong value");
    v.value = plain_zero(v.value);
    buffer_weight_ += v.weight;
  }
  state_ = std::move(state);
  check_state(is_weight(total_weight()), "the total weight is too large");
}

void QuantileSketch::update(std::span<const double> values, std::span<const double> weights) {
  double more = 0.0;
  double more_missing = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = weights.empty() ? 1.0 : weights[i];
    if (!(weight >= 0.0 && std::isfinite(weight))) {
      throw std::invalid_argument("weight " + std::to_string(i) + " is not a finite number >= 0");
    }
    (std::isnan(values[i]) ? more_missing : more) += weight;
  }
  check_weights(more, more_missing);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = weights.empty() ? 1.0 : weights[i];
    if (std::isnan(values[i])) {
      state_.missing_weight += weight;
    } else if (weight > 0.0) {
      add_value(plain_zero(values[i]), weight);
    }
  }
}

void QuantileSketch::merge(const QuantileSketch& other) {
  check_weights(other.total_weight(), other.state_.missing_weight);
  // A copy, so that nothing has changed if there are too many levels; and `other` may be this sketch.
  QuantileSketch merged = *this;
  merged.state_.eps = std::max(eps(), other.eps());
  merged.block_size_ = block_size_for(merged.eps());
  merged.state_.missing_weight += other.state_.missing_weight;
  for (std::size_t l = 0; l < other.state_.levels.size(); ++l) {
    if (!other.state_.levels[l].empty()) merged.put(other.state_.levels[l], l);
  }
  for (const WeightedValue& v : other.state_.buffer) merged.add_value(v.value, v.weight);
  if (merged.is_full()) merged.flush();  // with a larger eps blocks are smaller
  *this = std::move(merged);
}

double QuantileSketch::total_weight() const {
  // Small summaries first: levels usually grow in weight.
  double sum = buffer_weight_;
  for (const QuantileSummary& level : state_.levels) sum += level.total_weight();
  return sum;
}

std::int64_t QuantileSketch::n_entries() const {
  auto n = static_cast<std::int64_t>(state_.buffer.size());
  for (const QuantileSummary& level : state_.levels) n += level.n_entries();
  return n;
}

QuantileSummary QuantileSketch::summary() const {
  std::vector<WeightedValue> sorted = state_.buffer;
  sort_by_value(sorted);
  QuantileSummary all = exact_summary(sorted);
  for (const QuantileSummary& level : state_.levels) {
    if (!level.empty()) all = gossamer::merge(all, level);
  }
  return all;
}

double QuantileSketch::error_bound() const {
  const QuantileSummary all = summary();
  return all.empty() ? 0.0 : all.error() / all.total_weight();
}

void QuantileSketch::check_weights(double more_weight, double more_missing) const {
  if (!(total_weight() + more_weight <= kMaxTotalWeight && missing_weight() + more_missing <= kMaxTotalWeight)) {
    throw std::overflow_error("the total weight is too large");
  }
}

void QuantileSketch::add_value(double value, double weight) {
  if (is_full()) flush();
  state_.buffer.push_back({value, weight});
  buffer_weight_ += weight;
}

bool QuantileSketch::is_full() const { return static_cast<std::int64_t>(state_.buffer.size()) >= block_size_; }

void QuantileSketch::flush() {
  check_free_level(0);
  sort_by_value(state_.buffer);
  put(prune(exact_summary(state_.buffer), prune_size(eps(), 0)), 0);
  state_.buffer.clear();
  buffer_weight_ = 0.0;
}

void QuantileSketch::check_free_level(std::size_t first) const {
  const std::vector<QuantileSummary>& levels = state_.levels;
  while (first < levels.size() && !levels[first].empty()) ++first;
  if (first >= kLevels) throw std::length_error("the sketch has too many rows");
}

// Adds a summary to the counter, with carry.
void QuantileSketch::put(QuantileSummary summary, std::size_t level) {
  check_free_level(level);
  std::vector<QuantileSummary>& levels = state_.levels;
  for (; level < levels.size() && !levels[level].empty(); ++level) {
    summary = prune(gossamer::merge(levels[level], summary), prune_size(eps(), level + 1));
    levels[level] = {};
  }
  if (level >= levels.size()) levels.resize(level + 1);
  levels[level] = std::move(summary);
}

}  // namespace gossamer
