// The part of the grower that makes histograms.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/grower.h"
#include "core/random.h"
#include "core/timer.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBuildRows = 4096;  // least rows per histogram task

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Grower::evaluate(Team& team, std::vector<Family>& families) {
  build(team, families);
  if (costs_ != nullptr && costs_->has_lazy()) count_unpaid(team, families);
  if (refunds_) make_room_for_offers(families);
  search(team, families);
  for (Partial& partial : partials_) pool_.release(std::move(partial.histogram));
  partials_.clear();
  for (Family& family : families) {
    for (const std::int32_t leaf : {family.built[0], family.built[1], family.rest}) {
      if (leaf >= 0) settle(leaves_[at(leaf)]);
    }
  }
}

// The histogram of a leaf that will be split late is given up when memory runs short; its children
// are then both built from rows.
std::unique_ptr<Histogram> Grower::acquire(bool large) {
  if (pool_.exhausted(large)) {
    Leaf* worst = nullptr;
    for (const std::int32_t i : frontier_) {
      Leaf& leaf = leaves_[at(i)];
      if (leaf.expanded || !leaf.histogram || leaf.histogram->large != large) continue;
      if (worst == nullptr || comes_before(*worst, leaf)) worst = &leaf;
    }
    if (worst != nullptr) return std::move(worst->histogram);
  }
  return pool_.acquire(large);
}

void Grower::build(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.build);
  std::int64_t total_rows = 0;
  for (const Family& family : families) {
    if (family.again) continue;
    for (const std::int32_t i : family.built) {
      if (i >= 0) total_rows += leaves_[at(i)].n_rows();
    }
  }
  stats_.built_rows += total_rows;
  const auto n_groups = static_cast<std::int64_t>(matrix_->groups().size());
  // Sparse columns count as one more group, worth as many of them as a row has groups of entries.
  const bool has_sparse = sparse_ && sparse_->n_cells > 0;
  const double entries_per_row =
      has_sparse ? static_cast<double>(sparse_->n_entries()) / static_cast<double>(matrix_->n_rows()) : 0.0;
  const auto n_units = n_groups + static_cast<std::int64_t>(std::ceil(entries_per_row / 16.0));
  // Every piece of a leaf costs a histogram to be merged: with many threads, one piece each.
  const std::int64_t n_pieces = team.n_threads() * (team.n_threads() <= 4 ? 2 : 1);
  const std::int64_t rows_per_task =
      team.n_threads() == 1 ? n_rows_ : std::max(kBuildRows, total_rows * n_units / n_pieces + 1);
  std::vector<BuildTask> tasks;
  for (Family& family : families) {
    if (family.again) continue;
    for (const std::int32_t i : family.built) {
      if (i < 0) continue;
      Leaf& leaf = leaves_[at(i)];
      leaf.histogram = acquire(leaf.n_rows() > layout_.max_rows);
      const std::int64_t n_parts = std::max<std::int64_t>(1, (leaf.n_rows() + rows_per_task / 2) / rows_per_task);
      for (std::int64_t g = 0; g < n_groups + has_sparse; ++g) {
        if (g < n_groups && !group_used_[at(g)]) continue;
        std::int64_t n_own_parts = n_parts;
        if (g == n_groups) {
          // Merging takes a pass over all cells: a part must be worth it.
          const double entries = entries_per_row * static_cast<double>(leaf.n_rows());
          const double cells = static_cast<double>(sparse_->n_cells) + 65536.0;
          n_own_parts = std::clamp<std::int64_t>(static_cast<std::int64_t>(entries / cells), 1, n_pieces);
        }
        for (std::int64_t part = 0; part < n_own_parts; ++part) {
          BuildTask task{i, static_cast<std::int32_t>(g), leaf.begin + leaf.n_rows() * part / n_own_parts,
                         leaf.begin + leaf.n_rows() * (part + 1) / n_own_parts, leaf.histogram.get()};
          if (part > 0) {
            const bool large = leaf.histogram->large && task.end - task.begin > layout_.max_rows;
            partials_.push_back({i, task.group, pool_.acquire(large)});
            task.target = partials_.back().histogram.get();
          }
          tasks.push_back(task);
        }
      }
    }
  }
  // Longest first: the last task to start should be a short one.
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const BuildTask& a, const BuildTask& b) { return a.end - a.begin > b.end - b.begin; });
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    const BuildTask& task = tasks[at(t)];
    Buffer<std::uint64_t>& scratch = build_scratch_[at(thread)];
    const RowIdx* const rows = rows_.from(task.begin);
    if (task.group == static_cast<std::int32_t>(n_groups)) {
      if (task.target->large) scratch.grow_to(sparse_->n_heavy * 2);
      build_sparse(task, rows, scratch.data());
      return;
    }
    const Group& group = matrix_->groups()[at(task.group)];
    if (task.target->large) scratch.grow_to(group.n_cells * 2);
    build_group(group, rows, task.begin, task.end - task.begin, row_values_.data(), n_cells_, layout_, scratch.data(),
                *task.target);
  });
}

// Light cells take all rows at once; heavy ones are emptied into 64-bit sums before they overflow.
void Grower::build_sparse(const BuildTask& task, const RowIdx* rows, std::uint64_t* scratch) {
  Histogram& out = *task.target;
  const std::int64_t width = layout_.wide ? 2 : 1;
  const CellRange heavy{matrix_->n_cells(), sparse_->n_heavy};
  clear_range(out, heavy, n_cells_, layout_);
  std::fill(out.light.begin(), out.light.end(), std::uint64_t{0});
  SparseBuildArgs args;
  args.row_begin = sparse_->row_begin.data();
  args.codes = sparse_->codes();
  args.wide_codes = sparse_->wide_codes();
  args.row_values = row_values_.data();
  args.layout = &layout_;
  args.n_heavy = static_cast<std::uint32_t>(sparse_->n_heavy);
  args.light = out.light.data();
  const std::int64_t n_rows = task.end - task.begin;
  const std::int64_t step = out.large && heavy.n > 0 ? layout_.max_rows : std::max<std::int64_t>(n_rows, 1);
  for (std::int64_t done = 0; done < n_rows; done += step) {
    args.rows = rows != nullptr ? rows + done : nullptr;
    args.first_row = task.begin + done;
    args.n_rows = std::min(step, n_rows - done);
    args.heavy = scratch;
    if (!out.large) {
      args.heavy = out.cells(heavy.first, layout_);
    } else {
      std::fill(scratch, scratch + heavy.n * width, std::uint64_t{0});
    }
    kernels().build_sparse(args);
    if (out.large) kernels().unpack_add(scratch, heavy.n, layout_, out.sums(n_cells_).offset(heavy.first));
  }
}

}  // namespace gossamer
