#include "core/sparse_partition.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gossamer {
namespace {

// The first i >= begin with value(i) >= wanted: doubling steps, then halving. The time is
// logarithmic in the distance.
template <class Value>
std::int64_t gallop(std::int64_t begin, std::int64_t end, std::int64_t wanted, const Value& value) {
  std::int64_t step = 1;
  std::int64_t low = begin;
  while (low + step <= end && value(low + step - 1) < wanted) {
    low += step;
    step *= 2;
  }
  std::int64_t high = std::min(low + step - 1, end);
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    value(middle) < wanted ? low = middle + 1 : high = middle;
  }
  return low;
}

}  // namespace

std::int64_t partition_sparse(const SparsePartition& p) {
  const auto row_at = [&](std::int64_t i) {
    return p.rows != nullptr ? static_cast<std::int64_t>(p.rows[i]) : p.first_row + i;
  };
  const auto entry_at = [&](std::int64_t e) {
    return static_cast<std::int64_t>(p.entry_rows[static_cast<std::size_t>(e)]);
  };
  const auto n_entries = static_cast<std::int64_t>(p.entry_rows.size());
  RowIdx* left = p.left;
  RowIdx* right = p.right;
  // Rows between two entries are zero, and are moved all at once.
  const auto copy_zeros = [&](std::int64_t begin, std::int64_t end) {
    RowIdx*& to = p.zero_left ? left : right;
    if (p.rows != nullptr) {
      std::memmove(to, p.rows + begin, static_cast<std::size_t>(end - begin) * sizeof(RowIdx));
    } else {
      std::iota(to, to + (end - begin), static_cast<RowIdx>(p.first_row + begin));
    }
    to += end - begin;
  };
  std::int64_t i = 0;
  std::int64_t e = p.n_rows > 0 ? gallop(0, n_entries, row_at(0), entry_at) : n_entries;
  while (i < p.n_rows && e < n_entries) {
    const std::int64_t next = gallop(i, p.n_rows, entry_at(e), row_at);
    copy_zeros(i, next);
    i = next;
    if (i == p.n_rows) break;
    const std::int64_t row = row_at(i);
    if (entry_at(e) == row) {
      const std::uint32_t bin = p.entry_bins[static_cast<std::size_t>(e)];
      const bool goes_left = bin == p.missing_bin ? p.missing_left : bin <= p.threshold;
      *(goes_left ? left : right)++ = static_cast<RowIdx>(row);
      ++i;
      ++e;
    } else {
      e = gallop(e, n_entries, row, entry_at);
    }
  }
  copy_zeros(i, p.n_rows);
  return left - p.left;
}

}  // namespace gossamer
