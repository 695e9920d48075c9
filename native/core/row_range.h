// Consecutive rows, or consecutive places in a list of rows.
#pragma once

#include <cstdint>

namespace gossamer {

struct RowRange {
  std::int64_t begin, end;
  std::int32_t bits = -1;  // of a leaf: the number of its bits, see LeafRows; -1: none
};

}  // namespace gossamer
