// Prediction of single rows, for servers: a plain walk, eight trees at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/predict.h"

namespace gossamer {

// Trees [first_tree, last_tree) of a forest. It copies the trees, except forests with category splits, linear leaves or
// too many nodes for its small integers: these are walked as they are, and must stay alive.
class RowPredictor {
 public:
  RowPredictor(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree);

  std::int64_t n_columns() const { return n_columns_; }
  std::int64_t n_trees() const { return last_tree_ - first_tree_; }
  std::int64_t n_outputs() const { return n_outputs_; }
  // score[k] += the trees' values; row holds n_columns() values.
  void add_scores(const double* row, double* score) const;

 private:
  // A row goes left if its operand is at most the threshold. NaN never is: the operand is NaN if missing values go
  // right, and -inf if they go left.
  struct Node {
    double threshold;
    std::uint16_t operand;
    std::int16_t child[2];  // in the tree: >= 0 node, else ~leaf; right first
  };
  struct Operand {
    std::int32_t column;
    OperandKind kind;
  };
  struct Tree {
    std::int64_t first_node;
    std::int64_t first_leaf;
  };

  bool make_nodes();
  void fill_operands(const double* row, double* operands) const;
  void walk_small(const double* operands, double* score) const;

  const Forest* forest_;
  std::int64_t first_tree_;
  std::int64_t last_tree_;
  std::int64_t n_columns_;
  std::int64_t n_outputs_;
  std::int64_t n_values_;
  std::vector<Operand> operands_;
  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  std::vector<double> leaf_value_;
  bool is_small_;  // the arrays above hold the whole forest
};

}  // namespace gossamer
