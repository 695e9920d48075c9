#include "core/bin_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/radix_sort.h"

namespace gossamer {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A cut with low <= cut < high, halfway where that is possible.
double cut_between(double low, double high) {
  constexpr double kMax = std::numeric_limits<double>::max();
  if (low == -kInf) return high > -kMax ? -kMax : low;
  if (high == kInf) return kMax;
  const double middle = low / 2.0 + high / 2.0;  // high - low could overflow
  const double precise = low + (high - low) / 2.0;
  if (precise >= low && precise < high) return precise;
  return middle >= low && middle < high ? middle : low;
}

class BoundsBuilder {
 public:
  explicit BoundsBuilder(const DistinctValues& d) : d_(d) {}
  void cut_after(std::size_t i) { upper_.push_back(cut_between(d_.values[i], d_.values[i + 1])); }
  std::int64_t n_cuts() const { return static_cast<std::int64_t>(upper_.size()); }
  std::vector<double> finish() {
    upper_.push_back(kInf);
    return std::move(upper_);
  }

 private:
  const DistinctValues& d_;
  std::vector<double> upper_;
};

std::vector<double> one_bin_per_value(const DistinctValues& d, std::int64_t min_data_in_bin) {
  BoundsBuilder bounds(d);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i + 1 < d.values.size(); ++i) {
    rows += d.counts[i];
    if (rows >= min_data_in_bin) {
      bounds.cut_after(i);
      rows = 0;
    }
  }
  return bounds.finish();
}

std::vector<double> bins_of_equal_count(const DistinctValues& d, std::int64_t max_bin, std::int64_t min_data_in_bin) {
  std::int64_t total = 0;
  for (const std::int64_t count : d.counts) total += count;
  if (min_data_in_bin > 0) max_bin = std::min(max_bin, total / min_data_in_bin);
  max_bin = std::max<std::int64_t>(max_bin, 1);

  // A value with more rows than an average bin gets a bin of its own; the others share the rest.
  const double heavy_count = static_cast<double>(total) / static_cast<double>(max_bin);
  const auto heavy = [&](std::size_t i) { return static_cast<double>(d.counts[i]) >= heavy_count; };
  std::int64_t bins_left = max_bin;
  std::int64_t rows_left = total;
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    if (heavy(i)) {
      --bins_left;
      rows_left -= d.counts[i];
    }
  }
  const auto mean_rows = [&] {
    return bins_left > 0 ? static_cast<double>(rows_left) / static_cast<double>(bins_left) : kInf;
  };
  double mean = mean_rows();

  BoundsBuilder bounds(d);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i + 1 < d.values.size() && bounds.n_cuts() < max_bin - 1; ++i) {
    if (!heavy(i)) rows_left -= d.counts[i];
    rows += d.counts[i];
    const auto filled = static_cast<double>(rows);
    if (heavy(i) || filled >= mean || (heavy(i + 1) && filled >= std::max(1.0, mean * 0.5))) {
      bounds.cut_after(i);
      rows = 0;
      if (!heavy(i)) {
        --bins_left;
        mean = mean_rows();
      }
    }
  }
  return bounds.finish();
}

// Sorted distinct values of one column's sample; `missing` tells whether any were left out as such.
template <class T>
DistinctValues count_distinct(const T* values, std::int64_t n, const BinOptions& options, bool& missing) {
  using Float = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using Key = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    auto x = static_cast<Float>(values[i]);
    const bool nan = x != x;
    if (nan && !options.use_missing) x = 0;
    if (options.use_missing && (nan || (options.zero_as_missing && std::abs(static_cast<double>(x)) <= kZero))) {
      missing = true;
      continue;
    }
    keys.push_back(ordered_key(x + Float(0)));  // -0 + 0 = +0: one zero
  }
  radix_sort(keys, [](Key key) { return key; });
  DistinctValues d;
  d.values.reserve(keys.size());
  d.counts.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t end = i + 1;
    while (end < keys.size() && keys[end] == keys[i]) ++end;
    d.values.push_back(static_cast<double>(key_value(keys[i])));
    d.counts.push_back(static_cast<std::int64_t>(end - i));
    i = end;
  }
  return d;
}

}  // namespace

std::vector<double> choose_bounds(const DistinctValues& distinct, std::int64_t max_bin, std::int64_t min_data_in_bin) {
  if (static_cast<std::int64_t>(distinct.values.size()) <= max_bin) {
    return one_bin_per_value(distinct, min_data_in_bin);
  }
  return bins_of_equal_count(distinct, max_bin, min_data_in_bin);
}

std::vector<ColumnBounds> find_bounds(Team& team, const MatrixView& matrix, std::span<const std::int64_t> sample,
                                      const BinOptions& options) {
  const std::int64_t n_sample = sample.empty() ? matrix.n_rows : static_cast<std::int64_t>(sample.size());
  std::vector<ColumnBounds> result(static_cast<std::size_t>(matrix.n_columns));
  visit(matrix, [&]<class T>(TypedView<T> view) {
    // Columns are gathered a cache line's worth at a time: one pass over the sampled rows each.
    constexpr std::int64_t kBlock = 64 / sizeof(T);
    std::vector<T> columns(static_cast<std::size_t>(std::min(kBlock, matrix.n_columns) * n_sample));
    for (std::int64_t first = 0; first < matrix.n_columns; first += kBlock) {
      const std::int64_t n_block = std::min(kBlock, matrix.n_columns - first);
      for_blocks(team, n_sample, 4096, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t row = sample.empty() ? i : sample[static_cast<std::size_t>(i)];
          for (std::int64_t c = 0; c < n_block; ++c) {
            columns[static_cast<std::size_t>(c * n_sample + i)] = view(row, first + c);
          }
        }
      });
      team.for_each(n_block, [&](std::int64_t c, int) {
        ColumnBounds& out = result[static_cast<std::size_t>(first + c)];
        const auto distinct = count_distinct(columns.data() + c * n_sample, n_sample, options, out.missing_in_sample);
        const std::int64_t max_bin = options.max_bin[static_cast<std::size_t>(first + c)];
        out.upper = choose_bounds(distinct, out.missing_in_sample ? max_bin - 1 : max_bin, options.min_data_in_bin);
      });
    }
  });
  return result;
}

}  // namespace gossamer
