#include "core/sorted_lists.h"

#include <algorithm>
#include <cstring>

#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {

std::vector<SortedLists::EntryRange> SortedLists::start(Team& team, const SortedTable& table,
                                                        const std::vector<char>& used, const RowIdx* rows,
                                                        std::int64_t n_rows) {
  const std::size_t n_columns = table.columns.size();
  lists_.resize(n_columns);
  scratch_.resize(std::max(scratch_.size(), at(team.n_threads())));
  used_.clear();
  for (std::size_t place = 0; place < n_columns; ++place) {
    if (used[at(table.columns[place].feature)]) used_.push_back(static_cast<std::int32_t>(place));
  }
  const std::int64_t n_all = table.raw.n_rows();
  side_.grow_to(n_all);
  if (rows != nullptr) {
    std::memset(side_.data(), 1, at(n_all));
    for (std::int64_t i = 0; i < n_rows; ++i) side_[rows[i]] = 0;
  }
  std::vector<EntryRange> root(n_columns);
  team.for_each(static_cast<std::int64_t>(used_.size()), [&](std::int64_t i, int thread) {
    const auto place = at(used_[at(i)]);
    const SortedColumn& column = table.columns[place];
    const std::int64_t n = column.entries.size();
    if (n == 0) return;
    lists_[place].grow_to(n);
    std::memcpy(lists_[place].data(), column.entries.data(), at(n) * sizeof(SortedEntry));
    root[place] = {0, column.n_low, column.n_values, n};
    if (rows == nullptr) return;
    // Rows outside the sample go to the right, and are dropped.
    Buffer<SortedEntry>& buffer = scratch_[at(thread)];
    buffer.grow_to(n);
    EntryRange whole = root[place];
    SortedEntry* const list = lists_[place].data();
    EntryRange& kept = root[place];
    const std::int64_t parts[4] = {0, whole.n_low, whole.n_values, whole.n};
    std::int64_t counts[3];
    std::int64_t n_kept = 0;
    for (int part = 0; part < 3; ++part) {
      const std::int64_t n_part = parts[part + 1] - parts[part];
      counts[part] = kernels().split_sorted(list + parts[part], n_part, side_.data(), buffer.data());
      std::memmove(list + n_kept, list + parts[part], at(counts[part]) * sizeof(SortedEntry));
      n_kept += counts[part];
    }
    kept = {0, counts[0], counts[0] + counts[1], n_kept};
  });
  return root;
}

void SortedLists::split(Team& team, std::span<const Split> splits) {
  const auto n_used = static_cast<std::int64_t>(used_.size());
  for (const Split& split : splits) {
    for (std::vector<EntryRange>* child : split.children) child->assign(lists_.size(), {});
  }
  team.for_each(static_cast<std::int64_t>(splits.size()) * n_used, [&](std::int64_t t, int thread) {
    const Split& split = splits[at(t / n_used)];
    const auto place = at(used_[at(t % n_used)]);
    const EntryRange& whole = (*split.parent)[place];
    if (whole.n == 0) return;
    Buffer<SortedEntry>& buffer = scratch_[at(thread)];
    buffer.grow_to(whole.n);
    SortedEntry* const list = lists_[place].data() + whole.begin;
    // Part by part: values below zero, others, missing ones.
    const std::int64_t parts[4] = {0, whole.n_low, whole.n_values, whole.n};
    EntryRange& left = (*split.children[0])[place];
    EntryRange& right = (*split.children[1])[place];
    std::int64_t n_left[3];
    std::int64_t left_end = 0;
    std::int64_t right_end = 0;
    for (int part = 0; part < 3; ++part) {
      const std::int64_t n_part = parts[part + 1] - parts[part];
      n_left[part] = 0;
      if (n_part == 0) continue;
      SortedEntry* const first = list + parts[part];
      n_left[part] = kernels().split_sorted(first, n_part, side_.data(), buffer.data() + right_end);
      if (left_end != parts[part]) std::memmove(list + left_end, first, at(n_left[part]) * sizeof(SortedEntry));
      left_end += n_left[part];
      right_end += n_part - n_left[part];
    }
    std::memcpy(list + left_end, buffer.data(), at(right_end) * sizeof(SortedEntry));
    left = {whole.begin, n_left[0], n_left[0] + n_left[1], left_end};
    right = {whole.begin + left_end, whole.n_low - left.n_low, whole.n_values - left.n_values, whole.n - left_end};
  });
}

}  // namespace gossamer
