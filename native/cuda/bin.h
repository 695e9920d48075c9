// The records with which a GPU puts the numbers of a matrix into bins; host and kernels share them.
#pragma once

#include <cstdint>

#include "cuda/predict.h"

namespace gossamer::cuda {

// A feature and the lane that its bins are written to.
struct BinnedFeature {
  std::int32_t column;
  std::int32_t first_bound;
  std::int32_t n_bounds;  // its last bin, which has no bound, is bin n_bounds; the next one is for missing values
  std::int32_t lane;
  std::int32_t two_bytes;
  std::int32_t unused;
};

struct BinArgs {
  DeviceMatrix matrix;
  const BinnedFeature* features;
  const void* bounds;  // float or double, by the kind of the matrix
  std::uint8_t* rows8;
  std::uint16_t* rows16;
  std::int32_t* is_missing;  // by feature: becomes 1 if some row is missing
  std::int32_t stride8;
  std::int32_t stride16;
  std::int32_t n_features;
  std::int32_t missing_kind;  // see MissingKind in core/feature.h
  std::int32_t is_double;
  std::int32_t unused;
};

// Copies rows and columns of a matrix to a dense one of the same type.
struct GatherArgs {
  DeviceMatrix matrix;
  const std::int64_t* rows;     // nullptr: from first_row on
  const std::int32_t* columns;  // nullptr: all
  void* out;
  std::int64_t first_row;
  std::int64_t n_rows;
  std::int32_t n_columns;
  std::int32_t item_bytes;
};

}  // namespace gossamer::cuda
