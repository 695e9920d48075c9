#include "core/monotone.h"

#include <cmath>

#include "core/power_of_two.h"

namespace gossamer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kSweeps = 100;

std::size_t at_place(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// ---- boxes ----

Box::Range Box::range_of(std::int32_t number, const Feature& feature) const {
  for (const Range& range : ranges_) {
    if (range.feature == number) return range;
  }
  return {number, 0, feature.n_value_bins - 1, feature.missing_kind != MissingKind::nan_is_zero};
}

Box::Range Box::parting_of(std::int32_t number) const {
  for (const Range& range : ranges_) {
    if (range.feature == number) return range;
  }
  return {number, 0, 1, false};
}

void Box::set(const Range& range) {
  const auto place = std::lower_bound(ranges_.begin(), ranges_.end(), range.feature,
                                      [](const Range& r, std::int32_t feature) { return r.feature < feature; });
  if (place != ranges_.end() && place->feature == range.feature) {
    *place = range;
  } else {
    ranges_.insert(place, range);
  }
}

// A feature that one of the boxes does not name has all its bins there: the boxes overlap in it.
bool Monotone::is_below(const Box& low, const Box& high) const {
  bool separated = false;
  auto a = low.ranges().begin();
  auto b = high.ranges().begin();
  while (a != low.ranges().end() && b != high.ranges().end()) {
    if (a->feature != b->feature) {
      ++(a->feature < b->feature ? a : b);
      continue;
    }
    if (!a->meets(*b)) {
      const int direction = direction_of(a->feature);
      if (separated || direction == 0 || !a->has_values() || !b->has_values()) return false;
      if (direction > 0 ? a->last >= b->first : a->first <= b->last) return false;
      separated = true;
    }
    ++a;
    ++b;
  }
  return separated;
}

// ---- growth ----

void Monotone::start(const MonotoneParams& params, const std::vector<Feature>& features, double root_value,
                     int n_threads) {
  params_ = &params;
  features_ = &features;
  is_on_ = std::any_of(params.direction.begin(), params.direction.end(), [](std::int8_t d) { return d != 0; });
  regions_.clear();
  changed_.clear();
  if (!is_on_) return;
  regions_.resize(1);
  regions_[0].value = root_value;
  if (params.method != MonotoneMethod::advanced) return;
  std::int32_t most_bins = 1;
  for (const Feature& f : features) most_bins = std::max(most_bins, f.n_value_bins);
  scratch_step_ = most_bins + 16;
  scratch_.resize(std::max(scratch_.size(), at_place(n_threads)));
  for (auto& scratch : scratch_) scratch.resize(at_place(4 * scratch_step_));
}

// LightGBM's formula: 0 on the first levels, then halving its distance to 1.
double Monotone::penalty_at(int depth) const {
  const double penalty = params_->penalty;
  if (penalty >= depth + 1.0) return 0.0;
  return penalty <= 1.0 ? 1.0 - penalty / power_of_two(depth) : 1.0 - power_of_two(penalty - 1.0 - depth);
}

Box::Range Monotone::range_in(const Box& box, std::int32_t number) const {
  const auto n_features = static_cast<std::int32_t>(features_->size());
  return number < n_features ? box.range_of(number, (*features_)[at_place(number)]) : box.parting_of(number);
}

// A set of categories has no order: its two sides are separated in an extra feature of two bins.
void Monotone::split(std::int32_t node, std::int32_t first_child, const Split& given, double values[2]) {
  changed_.clear();
  Split split = given;
  if ((*features_)[at_place(given.feature)].is_categorical()) {
    split = {static_cast<std::int32_t>(features_->size()) + node, 0, false};
  }
  if (regions_.size() < at_place(first_child) + 2) regions_.resize(at_place(first_child) + 2);
  Region& parent = at(node);
  Region& left = at(first_child);
  Region& right = at(first_child + 1);
  parent.children[0] = first_child;
  parent.children[1] = first_child + 1;
  parent.feature = split.feature;

  const Box::Range own = range_in(parent.box, split.feature);
  Box::Range below = own;
  below.last = std::min(own.last, split.threshold);
  below.missing = own.missing && split.missing_left;
  Box::Range above = own;
  above.first = std::max(own.first, split.threshold + 1);
  above.missing = own.missing && !split.missing_left;
  left.box = parent.box;
  left.box.set(below);
  right.box = parent.box;
  right.box.set(above);
  left.limits = right.limits = parent.limits;
  if (changes_others()) {
    take_over_neighbours(node, split);
    left.limits = limits_from_neighbours(left);
    right.limits = limits_from_neighbours(right);
  }
  values[0] = left.limits.clamp(values[0]);
  values[1] = right.limits.clamp(values[1]);

  const int direction = direction_of(split.feature);
  if (direction != 0 && below.has_values() && above.has_values()) {
    const int lower = direction > 0 ? 0 : 1;
    double middle = 0.5 * (values[0] + values[1]);
    // The search respects this order, but later steps (damping, forced splits) may not.
    if (values[lower] > values[1 - lower]) {
      middle = std::clamp(middle, std::max(left.limits.low, right.limits.low),
                          std::min(left.limits.high, right.limits.high));
      values[0] = values[1] = middle;
    }
    Region& low = lower == 0 ? left : right;
    Region& high = lower == 0 ? right : left;
    if (changes_others()) {
      low.neighbours.push_back({parent.children[1 - lower], split.feature, false});
      high.neighbours.push_back({parent.children[lower], split.feature, true});
      low.limits.high = std::min(low.limits.high, values[1 - lower]);
      high.limits.low = std::max(high.limits.low, values[lower]);
    } else {
      low.limits.high = middle;
      high.limits.low = middle;
    }
  }
  left.value = values[0];
  right.value = values[1];
  if (!changes_others()) return;
  for (const Neighbour& n : parent.neighbours) {
    Region& other = at(n.leaf);
    const Limits now = limits_from_neighbours(other);
    if (params_->method == MonotoneMethod::advanced || now != other.limits) {
      changed_.push_back({n.leaf, now.low < other.limits.low || now.high > other.limits.high});
    }
    other.limits = now;
  }
  parent.neighbours.clear();
}

// Children are below and above leaves that their parent was below and above, unless they no longer
// overlap in the feature of the split.
void Monotone::take_over_neighbours(std::int32_t node, const Split& split) {
  const Region& parent = at(node);
  for (const Neighbour& n : parent.neighbours) {
    Region& other = at(n.leaf);
    std::erase_if(other.neighbours, [&](const Neighbour& back) { return back.leaf == node; });
    const Box::Range others = range_in(other.box, split.feature);
    for (const std::int32_t child : parent.children) {
      const Box::Range range = range_in(at(child).box, split.feature);
      if (n.feature == split.feature ? !range.has_values() : !range.meets(others)) continue;
      at(child).neighbours.push_back(n);
      other.neighbours.push_back({child, n.feature, !n.below});
    }
  }
}

Limits Monotone::limits_from_neighbours(const Region& region) const {
  Limits limits;
  for (const Neighbour& n : region.neighbours) {
    if (n.below) {
      limits.low = std::max(limits.low, at(n.leaf).value);
    } else {
      limits.high = std::min(limits.high, at(n.leaf).value);
    }
  }
  return limits;
}

// ---- search ----

void Monotone::prepare_search(std::int32_t leaf) {
  if (!is_on_ || params_->method != MonotoneMethod::advanced) return;
  Region& region = at(leaf);
  region.cuts.clear();
  const std::vector<Box::Range>& ranges = region.box.ranges();
  for (std::size_t i = 0; i < region.neighbours.size(); ++i) {
    const Neighbour& n = region.neighbours[i];
    auto own = ranges.begin();
    for (const Box::Range& range : at(n.leaf).box.ranges()) {
      if (range.feature == n.feature) continue;
      while (own != ranges.end() && own->feature < range.feature) ++own;
      const bool cut = own != ranges.end() && own->feature == range.feature;
      const std::int32_t first = cut ? own->first : 0;
      const std::int32_t last = cut ? own->last : range_in({}, range.feature).last;
      if (range.first <= first && range.last >= last) continue;
      region.cuts.push_back({range.feature, static_cast<std::int32_t>(i), range.first, range.last, range.missing});
    }
  }
  std::stable_sort(region.cuts.begin(), region.cuts.end(),
                   [](const Cut& a, const Cut& b) { return a.feature < b.feature; });
}

bool Monotone::limit_search(std::int32_t leaf, std::int32_t feature, double scale, int thread, ValueLimits& out) {
  const Region& region = at(leaf);
  const Box::Range own = region.box.range_of(feature, (*features_)[at_place(feature)]);
  out.direction = direction_of(feature);
  out.first_bin = own.first;
  out.last_bin = own.last;
  out.low = region.limits.low * scale;
  out.high = region.limits.high * scale;
  const auto by_feature = [](const Cut& cut, std::int32_t f) { return cut.feature < f; };
  const auto begin = std::lower_bound(region.cuts.begin(), region.cuts.end(), feature, by_feature);
  const auto end = std::lower_bound(begin, region.cuts.end(), feature + 1, by_feature);
  if (begin != end) {
    double* const scratch = scratch_[at_place(thread)].data();
    double* const by_threshold[4] = {scratch, scratch + scratch_step_, scratch + 2 * scratch_step_,
                                     scratch + 3 * scratch_step_};
    limit_by_threshold(region, own, {begin, end}, scale, by_threshold);
    std::copy_n(by_threshold, 4, out.by_threshold);
    return true;
  }
  return out.direction != 0 || out.low > -kInfinity || out.high < kInfinity;
}

// For each threshold: the low and high limit of the left side, then of the right side. It is not
// known yet where missing values will go: they count for both sides.
void Monotone::limit_by_threshold(const Region& region, const Box::Range& own, std::span<const Cut> cuts, double scale,
                                  double* const by_threshold[4]) const {
  const std::int32_t n = (*features_)[at_place(own.feature)].n_value_bins;
  Limits both;
  std::size_t next = 0;
  for (std::size_t i = 0; i < region.neighbours.size(); ++i) {
    if (next < cuts.size() && cuts[next].neighbour == static_cast<std::int32_t>(i)) {
      const bool by_missing = own.missing && cuts[next].missing;
      ++next;
      if (!by_missing) continue;
    }
    const double value = at(region.neighbours[i].leaf).value * scale;
    if (region.neighbours[i].below) {
      both.low = std::max(both.low, value);
    } else {
      both.high = std::min(both.high, value);
    }
  }
  double* const left_low = by_threshold[0];
  double* const left_high = by_threshold[1];
  double* const right_low = by_threshold[2];
  double* const right_high = by_threshold[3];
  for (int k = 0; k < 4; ++k) std::fill_n(by_threshold[k], scratch_step_, k % 2 == 0 ? both.low : both.high);
  for (const Cut& cut : cuts) {
    const Neighbour& neighbour = region.neighbours[at_place(cut.neighbour)];
    const double value = at(neighbour.leaf).value * scale;
    const std::int32_t first = std::max(cut.first, own.first);
    const std::int32_t last = std::min(cut.last, own.last);
    if (first > last) continue;  // the boxes overlap in missing values only
    // It limits the left side from its first bin on, and the right side up to the bin before its last.
    if (neighbour.below) {
      left_low[first] = std::max(left_low[first], value);
      if (last > 0) right_low[last - 1] = std::max(right_low[last - 1], value);
    } else {
      left_high[first] = std::min(left_high[first], value);
      if (last > 0) right_high[last - 1] = std::min(right_high[last - 1], value);
    }
  }
  for (std::int32_t t = 1; t < n; ++t) {
    left_low[t] = std::max(left_low[t], left_low[t - 1]);
    left_high[t] = std::min(left_high[t], left_high[t - 1]);
  }
  for (std::int32_t t = n - 2; t >= 0; --t) {
    right_low[t] = std::max(right_low[t], right_low[t + 1]);
    right_high[t] = std::min(right_high[t], right_high[t + 1]);
  }
}

// ---- values of the finished tree ----

// Leaves ordered so that none comes before a leaf that it is above: the lower side of a split on a
// monotone feature goes first.
std::vector<std::int32_t> Monotone::rising_order(std::span<const std::int32_t> leaves) const {
  std::vector<std::int32_t> place(regions_.size(), -1);
  for (std::size_t i = 0; i < leaves.size(); ++i) place[at_place(leaves[i])] = static_cast<std::int32_t>(i);
  std::vector<std::int32_t> order;
  std::vector<std::int32_t> waiting{0};
  while (!waiting.empty()) {
    const std::int32_t leaf = waiting.back();
    waiting.pop_back();
    if (place[at_place(leaf)] >= 0) {
      order.push_back(place[at_place(leaf)]);
      continue;
    }
    const Region& region = at(leaf);
    const int first = direction_of(region.feature) < 0 ? 1 : 0;
    waiting.push_back(region.children[1 - first]);
    waiting.push_back(region.children[first]);
  }
  return order;
}

void Monotone::reconcile(std::span<const std::int32_t> leaves, std::span<const double> weights,
                         std::span<double> values) const {
  const std::vector<std::int32_t> order = rising_order(leaves);
  std::vector<Edge> edges;
  for (std::size_t j = 0; j < order.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (is_below(at(leaves[at_place(order[i])]).box, at(leaves[at_place(order[j])]).box)) {
        edges.push_back({order[i], order[j]});
      }
    }
  }
  // Hildreth's method: constraint after constraint, the pair moves together by its weights, and back
  // when others have moved it apart.
  std::vector<double> give(values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    give[i] = 1.0 / std::max(weights[i], std::numeric_limits<double>::min());
    largest = std::max(largest, std::abs(values[i]));
  }
  std::vector<double> pull(edges.size(), 0.0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double worst = 0.0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      double& low = values[at_place(edges[e].low)];
      double& high = values[at_place(edges[e].high)];
      const double low_give = give[at_place(edges[e].low)];
      const double high_give = give[at_place(edges[e].high)];
      const double next = std::max(0.0, pull[e] + (low - high) / (low_give + high_give));
      const double change = next - pull[e];
      if (change == 0.0) continue;
      worst = std::max(worst, std::abs(low - high));
      pull[e] = next;
      low -= change * low_give;
      high += change * high_give;
    }
    if (worst <= 1e-9 * largest) break;
  }
  // Removes the remaining violations exactly: the maximum over a leaf and all leaves below it, and
  // the minimum over it and all leaves above it, are both increasing, and so is their mean.
  std::vector<double> up(values.begin(), values.end());
  std::vector<double> down(values.begin(), values.end());
  // Edges are in the order of their upper ends.
  for (const Edge& e : edges) up[at_place(e.high)] = std::max(up[at_place(e.high)], up[at_place(e.low)]);
  std::vector<std::vector<std::int32_t>> above(values.size());
  for (const Edge& e : edges) above[at_place(e.low)].push_back(e.high);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    for (const std::int32_t high : above[at_place(*i)])
      down[at_place(*i)] = std::min(down[at_place(*i)], down[at_place(high)]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * (up[i] + down[i]);
}

}  // namespace gossamer
