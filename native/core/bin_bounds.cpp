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
  const std::vector<std::int64_t>& sizes = d.sizes();
  const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const std::int64_t n_rows = std::accumulate(d.counts.begin(), d.counts.end(), std::int64_t{0});
  if (min_data_in_bin > 0) max_bin = std::min(max_bin, n_rows / min_data_in_bin);
  max_bin = std::max<std::int64_t>(max_bin, 1);

  // A value with more rows (or weight, here and below) than an average bin gets a bin of its own; the others share the
  // rest.
  const double heavy_count = static_cast<double>(total) / static_cast<double>(max_bin);
  const auto heavy = [&](std::size_t i) { return static_cast<double>(sizes[i]) >= heavy_count; };
  std::int64_t bins_left = max_bin;
  std::int64_t rows_left = total;
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    if (heavy(i)) {
      --bins_left;
      rows_left -= sizes[i];
    }
  }
  const auto mean_rows = [&] {
    return bins_left > 0 ? static_cast<double>(rows_left) / static_cast<double>(bins_left) : kInf;
  };
  double mean = mean_rows();

  BoundsBuilder bounds(d);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i + 1 < d.values.size() && bounds.n_cuts() < max_bin - 1; ++i) {
    if (!heavy(i)) rows_left -= sizes[i];
    rows += sizes[i];
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

// Number of rows of the sample, and their weight if there are weights.
struct RowSum {
  std::int64_t n_rows = 0;
  std::int64_t weight = 0;
};

// The explicit sampled values of one column, and the number of implicit zeros.
template <class T>
struct ColumnSample {
  const T* values;
  std::int64_t n;
  std::int64_t n_zeros;
  const std::int64_t* weights = nullptr;  // by value; nullptr: all rows count alike
  RowSum all = {};                        // whole sample without rows of weight 0
};

template <class Key>
struct WeightedKey {
  Key key;
  std::int64_t weight;
};

template <class Key>
Key key_of(Key key) {
  return key;
}
template <class Key>
Key key_of(const WeightedKey<Key>& item) {
  return item.key;
}

void add_zeros(DistinctValues& d, const RowSum& zeros, bool weighted) {
  const auto place = std::lower_bound(d.values.begin(), d.values.end(), 0.0);
  const auto i = place - d.values.begin();
  if (place != d.values.end() && *place == 0.0) {
    d.counts[static_cast<std::size_t>(i)] += zeros.n_rows;
    if (weighted) d.weights[static_cast<std::size_t>(i)] += zeros.weight;
    return;
  }
  d.values.insert(place, 0.0);
  d.counts.insert(d.counts.begin() + i, zeros.n_rows);
  if (weighted) d.weights.insert(d.weights.begin() + i, zeros.weight);
}

// Sorted distinct values of one column's sample, zeros included; notes whether any are missing, and how many are zero.
template <bool kWeighted, class T>
DistinctValues count_distinct(const ColumnSample<T>& sample, const BinOptions& options, ColumnBounds& out) {
  using Key = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  using Item = std::conditional_t<kWeighted, WeightedKey<Key>, Key>;
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(sample.n));
  const bool zero_is_missing = options.use_missing && options.zero_as_missing;
  out.missing_in_sample |= zero_is_missing && sample.n_zeros > 0;
  std::int64_t all_zeros = sample.n_zeros;
  RowSum zeros{sample.n_zeros, 0};
  if constexpr (kWeighted) zeros = sample.all;
  for (std::int64_t i = 0; i < sample.n; ++i) {
    T x = sample.values[i];
    const bool nan = x != x;
    if (nan && !options.use_missing) x = 0;
    const bool zero = std::abs(static_cast<double>(x)) <= kZero;
    all_zeros += zero;
    if constexpr (kWeighted) {
      zeros.n_rows -= sample.weights[i] > 0;
      zeros.weight -= sample.weights[i];
    }
    if (options.use_missing && (nan || (zero_is_missing && zero))) {
      out.missing_in_sample = true;
      continue;
    }
    const Key key = ordered_key(x + T(0));  // -0 + 0 = +0: one zero
    if constexpr (!kWeighted) {
      items.push_back(key);
    } else if (sample.weights[i] > 0) {
      items.push_back({key, sample.weights[i]});
    }
  }
  const std::int64_t n_rows = std::max<std::int64_t>(sample.n + sample.n_zeros, 1);
  out.zero_share = static_cast<double>(all_zeros) / static_cast<double>(n_rows);
  const auto get_key = [](const Item& item) { return key_of(item); };
  // The counters of a radix sort would cost more than comparing a few keys.
  if (items.size() < 64) {
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return key_of(a) < key_of(b); });
  } else {
    radix_sort(items, get_key);
  }
  DistinctValues d;
  d.values.reserve(items.size());
  d.counts.reserve(items.size());
  for (std::size_t i = 0; i < items.size();) {
    const Key key = key_of(items[i]);
    std::size_t end = i;
    std::int64_t weight = 0;
    for (; end < items.size() && key_of(items[end]) == key; ++end) {
      if constexpr (kWeighted) weight += items[end].weight;
    }
    d.values.push_back(static_cast<double>(key_value(key)));
    d.counts.push_back(static_cast<std::int64_t>(end - i));
    if constexpr (kWeighted) d.weights.push_back(weight);
    i = end;
  }
  if (zeros.n_rows > 0 && !zero_is_missing) add_zeros(d, zeros, kWeighted);
  return d;
}

