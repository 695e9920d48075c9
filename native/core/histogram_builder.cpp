#include "core/histogram_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr double kEntriesPerGroup = 16.0;  // entries of a row that take as long as a group of lanes
constexpr double kTwoByteLane = 1.75;      // lanes of one byte that take as long as one of two bytes

// Light cells take all rows at once; heavy ones are emptied into 64-bit sums before they overflow.
void add_sparse(const HistogramShape& shape, const RowPage& page, const QuantisedRows& quantised, const RowList& rows,
                BuildScratch& scratch, Histogram& out) {
  const SparseRows& sparse = *shape.sparse;
  const CellRange heavy{shape.matrix->n_cells(), shape.n_heavy};
  SparseBuildArgs args;
  args.row_begin = page.entries_of_row_zero();
  args.codes = page.codes;
  args.wide_codes = sparse.wide_codes();
  args.row_values = quantised.values();
  args.layout = &shape.layout;
  args.n_cells = sparse.n_cells;
  args.n_heavy = static_cast<std::uint32_t>(shape.n_heavy);
  args.light = out.light.data();
  const std::int64_t n_words = heavy.n * shape.words_per_cell();
  if (out.large) scratch.cells.grow_to(n_words);
  args.heavy = out.large ? scratch.cells.data() : out.cells(heavy.first, shape.layout);
  RowReader reader = scratch.reader_of(rows);
  while (reader.n_left() > 0) {
    const RowList piece = reader.next(out.large && heavy.n > 0 ? shape.layout.max_rows : rows.n);
    args.rows = piece.rows;
    args.first_row = piece.first_row;
    args.n_rows = piece.n;
    if (out.large) std::fill_n(scratch.cells.data(), n_words, std::uint64_t{0});
    kernels().build_sparse(args);
    if (out.large) {
      kernels().unpack_add(scratch.cells.data(), heavy.n, shape.layout, out.sums(shape.n_cells).offset(heavy.first));
    }
  }
}

void add_rows(const HistogramShape& shape, const QuantisedRows& quantised, const RowPage& page, std::int32_t group,
              LaneRange lanes, const RowList& rows, BuildScratch& scratch, const BuiltHistogram& leaf, Histogram& out) {
  const Group& own = shape.matrix->groups()[at(group)];
  const void* const bins = page.row_zero(at(group), own.row_stride * (own.two_bytes ? 2 : 1));
  add_lanes(own, lanes, bins, rows, quantised.values(), shape.n_cells, shape.layout, scratch, out, leaf.take_out,
            leaf.most);
}

void clear_group(const HistogramShape& shape, std::int32_t group, Histogram& out) {
  if (group == shape.sparse_group()) {
    clear_range(out, {shape.matrix->n_cells(), shape.n_heavy}, shape.n_cells, shape.layout);
    std::fill(out.light.begin(), out.light.end(), std::uint64_t{0});
    return;
  }
  const Group& lanes = shape.matrix->groups()[at(group)];
  clear_range(out, {lanes.first_cell, lanes.n_cells}, shape.n_cells, shape.layout);
}

}  // namespace

void BuiltHistogram::merge_lanes(const HistogramShape& shape, std::int32_t group, CellRange range) {
  for (Partial& partial : partials) {
    if (partial.group == group) add_range(*partial.histogram, range, shape.n_cells, shape.layout, *own);
  }
}

void BuiltHistogram::merge_sparse(const HistogramShape& shape, const SparseRows::Block& block) {
  for (Partial& partial : partials) {
    if (partial.group != shape.sparse_group()) continue;
    if (shape.is_heavy(block)) {
      add_range(*partial.histogram, shape.sparse_range(block), shape.n_cells, shape.layout, *own);
    } else {
      const std::int64_t first = shape.light_word(block);
      kernels().add_words(partial.histogram->light.data() + first, block.n_cells * shape.words_per_cell(),
                          own->light.data() + first);
    }
  }
}

// Partial histograms do not count against the limit of memory: which histograms are dropped must not depend on threads.
void HistogramBuilder::start(const HistogramShape& shape, int n_threads) {
  pool_.configure(shape.n_cells, shape.n_light(), shape.layout.wide, 0);
  scratch_.resize(std::max(scratch_.size(), at(n_threads)));
  for (BuildScratch& scratch : scratch_) scratch.next_rows = {};  // where the last tree ended with an exception
}

