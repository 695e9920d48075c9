// How the features of training data are kept: in lanes, in bundles or as sparse columns, whichever
// is cheapest; and the resulting binned table.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/bundling.h"
#include "core/feature.h"
#include "core/matrix_view.h"
#include "core/parallel.h"
#include "core/sparse_view.h"

namespace gossamer {

struct StorageOptions {
  bool share_lanes = false;
  bool bundle = true;
  bool sparse = true;              // sparse columns may be used
  double max_conflict_rate = 0.0;  // share of the rows that may be in conflict, per bundle
  BundleOrder order = BundleOrder::automatic;
  // Costs of sparse columns; unit: one update of a lane of one byte, per row. Trainings use those that were measured,
  // see data/storage/binned.py; with these, even a narrow table may have sparse columns.
  double entry_cost = 3.0;   // per row with an entry
  double sparse_cost = 8.0;  // for having sparse columns at all
};

// The storage that was chosen, and why.
struct StorageReport {
  std::int64_t n_candidates = 0;               // features that are zero in most rows
  std::int64_t n_conflicts = 0;                // rows in conflict, over all bundles
  BundleOrder order = BundleOrder::automatic;  // the order that was chosen
  double seconds = 0.0;                        // finding the bundles
};

// Training data: chooses the storage, then bins the matrix. `zero_share[f]` is the share of zeros in
// a sample of a dense matrix.
std::shared_ptr<BinMatrix> bin_training(Team& team, const MatrixView& matrix, std::vector<Feature> features,
                                        const std::vector<double>& zero_share, const StorageOptions& options,
                                        StorageReport& report);
std::shared_ptr<BinMatrix> bin_training(Team& team, const SparseView& matrix, std::vector<Feature> features,
                                        const StorageOptions& options, StorageReport& report);

// The same table, stored so that it can be trained on: features with values that did not fit their
// bundle become sparse columns.
std::shared_ptr<BinMatrix> make_trainable(const BinMatrix& matrix);

// Other data in the bins, and with the bundles, of training data; not filled yet.
std::shared_ptr<BinMatrix> make_like(const BinMatrix& training, std::int64_t n_rows);

// One table with the features of two tables that have the same rows and the same meaning of
// missing. Bundles and sparse columns are kept; lanes are planned again. Column c of `right`
// becomes first_column + c, which must be above the columns of `left`.
std::shared_ptr<BinMatrix> put_beside(Team& team, const BinMatrix& left, const BinMatrix& right,
                                      std::int32_t first_column);

}  // namespace gossamer
