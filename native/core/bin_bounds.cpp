#include "core/bin_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

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

void add_zeros(DistinctValues& d, std::int64_t n) {
  const auto place = std::lower_bound(d.values.begin(), d.values.end(), 0.0);
  const auto i = place - d.values.begin();
  if (place != d.values.end() && *place == 0.0) {
    d.counts[static_cast<std::size_t>(i)] += n;
    return;
  }
  d.values.insert(place, 0.0);
  d.counts.insert(d.counts.begin() + i, n);
}

// Sorted distinct values of one column's sample, to which `n_zeros` zeros are added; notes whether any
// were left out as missing, and how many are zero.
template <class T>
DistinctValues count_distinct(const T* values, std::int64_t n, std::int64_t n_zeros, const BinOptions& options,
                              ColumnBounds& out) {
  using Float = std::conditional_t<std::is_same_v<T, float>, float, double>;
  using Key = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(n));
  const bool zero_is_missing = options.use_missing && options.zero_as_missing;
  out.missing_in_sample |= zero_is_missing && n_zeros > 0;
  std::int64_t all_zeros = n_zeros;
  for (std::int64_t i = 0; i < n; ++i) {
    auto x = static_cast<Float>(values[i]);
    const bool nan = x != x;
    if (nan && !options.use_missing) x = 0;
    const bool zero = std::abs(static_cast<double>(x)) <= kZero;
    all_zeros += zero;
    if (options.use_missing && (nan || (zero_is_missing && zero))) {
      out.missing_in_sample = true;
      continue;
    }
    keys.push_back(ordered_key(x + Float(0)));  // -0 + 0 = +0: one zero
  }
  out.zero_share = static_cast<double>(all_zeros) / static_cast<double>(std::max<std::int64_t>(n + n_zeros, 1));
  // The counters of a radix sort would cost more than comparing a few keys.
  keys.size() < 64 ? std::sort(keys.begin(), keys.end()) : radix_sort(keys, [](Key key) { return key; });
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
  if (n_zeros > 0 && !zero_is_missing) add_zeros(d, n_zeros);
  return d;
}

// Bounds of one column from the values of its sample and a number of zeros besides.
template <class T>
ColumnBounds bounds_of_column(const T* values, std::int64_t n, std::int64_t n_zeros, std::size_t column,
                              const BinOptions& options) {
  ColumnBounds out;
  const DistinctValues distinct = count_distinct(values, n, n_zeros, options, out);
  const std::int64_t most = options.max_bin[column] - (out.missing_in_sample ? 1 : 0);
  const bool is_forced = !options.forced.empty() && !options.forced[column].empty();
  out.upper = is_forced ? choose_bounds_between(distinct, most, options.min_data_in_bin, options.forced[column])
                        : choose_bounds(distinct, most, options.min_data_in_bin);
  return out;
}

}  // namespace

std::vector<double> choose_bounds(const DistinctValues& distinct, std::int64_t max_bin, std::int64_t min_data_in_bin) {
  if (static_cast<std::int64_t>(distinct.values.size()) <= max_bin) {
    return one_bin_per_value(distinct, min_data_in_bin);
  }
  return bins_of_equal_count(distinct, max_bin, min_data_in_bin);
}

std::vector<double> choose_bounds_between(const DistinctValues& distinct, std::int64_t max_bin,
                                          std::int64_t min_data_in_bin, std::span<const double> forced) {
  const auto& [values, counts] = distinct;
  std::vector<std::size_t> ends;  // of the values up to each bound, and of all
  for (const double bound : forced) {
    ends.push_back(static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), bound) - values.begin()));
  }
  ends.push_back(values.size());
  std::int64_t n_wanted = 0;  // bins with one for every value
  for (std::size_t s = 0, begin = 0; s < ends.size(); begin = ends[s++]) {
    n_wanted += std::max<std::int64_t>(static_cast<std::int64_t>(ends[s] - begin), 1);
  }
  const bool all_fit = n_wanted <= max_bin;
  const auto n_free = static_cast<double>(std::max(max_bin - static_cast<std::int64_t>(ends.size()), std::int64_t{0}));
  const std::int64_t total = std::max<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 1);
  std::vector<double> upper;
  std::int64_t rows = 0;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < ends.size(); begin = ends[s++]) {
    const DistinctValues part{
        {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(ends[s])},
        {counts.begin() + static_cast<std::ptrdiff_t>(begin), counts.begin() + static_cast<std::ptrdiff_t>(ends[s])}};
    rows += std::accumulate(part.counts.begin(), part.counts.end(), std::int64_t{0});
    // What earlier parts did not need is left to this one.
    const double share = n_free * static_cast<double>(rows) / static_cast<double>(total);
    const std::int64_t room =
        static_cast<std::int64_t>(s) + 1 + static_cast<std::int64_t>(share) - static_cast<std::int64_t>(upper.size());
    const auto n_values = static_cast<std::int64_t>(part.values.size());
    if (n_values > 0) {
      const std::vector<double> own = choose_bounds(part, all_fit ? n_values : room, min_data_in_bin);
      upper.insert(upper.end(), own.begin(), own.end() - 1);
    }
    upper.push_back(s < forced.size() ? forced[s] : kInf);
  }
  return upper;
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
        const auto column = static_cast<std::size_t>(first + c);
        result[column] = bounds_of_column(columns.data() + c * n_sample, n_sample, 0, column, options);
      });
    }
  });
  return result;
}

