// Predicting from the user's own matrix with trees stored as one set of arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/compact_forest.h"
#include "core/linear_leaves.h"
#include "core/matrix_view.h"
#include "core/parallel.h"
#include "core/sparse_view.h"

namespace gossamer {

// How a node decides. NaN makes every comparison false, so child[0] is where missing values go, and a single
// comparison, x * sign <= bound, leads to child[1]:
//   missing right: child[1] is left,  x <= threshold.  sign +1, bound = threshold
//   missing left:  child[1] is right, x > threshold.   sign -1, bound = -(the next number above threshold)
enum class NodeTest : std::int8_t {
  plain,            // as above
  zero_is_missing,  // the same, after zero has become NaN
  above,            // x > bound: the next number is subnormal, and processors can be set to take that for 0
  category,         // x is a category of the node's set
};

// The category of a value of a node, see `category_of` in core/categories.h; -1: missing or none.
std::int32_t category_of(double x, bool nan_is_zero, bool zero_is_missing);

// Categories that a node sends to child[1].
struct CategorySet {
  std::vector<std::uint64_t> bits;   // if the categories are small
  std::vector<std::int32_t> sorted;  // otherwise
  bool nan_is_zero = false;
  bool zero_is_missing = false;

  bool contains(double x) const;
};

// All that a step of a walk needs, in half a cache line.
struct ForestNode {
  union {
    double bound;
    const CategorySet* set;
  };
  float sign;
  std::int32_t column;
  std::int32_t place;  // index of the column in used_columns
  std::int32_t child[2];
  NodeTest test;
};

// The path of a row of zeros down each tree. A sparse row takes the same path up to the first node where one of its
// entries leads elsewhere.
struct ZeroPaths {
  struct Step {
    std::int32_t tree;
    std::int32_t depth;
    std::int32_t node;  // index among the nodes of all trees
    std::int32_t next;  // where zero goes
  };
  std::vector<std::int32_t> leaf;   // by tree
  std::vector<Step> steps;          // steps at nodes on the used column p: [begin[p], begin[p + 1])
  std::vector<std::int64_t> begin;  // one more p is for all unused columns
};

// Trees one after another. Tree t has nodes [node_begin[t], node_begin[t + 1]) and likewise leaves;
// children count from the tree's own first node (>= 0) or leaf (~leaf).
struct Forest {
  std::int64_t n_outputs = 1;
  // Values per leaf. One: tree t adds to output t % n_outputs; else n_outputs: it adds to every output.
  std::int64_t n_values = 1;
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
  // Categories of node i: [category_begin[i], category_begin[i + 1]), which go where missing values do not. A node
  // without categories tests x <= threshold. Both are empty if no node splits categories.
  std::vector<std::int64_t> category_begin;
  std::vector<std::int32_t> category;
  // Made by prepare_forest.
  std::vector<ForestNode> nodes;
  std::vector<std::int32_t> used_columns;  // columns with some node; increasing
  std::vector<std::int32_t> place_of;      // by column, up to the last used; the size of used_columns: not used
  ZeroPaths zero_paths;
  // Set by set_linear_leaves; empty: leaves have their plain values.
  LinearLeaves linear;
  std::vector<CategorySet> sets;  // nodes point at them: a forest may be moved, not copied

  Forest() = default;
  Forest(Forest&&) = default;
  Forest& operator=(Forest&&) = default;
  // Made on first use, by any thread.
  const CompactForest& compact() const;
  void forget_compact() { compact_ = std::make_unique<Compact>(); }

 private:
  struct Compact {
    std::once_flag once;
    CompactForest forest;
  };
  std::unique_ptr<Compact> compact_ = std::make_unique<Compact>();

 public:
  std::int64_t n_trees() const { return static_cast<std::int64_t>(node_begin.size()) - 1; }
};

// Throws std::invalid_argument when an index is out of bounds, or a tree is not a tree (cycles,
// nodes or leaves used twice or never): after this, no walk can leave the arrays or loop forever.
// Then makes the forest ready to predict.
void prepare_forest(Forest& forest);
// Gives the leaves of a prepared forest their linear models, in the order of leaf_value. Throws
// std::invalid_argument when they do not fit: lengths, offsets, columns without a node, numbers that are not finite,
// bounds that exclude the leaf's plain value.
void set_linear_leaves(Forest& forest, LinearLeaves linear);

// When the scores of a row are clear enough to skip its remaining trees.
struct EarlyStop {
  std::int64_t every = 1;  // trees between two checks
  // Clear: twice the |score|, or the distance between the two highest of several scores, is above this.
  double margin = 0.0;

  bool is_clear(const double* scores, std::int64_t n_outputs) const;
};

// out[row * n_outputs + k] += raw score of trees [first_tree, last_tree).
void predict_scores(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out);
void predict_scores_until_clear(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                                std::int64_t last_tree, const EarlyStop& stop, double* out);
// out[row * (last_tree - first_tree) + t] = leaf index.
void predict_leaves(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out);

// The same from a sparse matrix: compressed rows with increasing indices. It need not have the forest's
// columns: absent columns are missing, additional ones are ignored.
void predict_scores(Team& team, const Forest& forest, const SparseView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out);
void predict_leaves(Team& team, const Forest& forest, const SparseView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out);

}  // namespace gossamer