void HistogramBuilder::plan(int n_threads, const HistogramShape& shape, bool one_page,
                            std::span<BuiltHistogram> histograms, bool may_wait) {
  tasks_.clear();
  weigh_groups(shape);
  std::int64_t total_rows = 0;
  for (BuiltHistogram& h : histograms) {
    const std::int64_t n_rows = h.rows.end - h.rows.begin;
    h.waits = may_wait && (n_threads == 1 || n_rows <= kTaskRows || shape.has_many_groups(n_threads));
    if (!h.waits) total_rows += n_rows;
  }
  // Sparse columns are worth as many groups as a row has groups of entries.
  double entries_per_row = 0.0;
  if (shape.has_sparse() && shape.matrix->n_rows() > 0) {
    entries_per_row = static_cast<double>(shape.sparse->n_entries()) / static_cast<double>(shape.matrix->n_rows());
  }
  double weight = std::ceil(entries_per_row / kEntriesPerGroup);
  for (std::size_t g = 0; g < group_weight_.size(); ++g) weight += shape.group_used[g] ? group_weight_[g] : 0.0;
  // Several shares per thread balance the load; every cut through a leaf costs a histogram to be cleared and merged.
  const std::int64_t per_thread = n_threads <= 2 ? 2 : std::clamp<std::int64_t>(total_rows / (32768 * n_threads), 4, 8);
  const std::int64_t n_shares = n_threads == 1 ? 1 : n_threads * per_thread;
  const double share = std::ceil(static_cast<double>(total_rows) * weight / static_cast<double>(n_shares));
  plan_lanes(shape, one_page, histograms, std::max(static_cast<double>(kTaskRows), share), n_threads <= 2);
  if (shape.has_sparse()) plan_sparse(shape, one_page, histograms, n_shares, entries_per_row);
  // Longest first: the last one to start should be short.
  if (tasks_.size() < 2) return;
  std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.cost > b.cost; });
}

void HistogramBuilder::weigh_groups(const HistogramShape& shape) {
  group_weight_.clear();
  for (const Group& group : shape.matrix->groups()) {
    group_weight_.push_back((group.two_bytes ? kTwoByteLane : 1.0) * static_cast<double>(group.n_lanes));
  }
  const double most = group_weight_.empty() ? 1.0 : *std::max_element(group_weight_.begin(), group_weight_.end());
  for (double& weight : group_weight_) weight /= most;
}

// With few shares, leaves are cut as if all rows were dealt out to shares of the same cost, one after another: that
// balances the load. Many shares balance themselves, and leaves smaller than a share need not be cut.
void HistogramBuilder::plan_lanes(const HistogramShape& shape, bool one_page, std::span<BuiltHistogram> histograms,
                                  double share, bool deals) {
  const double least = std::max(static_cast<double>(kTaskRows / 2), share / 4.0);  // on both sides of a cut
  double filled = 0.0;
  for (BuiltHistogram& h : histograms) {
    const std::int64_t n_rows = h.rows.end - h.rows.begin;
    for (std::size_t g = 0; !h.waits && g < shape.group_used.size(); ++g) {
      if (!shape.group_used[g]) continue;
      const auto group = static_cast<std::int32_t>(g);
      const auto cost_of = [&](std::int64_t n) { return group_weight_[g] * static_cast<double>(n); };
      if (!deals || h.take_out) {
        // Rows are taken out of one histogram only.
        const auto n_parts = h.take_out ? 1 : static_cast<std::int64_t>(cost_of(n_rows) / share + 0.5);
        add_parts(shape, one_page, h, group, std::max<std::int64_t>(n_parts, 1), cost_of(n_rows));
        continue;
      }
      std::int64_t begin = 0;
      do {
        if (filled + least > share) filled = 0.0;
        const double space = share - filled;
        const bool is_cut = cost_of(n_rows - begin) >= space + least;
        const std::int64_t end = is_cut ? begin + static_cast<std::int64_t>(space / group_weight_[g]) : n_rows;
        add_task(shape, one_page, h, group, begin, end, cost_of(end - begin));
        filled += cost_of(end - begin);
        begin = end;
      } while (begin < n_rows);
    }
  }
}

// Merging takes a pass over all cells: a part must be large enough to be worth it.
void HistogramBuilder::plan_sparse(const HistogramShape& shape, bool one_page, std::span<BuiltHistogram> histograms,
                                   std::int64_t most_parts, double entries_per_row) {
  for (BuiltHistogram& h : histograms) {
    const double entries = entries_per_row * static_cast<double>(h.rows.end - h.rows.begin);
    const double cells = static_cast<double>(shape.sparse->n_cells) + 65536.0;
    const std::int64_t n_parts = std::clamp<std::int64_t>(static_cast<std::int64_t>(entries / cells), 1, most_parts);
    add_parts(shape, one_page, h, shape.sparse_group(), n_parts, entries / kEntriesPerGroup);
  }
}

void HistogramBuilder::add_parts(const HistogramShape& shape, bool one_page, BuiltHistogram& leaf, std::int32_t group,
                                 std::int64_t n_parts, double cost) {
  const std::int64_t n_rows = leaf.rows.end - leaf.rows.begin;
  for (std::int64_t part = 0; part < n_parts; ++part) {
    add_task(shape, one_page, leaf, group, n_rows * part / n_parts, n_rows * (part + 1) / n_parts,
             cost / static_cast<double>(n_parts));
  }
}

