// Predicting from the user's own matrix with trees stored as one set of arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix_view.h"
#include "core/parallel.h"

namespace gossamer {

// All that a step of a walk needs, in half a cache line.
struct ForestNode {
  double threshold;
  std::int32_t column;
  std::int32_t child[2];  // [0] right, [1] left
  std::int8_t missing_kind;
  bool default_left;
};

// Trees one after another. Tree t has nodes [node_begin[t], node_begin[t + 1]) and likewise leaves;
// children count from the tree's own first node (>= 0) or leaf (~leaf).
struct Forest {
  std::int64_t n_outputs = 1;  // tree t adds to output t % n_outputs
  std::int64_t n_columns = 0;
  std::vector<std::int64_t> node_begin;
  std::vector<std::int64_t> leaf_begin;
  std::vector<std::int32_t> column;
  std::vector<double> threshold;
  std::vector<std::int8_t> missing_kind;
  std::vector<std::int8_t> default_left;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> right;
  std::vector<double> leaf_value;
  std::vector<ForestNode> nodes;  // made by prepare_forest

  std::int64_t n_trees() const { return static_cast<std::int64_t>(node_begin.size()) - 1; }
};

// Throws std::invalid_argument when an index is out of bounds, or a tree is not a tree (cycles,
// nodes or leaves used twice or never): after this, no walk can leave the arrays or go on for ever.
// Then makes the forest ready to predict.
void prepare_forest(Forest& forest);

// out[row * n_outputs + k] += raw score of trees [first_tree, last_tree).
void predict_scores(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out);
// out[row * (last_tree - first_tree) + t] = leaf index.
void predict_leaves(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out);

}  // namespace gossamer
