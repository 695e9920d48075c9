// A forest's small trees in the form that kernels/compact_trees.inl answers for many rows at a time.
//
// A node asks about a lane: the number of thresholds below a column's value, among those that some trees ask this
// column about, as a byte. So trees stand in blocks with at most 255 thresholds of each column; a block's lanes are
// filled once for a tile of rows and serve all its trees.
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
  std::int32_t lane[kLaneKinds] = {};  // by LaneKind; -1: no node asks
};

// Categories of a column that some node asks about, numbered as they come; all others are 255.
struct CompactCategories {
  std::int32_t column = 0;
  std::int32_t lane[3] = {-1, -1, -1};   // first of two, by MissingKind; -1: no node asks
  std::vector<std::int32_t> categories;  // increasing, at most 255
  std::vector<std::uint8_t> numbers;     // by category, where these are small

  std::uint8_t number_of(double x, bool nan_is_zero, bool zero_is_missing) const;
};

struct CompactBlock {
  std::int64_t first_tree = 0;
  std::int64_t last_tree = 0;
  std::vector<CompactColumn> columns;
  std::vector<CompactCategories> categories;
  std::int64_t n_lanes = 0;
  // Of column i from i * kBounds: 16 pivots, then the bounds. Float: rounded down, which asks floats the same.
  Buffer<float> bounds_f32;
  Buffer<double> bounds_f64;

  static constexpr std::int64_t kPivots = 16;
  static constexpr std::int64_t kBounds = kPivots + 256;
  const float* bounds(std::size_t i, float) const { return bounds_f32.data() + static_cast<std::int64_t>(i) * kBounds; }
  const double* bounds(std::size_t i, double) const {
    return bounds_f64.data() + static_cast<std::int64_t>(i) * kBounds;
  }
};

// Nodes that are asked together, and the leaf that their leaf 0 is. A larger tree has several: the nodes with more than
// kMaxCompactLeaves leaves below them, and one for each of their ways out.
struct CompactPiece {
  std::int64_t first_node = 0;
  std::int64_t n_nodes = 0;
  std::int64_t first_leaf = 0;
};

struct CompactTree {
  bool is_compact = false;  // false: too large, or too many thresholds or categories, and must be walked
  bool has_categories = false;
  std::int64_t n_leaves = 0;
  std::int64_t first_piece = 0;
  std::int64_t n_ways_out = 0;   // of the first piece, if there are others
  std::int64_t first_leaf = 0;   // in CompactForest::leaf
  std::int64_t first_value = 0;  // in CompactForest::values
};

struct CompactForest {
  std::vector<CompactBlock> blocks;  // one after another, of all trees
  std::vector<CompactTree> trees;
  std::vector<CompactPiece> pieces;
  std::vector<CompactNode> nodes;
  std::vector<CategoryBits> sets;
  std::vector<std::int32_t> leaf;  // from left to right, as the forest numbers them
  std::vector<double> values;      // by compact leaf, where leaves have one value; every tree has room for 32
};

inline constexpr std::int64_t kMaxCompactLeaves = 256;
inline constexpr std::int64_t kMaxLargeLeaves = 2048;  // beyond that a walk is faster

// What a node makes of missing values.
LaneKind lane_kind(const Forest& forest, std::size_t node);

// From a prepared forest.
CompactForest make_compact(const Forest& forest);

}  // namespace gossamer
