// Histograms of leaves: storage, and building a batch of them in parallel.
//
// A leaf with few rows (at most layout.max_rows) keeps its packed cells: 8 bytes a bin, subtracted
// as they are. A larger one keeps 64-bit sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/bin_matrix.h"
#include "core/memory.h"
#include "core/row_list.h"
#include "core/types.h"

namespace gossamer {

// One leaf's histogram. `words` holds either packed/wide cells or the three arrays of LargeCells.
// `light` holds the cells of sparse columns that no leaf can overflow: packed (or wide) always.
struct Histogram {
  Buffer<std::uint64_t> words;
  Buffer<std::uint64_t> light;
  bool large = false;
  int thread = 0;  // that has it in its cache

  static std::int64_t words_of(std::int64_t n_cells, bool large, bool wide) {
    return large ? 2 * n_cells + (n_cells + 1) / 2 : n_cells * (wide ? 2 : 1);
  }
  void* cells(std::int64_t first, const CellLayout& layout) { return words.data() + first * (layout.wide ? 2 : 1); }
  LargeCells sums(std::int64_t n_cells) {
    auto* const base = reinterpret_cast<std::int64_t*>(words.data());
    return {base, base + n_cells, reinterpret_cast<std::uint32_t*>(base + 2 * n_cells)};
  }
};

// Histograms are recycled over the leaves of all trees of a grower.
class HistogramPool {
 public:
  // Discards all histograms when the sizes change (another layout). No histogram of the pool may be in use.
  void configure(std::int64_t n_cells, std::int64_t n_light, bool wide, std::int64_t max_bytes);
  void clear();
  // If it can, one that this thread has in its cache.
  std::unique_ptr<Histogram> acquire(bool large, int thread = 0);
  void release(std::unique_ptr<Histogram> histogram);
  // True if one more histogram would exceed the budget, none can be reused, and none of the other kind given up.
  bool exhausted(bool large) const;
  // Bytes of a histogram of the larger kind.
  std::int64_t largest_bytes() const { return std::max<std::int64_t>(bytes_of(true), 1); }

 private:
  std::int64_t words_for(bool large) const { return Histogram::words_of(n_cells_, large, wide_); }
  std::int64_t light_words() const { return n_light_ * (wide_ ? 2 : 1); }
  std::int64_t bytes_of(bool large) const { return 8 * (words_for(large) + light_words()); }

  std::int64_t n_cells_ = 0;
  std::int64_t n_light_ = 0;
  bool wide_ = false;
  std::int64_t max_bytes_ = 0;
  std::int64_t bytes_ = 0;
  struct Free {
    std::unique_ptr<Histogram> histogram;
    int thread;  // the histogram's
  };
  std::vector<Free> free_small_;
  std::vector<Free> free_large_;
};

// Cells [first, first + n) of a histogram: the unit in which they are merged and subtracted.
struct CellRange {
  std::int64_t first = 0;
  std::int64_t n = 0;
};

void clear_range(Histogram& h, CellRange range, std::int64_t n_cells, const CellLayout& layout);
// out += x, which may be packed while `out` is large.
void add_range(Histogram& x, CellRange range, std::int64_t n_cells, const CellLayout& layout, Histogram& out);
// parent -= child; if `packed` is given the result moves there as packed cells.
void subtract_range(Histogram& child, CellRange range, std::int64_t n_cells, const CellLayout& layout,
                    Histogram& parent, Histogram* packed);
// Cells of one digit, or of one feature: in the histogram itself, or, if the digit shares its lane,
// as marginal sums in `scratch` (kFeatureScratchWords long). For a feature in a bundle these are
// the cells of the whole digit.
struct FeatureCells {
  const void* cells = nullptr;  // packed or wide; nullptr: `large`
  LargeCells large;

  FeatureCells from(std::int64_t n, const CellLayout& layout) const {
    if (cells == nullptr) return {nullptr, large.offset(n)};
    return {static_cast<const std::uint64_t*>(cells) + n * (layout.wide ? 2 : 1), {}};
  }
};
inline constexpr std::int64_t kFeatureScratchWords = 3 * 257;
FeatureCells feature_cells(Histogram& h, const Feature& feature, std::int64_t n_cells, const CellLayout& layout,
                           std::uint64_t* scratch);
// Sum over the bins [first, first + n) of a feature.
Sums sum_bins(const FeatureCells& cells, std::int64_t first, std::int64_t n, const CellLayout& layout);

// All cells of a feature from `others`, the cells of its bins other than zero's: the cell of zero
// is the leaf's sums minus the others. They are written to `scratch` (zero_scratch_words long), as
// 64-bit sums if `large`.
inline std::int64_t zero_scratch_words(std::int64_t n_bins) { return 3 * (n_bins + 2); }
FeatureCells with_zero_cell(const FeatureCells& others, const Feature& feature, const Sums& leaf, bool large,
                            const CellLayout& layout, std::uint64_t* scratch);

// For features whose cells are contiguous (feature k: [first_cell[k], first_cell[k + 1]), the
// very first at `cells`): each cell becomes the sum of itself and the cells above it in its feature.
FeatureCells sums_from_above(const FeatureCells& cells, std::span<const std::int64_t> first_cell,
                             const CellLayout& layout, std::uint64_t* scratch);

// Consecutive lanes of a group.
struct LaneRange {
  int first = 0;
  int n = 0;

  CellRange cells(const Group& group) const {
    const std::int64_t begin = group.lane_begin(first);
    return {group.first_cell + begin, group.lane_begin(first + n) - begin};
  }
};

// Memory that a thread needs to build histograms.
struct BuildScratch {
  Buffer<std::uint64_t> cells;
  Buffer<RowIdx> list;
  RowList next_rows;  // what the thread will read afterwards, if it is known
  const void* next_bins = nullptr;

  RowReader reader_of(const RowList& rows) {
    constexpr std::int64_t kListRows = 32768;
    if (rows.bits != nullptr) list.grow_to(kListRows + RowReader::kSlack);
    return {rows, {list.begin(), list.end()}};
  }
};

// Adds rows to the cells of some lanes of a group in `out`; with `take_out`, which may not be large, it takes them out.
// `bins` and `row_values` begin with row 0 of the table. `most`: for each cell of the histogram, the most rows that
// it can get; nullptr: not known.
void add_lanes(const Group& group, LaneRange lanes, const void* bins, const RowList& rows, const void* row_values,
               std::int64_t n_cells, const CellLayout& layout, BuildScratch& scratch, Histogram& out,
               bool take_out = false, const std::uint32_t* most = nullptr);

}  // namespace gossamer
