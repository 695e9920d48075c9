#include "core/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/categories.h"
#include "core/feature.h"
#include "core/walk.h"

namespace gossamer {
namespace {

void check(bool condition, const std::string& what, std::int64_t tree) {
  if (!condition) throw std::invalid_argument("tree " + std::to_string(tree) + ": " + what);
}

// The node's categories go to child[1]; all others, known or not, to child[0].
ForestNode make_category_node(Forest& f, std::size_t i, MissingKind kind) {
  constexpr std::int32_t kSmall = 1 << 16;
  CategorySet set;
  set.nan_is_zero = kind == MissingKind::nan_is_zero;
  set.zero_is_missing = kind == MissingKind::zero;
  const auto* const first = f.category.data() + f.category_begin[i];
  const auto* const last = f.category.data() + f.category_begin[i + 1];
  // Bits are used where they do not take much more space than the numbers: otherwise a small file could allocate much
  // memory.
  constexpr std::ptrdiff_t kWords = 16;
  if (*(last - 1) < kSmall && *(last - 1) / 64 < kWords * (last - first)) {
    set.bits.resize(static_cast<std::size_t>(*(last - 1)) / 64 + 1);
    for (const auto* c = first; c != last; ++c) {
      set.bits[static_cast<std::size_t>(*c) / 64] |= std::uint64_t{1} << (*c % 64);
    }
  } else {
    set.sorted.assign(first, last);
  }
  f.sets.push_back(std::move(set));
  ForestNode node{{}, 1.0f, f.column[i], f.place_of[static_cast<std::size_t>(f.column[i])], {}, NodeTest::category};
  node.set = &f.sets.back();
  const bool default_left = f.default_left[i] != 0;
  node.child[0] = default_left ? f.left[i] : f.right[i];
  node.child[1] = default_left ? f.right[i] : f.left[i];
  return node;
}

bool splits_categories(const Forest& f, std::size_t i) {
  return !f.category.empty() && f.category_begin[i] < f.category_begin[i + 1];
}

void check_categories(const Forest& f) {
  if (f.category_begin.empty() && f.category.empty()) return;
  const auto size = static_cast<std::int64_t>(f.category.size());
  bool is_right = f.category_begin.size() == f.column.size() + 1 && f.category_begin.front() == 0 &&
                  f.category_begin.back() == size && std::is_sorted(f.category_begin.begin(), f.category_begin.end());
  for (std::size_t i = 0; is_right && i < f.column.size(); ++i) {
    for (std::int64_t c = f.category_begin[i]; c < f.category_begin[i + 1]; ++c) {
      const std::int32_t before = c == f.category_begin[i] ? -1 : f.category[static_cast<std::size_t>(c - 1)];
      is_right &= f.category[static_cast<std::size_t>(c)] > before;
    }
  }
  if (!is_right) throw std::invalid_argument("categories are not increasing, or do not fit the nodes");
}

ForestNode make_node(Forest& f, std::size_t i) {
  const auto kind = static_cast<MissingKind>(f.missing_kind[i]);
  if (splits_categories(f, i)) return make_category_node(f, i, kind);
  const double threshold = f.threshold[i];
  const double above = std::nextafter(threshold, std::numeric_limits<double>::infinity());
  const bool missing_left = kind == MissingKind::nan_is_zero ? 0.0 <= threshold : f.default_left[i] != 0;
  ForestNode node{{threshold}, 1.0f,           f.column[i], f.place_of[static_cast<std::size_t>(f.column[i])],
                  {},          NodeTest::plain};
  node.child[missing_left] = f.right[i];
  node.child[!missing_left] = f.left[i];
  if (kind == MissingKind::zero) node.test = NodeTest::zero_is_missing;
  if (missing_left) {
    node.sign = -1.0f;
    node.bound = above == threshold ? NAN : -above;  // nothing is above infinity
    if (kind != MissingKind::zero && std::fpclassify(above) == FP_SUBNORMAL) {
      node.test = NodeTest::above;
      node.bound = threshold;
    }
  }
  return node;
}

// The index of each column among the used ones.
void find_used_columns(Forest& f) {
  f.used_columns = f.column;
  std::sort(f.used_columns.begin(), f.used_columns.end());
  f.used_columns.erase(std::unique(f.used_columns.begin(), f.used_columns.end()), f.used_columns.end());
  const auto n_used = static_cast<std::int32_t>(f.used_columns.size());
  f.place_of.assign(n_used == 0 ? 0 : static_cast<std::size_t>(f.used_columns.back()) + 1, n_used);
  for (std::int32_t p = 0; p < n_used; ++p) {
    f.place_of[static_cast<std::size_t>(f.used_columns[static_cast<std::size_t>(p)])] = p;
  }
}

ZeroPaths find_zero_paths(const Forest& f) {
  ZeroPaths paths;
  for (std::int64_t t = 0; t < f.n_trees(); ++t) {
    const auto first = static_cast<std::int32_t>(f.node_begin[static_cast<std::size_t>(t)]);
    std::int32_t at = root_of(f, t);
    for (std::int32_t depth = 0; at >= 0; ++depth) {
      const std::int32_t next = step(f.nodes[static_cast<std::size_t>(first + at)], 0.0);
      paths.steps.push_back({static_cast<std::int32_t>(t), depth, first + at, next});
      at = next;
    }
    paths.leaf.push_back(~at);
  }
  const auto place = [&](const ZeroPaths::Step& s) { return f.nodes[static_cast<std::size_t>(s.node)].place; };
  std::stable_sort(paths.steps.begin(), paths.steps.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  paths.begin.assign(f.used_columns.size() + 2, 0);
  for (const ZeroPaths::Step& s : paths.steps) ++paths.begin[static_cast<std::size_t>(place(s)) + 1];
  std::partial_sum(paths.begin.begin(), paths.begin.end(), paths.begin.begin());
  return paths;
}

}  // namespace

void prepare_forest(Forest& f) {
  const auto n_nodes = static_cast<std::int64_t>(f.column.size());
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check(f.n_outputs <= kMost && f.n_columns >= 0 && f.n_columns <= kMost, "too many outputs or columns", 0);
  check(f.n_outputs >= 1 && (f.n_values == 1 || f.n_values == f.n_outputs), "wrong number of values per leaf", 0);
  const auto n_leaves = static_cast<std::int64_t>(f.leaf_value.size()) / f.n_values;
  check(static_cast<std::int64_t>(f.leaf_value.size()) == n_leaves * f.n_values, "the number of leaf values is wrong",
        0);
  for (const std::size_t n :
       {f.threshold.size(), f.missing_kind.size(), f.default_left.size(), f.left.size(), f.right.size()}) {
    check(static_cast<std::int64_t>(n) == n_nodes, "node arrays differ in length", 0);
  }
  check(f.node_begin.size() == f.leaf_begin.size() && !f.node_begin.empty(), "offsets differ in length", 0);
  check(f.node_begin.front() == 0 && f.leaf_begin.front() == 0, "offsets do not start at 0", 0);
  check(f.node_begin.back() == n_nodes && f.leaf_begin.back() == n_leaves, "offsets do not end at the array ends", 0);
  check(n_leaves <= kMost, "too many leaves", 0);
  const std::int64_t trees_per_round = f.n_outputs / f.n_values;
  check(f.n_trees() % trees_per_round == 0, "the number of trees is not a multiple of the outputs", 0);
  for (std::int64_t t = 0; t < f.n_trees(); ++t) {
    const auto i = static_cast<std::size_t>(t);
    const std::int64_t first = f.node_begin[i];
    check(first <= f.node_begin[i + 1] && f.node_begin[i + 1] <= n_nodes, "node offset out of range", t);
    check(f.leaf_begin[i] <= f.leaf_begin[i + 1] && f.leaf_begin[i + 1] <= n_leaves, "leaf offset out of range", t);
    const std::int64_t nodes = f.node_begin[i + 1] - first;
    const std::int64_t leaves = f.leaf_begin[i + 1] - f.leaf_begin[i];
    check(leaves == nodes + 1, "a tree of n nodes needs n + 1 leaves", t);
    // Every node but the root and every leaf has exactly one parent, and a parent's number is
    // smaller than its children's: so there are no cycles and everything is reachable.
    std::vector<char> node_seen(static_cast<std::size_t>(nodes)), leaf_seen(static_cast<std::size_t>(leaves));
    for (std::int64_t n = 0; n < nodes; ++n) {
      const auto k = static_cast<std::size_t>(first + n);
      check(f.column[k] >= 0 && f.column[k] < f.n_columns, "column out of range", t);
      check(f.threshold[k] == f.threshold[k], "threshold is NaN", t);
      check(f.default_left[k] == 0 || f.default_left[k] == 1, "default_left is neither 0 nor 1", t);
      check(f.missing_kind[k] >= 0 && f.missing_kind[k] <= 2, "unknown kind of missing value", t);
      for (const std::int32_t child : {f.left[k], f.right[k]}) {
        if (child >= 0) {
          check(child > n && child < nodes && !node_seen[static_cast<std::size_t>(child)], "bad child node", t);
          node_seen[static_cast<std::size_t>(child)] = 1;
        } else {
          const std::int64_t leaf = ~static_cast<std::int64_t>(child);
          check(leaf < leaves && !leaf_seen[static_cast<std::size_t>(leaf)], "bad leaf", t);
          leaf_seen[static_cast<std::size_t>(leaf)] = 1;
        }
      }
    }
    for (std::int64_t v = f.leaf_begin[i] * f.n_values; v < f.leaf_begin[i + 1] * f.n_values; ++v) {
      check(std::isfinite(f.leaf_value[static_cast<std::size_t>(v)]), "leaf value is not finite", t);
    }
  }
  check_categories(f);
  f.forget_compact();
  find_used_columns(f);
  f.nodes.clear();
  f.sets.clear();
  std::size_t n_sets = 0;
  for (std::size_t i = 0; i < f.column.size(); ++i) n_sets += splits_categories(f, i);
  f.sets.reserve(n_sets);  // nodes point into it
  f.nodes.reserve(f.column.size());
  for (std::size_t i = 0; i < f.column.size(); ++i) f.nodes.push_back(make_node(f, i));
  f.zero_paths = find_zero_paths(f);
}

std::int32_t category_of(double x, bool nan_is_zero, bool zero_is_missing) {
  if (std::isnan(x) && nan_is_zero) x = 0.0;
  if (zero_is_missing && std::abs(x) <= kZero) return -1;
  return category_of(x);
}

bool CategorySet::contains(double x) const {
  const std::int32_t c = category_of(x, nan_is_zero, zero_is_missing);
  if (bits.empty()) return std::binary_search(sorted.begin(), sorted.end(), c);
  const auto place = static_cast<std::size_t>(c) / 64;
  return c >= 0 && place < bits.size() && (bits[place] >> (c % 64) & 1);
}

void set_linear_leaves(Forest& f, LinearLeaves linear) {
  const std::size_t n_leaves = f.leaf_value.size();
  const std::size_t n_terms = linear.column.size();
  check(f.n_values == 1, "linear leaves have one value", 0);
  check(linear.begin.size() == n_leaves + 1, "offsets of linear leaves do not fit the leaves", 0);
  for (const std::size_t n : {linear.constant.size(), linear.low.size(), linear.high.size()}) {
    check(n == n_leaves, "arrays of linear leaves differ in length", 0);
  }
  check(linear.coefficient.size() == n_terms && linear.centre.size() == n_terms, "arrays of terms differ in length", 0);
  check(linear.begin.front() == 0 && linear.begin.back() == static_cast<std::int64_t>(n_terms),
        "offsets of linear leaves do not cover the terms", 0);
  const auto n_used = static_cast<std::int32_t>(f.used_columns.size());
  for (std::int64_t t = 0; t < f.n_trees(); ++t) {
    const auto first = static_cast<std::size_t>(f.leaf_begin[static_cast<std::size_t>(t)]);
    const auto last = static_cast<std::size_t>(f.leaf_begin[static_cast<std::size_t>(t) + 1]);
    for (std::size_t l = first; l < last; ++l) {
      check(linear.begin[l] <= linear.begin[l + 1], "offsets of linear leaves decrease", t);
      check(std::isfinite(linear.constant[l]) && std::isfinite(linear.low[l]) && std::isfinite(linear.high[l]) &&
                linear.low[l] <= f.leaf_value[l] && f.leaf_value[l] <= linear.high[l],
            "bounds of a linear leaf are wrong", t);
    }
  }
  for (std::size_t i = 0; i < n_terms; ++i) {
    const std::int32_t column = linear.column[i];
    check(column >= 0 && static_cast<std::size_t>(column) < f.place_of.size() &&
              f.place_of[static_cast<std::size_t>(column)] < n_used,
          "a linear leaf uses a column that no node tests", 0);
    check(std::isfinite(linear.coefficient[i]) && std::isfinite(linear.centre[i]), "a term is not finite", 0);
  }
  f.linear = std::move(linear);
}

const CompactForest& Forest::compact() const {
  std::call_once(compact_->once, [&] { compact_->forest = make_compact(*this); });
  return compact_->forest;
}

}  // namespace gossamer
