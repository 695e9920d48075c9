// Leaves of binned rows without walking: all nodes of a tree are evaluated on all rows of a tile, see
// kernels/compact_trees.inl. This is how a tree is added to the scores of rows that it was not grown on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/memory.h"
#include "core/row_splitter.h"
#include "kernels/kernels.h"

namespace gossamer {

// A node of a tree: children >= 0 are nodes, < 0 are leaves (~leaf).
struct TreeStep {
  RowSplitter splitter;
  std::int32_t left, right;
};

class TileTree {
 public:
  // `values`: n_values per leaf. The steps must outlive it.
  TileTree(std::span<const TreeStep> steps, const double* values, std::int64_t n_values);

  // Whether every node reads a lane of one byte, and there are few enough of them for this to be faster.
  bool is_usable() const { return is_usable_; }
  // Adds the values of rows [begin, end) of a list (nullptr: of the table) to score[k * n_all + row]. False: nothing
  // was done, since the listed rows are not increasing, or too far apart.
  bool add(const RowIdx* rows, std::int64_t begin, std::int64_t end, std::int64_t n_all, double* score) const;

 private:
  void add_node(std::span<const TreeStep> steps, std::int32_t node, std::int32_t first_leaf);
  std::int32_t operand_of(const LaneTest& test);
  void find_leaves(std::int64_t first_row, std::int64_t n_rows, std::int8_t* operands, std::uint8_t* leaf) const;

  bool is_usable_ = false;
  std::vector<LaneTest> lanes_;  // two operands each
  std::vector<CompactNode> nodes_;
  std::vector<CategoryBits> sets_;           // by node: the values of its lane that go right
  std::vector<std::int32_t> leaves_;         // from left to right
  std::vector<std::vector<double>> values_;  // by output, of these leaves
};

}  // namespace gossamer
