// The trees of one round, on the same rows: one per output, or one with a value for every output in each leaf.
//
// A tree that is grown by all threads together costs a join for every batch of leaves. Several small trees are better
// grown side by side, one thread each; the trees left over after the last full set are grown by all threads together,
// unless most threads would still have a tree of their own, or the joins would cost more than they gain. The trees do
// not depend on this choice.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/grower.h"
#include "core/objectives.h"
#include "core/shared_roots.h"

namespace gossamer {

class RoundGrower {
 public:
  explicit RoundGrower(GrowData data, bool vector_leaves = false);
  explicit RoundGrower(std::shared_ptr<BinMatrix> matrix, bool vector_leaves = false)
      : RoundGrower(GrowData{std::move(matrix)}, vector_leaves) {}
  RoundGrower(const RoundGrower&) = delete;
  RoundGrower& operator=(const RoundGrower&) = delete;

  // `params` has one entry per output; `gradient`, `hessian` (may be nullptr) and `score` are output-major, and so are
  // labels unless the outputs share them. See Grower::grow.
  std::vector<Tree> grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                         std::int64_t n_rows, std::span<const GrowParams> params, double* score,
                         const TreeLabels& labels = {}, const RawTable* raw = nullptr, bool adds_to_others = false);

  // Several rounds on all rows: gradients follow from the scores, to which every round adds its trees. Ends after a
  // round with a tree of one leaf, or with a leaf value that is not within `largest`. `hessian` nullptr: every hessian
  // is 1. Returns the trees of all rounds.
  std::vector<Tree> grow_rounds(Team& team, std::int64_t n_rounds, const RowLoss& loss, const RowTargets& targets,
                                float* gradient, float* hessian, std::span<const GrowParams> params, double* score,
                                double largest);

  // See Grower::round_in_place. Trees that grow side by side round into memory of their own.
  void round_in_place(std::span<std::uint32_t> memory) { growers_[0]->round_in_place(memory); }

  // Totals over all trees so far; seconds are summed over threads where trees grew side by side.
  GrowStats stats() const;

 private:
  // A small sample of a large table is copied, and its trees grow on all rows of the copy: splits read the bins of a
  // column one after another, and the first histogram the rows. `rows` increase.
  struct Sample {
    std::shared_ptr<BinMatrix> matrix;
    std::unique_ptr<RoundGrower> grower;
    Buffer<float> gradient, hessian;  // by output and row
  };
  bool copies_sample(const RowIdx* rows, std::int64_t n_rows, std::span<const GrowParams> params) const;
  std::vector<Tree> grow_on_copy(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                                 std::int64_t n_rows, std::span<const GrowParams> params, double* score);
  Grower& grower(std::size_t i);
  bool may_share_roots(std::span<const GrowParams> params, std::int64_t n_each) const;

  GrowData data_;
  bool vector_leaves_;
  std::vector<std::unique_ptr<Grower>> growers_;  // by thread
  SharedRoots roots_;
  Sample sample_;
};

}  // namespace gossamer