template <class T>
ColumnBounds bounds_of_column(const ColumnSample<T>& sample, std::size_t column, const BinOptions& options) {
  if constexpr (!std::is_floating_point_v<T>) {
    const std::vector<double> values(sample.values, sample.values + sample.n);
    return bounds_of_column(ColumnSample<double>{values.data(), sample.n, sample.n_zeros, sample.weights, sample.all},
                            column, options);
  } else {
    ColumnBounds out;
    const DistinctValues distinct = sample.weights != nullptr ? count_distinct<true>(sample, options, out)
                                                              : count_distinct<false>(sample, options, out);
    const std::int64_t most = options.max_bin[column] - (out.missing_in_sample ? 1 : 0);
    const bool is_forced = !options.forced.empty() && !options.forced[column].empty();
    out.upper = is_forced ? choose_bounds_between(distinct, most, options.min_data_in_bin, options.forced[column])
                          : choose_bounds(distinct, most, options.min_data_in_bin);
    return out;
  }
}

// Rows of weight above 0; empty without weights, or if all sampled rows have weight 0.
RowSum sum_sample(const BinOptions& options, std::int64_t n_sample, std::span<const std::int64_t> sample) {
  RowSum sum;
  if (options.weights.empty()) return sum;
  for (std::int64_t i = 0; i < n_sample; ++i) {
    const std::int64_t row = sample.empty() ? i : sample[static_cast<std::size_t>(i)];
    const std::int64_t weight = options.weights[static_cast<std::size_t>(row)];
    sum.n_rows += weight > 0;
    sum.weight += weight;
  }
  return sum;
}

}  // namespace

std::vector<std::int64_t> integer_weights(std::span<const float> weights) {
  double total = 0.0;
  for (const float w : weights) total += static_cast<double>(w);
  int exponent = 0;
  std::frexp(total, &exponent);
  // Every weight may be raised to 1: there are fewer than 2^32 of them.
  const double unit = std::ldexp(1.0, std::max(52 - exponent, -1000));
  std::vector<std::int64_t> found;
  found.reserve(weights.size());
  for (const float w : weights) {
    found.push_back(w > 0.0f ? std::max<std::int64_t>(std::llrint(static_cast<double>(w) * unit), 1) : 0);
  }
  return found;
}

