// Many features of a leaf at once: the same split, bit for bit, as one feature after another.
#include <algorithm>
#include <numeric>

#include "core/histogram.h"
#include "support.h"

namespace gossamer::tests {
namespace {

struct Found {
  double gain;
  std::int64_t feature, threshold, missing_left;
};

// The rows of one leaf in the bins of several features.
struct Leaf {
  CellLayout layout;
  std::int64_t lane_cells;
  std::vector<SearchedFeature> features;
  std::vector<PackedCell> cells;
  Sums sums;

  // `lane_cells` 0: the features' cells follow one another without a gap.
  Leaf(const CellLayout& l, std::int64_t lane, int n_features, int n_bins, std::int64_t n_rows, double missing,
       bool extreme, Random& random)
      : layout(l), lane_cells(lane) {
    std::int64_t first = 0;
    for (int f = 0; f < n_features; ++f) {
      const auto bins = static_cast<std::int32_t>(1 + random.below(n_bins));
      // Numbers that do not increase: the order of lanes is another one.
      features.push_back({f * 7 % 31, bins, first, random.chance(missing)});
      first += lane > 0 ? lane : bins + 1;
    }
    cells.assign(at(first), 0);
    // Some leaves have small gradients only.
    const std::int64_t limit =
        random.chance(0.5) ? l.gradient_limit : std::min<std::int64_t>(l.gradient_limit, 1 << 13);
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::int64_t gradient = extreme && random.chance(0.8) ? limit : random.below(2 * limit + 1) - limit;
      std::int64_t hessian = 0;
      if (!l.constant_hessian())
        hessian = extreme ? (random.chance(0.5) ? 1 : l.hessian_limit) : 1 + random.below(l.hessian_limit);
      sums += {gradient, hessian, 1};
      const PackedCell word = (static_cast<PackedCell>(gradient) << (l.count_bits + l.hessian_bits)) +
                              (static_cast<PackedCell>(hessian) << l.count_bits) + 1;
      for (const SearchedFeature& f : features) {
        const std::int64_t bin = f.has_missing && random.chance(0.2) ? f.n_value_bins : random.below(f.n_value_bins);
        cells[at(f.first_cell + bin)] += word;
      }
    }
  }

  double hessian() const { return static_cast<double>(layout.constant_hessian() ? sums.count : sums.hessian); }

  std::vector<Found> one_by_one(const SplitRules& rules, const char* allowed, Found best) {
    std::vector<double> scratch(at(search_scratch_size(257)));
    for (const SearchedFeature& f : features) {
      if (allowed != nullptr && !allowed[f.feature]) continue;
      SearchArgs args;
      args.cells = cells.data() + f.first_cell;
      args.n_value_bins = f.n_value_bins;
      args.has_missing = f.has_missing;
      args.gradient = static_cast<double>(sums.gradient);
      args.hessian = hessian();
      args.count = static_cast<double>(sums.count);
      args.scratch = scratch.data();
      Candidate candidate;
      if (!kernels().search(args, layout, rules, candidate)) continue;
      const bool wins = candidate.gain > best.gain || (candidate.gain == best.gain && f.feature < best.feature);
      if (wins) best = {candidate.gain, f.feature, candidate.threshold, candidate.missing_left};
    }
    return {best};
  }

  std::vector<Found> together(const SplitRules& rules, const char* allowed, Found best) {
    std::vector<double> scratch(at(search_scratch_size(257)), NAN);
    PackedSearchArgs args;
    args.cells = cells.data();
    args.features = features.data();
    args.n_features = std::ssize(features);
    args.lane_cells = lane_cells;
    args.allowed = allowed;
    args.gradient = static_cast<double>(sums.gradient);
    args.hessian = hessian();
    args.count = sums.count;
    args.scratch = scratch.data();
    PackedCandidate candidate{best.gain, static_cast<std::int32_t>(best.feature), static_cast<int>(best.threshold),
                              best.missing_left != 0};
    const bool improved = kernels().search_packed(args, layout, rules, candidate);
    CHECK(improved == (candidate.gain != best.gain || candidate.feature != best.feature));
    return {{candidate.gain, candidate.feature, candidate.threshold, candidate.missing_left}};
  }
};

constexpr Found kNothing{-1.0e300, -1, -1, 0};

void check(Leaf& leaf, const SplitRules& rules, const char* allowed, Found start) {
  const Found expected = leaf.one_by_one(rules, allowed, start)[0];
  const Found found = same_at_every_level([&] { return leaf.together(rules, allowed, start); })[0];
  CAPTURE(leaf.features.size());
  CAPTURE(leaf.lane_cells);
  CAPTURE(leaf.sums.count);
  CAPTURE(leaf.layout.constant_hessian());
  CHECK(found.gain == expected.gain);
  CHECK(found.feature == expected.feature);
  CHECK(found.threshold == expected.threshold);
  CHECK(found.missing_left == expected.missing_left);
}

std::vector<SplitRules> some_rules() {
  std::vector<SplitRules> rules(8);
  rules[0].min_data = 1.0;
  rules[0].min_sum_hessian = 0.0;
  rules[1].min_data = 20.0;
  rules[2].min_data = 3.0;
  rules[2].lambda_l2 = 70.0;
  rules[3].min_data = 1.0;
  rules[3].min_sum_hessian = 5000.0;
  rules[4].min_data = 1.0;
  rules[4].min_sum_hessian = 0.0;
  rules[4].lambda_l2 = 0.001;
  // Beyond what a float holds.
  rules[5].lambda_l2 = 1e-40;
  rules[6].lambda_l2 = 1e40;
  rules[7].lambda_l2 = 1e13;
  return rules;
}

}  // namespace