void HistogramBuilder::add_task(const HistogramShape& shape, bool one_page, BuiltHistogram& leaf, std::int32_t group,
                                std::int64_t begin, std::int64_t end, double cost) {
  Task task{&leaf, group, begin, end, cost, leaf.own};
  if (begin > 0) {
    // Rounded page by page, a part may have more than its share of the rows.
    const bool large = leaf.own->large && (!one_page || end - begin > shape.layout.max_rows);
    leaf.partials.push_back({group, pool_.acquire(large)});
    task.target = leaf.partials.back().histogram.get();
  }
  tasks_.push_back(task);
}

void HistogramBuilder::build(Team& team, const HistogramShape& shape, const QuantisedRows& rows,
                             const LeafRows& leaf_rows, RowPages& pages, std::span<BuiltHistogram> histograms,
                             bool may_wait) {
  if (histograms.empty()) return;  // a pass over pages costs time
  plan(team.n_threads(), shape, pages.ranges().size() == 1, histograms, may_wait);
  bool is_first = true;
  const auto add = [&](const RowPage& page) {
    const auto add_task = [&](std::int64_t t, int thread) {
      const Task& task = tasks_[at(t)];
      if (is_first && !task.leaf->take_out) clear_group(shape, task.group, *task.target);
      add_page(task, shape, rows, leaf_rows, page, scratch_[at(thread)]);
    };
    // The parts of one leaf and one group of lanes are equal, and in the order of the table.
    if (histograms.size() == 1 && shape.matrix->groups().size() == 1 && !shape.has_sparse()) {
      team.for_each(std::ssize(tasks_), add_task);
    } else {
      team.for_each_in_order(std::ssize(tasks_), add_task);
    }
    is_first = false;
  };
  pages.for_each(std::ref(add));
}

void HistogramBuilder::add_page(const Task& task, const HistogramShape& shape, const QuantisedRows& quantised,
                                const LeafRows& leaf_rows, const RowPage& page, BuildScratch& scratch) {
  const RowList rows = leaf_rows.part(task.leaf->rows, page, task.begin, task.end);
  if (rows.n == 0) return;
  if (task.group == shape.sparse_group()) {
    add_sparse(shape, page, quantised, rows, scratch, *task.target);
    return;
  }
  const LaneRange all{0, shape.matrix->groups()[at(task.group)].n_lanes};
  add_rows(shape, quantised, page, task.group, all, rows, scratch, *task.leaf, *task.target);
}

void HistogramBuilder::build_lanes(const HistogramShape& shape, const QuantisedRows& quantised,
                                   const LeafRows& leaf_rows, const RowPage& page, const LanesToBuild& lanes,
                                   const LanesToBuild* next, int thread) {
  const BuiltHistogram& histogram = *lanes.histogram;
  const Group& group = shape.matrix->groups()[at(lanes.group)];
  if (!histogram.take_out) clear_range(*histogram.own, lanes.lanes.cells(group), shape.n_cells, shape.layout);
  const auto rows_of = [&](const BuiltHistogram& h) {
    return leaf_rows.part(h.rows, page, 0, h.rows.end - h.rows.begin);
  };
  const RowList rows = rows_of(histogram);
  if (rows.n == 0) return;
  BuildScratch& scratch = scratch_[at(thread)];
  if (next != nullptr) {
    const Group& other = shape.matrix->groups()[at(next->group)];
    if (!group.two_bytes && !other.two_bytes && group.row_stride == other.row_stride) {
      scratch.next_rows = rows_of(*next->histogram);
      scratch.next_bins = page.row_zero(at(next->group), other.row_stride);
    }
  }
  add_rows(shape, quantised, page, lanes.group, lanes.lanes, rows, scratch, histogram, *histogram.own);
  scratch.next_rows = {};
}

void HistogramBuilder::merge(Team& team, const HistogramShape& shape, std::span<BuiltHistogram> histograms) {
  team.for_each(static_cast<std::int64_t>(histograms.size()), [&](std::int64_t i, int) {
    BuiltHistogram& h = histograms[at(i)];
    if (h.partials.empty()) return;
    for (std::size_t g = 0; g < shape.matrix->groups().size(); ++g) {
      const Group& group = shape.matrix->groups()[g];
      h.merge_lanes(shape, static_cast<std::int32_t>(g), {group.first_cell, group.n_cells});
    }
    if (!shape.has_sparse()) return;
    for (const SparseRows::Block& block : shape.sparse->blocks) h.merge_sparse(shape, block);
  });
  give_back(histograms);
}

void HistogramBuilder::give_back(std::span<BuiltHistogram> histograms) {
  for (BuiltHistogram& h : histograms) {
    for (BuiltHistogram::Partial& partial : h.partials) pool_.release(std::move(partial.histogram));
    h.partials.clear();
  }
}

}  // namespace gossamer
