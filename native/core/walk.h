// Walking rows down the trees of a forest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bin_bounds.h"
#include "core/predict.h"

namespace gossamer {

// A separate function, because the loop around step would not be unrolled otherwise.
[[gnu::noinline]] inline std::int32_t rare_step(const ForestNode& node, double x) {
  return node.child[node.test == NodeTest::category ? node.set->contains(x) : x > node.bound];
}

// The child that a row with value x goes to, without a branch that depends on x.
inline std::int32_t step(const ForestNode& node, double x) {
  if (node.test >= NodeTest::above) [[unlikely]]
    return rare_step(node, x);
  if (node.test == NodeTest::zero_is_missing && std::abs(x) <= kZero) x = std::numeric_limits<double>::quiet_NaN();
  return node.child[x * static_cast<double>(node.sign) <= node.bound];
}

// This many rows walk together, so that their cache misses overlap.
constexpr int kRowsAtOnce = 8;

// Walks rows down one tree: rows_at[k] is the node of row `row + k`, and becomes its leaf. Rows that are at a leaf
// already stay there. The loop has a constant length, so that the compiler keeps everything in registers.
template <class Value>
inline void walk_tree(const ForestNode* nodes, std::int64_t row, const Value& value,
                      std::int32_t (&rows_at)[kRowsAtOnce]) {
  std::int32_t at[kRowsAtOnce];
  for (int k = 0; k < kRowsAtOnce; ++k) at[k] = rows_at[k];
  for (bool walking = true; walking;) {
    walking = false;
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (at[k] < 0) continue;
      const ForestNode& node = nodes[at[k]];
      at[k] = step(node, value(node, row + k));
      walking |= at[k] >= 0;
    }
  }
  for (int k = 0; k < kRowsAtOnce; ++k) rows_at[k] = at[k];
}

// Calls emit(row, tree, leaf) for rows [begin, end) and trees [first_tree, last_tree), trees of a row
// in order. start(row, tree) is the node, or ~leaf, to start from; value(node, row) is the value that the node
// compares.
template <class Start, class Value, class Emit>
void walk(const Forest& forest, std::int64_t begin, std::int64_t end, std::int64_t first_tree, std::int64_t last_tree,
          const Start& start, const Value& value, const Emit& emit) {
  for (std::int64_t tree = first_tree; tree < last_tree; ++tree) {
    const ForestNode* const nodes = forest.nodes.data() + forest.node_begin[static_cast<std::size_t>(tree)];
    for (std::int64_t row = begin; row < end; row += kRowsAtOnce) {
      const std::int64_t n_rows = std::min<std::int64_t>(end - row, kRowsAtOnce);
      std::int32_t at[kRowsAtOnce];
      for (std::int64_t k = 0; k < kRowsAtOnce; ++k) at[k] = k < n_rows ? start(row + k, tree) : ~0;
      walk_tree(nodes, row, value, at);
      for (std::int64_t k = 0; k < n_rows; ++k) emit(row + k, tree, ~at[k]);
    }
  }
}

// Where a plain walk starts: at the root, or at the leaf of a tree without nodes.
inline std::int32_t root_of(const Forest& forest, std::int64_t tree) {
  const auto t = static_cast<std::size_t>(tree);
  return forest.node_begin[t] == forest.node_begin[t + 1] ? ~0 : 0;
}

// Consumers of leaves: add_scores adds their values to the scores, note_leaves stores their numbers.
inline auto add_scores(const Forest& forest, double* out) {
  return [&forest, out](std::int64_t row, std::int64_t tree, std::int32_t leaf) {
    const std::int64_t at = forest.leaf_begin[static_cast<std::size_t>(tree)] + leaf;
    if (forest.n_values == 1) {
      out[row * forest.n_outputs + tree % forest.n_outputs] += forest.leaf_value[static_cast<std::size_t>(at)];
      return;
    }
    const double* const values = forest.leaf_value.data() + at * forest.n_values;
    for (std::int64_t k = 0; k < forest.n_values; ++k) out[row * forest.n_outputs + k] += values[k];
  };
}

// The same for linear leaves; read(row, column, place) is a value of the table.
template <class Read>
auto add_linear_scores(const Forest& forest, double* out, const Read& read) {
  return [&forest, out, &read](std::int64_t row, std::int64_t tree, std::int32_t leaf) {
    const auto at = static_cast<std::size_t>(forest.leaf_begin[static_cast<std::size_t>(tree)] + leaf);
    const double plain = forest.leaf_value[at];
    const auto value = [&](std::int32_t column) {
      return read(row, column, forest.place_of[static_cast<std::size_t>(column)]);
    };
    double& score = out[row * forest.n_outputs + tree % forest.n_outputs];
    score += forest.linear.is_linear(at) ? forest.linear.value(at, plain, value) : plain;
  };
}

inline auto note_leaves(std::int64_t first_tree, std::int64_t last_tree, std::int32_t* out) {
  return [=](std::int64_t row, std::int64_t tree, std::int32_t leaf) {
    out[row * (last_tree - first_tree) + tree - first_tree] = leaf;
  };
}

}  // namespace gossamer
