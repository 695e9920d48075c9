// Row and cell counts are signed 64-bit numbers; containers are indexed by size_t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gossamer {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace gossamer
