// Consecutive rows, or consecutive places in a list of rows.
#pragma once

#include <cstdint>

namespace gossamer {

struct RowRange {
  std::int64_t begin, end;
};

}  // namespace gossamer
