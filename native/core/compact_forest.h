// A forest's small trees in the form in which kernels/compact_trees.inl evaluates many rows at a time.
//
// A node compares an operand: how many of the thresholds that some trees have on a column are below its value, as a
// byte. So trees are grouped in blocks with at most 255 thresholds per column; a block's operands are filled once for a
// tile of rows and serve all its trees.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "kernels/kernels.h"

namespace gossamer {

struct Forest;

struct CompactColumn {
  std::int32_t column = 0;
  std::int32_t n_bounds = 0;
  std::int32_t operand[kOperandKinds] = {};  // by OperandKind; -1: no node needs it
};

// Categories of a column that appear in some node, numbered in order; all others are 255.
struct CompactCategories {
  std::int32_t column = 0;
  std::int32_t operand[3] = {-1, -1, -1};  // first of two, by MissingKind; -1: no node needs it
  std::vector<std::int32_t> categories;    // increasing, at most 255
  std::vector<std::uint8_t> numbers;       // by category, if the categories are small

  std::uint8_t number_of(double x, bool nan_is_zero, bool zero_is_missing) const;
};

struct CompactBlock {
  std::int64_t first_tree = 0;
  std::int64_t last_tree = 0;
  std::vector<CompactColumn> columns;
  std::vector<CompactCategories> categories;
  std::int64_t n_operands = 0;
  // Column i starts at i * kBounds: 16 pivots, then the bounds. Floats are rounded down, which gives the same
  // comparisons of floats.
  Buffer<float> bounds_f32;
  Buffer<double> bounds_f64;

  static constexpr std::int64_t kPivots = 16;
  static constexpr std::int64_t kBounds = kPivots + 256;
  const float* bounds(std::size_t i, float) const { return bounds_f32.data() + static_cast<std::int64_t>(i) * kBounds; }
  const double* bounds(std::size_t i, double) const {
    return bounds_f64.data() + static_cast<std::int64_t>(i) * kBounds;
  }
};

// Nodes that are evaluated together, and the leaf that their leaf 0 is. A larger tree has several pieces: one of the
// nodes with more than kMaxCompactLeaves leaves below them, and one for each of its exits.
struct CompactPiece {
  std::int64_t first_node = 0;
  std::int64_t n_nodes = 0;
  std::int64_t first_leaf = 0;
};

struct CompactTree {
  bool is_compact = false;  // false: it has too many leaves, thresholds or categories, and must be walked
  bool has_categories = false;
  std::int64_t n_leaves = 0;
  std::int64_t first_piece = 0;
  std::int64_t n_exits = 0;      // exits of the first piece, if there are other pieces
  std::int64_t first_leaf = 0;   // in CompactForest::leaf
  std::int64_t first_value = 0;  // in CompactForest::values
};

struct CompactForest {
  std::vector<CompactBlock> blocks;  // one after another, together all trees
  std::vector<CompactTree> trees;
  std::vector<CompactPiece> pieces;
  std::vector<CompactNode> nodes;
  std::vector<CategoryBits> sets;
  std::vector<std::int32_t> leaf;  // from left to right, as the forest numbers them
  std::vector<double> values;      // by compact leaf, where leaves have one value; at least 32 per tree
};

inline constexpr std::int64_t kMaxCompactLeaves = 256;
inline constexpr std::int64_t kMaxLargeLeaves = 2048;  // beyond that a walk is faster

// How a node treats missing values.
OperandKind operand_kind(const Forest& forest, std::size_t node);

// Converts a prepared forest.
CompactForest make_compact(const Forest& forest);

}  // namespace gossamer
