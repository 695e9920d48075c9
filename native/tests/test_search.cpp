// The best threshold of a feature against a plain loop over thresholds in double precision.
#include <algorithm>

#include "core/histogram.h"
#include "support.h"

namespace gossamer::tests {
namespace {

enum class Storage { cells, large };

// One feature of one leaf: integer sums per bin, the last bin is "missing".
struct Leaf {
  CellLayout layout;
  int n_value_bins = 0;
  bool has_missing = false;
  CellSums bins;
  Buffer<std::uint64_t> cells;
  std::int64_t gradient = 0, hessian = 0, count = 0;

  Leaf(const CellLayout& l, int n, bool missing, std::int64_t n_rows, double empty_share, Random& random)
      : layout(l), n_value_bins(n), has_missing(missing), bins(n + 1) {
    std::vector<std::int64_t> open;
    for (int b = 0; b < n; ++b) {
      if (!random.chance(empty_share)) open.push_back(b);
    }
    if (open.empty()) open.push_back(0);
    if (missing) open.push_back(n);
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::size_t b = at(open[at(random.below(static_cast<std::int64_t>(open.size())))]);
      const std::int64_t limit = std::min<std::int64_t>(l.gradient_limit, 1 << 13);
      bins.gradient[b] += random.below(2 * limit + 1) - limit;
      bins.hessian[b] += l.constant_hessian() ? 0 : 1 + random.below(l.hessian_limit);
      bins.count[b] += 1;
    }
    finish();
  }

  void finish() {
    cells.reset((n_value_bins + 1) * (layout.wide ? 2 : 1));
    kernels().pack(bins.view(), n_value_bins + 1, layout, cells.data());
    gradient = hessian = count = 0;
    for (int b = 0; b <= n_value_bins; ++b) {
      gradient += bins.gradient[at(b)];
      hessian += hessian_of(b);
      count += bins.count[at(b)];
    }
  }

  std::int64_t hessian_of(int b) const {
    return layout.constant_hessian() ? static_cast<std::int64_t>(bins.count[at(b)]) : bins.hessian[at(b)];
  }

