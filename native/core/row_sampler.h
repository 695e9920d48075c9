// Bagging: which rows a round trains on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"

namespace gossamer {

struct RowSample {
  std::vector<RowIdx> in;  // increasing
  std::vector<RowIdx> out;
};

// Row i is kept when its random number, keyed by (key, i), falls below the fraction of its class
// (label > 0 or not; without labels `fraction_negative` holds for all). Never empty.
RowSample sample_rows(std::int64_t n_rows, double fraction_negative, double fraction_positive, const float* label,
                      std::uint64_t key);

}  // namespace gossamer
