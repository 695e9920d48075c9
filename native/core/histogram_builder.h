// Building the histograms of a batch of leaves from their rows.
//
// The rows of a large leaf are shared out in pieces. The first piece of a leaf and group of lanes goes into the leaf's
// own histogram, every other piece into a partial histogram that is added later: lane by lane while the leaf is
// searched, or all at once. A leaf of one piece, or of many groups of lanes, can wait: its lanes are then built when
// they are searched, while they are in cache, and threads that share a leaf need no join in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/histogram.h"
#include "core/leaf_rows.h"
#include "core/quantised_rows.h"
#include "core/row_pages.h"
#include "core/sparse_rows.h"

namespace gossamer {

// What all histograms of a tree have in common.
struct HistogramShape {
  const BinMatrix* matrix = nullptr;
  const SparseRows* sparse = nullptr;  // nullptr: no sparse columns
  std::vector<char> group_used;        // groups of lanes in which some feature is searched
  std::int64_t n_cells = 0;            // cells of lanes and of heavy sparse columns
  CellLayout layout;
  std::int64_t n_heavy = 0;  // cells of sparse columns that may overflow: they have 64-bit sums in large leaves

  // The sparse columns count as one more group after the groups of lanes.
  std::int32_t sparse_group() const { return static_cast<std::int32_t>(matrix->groups().size()); }
  bool has_sparse() const { return sparse != nullptr && sparse->n_cells > 0; }
  std::int64_t n_groups() const { return std::count(group_used.begin(), group_used.end(), char{1}); }
  // Whether the groups of one leaf are enough tasks for all threads.
  bool has_many_groups(int n_threads) const { return n_groups() >= 2 * n_threads; }
  // Whether the rows of a leaf are read more than once to build its histogram.
  bool reads_rows_again() const { return n_groups() + (has_sparse() ? 1 : 0) > 1; }
  bool is_heavy(const SparseRows::Block& block) const { return block.first_cell < n_heavy; }
  CellRange sparse_range(const SparseRows::Block& block) const {
    return {matrix->n_cells() + block.first_cell, block.n_cells};
  }
  // Where the light cells of a block begin, in words.
  std::int64_t light_word(const SparseRows::Block& block) const {
    return (block.first_cell - n_heavy) * words_per_cell();
  }
  std::int64_t words_per_cell() const { return layout.wide ? 2 : 1; }
  std::int64_t n_light() const { return sparse != nullptr ? sparse->n_cells - n_heavy : 0; }
};

// The histogram of a leaf while a batch is evaluated.
struct BuiltHistogram {
  struct Partial {
    std::int32_t group;
    std::unique_ptr<Histogram> histogram;
  };
  Histogram* own = nullptr;
  RowRange rows{0, 0};
  std::vector<Partial> partials;
  bool take_out = false;                // the rows are taken out of `own`, which holds more rows
  const std::uint32_t* most = nullptr;  // rows that each cell can get at most; see add_lanes
  bool waits = false;                   // for build_lanes

  // Adds the partial histograms of a range of cells of lanes, or of a block of sparse columns.
  void merge_lanes(const HistogramShape& shape, std::int32_t group, CellRange range);
  void merge_sparse(const HistogramShape& shape, const SparseRows::Block& block);
};

// Some lanes of a histogram that waits.
struct LanesToBuild {
  const BuiltHistogram* histogram = nullptr;
  std::int32_t group = 0;
  LaneRange lanes;
};

class HistogramBuilder {
 public:
  static constexpr std::int64_t kTaskRows = 4096;  // least rows per task

  void start(const HistogramShape& shape, int n_threads);
  // `may_wait`: histograms may be left to build_lanes.
  void build(Team& team, const HistogramShape& shape, const QuantisedRows& rows, const LeafRows& leaf_rows,
             RowPages& pages, std::span<BuiltHistogram> histograms, bool may_wait);
  // Builds some lanes of a histogram that waits. Threads may build other lanes meanwhile.
  // `next`: what the thread will probably build afterwards; nullptr: not known.
  void build_lanes(const HistogramShape& shape, const QuantisedRows& rows, const LeafRows& leaf_rows,
                   const RowPage& page, const LanesToBuild& lanes, const LanesToBuild* next, int thread);
  // Adds all partial histograms and returns them to the pool.
  void merge(Team& team, const HistogramShape& shape, std::span<BuiltHistogram> histograms);
  void give_back(std::span<BuiltHistogram> histograms);
  void clear() { pool_.clear(); }

 private:
  // Some rows of a leaf and a group of lanes (or the sparse columns).
  struct Task {
    BuiltHistogram* leaf;
    std::int32_t group;
    std::int64_t begin, end;  // positions in the leaf's rows; in pages, the same parts of their rows
    double cost;              // in rows of the group that costs most
    Histogram* target;
  };
  void plan(int n_threads, const HistogramShape& shape, bool one_page, std::span<BuiltHistogram> histograms,
            bool may_wait);
  void weigh_groups(const HistogramShape& shape);
  // `share`: of the cost, for one task.
  void plan_lanes(const HistogramShape& shape, bool one_page, std::span<BuiltHistogram> histograms, double share,
                  bool deals);
  void plan_sparse(const HistogramShape& shape, bool one_page, std::span<BuiltHistogram> histograms,
                   std::int64_t most_parts, double entries_per_row);
  void add_parts(const HistogramShape& shape, bool one_page, BuiltHistogram& leaf, std::int32_t group,
                 std::int64_t n_parts, double cost);
  void add_task(const HistogramShape& shape, bool one_page, BuiltHistogram& leaf, std::int32_t group,
                std::int64_t begin, std::int64_t end, double cost);
  void add_page(const Task& task, const HistogramShape& shape, const QuantisedRows& rows, const LeafRows& leaf_rows,
                const RowPage& page, BuildScratch& scratch);

  std::vector<Task> tasks_;            // of the batch
  std::vector<double> group_weight_;   // what a row costs in each group of lanes
  HistogramPool pool_;                 // partial histograms
  std::vector<BuildScratch> scratch_;  // by thread
};

}  // namespace gossamer