  SearchArgs args(Storage storage, std::vector<double>& scratch) {
    SearchArgs a;
    if (storage == Storage::cells) {
      a.cells = cells.data();
    } else {
      a.large = bins.view();
    }
    a.n_value_bins = n_value_bins;
    a.has_missing = has_missing;
    a.gradient = static_cast<double>(gradient);
    a.hessian = static_cast<double>(hessian);
    a.count = static_cast<double>(count);
    scratch.assign(at(search_scratch_size(n_value_bins)), NAN);
    a.scratch = scratch.data();
    return a;
  }
};

// The formulas of the documentation, one leaf at a time.
double leaf_gain(double g, double h, double count, const SplitRules& r, double parent_output) {
  const double s = std::copysign(std::max(std::abs(g) - r.lambda_l1, 0.0), g);
  if (r.plain()) return s * s / (h + r.lambda_l2);
  double w = -s / (h + r.lambda_l2);
  if (r.max_delta_step > 0.0) w = std::clamp(w, -r.max_delta_step, r.max_delta_step);
  if (r.path_smooth > 0.0) {
    w = w * (count / r.path_smooth) / (count / r.path_smooth + 1.0) + parent_output / (count / r.path_smooth + 1.0);
  }
  return -(2.0 * (r.l1_in_gain ? s : g) * w + (h + r.lambda_l2) * w * w);
}

// Gain of one threshold; kNone if it is not admissible.
constexpr double kNone = -1.0e300;

double naive_gain(const Leaf& leaf, int threshold, bool missing_left, const SplitRules& r, double parent_output) {
  double gl = 0.0, hl = 0.0, cl = 0.0;
  const auto add = [&](int b) {
    gl += static_cast<double>(leaf.bins.gradient[at(b)]);
    hl += static_cast<double>(leaf.hessian_of(b));
    cl += leaf.bins.count[at(b)];
  };
  for (int b = 0; b <= threshold; ++b) add(b);
  if (missing_left) add(leaf.n_value_bins);
  const double gr = static_cast<double>(leaf.gradient) - gl;
  const double hr = static_cast<double>(leaf.hessian) - hl;
  const double cr = static_cast<double>(leaf.count) - cl;
  if (cl < r.min_data || cr < r.min_data || hl < r.min_sum_hessian || hr < r.min_sum_hessian) return kNone;
  if (hl + r.lambda_l2 <= 0.0 || hr + r.lambda_l2 <= 0.0) return kNone;
  return leaf_gain(gl, hl, cl, r, parent_output) + leaf_gain(gr, hr, cr, r, parent_output);
}

double naive_best(const Leaf& leaf, const SplitRules& r, double parent_output, int only_threshold) {
  double best = kNone;
  const bool missing = leaf.has_missing && leaf.bins.count[at(leaf.n_value_bins)] > 0;
  for (int t = 0; t < leaf.n_value_bins; ++t) {
    if (only_threshold >= 0 && t != only_threshold) continue;
    best = std::max(best, naive_gain(leaf, t, false, r, parent_output));
    if (missing) best = std::max(best, naive_gain(leaf, t, true, r, parent_output));
  }
  return best;
}

bool close(double a, double b) {
  if (a == b) return true;
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

void check(Leaf& leaf, Storage storage, const SplitRules& rules, int only_threshold) {
  const double parent_output = 1.25;
  const double expected = naive_best(leaf, rules, parent_output, only_threshold);
  struct Found {
    double gain;
    std::int64_t threshold, missing_left, improved;
  };
  const auto found = same_at_every_level([&] {
    std::vector<double> scratch;
    SearchArgs args = leaf.args(storage, scratch);
    args.parent_output = parent_output;
    args.only_threshold = only_threshold;
    Candidate best;
    const bool improved = kernels().search(args, leaf.layout, rules, best);
    return std::vector<Found>{{best.gain, best.threshold, best.missing_left, improved}};
  })[0];
  CAPTURE(leaf.n_value_bins);
  CAPTURE(leaf.count);
  CAPTURE(leaf.has_missing);
  CAPTURE(static_cast<int>(storage));
  CAPTURE(leaf.layout.wide);
  CAPTURE(leaf.layout.constant_hessian());
  CAPTURE(only_threshold);
  if (expected == kNone) {
    CHECK_FALSE(found.improved);
    CHECK(found.threshold == -1);
    return;
  }
  REQUIRE(found.improved);
  CHECK(close(found.gain, expected));
  REQUIRE(found.threshold >= 0);
  REQUIRE(found.threshold < leaf.n_value_bins);
  const auto t = static_cast<int>(found.threshold);
  if (only_threshold >= 0) CHECK(t == only_threshold);
  CHECK(close(naive_gain(leaf, t, found.missing_left != 0, rules, parent_output), found.gain));
  // An empty bin repeats the gain of the one before: the first of equals is taken.
  if (only_threshold < 0) CHECK(leaf.bins.count[at(t)] > 0);

  // A candidate that is as good already must stay.
  std::vector<double> scratch;
  SearchArgs args = leaf.args(storage, scratch);
  args.parent_output = parent_output;
  args.only_threshold = only_threshold;
  Candidate equal;
  equal.gain = found.gain;
  equal.threshold = 12345;
  CHECK_FALSE(kernels().search(args, leaf.layout, rules, equal));
  CHECK(equal.threshold == 12345);
}

SplitRules plain_rules() {
  SplitRules r;
  r.min_data = 1.0;
  r.min_sum_hessian = 0.0;
  return r;
}

std::vector<SplitRules> all_rules() {
  std::vector<SplitRules> rules{plain_rules()};
  const auto add = [&](auto&& change) {
    SplitRules r = plain_rules();
    change(r);
    rules.push_back(r);
  };
  add([](SplitRules& r) { r.lambda_l2 = 50.0; });
  add([](SplitRules& r) { r.min_data = 5.0; });
  add([](SplitRules& r) { r.min_sum_hessian = 4000.0; });
  add([](SplitRules& r) { r.lambda_l1 = 3000.0; });
  add([](SplitRules& r) { r.max_delta_step = 2.0; });
  add([](SplitRules& r) { r.path_smooth = 3.0; });
  add([](SplitRules& r) {
    r.lambda_l1 = 100.0;
    r.lambda_l2 = 10.0;
    r.max_delta_step = 1.5;
    r.path_smooth = 0.7;
    r.min_data = 3.0;
  });
  add([](SplitRules& r) {
    r.lambda_l1 = 3000.0;
    r.max_delta_step = 2.0;
    r.l1_in_gain = false;
  });
  return rules;
}

// ---- limits of values ----

struct Limited {
  ValueLimits limits;
  std::vector<double> by_threshold[4];
};

// All but the direction at random; thresholds have limits of their own, or all the same.
Limited random_limits(const Leaf& leaf, int direction, bool vary, Random& random) {
  const double scale =
      0.4 * std::abs(static_cast<double>(leaf.gradient)) / (static_cast<double>(leaf.hessian) + 1.0) + 0.5;
  Limited l;
  l.limits.direction = direction;
  // Rows lie within the bins that the leaf can hold.
  l.limits.first_bin = leaf.bins.count[0] == 0 ? 1 : 0;
  l.limits.last_bin = leaf.n_value_bins - (leaf.bins.count[at(leaf.n_value_bins - 1)] == 0 ? 2 : 1);
  l.limits.low = -scale * random.unit();
  l.limits.high = scale * random.unit();
  if (!vary) return l;
  for (int k = 0; k < 4; ++k) {
    for (int t = 0; t < leaf.n_value_bins + 16; ++t) {
      const double bound = random.chance(0.3) ? INFINITY : scale * random.unit();
      l.by_threshold[k].push_back(k % 2 == 0 ? -bound : bound);
    }
    l.limits.by_threshold[k] = l.by_threshold[k].data();
  }
  return l;
}

double limited_gain(const Leaf& leaf, int t, bool missing_left, const SplitRules& r, double parent_output,
                    const ValueLimits& limits) {
  if (naive_gain(leaf, t, missing_left, r, parent_output) == kNone) return kNone;
  double g[2] = {0.0, 0.0}, h[2] = {0.0, 0.0}, c[2] = {0.0, 0.0}, w[2];
  for (int b = 0; b <= leaf.n_value_bins; ++b) {
    const int side = b == leaf.n_value_bins ? !missing_left : b > t;
    g[side] += static_cast<double>(leaf.bins.gradient[at(b)]);
    h[side] += static_cast<double>(leaf.hessian_of(b));
    c[side] += leaf.bins.count[at(b)];
  }
  double gain = 0.0;
  for (int side = 0; side < 2; ++side) {
    const double s = std::copysign(std::max(std::abs(g[side]) - r.lambda_l1, 0.0), g[side]);
    const double d = h[side] + r.lambda_l2;
    w[side] = -s / d;
    if (r.max_delta_step > 0.0) w[side] = std::clamp(w[side], -r.max_delta_step, r.max_delta_step);
    if (r.path_smooth > 0.0) {
      const double trust = c[side] / r.path_smooth;
      w[side] = w[side] * trust / (trust + 1.0) + parent_output / (trust + 1.0);
    }
    const bool vary = limits.by_threshold[0] != nullptr;
    w[side] = std::clamp(w[side], vary ? limits.by_threshold[2 * side][t] : limits.low,
                         vary ? limits.by_threshold[2 * side + 1][t] : limits.high);
    gain -= 2.0 * (r.l1_in_gain ? s : g[side]) * w[side] + d * w[side] * w[side];
  }
  const bool has_both = t >= limits.first_bin && t < limits.last_bin;
  if (has_both && limits.direction > 0 && w[0] > w[1]) return kNone;
  if (has_both && limits.direction < 0 && w[0] < w[1]) return kNone;
  return gain;
}

void check_limited(Leaf& leaf, Storage storage, const SplitRules& rules, const ValueLimits& limits) {
  const double parent_output = 0.25;
  const bool missing = leaf.has_missing && leaf.bins.count[at(leaf.n_value_bins)] > 0;
  double expected = kNone;
  for (int t = 0; t < leaf.n_value_bins; ++t) {
    expected = std::max(expected, limited_gain(leaf, t, false, rules, parent_output, limits));
    if (missing) expected = std::max(expected, limited_gain(leaf, t, true, rules, parent_output, limits));
  }
  struct Found {
    double gain;
    std::int64_t threshold, missing_left;
  };
  const auto found = same_at_every_level([&] {
    std::vector<double> scratch;
    SearchArgs args = leaf.args(storage, scratch);
    args.parent_output = parent_output;
    args.limits = &limits;
    Candidate best;
    kernels().search(args, leaf.layout, rules, best);
    return std::vector<Found>{{best.gain, best.threshold, best.missing_left}};
  })[0];
  CAPTURE(leaf.n_value_bins);
  CAPTURE(leaf.count);
  CAPTURE(limits.direction);
  CAPTURE(expected);
  CAPTURE(found.gain);
  REQUIRE((found.threshold >= 0) == (expected > kNone));
  if (found.threshold < 0) return;
  CHECK(std::abs(found.gain - expected) <= 1e-9 * (std::abs(expected) + 1.0));
  const double own =
      limited_gain(leaf, static_cast<int>(found.threshold), found.missing_left != 0, rules, parent_output, limits);
  CHECK(std::abs(found.gain - own) <= 1e-9 * (std::abs(expected) + 1.0));
}

// A leaf with several features, each zero (bin 0) in some of its rows and never missing.
struct Leaves {
  CellLayout layout;
  Sums sums;
  std::vector<CellSums> bins;            // by feature
  std::vector<std::int64_t> first_cell;  // of the cells without zero's, and the end

  Leaves(const CellLayout& l, int n_features, int max_bins, std::int64_t n_rows, Random& random,
         std::int64_t n_filled = 1 << 30)
      : layout(l), first_cell{0} {
    for (int f = 0; f < n_features; ++f) {
      const std::int64_t n_bins = max_bins == 2 ? 2 : 2 + random.below(max_bins - 1);
      bins.emplace_back(n_bins);
      first_cell.push_back(first_cell.back() + n_bins - 1);
    }
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::int64_t limit = l.wide ? l.gradient_limit : std::min<std::int64_t>(l.gradient_limit, 1 << 13);
      const std::int64_t gradient = random.below(2 * limit + 1) - limit;
      const std::int64_t hessian = l.constant_hessian() ? 0 : 1 + random.below(l.hessian_limit);
      sums += {gradient, hessian, 1};
      for (int f = 0; f < n_features; ++f) {
        const bool zero = i >= n_filled || random.chance(f % 3 == 0 ? 0.9 : 0.4);
        const std::size_t b = zero ? 0 : at(random.below(bins[at(f)].size()));
        bins[at(f)].gradient[b] += gradient;
        bins[at(f)].hessian[b] += hessian;
        bins[at(f)].count[b] += 1;
      }
    }
  }

  std::int64_t n_cells() const { return first_cell.back(); }

  // The cells without zero's, one feature after another.
  CellSums others() const {
    CellSums cells(n_cells());
    for (std::size_t f = 0; f < bins.size(); ++f) {
      for (std::int64_t b = 1; b < bins[f].size(); ++b) {
        const std::size_t c = at(first_cell[f] + b - 1);
        cells.gradient[c] = bins[f].gradient[at(b)];
        cells.hessian[c] = bins[f].hessian[at(b)];
        cells.count[c] = bins[f].count[at(b)];
      }
    }
    return cells;
  }
};

struct RightSplit {
  double gain = kNone;
  std::int64_t feature = -1;
  std::int64_t threshold = -1;
  bool operator==(const RightSplit&) const = default;
};

// One feature after another, each with all of its cells.
RightSplit one_by_one(const Leaves& leaves, const SplitRules& rules, double parent_output,
                      const std::vector<std::int32_t>& names, const char* allowed) {
  RightSplit best;
  for (std::size_t f = 0; f < leaves.bins.size(); ++f) {
    if (allowed != nullptr && !allowed[names[f]]) continue;
    CellSums own = leaves.bins[f];
    std::vector<double> scratch(at(search_scratch_size(static_cast<int>(own.size()))));
    SearchArgs args;
    args.large = own.view();
    args.n_value_bins = static_cast<int>(own.size());
    args.gradient = static_cast<double>(leaves.sums.gradient);
    args.hessian = static_cast<double>(leaves.layout.constant_hessian() ? leaves.sums.count : leaves.sums.hessian);
    args.count = static_cast<double>(leaves.sums.count);
    args.parent_output = parent_output;
    args.scratch = scratch.data();
    Candidate candidate;
    if (!kernels().search(args, leaves.layout, rules, candidate)) continue;
    const RightSplit found{candidate.gain, names[f], candidate.threshold};
    if (found.gain > best.gain || (found.gain == best.gain && found.feature < best.feature)) best = found;
  }
  return best;
}

void check_right(const Leaves& leaves, Storage storage, const SplitRules& rules, Random& random) {
  const double parent_output = 0.75;
  // Numbers that do not increase: places are by other things than the feature.
  std::vector<std::int32_t> names;
  for (std::size_t f = 0; f < leaves.bins.size(); ++f) names.push_back(static_cast<std::int32_t>(f * 7 % 29));
  std::vector<std::int32_t> of_cell;
  for (std::size_t f = 0; f < leaves.bins.size(); ++f) {
    of_cell.insert(of_cell.end(), at(leaves.first_cell[f + 1] - leaves.first_cell[f]), names[f]);
  }
  CellSums others = leaves.others();
  Buffer<std::uint64_t> packed(2 * others.size());
  kernels().pack(others.view(), others.size(), leaves.layout, packed.data());
  FeatureCells from;
  if (storage == Storage::cells) {
    from.cells = packed.data();
  } else {
    from.large = others.view();
  }
  Buffer<std::uint64_t> scratch(zero_scratch_words(others.size()));
  const FeatureCells above = sums_from_above(from, leaves.first_cell, leaves.layout, scratch.data());
  std::vector<char> allowed(29, 1);
  for (char& a : allowed) a = random.chance(0.5);
  for (const char* const mask : {static_cast<const char*>(nullptr), static_cast<const char*>(allowed.data())}) {
    const RightSplit expected = one_by_one(leaves, rules, parent_output, names, mask);
    at_every_level([&] {
      SearchRightArgs args;
      args.cells = above.cells;
      args.large = above.large;
      args.n = static_cast<int>(others.size());
      args.features = of_cell.data();
      args.allowed = mask;
      args.leaf = leaves.sums;
      args.parent_output = parent_output;
      FeatureCandidate best;
      const bool found = kernels().search_right(args, leaves.layout, rules, best);
      CHECK(found == (expected.feature >= 0));
      RightSplit got{best.gain, best.feature, -1};
      if (found) {
        REQUIRE(best.cell >= 0);
        CHECK(of_cell[at(best.cell)] == best.feature);
        const auto f = std::find(names.begin(), names.end(), best.feature) - names.begin();
        got.threshold = best.cell - leaves.first_cell[at(f)];
      }
      CAPTURE(leaves.bins.size());
      CAPTURE(leaves.sums.count);
      CAPTURE(static_cast<int>(storage));
      CAPTURE(expected.gain);
      CAPTURE(got.gain);
      CHECK(got.feature == expected.feature);
      CHECK(got.threshold == expected.threshold);
      CHECK(std::memcmp(&got.gain, &expected.gain, sizeof(double)) == 0);
      // In two calls, the second one first: the same in the end.
      const auto half = static_cast<std::size_t>(leaves.bins.size() / 2);
      const auto middle = static_cast<int>(leaves.first_cell[half]);
      SearchRightArgs part = args;
      const FeatureCells upper = above.from(middle, leaves.layout);
      part.cells = upper.cells;
      part.large = upper.large;
      part.n = args.n - middle;
      part.features = args.features + middle;
      FeatureCandidate twice;
      kernels().search_right(part, leaves.layout, rules, twice);
      part = args;
      part.n = middle;
      kernels().search_right(part, leaves.layout, rules, twice);
      CHECK(twice.gain == best.gain);
      CHECK(twice.feature == best.feature);
      CHECK(twice.any_filled == best.any_filled);
      bool any_filled = false;
      for (std::int64_t c = 0; c < others.size(); ++c) {
        any_filled |= static_cast<double>(sum_bins(above, c, 1, leaves.layout).count) >= rules.min_data;
      }
      CHECK(best.any_filled == any_filled);
    });
  }
}

}  // namespace

