#include "core/sparse_view.h"

namespace gossamer {

SparseCheck check_sparse(const SparseView& view, std::int64_t n_values) {
  const std::int64_t n_slices = view.n_slices();
  if (view.begin[0] != 0) throw std::invalid_argument("indptr does not start at 0");
  for (std::int64_t s = 0; s < n_slices; ++s) {
    if (view.begin[s + 1] < view.begin[s]) throw std::invalid_argument("indptr decreases");
  }
  if (view.begin[n_slices] > n_values) throw std::invalid_argument("indptr ends beyond the entries");
  const std::int64_t limit = view.by_row ? view.n_columns : view.n_rows;
  SparseCheck check;
  const auto look = [&]<class Index>(const Index* indices) {
    for (std::int64_t s = 0; s < n_slices; ++s) {
      std::int64_t last = -1;
      for (std::int64_t e = view.begin[s]; e < view.begin[s + 1]; ++e) {
        const auto index = static_cast<std::int64_t>(indices[e]);
        check.in_range &= index >= 0 && index < limit;
        check.canonical &= index > last;
        last = index;
      }
    }
  };
  if (view.wide_indices) {
    look(static_cast<const std::int64_t*>(view.indices));
  } else {
    look(static_cast<const std::int32_t*>(view.indices));
  }
  return check;
}

}  // namespace gossamer
