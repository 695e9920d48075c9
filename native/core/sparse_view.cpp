#include "core/sparse_view.h"

#include <algorithm>
#include <type_traits>

namespace gossamer {
namespace {

// Some slices at a time, all entries of them in one loop that the compiler turns into vectors: an index may be no
// greater than the one before it only where a slice begins.
template <class Index>
SparseCheck check_indices(const SparseView& view, std::int64_t n_values) {
  const auto* const indices = static_cast<const Index*>(view.indices);
  const auto* const slices = static_cast<const Index*>(view.begin);
  constexpr std::int64_t kSlices = 512;
  constexpr std::int64_t kBlock = std::int64_t{1} << 20;
  const std::int64_t limit = view.by_row ? view.n_columns : view.n_rows;
  const std::int64_t n_slices = view.n_slices();
  if (slices[0] != 0) throw std::invalid_argument("indptr does not start at 0");
  for (std::int64_t s = 0; s < n_slices; ++s) {
    if (slices[s + 1] < slices[s]) throw std::invalid_argument("indptr decreases");
  }
  if (slices[n_slices] > n_values) throw std::invalid_argument("indptr ends beyond the entries");
  SparseCheck check;
  for (std::int64_t first = 0; first < n_slices; first += kSlices) {
    const std::int64_t last = std::min(first + kSlices, n_slices);
    const std::int64_t begin = slices[first];
    const std::int64_t end = slices[last];
    if (begin == end) continue;
    Index least = indices[begin];
    Index most = indices[begin];
    std::int64_t n_falls = 0;
    for (std::int64_t block = begin + 1; block < end; block += kBlock) {
      const std::int64_t block_end = std::min(block + kBlock, end);
      std::make_unsigned_t<Index> n = 0;  // as wide as an index, for vectors of both
      for (std::int64_t e = block; e < block_end; ++e) {
        least = std::min(least, indices[e]);
        most = std::max(most, indices[e]);
        n += indices[e] <= indices[e - 1];
      }
      n_falls += static_cast<std::int64_t>(n);
    }
    for (std::int64_t s = first + 1; s < last; ++s) {
      const std::int64_t e = slices[s];
      if (e > begin && e < slices[s + 1]) n_falls -= indices[e] <= indices[e - 1];
    }
    check.in_range &= least >= 0 && static_cast<std::int64_t>(most) < limit;
    check.canonical &= n_falls == 0;
  }
  return check;
}

}  // namespace

SparseCheck check_sparse(const SparseView& view, std::int64_t n_values) {
  return view.wide_indices ? check_indices<std::int64_t>(view, n_values) : check_indices<std::int32_t>(view, n_values);
}

}  // namespace gossamer
