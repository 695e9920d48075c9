// Approximate split finding with candidates that are proposed again for every tree: weighted quantiles of each
// feature, the weights being the hessians of the tree's rows. The rows are binned by them, and the tree is grown
// on histograms.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/parallel.h"
#include "core/sorted_table.h"
#include "core/types.h"

namespace gossamer {

class Proposals {
 public:
  // `binned` has the features of `sorted`, of a dense table. A value with a share `eps` of the hessians gets its own
  // bin; the other values share the rest of the 1 / `eps` bins, by weight. Since the rows are sorted, there is no other
  // error: a summary (quantile_summary.h) of all values would be exact.
  Proposals(const BinMatrix& binned, std::shared_ptr<SortedTable> sorted, double eps);
  Proposals(const Proposals&) = delete;
  Proposals& operator=(const Proposals&) = delete;

  // Bins the table for a tree on `rows` (nullptr: all). `hessian` is by row; nullptr: all are 1.
  void propose(Team& team, const float* hessian, const RowIdx* rows, std::int64_t n_rows);
  const std::shared_ptr<BinMatrix>& matrix() const { return matrix_; }

 private:
  template <class Bin>
  void bin_column(const SortedColumn& column, Bin* out) const;

  std::shared_ptr<SortedTable> sorted_;
  double eps_;
  std::shared_ptr<BinMatrix> matrix_;
  std::vector<float> weight_;  // by row; 0 outside the sample
};

}  // namespace gossamer