std::vector<double> choose_bounds(const DistinctValues& distinct, std::int64_t max_bin, std::int64_t min_data_in_bin) {
  if (static_cast<std::int64_t>(distinct.values.size()) <= max_bin) {
    return one_bin_per_value(distinct, min_data_in_bin);
  }
  return bins_of_equal_count(distinct, max_bin, min_data_in_bin);
}

std::vector<double> choose_bounds_between(const DistinctValues& distinct, std::int64_t max_bin,
                                          std::int64_t min_data_in_bin, std::span<const double> forced) {
  const std::vector<double>& values = distinct.values;
  const std::vector<std::int64_t>& sizes = distinct.sizes();
  std::vector<std::size_t> ends;  // end of the values up to each bound, and of all values
  for (const double bound : forced) {
    ends.push_back(static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), bound) - values.begin()));
  }
  ends.push_back(values.size());
  std::int64_t n_wanted = 0;  // number of bins if every value had its own
  for (std::size_t s = 0, begin = 0; s < ends.size(); begin = ends[s++]) {
    n_wanted += std::max<std::int64_t>(static_cast<std::int64_t>(ends[s] - begin), 1);
  }
  const bool all_fit = n_wanted <= max_bin;
  const auto n_free = static_cast<double>(std::max(max_bin - static_cast<std::int64_t>(ends.size()), std::int64_t{0}));
  const std::int64_t total = std::max<std::int64_t>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), 1);
  std::vector<double> upper;
  std::int64_t rows = 0;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < ends.size(); begin = ends[s++]) {
    const auto slice = [&]<class V>(const std::vector<V>& all) {
      if (all.empty()) return std::vector<V>{};
      const auto from = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
      return std::vector<V>(from(begin), from(ends[s]));
    };
    const DistinctValues part{slice(values), slice(distinct.counts), slice(distinct.weights)};
    rows += std::accumulate(part.sizes().begin(), part.sizes().end(), std::int64_t{0});
    // Bins that earlier parts did not need are available to this one.
    const double share = n_free * static_cast<double>(rows) / static_cast<double>(total);
    const std::int64_t n_available =
        static_cast<std::int64_t>(s) + 1 + static_cast<std::int64_t>(share) - static_cast<std::int64_t>(upper.size());
    const auto n_values = static_cast<std::int64_t>(part.values.size());
    if (n_values > 0) {
      const std::vector<double> own = choose_bounds(part, all_fit ? n_values : n_available, min_data_in_bin);
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
  const RowSum all = sum_sample(options, n_sample, sample);
  std::vector<std::int64_t> weights;  // by row of the sample
  for (std::int64_t i = 0; all.n_rows > 0 && i < n_sample; ++i) {
    const std::int64_t row = sample.empty() ? i : sample[static_cast<std::size_t>(i)];
    weights.push_back(options.weights[static_cast<std::size_t>(row)]);
  }
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
        const ColumnSample<T> values{columns.data() + c * n_sample, n_sample, 0,
                                     weights.empty() ? nullptr : weights.data(), all};
        result[column] = bounds_of_column(values, column, options);
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
  std::vector<std::int64_t> weights;  // by value; empty: no weights
};

template <class T, class Index>
SampledColumns<T> gather_rows(Team& team, const SparseView& matrix, const TypedSparse<T, Index>& sparse,
                              std::span<const std::int64_t> sample, std::span<const std::int64_t> weights) {
  const std::int64_t n_sample = sample.empty() ? matrix.n_rows : static_cast<std::int64_t>(sample.size());
  const auto row_of = [&](std::int64_t i) { return sample.empty() ? i : sample[static_cast<std::size_t>(i)]; };
  const auto n_columns = static_cast<std::size_t>(matrix.n_columns);
  constexpr std::int64_t kAhead = 16;  // rows
  // Each thread handles one stretch of the sample, and writes to its own range of every column.
  const std::int64_t n_stretches = team.n_threads();
  std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>(n_stretches));
  const auto for_entries = [&](std::int64_t s, const auto& body) {
    const std::int64_t last = n_sample * (s + 1) / n_stretches;
    for (std::int64_t i = n_sample * s / n_stretches; i < last; ++i) {
      // Rows of a sample are far apart: without this each of them is waited for.
      if (i + 2 * kAhead < last) __builtin_prefetch(sparse.begin + row_of(i + 2 * kAhead));
      if (i + kAhead < last) sparse.prefetch(sparse.begin[row_of(i + kAhead)]);
      const std::int64_t row = row_of(i);
      std::int64_t column = -1;
      for (std::int64_t e = sparse.begin[row]; e < sparse.begin[row + 1]; ++e) {
        column = sparse.index(e, column);
        body(row, static_cast<std::size_t>(column), e);
      }
    }
  };
  team.for_each(n_stretches, [&](std::int64_t s, int) {
    auto& count = next[static_cast<std::size_t>(s)];
    count.assign(n_columns, 0);
    for_entries(s, [&](std::int64_t, std::size_t c, std::int64_t) { ++count[c]; });
  });
  SampledColumns<T> columns;
  columns.begin.assign(n_columns + 1, 0);
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < n_columns; ++c) {
    for (auto& count : next) sum += std::exchange(count[c], sum);
    columns.begin[c + 1] = sum;
  }
  columns.values.resize(static_cast<std::size_t>(sum));
  if (!weights.empty()) columns.weights.resize(columns.values.size());
  team.for_each(n_stretches, [&](std::int64_t s, int) {
    auto& to = next[static_cast<std::size_t>(s)];
    for_entries(s, [&](std::int64_t row, std::size_t c, std::int64_t e) {
      if (to[c] == columns.begin[c + 1]) throw TableChanged();
      const auto place = static_cast<std::size_t>(to[c]++);
      columns.values[place] = sparse.values[e];
      if (!weights.empty()) columns.weights[place] = weights[static_cast<std::size_t>(row)];
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
  const RowSum all = sum_sample(options, n_sample, sample);
  const bool weighted = all.n_rows > 0;
  visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> sparse) {
    if (matrix.by_row) {
      const SampledColumns<T> columns =
          gather_rows(team, matrix, sparse, sample,
                      weighted ? std::span<const std::int64_t>(options.weights) : std::span<const std::int64_t>{});
      for_blocks(team, matrix.n_columns, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int) {
        for (std::int64_t c = first; c < last; ++c) {
          const auto i = static_cast<std::size_t>(c);
          const std::int64_t n = columns.begin[i + 1] - columns.begin[i];
          const ColumnSample<T> values{columns.values.data() + columns.begin[i], n, n_sample - n,
                                       weighted ? columns.weights.data() + columns.begin[i] : nullptr, all};
          result[i] = bounds_of_column(values, i, options);
        }
      });
      return;
    }
    std::vector<char> in_sample(sample.empty() ? 0 : static_cast<std::size_t>(matrix.n_rows), 0);
    for (const std::int64_t row : sample) in_sample[static_cast<std::size_t>(row)] = 1;
    for_blocks(team, matrix.n_columns, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int) {
      std::vector<T> values;
      std::vector<std::int64_t> weights;
      for (std::int64_t c = first; c < last; ++c) {
        values.clear();
        weights.clear();
        std::int64_t row = -1;
        for (std::int64_t e = sparse.begin[c]; e < sparse.begin[c + 1]; ++e) {
          row = sparse.index(e, row);
          if (!sample.empty() && !in_sample[static_cast<std::size_t>(row)]) continue;
          values.push_back(sparse.values[e]);
          if (weighted) weights.push_back(options.weights[static_cast<std::size_t>(row)]);
        }
        const auto n = static_cast<std::int64_t>(values.size());
        const auto i = static_cast<std::size_t>(c);
        const ColumnSample<T> column{values.data(), n, n_sample - n, weighted ? weights.data() : nullptr, all};
        result[i] = bounds_of_column(column, i, options);
      }
    });
  });
  return result;
}

}  // namespace gossamer
