// The search of many numeric features of one leaf at once: what it reads and what it finds.
#pragma once

#include "core/types.h"

namespace gossamer {

// A numeric feature whose cells lie next to one another in the histogram of a leaf.
struct SearchedFeature {
  std::int32_t feature = -1;
  std::int32_t n_value_bins = 0;
  std::int64_t first_cell = 0;
  bool has_missing = false;  // then the cell after the value bins holds the missing rows
};

// Several such features of one leaf with packed cells, for plain rules without limits.
struct PackedSearchArgs {
  const PackedCell* cells = nullptr;  // of the leaf's histogram
  const SearchedFeature* features = nullptr;
  std::int64_t n_features = 0;
  std::int64_t lane_cells = 0;    // cells of every feature's lane: empty after its bins. 0: lanes differ in size
  const char* allowed = nullptr;  // by feature; nullptr: all
  double gradient = 0.0;          // sums over the whole leaf
  double hessian = 0.0;
  std::int64_t count = 0;
  double* scratch = nullptr;  // as for SearchArgs
};

// The best so far, over several calls: equal gains go to the smaller feature.
struct PackedCandidate {
  double gain = -1.0e300;
  std::int32_t feature = -1;
  int threshold = -1;
  bool missing_left = false;
};

}  // namespace gossamer
