#include "core/category_search.h"

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/split_math.h"

namespace gossamer {
namespace {

// The rows of one category in a leaf, or of all unknown categories.
struct Category {
  std::int32_t bin;  // -1: missing and unknown
  Sums sums;
  double order = 0.0;
};

// The categories [first, last] go left.
struct Range {
  double gain = -1.0e300;
  std::int64_t first = -1, last = -1;
};

class Search {
 public:
  explicit Search(const CategorySearch& s) : s_(s) {
    const auto& category = s.feature.category;
    const auto n_known = std::count_if(category.begin(), category.end(), [](auto c) { return c >= 0; });
    one_hot_ = n_known + s.feature.has_missing <= s.rules.max_cat_to_onehot;
    rules_ = s.rules;
    if (!one_hot_) rules_.lambda_l2 += s.rules.cat_l2;
    min_hessian_ = least_hessian(s.rules);
  }

  CategorySplit run(const FeatureCells& cells) {
    const std::vector<Category> all = read(cells);
    if (all.size() < 2) return {};
    std::vector<Category> tried = all;
    if (!one_hot_) sort(tried);
    const Range best = find(tried);
    return best.first < 0 ? CategorySplit{} : make_split(all, tried, best);
  }

 private:
  double hessian_of(const Sums& sums) const {
    return static_cast<double>(s_.layout.constant_hessian() ? sums.count : sums.hessian);
  }

  // Categories that have rows in the leaf; the unknown ones come last.
  std::vector<Category> read(const FeatureCells& cells) const {
    const auto n = static_cast<std::int64_t>(s_.feature.n_value_bins) + s_.feature.has_missing;
    std::vector<std::int64_t> unpacked;
    std::vector<std::uint32_t> counts;
    LargeCells sums = cells.large;
    if (cells.cells != nullptr) {
      unpacked.assign(at(2 * n), 0);
      counts.assign(at(n), 0);
      sums = {unpacked.data(), unpacked.data() + n, counts.data()};
      kernels().unpack_add(cells.cells, n, s_.layout, sums);
    }
    std::vector<Category> found;
    Category others{-1, {}};
    for (std::int64_t b = 0; b < n; ++b) {
      if (sums.count[b] == 0) continue;
      const Sums own{sums.gradient[b], s_.layout.constant_hessian() ? 0 : sums.hessian[b], sums.count[b]};
      if (b < s_.feature.n_value_bins && s_.feature.category[at(b)] >= 0) {
        found.push_back({static_cast<std::int32_t>(b), own});
      } else {
        others.sums += own;
      }
    }
    if (others.sums.count > 0) found.push_back(others);
    return found;
  }

  // Rare categories have too few rows to tell their side: they stay with the rest.
  void sort(std::vector<Category>& categories) const {
    std::erase_if(categories,
                  [&](const Category& c) { return static_cast<double>(c.sums.count) < s_.real_cat_smooth; });
    for (Category& c : categories) {
      c.order = static_cast<double>(c.sums.gradient) / (hessian_of(c.sums) + rules_.cat_smooth);
    }
    std::stable_sort(categories.begin(), categories.end(),
                     [](const Category& a, const Category& b) { return a.order < b.order; });
  }

  // With extra_trees one of the admissible sets is tried. Drawn from all sets, nearly every draw would be of one that
  // has too few rows, and columns of many rare categories would never be split.
  Range find(const std::vector<Category>& categories) const {
    std::int64_t only = -1;
    if (s_.random) {
      std::int64_t n_sets = 0;
      for_each_set(categories, [&](const Sums&, const Sums&, std::int64_t, std::int64_t) { ++n_sets; });
      if (n_sets == 0) return {};
      only = static_cast<std::int64_t>(*s_.random % static_cast<std::uint64_t>(n_sets));
    }
    Range best;
    std::int64_t number = 0;
    for_each_set(categories, [&](const Sums& left, const Sums& right, std::int64_t first, std::int64_t last) {
      if (only >= 0 && number++ != only) return;
      const double gain = gain_of(left) + gain_of(right);
      if (gain > best.gain) best = {gain, first, last};
    });
    return best;
  }

