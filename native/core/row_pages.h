// The source of bins: pages of consecutive rows, of which one is in memory at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/bin_matrix.h"
#include "core/row_range.h"
#include "core/sparse_rows.h"

namespace gossamer {

// The bins of rows [rows.begin, rows.end). Pointers are to the first row of the page.
struct RowPage {
  std::size_t number = 0;  // the place of its rows in RowPages::ranges()
  RowRange rows{0, 0};
  std::vector<const void*> bins;            // by group, row-major, with the group's row_stride
  const std::int64_t* row_begin = nullptr;  // sparse columns: entries of row i of the page are codes[row_begin[i], ...)
  const void* codes = nullptr;              // see SparseRows::codes

  // Kernels index by row of the table: this is where row 0 of a group would be if it were in memory.
  const void* row_zero(std::size_t group, std::int64_t row_bytes) const { return shifted(bins[group], row_bytes); }
  const std::int64_t* entries_of_row_zero() const {
    return static_cast<const std::int64_t*>(shifted(row_begin, sizeof(std::int64_t)));
  }

 private:
  const void* shifted(const void* first, std::int64_t row_bytes) const {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(first) -
                                         static_cast<std::uintptr_t>(rows.begin * row_bytes));
  }
};

class RowPages {
 public:
  virtual ~RowPages() = default;
  // The rows of every page, in the order of the table. Together the pages hold every row.
  virtual std::span<const RowRange> ranges() const = 0;
  // Calls body for every page once, in any order. One call at a time.
  virtual void for_each(const std::function<void(const RowPage&)>& body) = 0;
};

// All rows of a matrix in memory: as one page, or as pages of so many rows.
class ResidentRows : public RowPages {
 public:
  ResidentRows(const BinMatrix& matrix, const SparseRows* sparse, std::int64_t page_rows = 0) {
    const std::int64_t n_rows = matrix.n_rows(), step = page_rows > 0 ? page_rows : std::max<std::int64_t>(n_rows, 1);
    for (std::int64_t begin = 0; begin == 0 || begin < n_rows; begin += step) {
      RowPage& page = pages_.emplace_back();
      page.number = ranges_.size();
      page.rows = ranges_.emplace_back(RowRange{begin, std::min(begin + step, n_rows)});
      for (const Group& group : matrix.groups()) {
        const std::int64_t row_bytes = group.row_stride * (group.two_bytes ? 2 : 1);
        page.bins.push_back(static_cast<const std::uint8_t*>(group.bins()) + begin * row_bytes);
      }
      if (sparse == nullptr) continue;
      page.row_begin = sparse->row_begin.data() + begin;
      page.codes = sparse->codes();
    }
  }
  std::span<const RowRange> ranges() const override { return ranges_; }
  const RowPage& first() const { return pages_.front(); }
  void for_each(const std::function<void(const RowPage&)>& body) override {
    for (const RowPage& page : pages_) body(page);
  }

 private:
  std::vector<RowPage> pages_;
  std::vector<RowRange> ranges_;
};

}  // namespace gossamer