TEST_SUITE("search") {
  TEST_CASE("against a plain loop: all forms, sizes and rules") {
    Random random(21);
    const std::vector<SplitRules> rules = all_rules();
    for (const Form form : kForms) {
      for (const int n_bins : {1, 2, 7, 8, 9, 16, 63, 255, 1000}) {
        for (const std::int64_t n_rows : {1, 5, 40, 700}) {
          for (const bool missing : {false, true}) {
            Leaf leaf(layout_of(form), n_bins, missing, n_rows, 0.3, random);
            for (const SplitRules& r : rules) {
              for (const Storage storage : {Storage::cells, Storage::large}) check(leaf, storage, r, -1);
            }
          }
        }
      }
    }
  }

  TEST_CASE("many rows: sums beyond a packed cell") {
    Random random(22);
    for (const Form form : kForms) {
      Leaf leaf(layout_of(form), 100, true, 200000, 0.1, random);
      for (const SplitRules& r : all_rules()) check(leaf, Storage::large, r, -1);
    }
  }

  TEST_CASE("extra trees: one threshold alone") {
    Random random(23);
    for (const Form form : kForms) {
      for (const std::int64_t n_rows : {10, 500}) {
        for (const bool missing : {false, true}) {
          Leaf leaf(layout_of(form), 40, missing, n_rows, 0.6, random);
          for (int t = 0; t < 40; ++t) {
            check(leaf, Storage::cells, plain_rules(), t);
            check(leaf, Storage::large, plain_rules(), t);
          }
        }
      }
    }
  }

  TEST_CASE("mostly empty bins and an empty leaf") {
    Random random(24);
    for (const Form form : kForms) {
      for (const double empty : {0.9, 0.99, 1.0}) {
        Leaf leaf(layout_of(form), 255, true, 30, empty, random);
        check(leaf, Storage::cells, plain_rules(), -1);
        check(leaf, Storage::large, plain_rules(), -1);
      }
      Leaf nothing(layout_of(form), 255, true, 0, 0.0, random);
      check(nothing, Storage::cells, plain_rules(), -1);
    }
  }

  TEST_CASE("equal gains: the lowest threshold, missing on the right") {
    for (const Form form : kForms) {
      Random random(25);
      Leaf leaf(layout_of(form), 4, true, 0, 0.0, random);
      // Mirror image: cutting after bin 0 and after bin 2 is worth the same.
      for (const int b : {0, 1, 2, 3}) {
        leaf.bins.gradient[at(b)] = b == 0 || b == 3 ? 100 : -100;
        leaf.bins.hessian[at(b)] = leaf.layout.constant_hessian() ? 0 : 10;
        leaf.bins.count[at(b)] = 10;
      }
      leaf.finish();
      for (const Storage storage : {Storage::cells, Storage::large}) {
        std::vector<double> scratch;
        Candidate best;
        REQUIRE(kernels().search(leaf.args(storage, scratch), leaf.layout, plain_rules(), best));
        CHECK(best.threshold == 0);
        CHECK_FALSE(best.missing_left);
      }
    }
  }

  TEST_CASE("only missing against all values can be a split") {
    for (const Form form : kForms) {
      Random random(26);
      Leaf leaf(layout_of(form), 3, true, 0, 0.0, random);
      leaf.bins.gradient = {50, 0, 0, -70};
      if (!leaf.layout.constant_hessian()) leaf.bins.hessian = {5, 0, 0, 7};
      leaf.bins.count = {5, 0, 0, 7};
      leaf.finish();
      check(leaf, Storage::cells, plain_rules(), -1);
      check(leaf, Storage::large, plain_rules(), -1);
    }
  }

  TEST_CASE("values within limits and in order: against a plain loop") {
    Random random(31);
    for (const Form form : kForms) {
      for (const int n_bins : {2, 8, 9, 63, 255}) {
        for (const std::int64_t n_rows : {5, 40, 700}) {
          for (const bool missing : {false, true}) {
            Leaf leaf(layout_of(form), n_bins, missing, n_rows, 0.0, random);
            for (const int direction : {-1, 0, 1}) {
              for (const bool vary : {false, true}) {
                const Limited l = random_limits(leaf, direction, vary, random);
                for (const SplitRules& r : all_rules()) {
                  for (const Storage storage : {Storage::cells, Storage::large})
                    check_limited(leaf, storage, r, l.limits);
                }
              }
            }
          }
        }
      }
    }
  }

  TEST_CASE("limits that nothing reaches change nothing") {
    Random random(32);
    Leaf leaf(layout_of(Form::packed), 63, true, 500, 0.3, random);
    ValueLimits limits;
    limits.low = -1e9;
    limits.high = 1e9;
    limits.last_bin = 62;
    std::vector<double> scratch;
    SearchArgs args = leaf.args(Storage::cells, scratch);
    Candidate free, limited;
    REQUIRE(kernels().search(args, leaf.layout, plain_rules(), free));
    args.limits = &limits;
    REQUIRE(kernels().search(args, leaf.layout, plain_rules(), limited));
    CHECK(limited.threshold == free.threshold);
    CHECK(limited.missing_left == free.missing_left);
    CHECK(limited.gain == doctest::Approx(free.gain).epsilon(1e-12));
  }

  // ---- many splits, one cell each ----

  TEST_CASE("many features at once: the split that each one alone would have") {
    Random random(27);
    for (const Form form : kForms) {
      for (const int n_features : {1, 3, 8, 20}) {
        for (const int max_bins : {2, 3, 40}) {
          for (const std::int64_t n_rows : {1, 6, 100, 3000}) {
            const Leaves leaves(layout_of(form), n_features, max_bins, n_rows, random);
            for (const SplitRules& r : all_rules()) {
              for (const Storage storage : {Storage::cells, Storage::large}) check_right(leaves, storage, r, random);
            }
          }
        }
      }
    }
  }

  TEST_CASE("many features at once: a leaf beyond packed cells, features within") {
    Random random(28);
    for (const Form form : kForms) {
      // All rows but some thousands are zero in every feature.
      const std::int64_t n_others = std::min<std::int64_t>(6000, layout_of(form).max_rows);
      const Leaves leaves(layout_of(form), 12, 9, 150000, random, n_others);
      for (const SplitRules& r : all_rules()) {
        for (const Storage storage : {Storage::cells, Storage::large}) check_right(leaves, storage, r, random);
      }
    }
  }

  TEST_CASE("many features at once: sums that no double holds exactly") {
    Random random(29);
    CellLayout layout = layout_of(Form::wide);
    layout.gradient_limit = std::int64_t{1} << 52;
    const Leaves leaves(layout, 15, 6, 900, random);
    for (const SplitRules& r : all_rules()) {
      for (const Storage storage : {Storage::cells, Storage::large}) check_right(leaves, storage, r, random);
    }
  }

  TEST_CASE("many features at once: equal gains go to the smaller feature, then to the first cell") {
    Random random(30);
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      CellSums cells(10);
      for (std::size_t c = 0; c < 10; ++c) {
        cells.gradient[c] = 500;
        cells.hessian[c] = layout.constant_hessian() ? 0 : 40;
        cells.count[c] = 30;
      }
      Buffer<std::uint64_t> packed(20);
      kernels().pack(cells.view(), 10, layout, packed.data());
      const std::vector<std::int32_t> features{7, 7, 5, 9, 3, 3, 3, 8, 4, 6};
      at_every_level([&] {
        for (const Storage storage : {Storage::cells, Storage::large}) {
          SearchRightArgs args;
          if (storage == Storage::cells) {
            args.cells = packed.data();
          } else {
            args.large = cells.view();
          }
          args.n = 10;
          args.features = features.data();
          args.leaf = {-200, layout.constant_hessian() ? 0 : 400, 100};
          FeatureCandidate best;
          CHECK(kernels().search_right(args, layout, plain_rules(), best));
          CHECK(best.feature == 3);
          CHECK(best.cell == 4);
          // As good already: a smaller feature stays, a larger one gives way.
          FeatureCandidate smaller = best;
          smaller.feature = 2;
          smaller.cell = -1;
          CHECK_FALSE(kernels().search_right(args, layout, plain_rules(), smaller));
          CHECK(smaller.feature == 2);
          CHECK(smaller.cell == -1);
          FeatureCandidate larger = best;
          larger.feature = 4;
          larger.cell = -1;
          CHECK(kernels().search_right(args, layout, plain_rules(), larger));
          CHECK(larger.feature == 3);
          // Only allowed ones.
          std::vector<char> allowed(10, 1);
          allowed[3] = allowed[4] = 0;
          args.allowed = allowed.data();
          FeatureCandidate other;
          CHECK(kernels().search_right(args, layout, plain_rules(), other));
          CHECK(other.feature == 5);
          CHECK(other.cell == 2);
          std::fill(allowed.begin(), allowed.end(), 0);
          FeatureCandidate none;
          CHECK_FALSE(kernels().search_right(args, layout, plain_rules(), none));
          CHECK(none.cell == -1);
          CHECK(none.any_filled);  // no feature was allowed, but there were rows
        }
      });
    }
  }

  TEST_CASE("many features at once: whether any cell has enough rows") {
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      for (int n = 1; n <= 17; ++n) {
        for (int filled = -1; filled < n; ++filled) {
          CellSums cells(n);
          for (std::size_t c = 0; c < at(n); ++c) cells.count[c] = static_cast<int>(c) == filled ? 20 : 19;
          Buffer<std::uint64_t> packed(2 * n);
          kernels().pack(cells.view(), n, layout, packed.data());
          std::vector<std::int32_t> features(at(n), 1);
          SplitRules rules = plain_rules();
          rules.min_data = 20;
          SearchRightArgs args;
          args.cells = packed.data();
          args.n = n;
          args.features = features.data();
          args.leaf = {0, 0, 25};  // the other side is too small: no split, but the cell is filled
          FeatureCandidate best;
          CHECK_FALSE(kernels().search_right(args, layout, rules, best));
          CHECK(best.any_filled == (filled >= 0));
        }
      }
    }
  }
}

}  // namespace gossamer::tests