namespace {

// The sampled values of all columns, one column after another.
template <class T>
struct SampledColumns {
  std::vector<std::int64_t> begin;
  std::vector<T> values;
};

template <class T, class Index>
SampledColumns<T> gather_rows(Team& team, const SparseView& matrix, const TypedSparse<T, Index>& sparse,
                              std::span<const std::int64_t> sample) {
  const std::int64_t n_sample = sample.empty() ? matrix.n_rows : static_cast<std::int64_t>(sample.size());
  const auto row_of = [&](std::int64_t i) { return sample.empty() ? i : sample[static_cast<std::size_t>(i)]; };
  const auto n_columns = static_cast<std::size_t>(matrix.n_columns);
  // One stretch of the sample per thread; each has its own place in every column.
  const std::int64_t n_stretches = team.n_threads();
  std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>(n_stretches));
  const auto for_entries = [&](std::int64_t s, const auto& body) {
    for (std::int64_t i = n_sample * s / n_stretches; i < n_sample * (s + 1) / n_stretches; ++i) {
      const std::int64_t row = row_of(i);
      for (std::int64_t e = sparse.begin[row]; e < sparse.begin[row + 1]; ++e) body(e);
    }
  };
  team.for_each(n_stretches, [&](std::int64_t s, int) {
    auto& count = next[static_cast<std::size_t>(s)];
    count.assign(n_columns, 0);
    for_entries(s, [&](std::int64_t e) { ++count[static_cast<std::size_t>(sparse.indices[e])]; });
  });
  SampledColumns<T> columns;
  columns.begin.assign(n_columns + 1, 0);
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < n_columns; ++c) {
    for (auto& count : next) sum += std::exchange(count[c], sum);
    columns.begin[c + 1] = sum;
  }
  columns.values.resize(static_cast<std::size_t>(sum));
  team.for_each(n_stretches, [&](std::int64_t s, int) {
    auto& to = next[static_cast<std::size_t>(s)];
    for_entries(s, [&](std::int64_t e) {
      columns.values[static_cast<std::size_t>(to[static_cast<std::size_t>(sparse.indices[e])]++)] = sparse.values[e];
    });
  });
  return columns;
}

}  // namespace

std::vector<ColumnBounds> find_bounds(Team& team, const SparseView& matrix, std::span<const std::int64_t> sample,
                                      const BinOptions& options) {
  const std::int64_t n_sample = sample.empty() ? matrix.n_rows : static_cast<std::int64_t>(sample.size());
  std::vector<ColumnBounds> result(static_cast<std::size_t>(matrix.n_columns));
  constexpr std::int64_t kBlock = 64;  // columns per task
  visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> sparse) {
    if (matrix.by_row) {
      const SampledColumns<T> columns = gather_rows(team, matrix, sparse, sample);
      for_blocks(team, matrix.n_columns, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int) {
        for (std::int64_t c = first; c < last; ++c) {
          const auto i = static_cast<std::size_t>(c);
          const std::int64_t n = columns.begin[i + 1] - columns.begin[i];
          result[i] = bounds_of_column(columns.values.data() + columns.begin[i], n, n_sample - n, i, options);
        }
      });
      return;
    }
    std::vector<char> in_sample(sample.empty() ? 0 : static_cast<std::size_t>(matrix.n_rows), 0);
    for (const std::int64_t row : sample) in_sample[static_cast<std::size_t>(row)] = 1;
    for_blocks(team, matrix.n_columns, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int) {
      std::vector<T> values;
      for (std::int64_t c = first; c < last; ++c) {
        values.clear();
        for (std::int64_t e = sparse.begin[c]; e < sparse.begin[c + 1]; ++e) {
          if (sample.empty() || in_sample[static_cast<std::size_t>(sparse.indices[e])]) {
            values.push_back(sparse.values[e]);
          }
        }
        const auto n = static_cast<std::int64_t>(values.size());
        const auto i = static_cast<std::size_t>(c);
        result[i] = bounds_of_column(values.data(), n, n_sample - n, i, options);
      }
    });
  });
  return result;
}

}  // namespace gossamer
