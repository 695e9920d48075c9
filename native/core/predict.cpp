#include "core/predict.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"

namespace gossamer {
namespace {

template <class T>
inline std::int32_t step(const ForestNode& node, const TypedView<T>& view, std::int64_t row) {
  auto x = static_cast<double>(view(row, node.column));
  bool missing = x != x;
  if (node.missing_kind == static_cast<std::int8_t>(MissingKind::nan_is_zero) && missing) {
    x = 0.0;
    missing = false;
  } else if (node.missing_kind == static_cast<std::int8_t>(MissingKind::zero)) {
    missing |= std::abs(x) <= kZero;
  }
  return node.child[missing ? node.default_left : x <= node.threshold];
}

// Calls emit(row, tree, leaf) for every row and tree. Rows walk eight at a time so that their cache
// misses overlap; a block of rows goes through all trees while it is in cache.
template <class Emit>
void walk(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree, std::int64_t last_tree,
          const Emit& emit) {
  visit(matrix, [&]<class T>(TypedView<T> view) {
    for_blocks(team, matrix.n_rows, 512, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      constexpr int kLanes = 8;
      for (std::int64_t tree = first_tree; tree < last_tree; ++tree) {
        const std::int64_t first_node = forest.node_begin[static_cast<std::size_t>(tree)];
        const ForestNode* const nodes = forest.nodes.data() + first_node;
        const bool empty = forest.node_begin[static_cast<std::size_t>(tree) + 1] == first_node;
        for (std::int64_t i = begin; i < end; i += kLanes) {
          const int lanes = static_cast<int>(std::min<std::int64_t>(end - i, kLanes));
          std::int32_t at[kLanes];
          for (int k = 0; k < lanes; ++k) at[k] = empty ? ~0 : 0;
          for (bool walking = !empty; walking;) {
            walking = false;
            for (int k = 0; k < lanes; ++k) {
              if (at[k] < 0) continue;
              at[k] = step(nodes[at[k]], view, i + k);
              walking |= at[k] >= 0;
            }
          }
          for (int k = 0; k < lanes; ++k) emit(i + k, tree, ~at[k]);
        }
      }
    });
  });
}

void check(bool condition, const std::string& what, std::int64_t tree) {
  if (!condition) throw std::invalid_argument("tree " + std::to_string(tree) + ": " + what);
}

}  // namespace

void prepare_forest(Forest& f) {
  const auto n_nodes = static_cast<std::int64_t>(f.column.size());
  const auto n_leaves = static_cast<std::int64_t>(f.leaf_value.size());
  for (const std::size_t n :
       {f.threshold.size(), f.missing_kind.size(), f.default_left.size(), f.left.size(), f.right.size()}) {
    check(static_cast<std::int64_t>(n) == n_nodes, "node arrays differ in length", 0);
  }
  check(f.node_begin.size() == f.leaf_begin.size() && !f.node_begin.empty(), "offsets differ in length", 0);
  check(f.node_begin.front() == 0 && f.leaf_begin.front() == 0, "offsets do not start at 0", 0);
  check(f.node_begin.back() == n_nodes && f.leaf_begin.back() == n_leaves, "offsets do not end at the array ends", 0);
  check(f.n_outputs >= 1 && f.n_trees() % f.n_outputs == 0, "the number of trees is no multiple of the outputs", 0);
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
    for (std::int64_t l = 0; l < leaves; ++l) {
      check(std::isfinite(f.leaf_value[static_cast<std::size_t>(f.leaf_begin[i] + l)]), "leaf value is not finite", t);
    }
  }
  f.nodes.clear();
  f.nodes.reserve(f.column.size());
  for (std::size_t i = 0; i < f.column.size(); ++i) {
    f.nodes.push_back(
        {f.threshold[i], f.column[i], {f.right[i], f.left[i]}, f.missing_kind[i], f.default_left[i] != 0});
  }
}

void predict_scores(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out) {
  walk(team, forest, matrix, first_tree, last_tree, [&](std::int64_t row, std::int64_t tree, std::int32_t leaf) {
    const std::int64_t at = forest.leaf_begin[static_cast<std::size_t>(tree)] + leaf;
    out[row * forest.n_outputs + tree % forest.n_outputs] += forest.leaf_value[static_cast<std::size_t>(at)];
  });
}

void predict_leaves(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out) {
  const std::int64_t n = last_tree - first_tree;
  walk(team, forest, matrix, first_tree, last_tree,
       [&](std::int64_t row, std::int64_t tree, std::int32_t leaf) { out[row * n + tree - first_tree] = leaf; });
}

}  // namespace gossamer
