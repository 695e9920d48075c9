// The roots of the trees of a round, which have the same rows: their histograms are built together.
//
// The bins of a row are read once for eight trees, and one store adds the row to a cell of each of them. Below the root
// every tree has leaves of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/histogram.h"
#include "core/leaf_evaluator.h"
#include "core/quantised_rows.h"

namespace gossamer {

// What a tree need not do itself: its gradients are rounded, and the histogram of its root may be built.
struct SharedRoot {
  QuantisedRows rows;
  Histogram histogram;
  bool is_built = false;
};

class SharedRoots {
 public:
  // Trees that share; with fewer of them, or with fewer rows, it does not pay.
  static constexpr std::int64_t kTrees = 8;
  static constexpr std::int64_t kLeastTrees = 4;
  static constexpr std::int64_t kLeastRows = 8192;

  // Whether trees on all rows of this matrix can share: it has lanes of one byte only.
  static bool fits(const BinMatrix& matrix);

  // For trees on all rows of the matrix. Gradients are tree-major; `hessian` nullptr: every hessian is 1.
  void start(Team& team, const GrowData& data, const float* gradient, const float* hessian, std::int64_t n_trees);
  SharedRoot& operator[](std::int64_t i) { return roots_[static_cast<std::size_t>(i)]; }

  const GrowStats& stats() const { return stats_; }

 private:
  // Some lanes of up to eight trees.
  struct Block {
    std::size_t first, n;  // range in trees_
    const Group* group;
    LaneRange lanes;
  };
  void list_blocks(int n_threads, const BinMatrix& matrix);
  void build(const BinMatrix& matrix, const Block& block, int thread);

  std::vector<SharedRoot> roots_;
  std::vector<std::size_t> trees_;  // those whose cells are packed
  std::vector<Block> blocks_;
  std::vector<Buffer<std::uint64_t>> scratch_;  // by thread
  GrowStats stats_;
};

}  // namespace gossamer
