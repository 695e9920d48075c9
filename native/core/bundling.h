// Exclusive feature bundling: which features can share a digit because they are (almost) never
// non-zero in the same row; and which are better kept as sparse columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/entries.h"
#include "core/feature.h"
#include "core/parallel.h"

namespace gossamer {

// In which order features look for a bundle.
enum class BundleOrder : std::int8_t {
  automatic = 0,  // whatever gives the cheapest storage
  degree = 1,     // by conflicts with the other features, most first
  count = 2,      // by non-zero rows, most first
  column = 3,     // as they stand in the table: the columns of a one-hot encoding are neighbours
};

struct StorageOptions {
  bool share_lanes = false;
  bool bundle = true;
  bool sparse = true;              // sparse columns may be used
  double max_conflict_rate = 0.0;  // share of the rows that may be in conflict, per bundle
  BundleOrder order = BundleOrder::automatic;
};

// What was chosen, and why.
struct StorageReport {
  std::int64_t n_candidates = 0;               // features that are zero in most rows
  std::int64_t n_conflicts = 0;                // rows in conflict, over all bundles
  BundleOrder order = BundleOrder::automatic;  // that won
  double seconds = 0.0;                        // finding the bundles
};

// Bundles of two features and more.
struct Bundles {
  std::vector<std::vector<std::int32_t>> features;  // each increasing
  std::int64_t n_conflicts = 0;
};

// Greedy: each feature goes to the first bundle with room for it, and with no more than
// `max_conflicts` rows in conflict. `columns` holds the rows of the candidates, all of them: bundles
// without conflicts are so for every row, not only for a sample.
Bundles find_bundles(const std::vector<Feature>& features, const SparseColumns& columns, std::int64_t n_rows,
                     BundleOrder order, std::int32_t max_values, std::int64_t max_conflicts);

// Training data: chooses the storage, then bins the matrix. `zero_share[f]` is the share of zeros in
// a sample of a dense matrix.
std::shared_ptr<BinMatrix> bin_training(Team& team, const MatrixView& matrix, std::vector<Feature> features,
                                        const std::vector<double>& zero_share, const StorageOptions& options,
                                        StorageReport& report);
std::shared_ptr<BinMatrix> bin_training(Team& team, const SparseView& matrix, std::vector<Feature> features,
                                        const StorageOptions& options, StorageReport& report);

// Other data in the bins, and with the bundles, of training data; not filled yet.
std::shared_ptr<BinMatrix> make_like(const BinMatrix& training, std::int64_t n_rows);

}  // namespace gossamer
