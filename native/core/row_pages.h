// The source of bins for histograms: pages of consecutive rows, of which one is in memory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/leaf_rows.h"
#include "core/sparse_rows.h"

namespace gossamer {

// The bins of rows [rows.begin, rows.end). Pointers are to the first row of the page.
struct RowPage {
  RowRange rows;
  std::vector<const void*> bins;            // by group, row-major, with the group's row_stride
  const std::int64_t* row_begin = nullptr;  // sparse columns: entries of row i of the page are codes[row_begin[i], ...)
  const void* codes = nullptr;              // see SparseRows::codes
};

class RowPages {
 public:
  virtual ~RowPages() = default;
  // Calls body for every page once, in any order. Together the pages hold every row.
  virtual void for_each(const std::function<void(const RowPage&)>& body) = 0;
};

// All rows of a matrix in memory, as one page.
class ResidentRows : public RowPages {
 public:
  ResidentRows(const BinMatrix& matrix, const SparseRows* sparse) {
    page_.rows = {0, matrix.n_rows()};
    for (const Group& group : matrix.groups()) page_.bins.push_back(group.bins());
    if (sparse == nullptr) return;
    page_.row_begin = sparse->row_begin.data();
    page_.codes = sparse->codes();
  }
  void for_each(const std::function<void(const RowPage&)>& body) override { body(page_); }

 private:
  RowPage page_;
};

}  // namespace gossamer
