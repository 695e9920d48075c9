#include "core/bundling.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::int64_t kMaxOpenBytes = std::int64_t{64} << 20;  // bit sets of bundles that may still grow
constexpr std::int64_t kMaxTriesInAll = std::int64_t{1} << 21;
constexpr std::int64_t kMaxForDegree = 4096;  // most features for which all pairs are compared
constexpr std::int64_t kRowsForDegree = 1 << 16;

// Rows as bits.
class RowSet {
 public:
  explicit RowSet(std::int64_t n_rows) : words_(at(n_rows + 63) / 64, 0) {}
  bool has(RowIdx row) const { return (words_[row / 64] >> (row % 64)) & 1; }
  void add(RowIdx row) { words_[row / 64] |= std::uint64_t{1} << (row % 64); }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

struct OpenBundle {
  explicit OpenBundle(std::int64_t n_rows) : rows(n_rows) {}
  RowSet rows;
  std::int32_t n_values = 1;
  std::int64_t n_conflicts = 0;
  std::int64_t n_failed = 0;  // consecutive failed tries
  std::vector<std::int32_t> features;
};

// Counts rows already taken, only up to the budget: most failures show within a few rows.
std::int64_t count_conflicts(const RowSet& taken, std::span<const RowIdx> rows, std::int64_t budget) {
  std::int64_t n = 0;
  for (const RowIdx row : rows) {
    n += taken.has(row);
    if (n > budget) break;
  }
  return n;
}

std::vector<std::int64_t> order_by_count(const SparseColumns& columns) {
  std::vector<std::int64_t> order(at(columns.n_columns()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return columns.rows_of(a).size() > columns.rows_of(b).size();
  });
  return order;
}

// The degree of a feature is the number of rows it shares with each other feature, summed over the
// pairs, in the first part of the table.
std::vector<std::int64_t> order_by_degree(const SparseColumns& columns, std::int64_t n_rows) {
  const std::int64_t n = columns.n_columns();
  const std::int64_t n_looked_at = std::min(n_rows, kRowsForDegree);
  std::vector<RowSet> sets;
  for (std::int64_t c = 0; c < n; ++c) {
    sets.emplace_back(n_looked_at);
    for (const RowIdx row : columns.rows_of(c)) {
      if (row >= n_looked_at) break;
      sets.back().add(row);
    }
  }
  std::vector<std::int64_t> degree(at(n), 0);
  for (std::int64_t a = 0; a < n; ++a) {
    for (std::int64_t b = a + 1; b < n; ++b) {
      const auto& x = sets[at(a)].words();
      const auto& y = sets[at(b)].words();
      std::int64_t conflicts = 0;
      for (std::size_t w = 0; w < x.size(); ++w) conflicts += std::popcount(x[w] & y[w]);
      degree[at(a)] += conflicts;
      degree[at(b)] += conflicts;
    }
  }
  std::vector<std::int64_t> order = order_by_count(columns);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return degree[at(a)] > degree[at(b)]; });
  return order;
}

std::vector<std::int64_t> order_columns(const SparseColumns& columns, std::int64_t n_rows, BundleOrder order) {
  const bool too_many_pairs = columns.n_columns() > kMaxForDegree;
  if (order == BundleOrder::degree && !too_many_pairs) return order_by_degree(columns, n_rows);
  if (order != BundleOrder::column) return order_by_count(columns);
  std::vector<std::int64_t> as_they_are(at(columns.n_columns()));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  return as_they_are;
}

// The bundles that may still grow, and the finished ones.
class Packer {
 public:
  Packer(std::int64_t n_rows, std::int64_t n_columns, std::int32_t max_values, std::int64_t max_conflicts)
      : n_rows_(n_rows), max_values_(max_values), max_conflicts_(max_conflicts) {
    // Bounded search: the cost stays near linear in the number of columns.
    max_open_ = std::clamp<std::int64_t>(kMaxOpenBytes / (n_rows / 8 + 1), 16, 512);
    max_tries_ = std::clamp<std::int64_t>(kMaxTriesInAll / std::max<std::int64_t>(n_columns, 1), 16, 512);
  }

  void add(std::int32_t feature, std::int32_t n_values, std::span<const RowIdx> rows) {
    if (n_values >= max_values_ || rows.empty()) return;
    std::int64_t tries = 0;
    for (std::size_t i = 0; i < open_.size() && tries < max_tries_;) {
      OpenBundle& bundle = open_[i];
      if (bundle.n_values + n_values > max_values_) {
        // The bundle is full if even a feature of one value does not fit.
        bundle.n_values == max_values_ ? close(i) : static_cast<void>(++i);
        continue;
      }
      ++tries;
      const std::int64_t budget = max_conflicts_ - bundle.n_conflicts;
      const std::int64_t conflicts = count_conflicts(bundle.rows, rows, budget);
      if (conflicts <= budget) {
        bundle.n_conflicts += conflicts;
        bundle.n_failed = 0;
        return put(bundle, feature, n_values, rows);
      }
      ++bundle.n_failed;
      ++i;
    }
    if (static_cast<std::int64_t>(open_.size()) == max_open_) {
      const auto fails_most = std::max_element(open_.begin(), open_.end(),
                                               [](const auto& a, const auto& b) { return a.n_failed < b.n_failed; });
      close(static_cast<std::size_t>(fails_most - open_.begin()));
    }
    open_.emplace_back(n_rows_);
    put(open_.back(), feature, n_values, rows);
  }

  Bundles finish() {
    while (!open_.empty()) close(open_.size() - 1);
    return std::move(done_);
  }

 private:
  static void put(OpenBundle& bundle, std::int32_t feature, std::int32_t n_values, std::span<const RowIdx> rows) {
    for (const RowIdx row : rows) bundle.rows.add(row);
    bundle.n_values += n_values;
    bundle.features.push_back(feature);
  }

  void close(std::size_t i) {
    if (open_[i].features.size() > 1) {
      done_.n_conflicts.push_back(open_[i].n_conflicts);
      std::sort(open_[i].features.begin(), open_[i].features.end());
      done_.features.push_back(std::move(open_[i].features));
    }
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  std::int64_t n_rows_;
  std::int32_t max_values_;
  std::int64_t max_conflicts_;
  std::int64_t max_open_;
  std::int64_t max_tries_;
  std::vector<OpenBundle> open_;
  Bundles done_;
};

}  // namespace

Bundles find_bundles(const std::vector<Feature>& features, const SparseColumns& columns, std::int64_t n_rows,
                     BundleOrder order, std::int32_t max_values, std::int64_t max_conflicts) {
  Packer packer(n_rows, columns.n_columns(), max_values, max_conflicts);
  for (const std::int64_t c : order_columns(columns, n_rows, order)) {
    const std::int32_t f = columns.features[at(c)];
    packer.add(f, features[at(f)].n_other_bins(), columns.rows_of(c));
  }
  return packer.finish();
}

}  // namespace gossamer
