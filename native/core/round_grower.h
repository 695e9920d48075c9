// The trees of one round: one per output, on the same rows.
//
// A tree that is grown by all threads together pays a join for every batch of leaves. Several small
// trees are better grown side by side, one thread each; what is left over after the last full set is
// grown together, unless that leaves most threads with a tree of their own. Trees do not depend on that.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/grower.h"

namespace gossamer {

class RoundGrower {
 public:
  explicit RoundGrower(std::shared_ptr<BinMatrix> matrix);
  RoundGrower(const RoundGrower&) = delete;
  RoundGrower& operator=(const RoundGrower&) = delete;

  // `params` has one entry per output; `gradient`, `hessian` (may be nullptr) and `score` are
  // output-major, and so is `label` (may be nullptr) unless `one_label` says that outputs share it.
  // See Grower::grow.
  std::vector<Tree> grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                         std::int64_t n_rows, std::span<const GrowParams> params, double* score,
                         const float* label = nullptr, bool one_label = false, const RawTable* raw = nullptr);

  // Of all trees so far; seconds are those of every thread together where trees grew side by side.
  GrowStats stats() const;

 private:
  Grower& grower(std::size_t i);

  std::shared_ptr<BinMatrix> matrix_;
  std::vector<std::unique_ptr<Grower>> growers_;  // by thread
};

}  // namespace gossamer
