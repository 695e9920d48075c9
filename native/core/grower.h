// Growing one tree.
//
//   start       gradients become integers; the root's best split is found
//   while leaves may be added:
//     next      the leaf whose turn it is (see frontier.h)
//     expand    unless it is expanded already: the leaf, and nodes worth expanding with it
//                 partition   their rows go left or right
//                 evaluate    the best splits of all their children (see leaf_evaluator.h)
//     commit    the leaf becomes a node of the tree, its children leaves
//   finish      leaf values, scores, the tree as arrays (see finish_tree.h)
//
// Expanding many nodes at once costs fewer joins and keeps many threads busy. The tree does not depend on it: sums
// are exact integers, and leaves are committed one by one, the best first.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/finish_tree.h"
#include "core/frontier.h"
#include "core/grow_node.h"
#include "core/grow_params.h"
#include "core/leaf_evaluator.h"
#include "core/leaf_rows.h"
#include "core/monotone.h"
#include "core/parallel.h"
#include "core/splitting_pages.h"
#include "core/tree.h"

namespace gossamer {

class Grower {
 public:
  // `vector_leaves`: a tree has a value for every output in each leaf.
  explicit Grower(GrowData data, bool vector_leaves = false);
  explicit Grower(std::shared_ptr<BinMatrix> matrix, bool vector_leaves = false)
      : Grower(GrowData{std::move(matrix)}, vector_leaves) {}
  // Uses the given evaluator instead of one chosen from the parameters.
  Grower(GrowData data, std::unique_ptr<LeafEvaluator> evaluator);
  ~Grower();

  // Grows a tree on `rows` (nullptr: all rows) and adds its values to score[row] of those rows, or output by output to
  // score[k * n_all + row]. A tree that could not split has one leaf and adds nothing. `hessian` nullptr: every
  // hessian is 1. With labels, leaf values are refitted; with a raw table leaves get linear models. `adds_to_others`:
  // rows outside `rows`, which increase, get the tree, too; not together with a raw table. After an exception the
  // scores are what they were, and the next call starts from scratch.
  Tree grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
            std::span<const GrowParams> params, double* score, const TreeLabels& labels = {},
            const RawTable* raw = nullptr, bool adds_to_others = false, SharedRoot* root = nullptr,
            const GradientSource* source = nullptr);
  // On all rows, with gradients that follow from the scores: they are rounded while they are computed, and not stored.
  Tree grow(Team& team, const GradientSource& source, const GrowParams& params, double* score) {
    const std::int64_t n = source.targets.n_rows;
    return grow(team, nullptr, nullptr, nullptr, n, std::span(&params, 1), score, {}, nullptr, false, nullptr, &source);
  }
  // Whether that is possible: only histograms of one output take such gradients.
  bool takes_source(const GrowParams& params) const {
    return !vector_leaves_ && !own_evaluator_ && !rounds_in_place_ && !params.values.refit &&
           params.by_value.sorted == nullptr && params.by_value.proposals == nullptr;
  }
  Tree grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
            const GrowParams& params, double* score, const float* label = nullptr, const RawTable* raw = nullptr,
            bool adds_to_others = false, SharedRoot* root = nullptr) {
    return grow(team, gradient, hessian, rows, n_rows, std::span(&params, 1), score, TreeLabels{label, true}, raw,
                adds_to_others, root);
  }

  // From now on, rounded gradients take the place of the gradients; wide ones go to this memory, where they fit.
  void round_in_place(std::span<std::uint32_t> memory) {
    rounds_in_place_ = true;
    row_values_ = memory;
  }

  const GrowStats& stats() const { return stats_; }

 private:
  void choose_evaluator(std::span<const GrowParams> params);
  void start(Team& team, const TreeTask& task);
  void grow_nodes(Team& team);
  void expand(Team& team, std::span<const std::int32_t> batch, bool last);
  void partition(Team& team, std::span<const std::int32_t> batch, bool last);
  void finish_partition(std::span<const std::int32_t> batch);
  void make_children(std::int32_t node);
  void commit(std::int32_t node);
  void evaluate(Team& team, std::span<const LeafJob> jobs);
  void search_again(Team& team, std::int32_t node);
  std::vector<std::int32_t> note_changes();
  std::vector<std::int32_t> stay();
  LeafJob job_of(std::int32_t node, std::int32_t parent) const;
  bool may_split(const GrowNode& node) const { return may_split(node.depth, evaluator_->count(number_of(node))); }
  bool may_split(int depth, std::int64_t n_rows) const;
  // Whether some child of a node that is to be split may be split itself.
  bool has_grandchildren(const GrowNode& node) const;
  std::int32_t number_of(const GrowNode& node) const { return static_cast<std::int32_t>(&node - nodes_.data()); }
  void push(std::int32_t node);
  Frontier::Limits batch_limits(Team& team);
  void note_growth();

  GrowNode& at(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  double* values(std::int32_t node) { return values_.data() + static_cast<std::size_t>(node) * n_outputs_; }

  GrowData data_;
  std::unique_ptr<SplittingPages> pages_;  // what the evaluator reads; nullptr: all rows are in memory
  bool vector_leaves_ = false;
  bool own_evaluator_ = false;  // the evaluator was given
  std::unique_ptr<LeafEvaluator> evaluator_;
  const GrowParams* params_ = nullptr;
  std::size_t n_outputs_ = 1;
  const FeatureLimits* limits_ = nullptr;
  Monotone monotone_;
  Frontier frontier_;
  LeafRows rows_;
  // Of the batch.
  std::vector<LeafSplit> splits_;
  std::vector<LeafJob> jobs_;
  std::vector<SplitNode> split_nodes_;
  std::vector<BestSplit> found_;
  std::vector<GrowNode> nodes_;          // leaves, nodes, and expanded nodes that were not used
  std::vector<double> values_;           // n_outputs_ by node, before shrinkage
  std::vector<std::int32_t> committed_;  // nodes in the order in which they were split
  std::vector<std::int32_t> staying_;    // symmetric trees: leaves that the split of their level leaves whole
  GrowStats stats_;
  bool rounds_in_place_ = false;
  std::span<std::uint32_t> row_values_;
};

}  // namespace gossamer
