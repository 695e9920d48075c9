// Prediction of single rows, as servers ask for them: nothing but a walk, eight trees at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/predict.h"

namespace gossamer {

// Trees [first_tree, last_tree) of a forest. What it knows is a copy, but for forests with category splits or linear
// leaves, or beyond its small numbers: these are walked as they are, and must stay alive.
class RowPredictor {
 public:
  RowPredictor(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree);

  std::int64_t n_columns() const { return n_columns_; }
  std::int64_t n_trees() const { return last_tree_ - first_tree_; }
  std::int64_t n_outputs() const { return n_outputs_; }
  // score[k] += the trees' values; row holds n_columns() values.
  void add_scores(const double* row, double* score) const;

 private:
  // A row goes left if its lane is at most the threshold. NaN is not: lanes hold it where missing values go right,
  // and -inf where they go left.
  struct Node {
    double threshold;
    std::uint16_t lane;
    std::int16_t child[2];  // of the tree: >= 0 node, else ~leaf; right first
  };
  struct Lane {
    std::int32_t column;
    LaneKind kind;
  };
  struct Tree {
    std::int64_t first_node;
    std::int64_t first_leaf;
  };

  bool make_nodes();
  void fill_lanes(const double* row, double* lanes) const;
  void walk_small(const double* lanes, double* score) const;

  const Forest* forest_;
  std::int64_t first_tree_;
  std::int64_t last_tree_;
  std::int64_t n_columns_;
  std::int64_t n_outputs_;
  std::int64_t n_values_;
  std::vector<Lane> lanes_;
  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  std::vector<double> leaf_value_;
  bool is_small_;  // what the above hold is all there is to know
};

}  // namespace gossamer