TEST_SUITE("search_packed") {
  TEST_CASE("the same split as one feature after another") {
    Random random(51);
    for (const Form form : {Form::packed, Form::packed_fine, Form::constant_hessian}) {
      for (const std::int64_t lane : {0, 16, 64, 256}) {
        for (int i = 0; i < 120; ++i) {
          const auto n_features = static_cast<int>(1 + random.below(26));
          const auto n_bins = static_cast<int>(lane > 0 ? lane - 1 : 200);
          const std::int64_t n_rows = std::min(std::int64_t{1} << random.below(12), layout_of(form).max_rows);
          Leaf leaf(layout_of(form), lane, n_features, n_bins, n_rows, i % 3 == 0 ? 0.3 : 0.0, i % 4 == 1, random);
          std::vector<char> allowed(31);
          for (char& a : allowed) a = random.chance(0.6);
          for (const SplitRules& rules : some_rules()) {
            check(leaf, rules, nullptr, kNothing);
            check(leaf, rules, allowed.data(), kNothing);
            // A split that was found before stays unless another one beats it, by the smaller feature if by nothing
            // else.
            const Found before = leaf.one_by_one(rules, nullptr, kNothing)[0];
            if (before.feature < 0) continue;
            for (const std::int64_t other : {before.feature, before.feature + 40, std::int64_t{-1}}) {
              check(leaf, rules, nullptr, {before.gain, other, 12345, 0});
            }
          }
        }
      }
    }
  }

  TEST_CASE("a side without rows does not count as a split") {
    Random random(53);
    Leaf leaf(layout_of(Form::packed), 256, 9, 250, 40, 0.0, false, random);
    for (std::size_t f = 0; f < leaf.features.size(); ++f) {
      PackedCell* const first = leaf.cells.data() + leaf.features[f].first_cell;
      const PackedCell all = std::accumulate(first, first + 256, PackedCell{0});
      std::fill(first, first + 256, PackedCell{0});
      leaf.features[f].n_value_bins = 200;
      first[100] = all;
    }
    SplitRules rules;
    rules.min_data = 0.0;
    rules.min_sum_hessian = 0.0;
    rules.lambda_l2 = 1.0;
    at_every_level([&] { CHECK(leaf.together(rules, nullptr, kNothing)[0].feature == -1); });
  }

  TEST_CASE("equal gains: the smaller feature, then the lower bin") {
    Random random(52);
    for (const int n_features : {1, 5, 8, 11}) {
      Leaf leaf(layout_of(Form::packed), 256, n_features, 250, 0, 0.0, false, random);
      for (std::size_t f = 0; f < leaf.features.size(); ++f) {
        leaf.features[f].n_value_bins = 250;
        for (const std::int64_t bin : {3, 60, 200, 249}) {
          const PackedCell gradient = bin == 3 || bin == 249 ? 100 : static_cast<PackedCell>(-100);
          const int shift = leaf.layout.count_bits + leaf.layout.hessian_bits;
          leaf.cells[at(leaf.features[f].first_cell + bin)] =
              (gradient << shift) + (10u << leaf.layout.count_bits) + 30;
        }
      }
      leaf.sums = {0, 40, 120};
      SplitRules rules;
      rules.min_sum_hessian = 0.0;
      at_every_level([&] {
        const Found found = leaf.together(rules, nullptr, kNothing)[0];
        CHECK(found.feature == 0);
        CHECK(found.threshold == 3);
      });
    }
  }
}

}  // namespace gossamer::tests