  // Calls body(left, right, first, last) for each admissible set of categories.
  template <class Body>
  void for_each_set(const std::vector<Category>& categories, const Body& body) const {
    const auto n = static_cast<std::int64_t>(categories.size());
    const std::int64_t n_tried = one_hot_ ? n : std::min<std::int64_t>(rules_.max_cat_threshold, (n + 1) / 2);
    for (int direction = 0; direction < (one_hot_ ? 1 : 2); ++direction) {
      Sums left;
      double n_since = 0.0;  // rows since the last set
      for (std::int64_t i = 0; i < n_tried; ++i) {
        const std::int64_t place = direction == 0 ? i : n - 1 - i;
        if (one_hot_) left = {};
        left += categories[at(place)].sums;
        n_since += static_cast<double>(categories[at(place)].sums.count);
        const Sums right = s_.leaf - left;
        if (!is_enough(left)) continue;
        if (!is_enough(right) || (!one_hot_ && static_cast<double>(right.count) < rules_.min_data_per_group)) {
          if (one_hot_) continue;
          break;
        }
        if (!one_hot_ && n_since < rules_.min_data_per_group) continue;
        n_since = 0.0;
        body(left, right, one_hot_ || direction == 1 ? place : 0, one_hot_ || direction == 0 ? place : n - 1);
      }
    }
  }

  bool is_enough(const Sums& s) const {
    return static_cast<double>(s.count) >= rules_.min_data && hessian_of(s) >= min_hessian_;
  }

  double gain_of(const Sums& sums) const {
    const auto gradient = static_cast<double>(sums.gradient);
    const auto count = static_cast<double>(sums.count);
    if (s_.limits == nullptr) return leaf_gain(gradient, hessian_of(sums), count, rules_, s_.parent_output);
    const double s = shrink(gradient, rules_.lambda_l1);
    const double denominator = hessian_of(sums) + rules_.lambda_l2;
    const double w = value_of(s, denominator, count, rules_, s_.parent_output);
    const double value = larger_of(smaller_of(w, s_.limits->high), s_.limits->low);
    return gain_at(gradient, s, denominator, value, rules_);
  }

  // Categories without rows here go with the rest, as in LightGBM; so do unknown ones, unless they were chosen.
  CategorySplit make_split(const std::vector<Category>& all, const std::vector<Category>& tried,
                           const Range& best) const {
    std::uint8_t others = 0;
    for (std::int64_t i = best.first; i <= best.last; ++i) others |= tried[at(i)].bin < 0;
    CategorySplit found{best.gain, {}};
    found.split.missing_left = others != 0;
    found.split.l2 = one_hot_ ? 0.0 : s_.real_cat_l2;
    found.split.goes_left.assign(at(s_.feature.n_value_bins) + 1, others);
    for (const Category& c : all) {
      if (c.bin >= 0) found.split.goes_left[at(c.bin)] = 0;
    }
    for (std::int64_t i = best.first; i <= best.last; ++i) {
      if (tried[at(i)].bin >= 0) found.split.goes_left[at(tried[at(i)].bin)] = 1;
    }
    return found;
  }

  const CategorySearch& s_;
  SplitRules rules_;
  bool one_hot_ = false;
  double min_hessian_ = 0.0;
};

}  // namespace

CategorySplit search_categories(const CategorySearch& search, const FeatureCells& cells) {
  return Search(search).run(cells);
}

Sums sum_left_bins(const FeatureCells& cells, const Feature& feature, const BestSplit& split,
                   const CellLayout& layout) {
  const auto n_bins = static_cast<std::int64_t>(split.goes_left.size());
  Sums left;
  for (std::int64_t b = 0; b < n_bins - !feature.has_missing; ++b) {
    if (split.goes_left[at(b)] != 0) left += sum_bins(cells, b, 1, layout);
  }
  return left;
}

}  // namespace gossamer
