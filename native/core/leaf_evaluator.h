// The interface between growing a tree and finding splits.
//
// The grower knows which nodes there are, which rows they hold and whose turn it is. An evaluator knows gradients: it
// finds the best splits of a batch of leaves, and stores by node number what it needs for that (sums, histograms,
// sorted entries).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/exchange.h"
#include "core/grow_params.h"
#include "core/interaction.h"
#include "core/leaf_rows.h"
#include "core/objectives.h"
#include "core/parallel.h"
#include "core/row_pages.h"
#include "core/row_splitter.h"

namespace gossamer {

struct SharedRoot;

// Where a tree's rows come from.
struct GrowData {
  std::shared_ptr<BinMatrix> matrix;
  RowPages* pages = nullptr;     // nullptr: the pages of the matrix, or all rows are in memory
  Exchange* exchange = nullptr;  // nullptr: there are no other shards
  bool is_sample = false;        // the matrix has a sample of the rows, and another one for the next tree
};

// One tree to be grown. `params` has an entry per output: the first one says how to grow, each how its output's leaf
// values are found.
struct TreeTask {
  const float* gradient = nullptr;  // by output and row
  const float* hessian = nullptr;   // nullptr: every hessian is 1
  const RowIdx* rows = nullptr;     // increasing; nullptr: all rows
  std::int64_t n_rows = 0;
  std::span<const GrowParams> params;
  LeafRows* leaf_rows = nullptr;
  Monotone* monotone = nullptr;
  GrowStats* stats = nullptr;
  bool rounds_in_place = false;            // rounded gradients take the place of the gradients, unless they are wide
  std::span<std::uint32_t> row_values;     // memory for wide ones; one that is too small is not used
  const GradientSource* source = nullptr;  // what gradients of all rows follow from; then `gradient` has none
  SharedRoot* root = nullptr;              // what was done for several trees together; nullptr: nothing
  bool is_sample = false;                  // the rows are a sample; set by the evaluator
};

// A leaf whose best split is wanted. The children of one node come together, the left one first.
struct LeafJob {
  std::int32_t node = 0;
  std::int32_t parent = -1;  // -1: the root, or a leaf that is searched again
  RowRange rows{0, 0};       // rows of this shard
  int depth = 0;
  std::uint64_t key = 1;    // the path from the root: random choices depend on it
  bool may_split = true;    // false: only its sibling is searched
  double value = 0.0;       // with one output: the leaf's value before shrinkage
  double free_value = 0.0;  // its value without monotone constraints
  std::int32_t forced = -1;
  InteractionGroups::Open open;     // feature groups that its path allows
  LeafSplit* late_split = nullptr;  // the evaluator splits the parent's rows; the same for both children
};

struct BestSplit {
  double gain = 0.0;          // above the gain of the unsplit leaf
  std::int32_t feature = -1;  // -1: no admissible split
  std::int32_t threshold = 0;
  bool missing_left = false;
  bool forced = false;
  double l2 = 0.0;                      // added to lambda_l2 for the values of both children
  double value = 0.0;                   // with sorted columns: the threshold itself
  std::int64_t place = 0;               // and its position among the values of all rows
  std::int64_t left_count = 0;          // rows of all shards that go left
  std::vector<std::uint8_t> goes_left;  // categories: by bin, the last one for missing values
};

// What sends rows to the two sides of a split that was found in bins.
inline RowSplitter splitter_of(const BinMatrix& matrix, const BestSplit& split) {
  if (!split.goes_left.empty()) return RowSplitter(matrix, split.feature, split.goes_left);
  return RowSplitter(matrix, split.feature, split.threshold, split.missing_left);
}

// A node whose rows have been split.
struct SplitNode {
  std::int32_t node = 0;
  RowRange rows{0, 0};
  std::int64_t n_left = 0;  // rows of this shard
  std::int32_t children[2] = {-1, -1};
  bool searched = false;  // the children will be evaluated
};

class LeafEvaluator {
 public:
  virtual ~LeafEvaluator() = default;

  // Quantises the gradients of a new tree. Node 0 is its root.
  virtual void start(Team& team, const TreeTask& task) = 0;
  // Finds the best split of each job.
  virtual void evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) = 0;
  // Discards all trees: called when a round has failed.
  virtual void clear() = 0;

  // Rows of all shards in a node.
  virtual std::int64_t count(std::int32_t node) const = 0;
  // Sum of hessians; their mean over the outputs where there are several.
  virtual double weight(std::int32_t node) const = 0;
  // Leaf values before shrinkage, one per output. `parent` (nullptr: the root) are the parent's values.
  virtual void values(std::int32_t node, double l2, const double* parent, double* out) const = 0;

  // The split of a node has been chosen: its children are `first_child` and the one after it.
  virtual void add_children(std::int32_t node, const BestSplit& split, std::int32_t first_child) = 0;
  virtual RowSplitter splitter(std::int32_t node, RowRange rows, const BestSplit& split) = 0;
  virtual void rows_were_split(Team&, std::span<const SplitNode>) {}
  // The node will not be evaluated or expanded any more.
  virtual void forget(std::int32_t node) = 0;

  // With costs of features: the node will be split on `feature`, so that its children need not pay for it.
  virtual void pay(std::int32_t) {}
  // Nodes that have a better split now that the feature has been paid for. Whether this can happen at all:
  virtual bool has_refunds() const { return false; }
  // Whether the rows are elsewhere, on a GPU: the grower has none to split.
  virtual bool has_no_rows() const { return false; }
  // Whether leaves may be bits: lists are then made where they are read. See LeafRows.
  virtual bool takes_bits(const GrowParams&) const { return false; }
  // Whether nodes may be expanded before it is their turn.
  virtual bool can_expand_ahead() const { return !has_refunds(); }
  virtual std::vector<std::pair<std::int32_t, BestSplit>> refund(std::int32_t) { return {}; }

  // The features whose bins monotone constraints use.
  virtual const std::vector<Feature>& box_features() const = 0;
  // Whether trees compare values (see Tree::by_value), and thresholds come from BestSplit::value.
  virtual bool has_values() const { return false; }
  // Of a batch of so many nodes, those with at most this many rows may be split by `evaluate` (LeafJob::late_split): on
  // the thread that builds the histogram, and without a join.
  virtual std::int64_t late_rows(int /*n_threads*/, std::size_t /*n_nodes*/) const { return 0; }
  // Leaves with this many rows in total are worth a join. 1: one leaf at a time.
  virtual std::int64_t preferred_rows(int n_threads) const = 0;
  // Nodes whose children can be evaluated at once within the limit of memory.
  virtual std::int64_t most_nodes() const { return std::int64_t{1} << 40; }
};

}  // namespace gossamer
