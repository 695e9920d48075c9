// The part of the binned table that takes data in.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <numeric>
#include <stdexcept>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "core/index.h"
#include "core/row_pages.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kTileRows = 256;  // a tile's input and output stay in the first cache levels

}  // namespace

// Which bundles of a row are taken, for lanes of one byte: divisions are slow.
class BinMatrix::Taken {
 public:
  explicit Taken(const BinMatrix& matrix) : by_feature_(matrix.features_.size()) {
    for (const Group& group : matrix.groups_) {
      for (std::size_t lane = 0; lane < group.lanes.size() && !group.two_bytes; ++lane) {
        for (const Digit& digit : group.lanes[lane].digits) {
          if (!digit.bundle) continue;
          auto& table = tables_.emplace_back();
          for (std::int32_t value = 0; value < 256; ++value) table[at(value)] = value / digit.stride % digit.radix != 0;
          for (const std::int32_t f : digit.features) by_feature_[at(f)] = table.data();
        }
      }
    }
  }

  // By lane value: 1 if the bundle of the feature is taken. nullptr: the feature has none, or its lane has two bytes.
  const std::uint8_t* of(std::size_t feature) const { return by_feature_[feature]; }

  std::vector<OneHotPlace> one_hot_places(BinMatrix& matrix) const {
    std::vector<OneHotPlace> places(by_feature_.size());
    for (Group& group : matrix.groups_) {
      for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
        for (const Digit& digit : group.lanes[lane].digits) {
          const auto is_one_hot = [&](std::int32_t f) {
            return matrix.features_[at(f)].one_hot() && of(at(f)) != nullptr;
          };
          if (!std::all_of(digit.features.begin(), digit.features.end(), is_one_hot)) continue;
          for (const std::int32_t f : digit.features) {
            places[at(f)] = {group.bins8.data() + lane, of(at(f)), static_cast<std::uint8_t>(group.row_stride),
                             static_cast<std::uint8_t>(matrix.features_[at(f)].first_value * digit.stride)};
          }
        }
      }
    }
    return places;
  }

 private:
  std::deque<std::array<std::uint8_t, 256>> tables_;
  std::vector<const std::uint8_t*> by_feature_;
};

// Puts entries of features in lanes where they belong; one per stretch of rows.
class BinMatrix::Placer {
 public:
  Placer(BinMatrix& matrix, const Taken& taken, Use use) : is_training_(use != Use::other) {
    places_.reserve(matrix.features_.size());
    for (const Feature& feature : matrix.features_) {
      Place place;
      if (!feature.loose()) {
        Group& group = matrix.groups_[at(feature.group)];
        place.two_bytes = group.two_bytes;
        place.lane = group.two_bytes ? static_cast<void*>(group.bins16.data() + feature.lane)
                                     : static_cast<void*>(group.bins8.data() + feature.lane);
        place.row_stride = static_cast<std::uint8_t>(group.row_stride);
        place.bundled = feature.bundled;
        place.n_bins = feature.n_bins();
        place.zero_bin = feature.zero_bin;
        place.stride = feature.stride;
        place.first_value = feature.first_value;
        place.taken = taken.of(places_.size());
        // Of a lane of its own every value but zero is taken.
        place.taken_modulo = feature.shared ? feature.stride * feature.radix : 0;
      }
      places_.push_back(place);
    }
  }

  // False: the entry is dropped, and the row counts as zero there.
  bool put(const Entry& entry) {
    const Place& place = places_[at(entry.feature)];
    const std::size_t cell = std::size_t{entry.row} * place.row_stride;
    if (!place.two_bytes) return put(entry, place, static_cast<std::uint8_t*>(place.lane)[cell]);
    return put(entry, place, static_cast<std::uint16_t*>(place.lane)[cell]);
  }

  std::int64_t n_dropped = 0;
  std::vector<Entry> odd;  // what did not fit its bundle

 private:
  // What placing takes of a feature and its group.
  struct Place {
    void* lane = nullptr;
    bool two_bytes = false;
    bool bundled = false;
    std::uint8_t row_stride = 0;
    std::int32_t n_bins = 0;
    std::int32_t zero_bin = 0;
    std::int32_t stride = 1;
    std::int32_t first_value = 0;
    std::int32_t taken_modulo = 0;
    const std::uint8_t* taken = nullptr;
  };

  template <class Bin>
  bool put(const Entry& entry, const Place& place, Bin& lane) {
    const bool fits = entry.bin < place.n_bins;
    if (!place.bundled) {
      if (!fits) throw std::invalid_argument("missing value in a column said to have none");
      // From the bin of zero to this one.
      lane = static_cast<Bin>(lane + (entry.bin - place.zero_bin) * place.stride);
      return true;
    }
    if (!is_taken(place, lane) && fits) {
      const std::int32_t other = entry.bin - (entry.bin > place.zero_bin);
      lane = static_cast<Bin>(lane + (place.first_value + other) * place.stride);
    } else if (is_training_) {
      ++n_dropped;
      return false;
    } else {
      odd.push_back(entry);
    }
    return true;
  }

  static bool is_taken(const Place& place, std::int32_t lane) {
    if (place.taken != nullptr) return place.taken[lane] != 0;
    return place.taken_modulo == 0 ? lane != 0 : lane % place.taken_modulo >= place.stride;
  }

  std::vector<Place> places_;
  bool is_training_;
};

bool BinMatrix::fill_entries(Team& team, EntrySource& source, const EntryCounts* counts, Use use) {
  const Stretches stretches(n_rows_, team.n_threads());
  EntryCounts own_counts;
  // Where zero is missing, only counting tells whether some row is.
  const bool zero_is_missing = !features_.empty() && features_.front().missing_kind == MissingKind::zero;
  if (counts == nullptr && (!storage_.loose.empty() || zero_is_missing)) {
    own_counts = count_entries(team, source, static_cast<std::int64_t>(features_.size()), stretches);
    counts = &own_counts;
  }
  std::vector<std::int32_t> column_of;
  if (!storage_.loose.empty()) {
    sparse_ = make_columns_for(storage_.loose, *counts, true, column_of);
    for (std::size_t c = 0; c < storage_.loose.size(); ++c) {
      features_[at(storage_.loose[c])].entries = static_cast<std::int32_t>(c);
    }
  }
  const Taken taken(*this);
  source.write_to(taken.one_hot_places(*this));
  std::atomic<bool> stop = false;
  std::vector<std::vector<Entry>> odd(at(stretches.n));
  std::vector<std::int64_t> dropped(at(stretches.n));
  std::vector<std::atomic<bool>> missing_seen(features_.size());
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    Placer placer(*this, taken, use);
    std::unique_ptr<ColumnWriter> writer;
    if (!storage_.loose.empty()) writer = std::make_unique<ColumnWriter>(sparse_, column_of, *counts, s);
    const auto reader = source.read(stretches.begin(s), stretches.begin(s + 1));
    std::span<const Entry> entries;
    while (!stop.load(std::memory_order_relaxed) && reader->next(entries)) {
      for (const Entry& entry : entries) {
        const bool kept = (writer && writer->write(entry)) || placer.put(entry);
        const bool is_missing = kept ? entry.missing : zero_is_missing;
        if (is_missing) missing_seen[at(entry.feature)].store(true, std::memory_order_relaxed);
      }
      if (use == Use::exact_training && placer.n_dropped > 0) stop.store(true, std::memory_order_relaxed);
    }
    if (writer && !stop.load(std::memory_order_relaxed)) writer->finish();
    odd[at(s)] = std::move(placer.odd);
    dropped[at(s)] = placer.n_dropped;
  });
  if (stop.load()) return false;
  n_dropped_ = std::accumulate(dropped.begin(), dropped.end(), std::int64_t{0});
  for (std::size_t f = 0; f < missing_seen.size(); ++f) {
    Feature& feature = features_[f];
    // Where zero is missing, so is every row without an entry.
    if (zero_is_missing && source.wants(f)) {
      feature.has_missing = counts->total(static_cast<std::int64_t>(f)) < n_rows_;
    }
    if (missing_seen[f].load()) feature.has_missing = true;
  }
  std::vector<Entry> all_odd;
  for (const auto& part : odd) all_odd.insert(all_odd.end(), part.begin(), part.end());
  if (!all_odd.empty()) keep_odd_entries(std::move(all_odd));
  return true;
}

// Sparse columns for entries that did not fit a bundle.
void BinMatrix::keep_odd_entries(std::vector<Entry> odd) {
  std::stable_sort(odd.begin(), odd.end(), [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
  SparseColumns merged;
  merged.features = std::move(sparse_.features);
  merged.begin = std::move(sparse_.begin);
  const std::int64_t before = merged.begin.back();
  merged.rows.reset(before + static_cast<std::int64_t>(odd.size()));
  merged.bins.reset(before + static_cast<std::int64_t>(odd.size()));
  std::copy_n(sparse_.rows.data(), before, merged.rows.data());
  std::copy_n(sparse_.bins.data(), before, merged.bins.data());
  for (std::size_t i = 0; i < odd.size(); ++i) {
    if (i == 0 || odd[i].feature != odd[i - 1].feature) {
      features_[at(odd[i].feature)].entries = static_cast<std::int32_t>(merged.features.size());
      merged.features.push_back(odd[i].feature);
      merged.begin.push_back(merged.begin.back());
    }
    merged.rows[merged.begin.back()] = odd[i].row;
    merged.bins[merged.begin.back()++] = odd[i].bin;
  }
  sparse_ = std::move(merged);
}

// Every row as if all values were zero.
void BinMatrix::clear(Team& team) {
  for (Group& group : groups_) {
    std::vector<std::uint16_t> row(at(group.row_stride), 0);
    for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
      for (const Digit& digit : group.lanes[lane].digits) {
        if (digit.bundle) continue;
        const Feature& feature = features_[at(digit.features.front())];
        if (feature.zero_bin < feature.n_bins()) {
          row[lane] = static_cast<std::uint16_t>(row[lane] + feature.zero_bin * digit.stride);
        }
      }
    }
    // A row's bytes divide the pattern: both are powers of two.
    constexpr std::size_t kPattern = 64;
    std::uint8_t pattern[kPattern];
    const std::size_t row_bytes = row.size() * (group.two_bytes ? 2 : 1);
    for (std::size_t i = 0; i < kPattern; ++i) pattern[i] = static_cast<std::uint8_t>(row[i % row.size()]);
    for (std::size_t i = 0; i < kPattern && group.two_bytes; i += 2) {
      std::memcpy(pattern + i, &row[i / 2 % row.size()], 2);
    }
    auto* const bytes = group.two_bytes ? reinterpret_cast<std::uint8_t*>(group.bins16.data()) : group.bins8.data();
    for_blocks(team, n_rows_, 4096, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      const std::size_t last = at(end) * row_bytes;
      for (std::size_t to = at(begin) * row_bytes; to < last; to += kPattern) {
        std::memcpy(bytes + to, pattern, std::min(kPattern, last - to));
      }
    });
  }
  cleared_ = true;
}

bool BinMatrix::fill(Team& team, const SparseView& matrix, Use use, const EntryCounts* counts) {
  for (const Feature& feature : features_) {
    // A column without a single zero may have no bin for it: then every row brings an entry.
    if (feature.zero_bin >= feature.n_bins() && !feature.bundled && !feature.loose()) {
      throw std::invalid_argument("missing value in a column said to have none");
    }
  }
  clear(team);
  const auto source = make_source(matrix, features_, std::vector<char>(features_.size(), 1));
  return fill_entries(team, *source, counts, use);
}

bool BinMatrix::fill(Team& team, const MatrixView& matrix, Use use, const EntryCounts* counts) {
  fill_plain(team, matrix);
  std::vector<char> wanted(features_.size(), 0);
  bool any = false;
  for (std::size_t f = 0; f < features_.size(); ++f) {
    wanted[f] = features_[f].bundled || features_[f].loose();
    any |= wanted[f] != 0;
  }
  return !any || fill_entries(team, *make_source(matrix, features_, std::move(wanted)), counts, use);
}

// Lanes of a dense matrix; bundles stay at zero.
void BinMatrix::fill_plain(Team& team, const MatrixView& matrix) {
  cleared_ = true;
  std::vector<std::atomic<bool>> missing_seen(features_.size());
  visit(matrix, [&]<class T>(TypedView<T> view) {
    using Float = std::conditional_t<std::is_same_v<T, float>, float, double>;
    std::vector<SearchBounds<Float>> bounds;
    bounds.reserve(features_.size());
    for (const Feature& feature : features_) {
      const bool is_plain = !feature.loose() && !feature.bundled;
      bounds.emplace_back(is_plain ? feature.upper : std::vector<double>{});
    }
    for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      Float values[kTileRows];
      std::uint16_t bins[kTileRows];
      std::uint16_t lane_values[kTileRows];
      const std::int64_t n = end - begin;
      for (Group& group : groups_) {
        for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
          std::fill(lane_values, lane_values + n, std::uint16_t{0});
          for (const Digit& digit : group.lanes[lane].digits) {
            if (digit.bundle) continue;
            const std::int32_t f = digit.features.front();
            const Feature& feature = features_[static_cast<std::size_t>(f)];
            for (std::int64_t r = 0; r < n; ++r) values[r] = static_cast<Float>(view(begin + r, feature.column));
            BinValuesArgs<Float> args;
            args.values = values;
            args.n = n;
            args.bounds = bounds[static_cast<std::size_t>(f)].bounds.data();
            args.n_steps = bounds[static_cast<std::size_t>(f)].n_steps;
            args.missing_bin = static_cast<std::uint16_t>(feature.n_value_bins);
            args.zero_is_missing = feature.missing_kind == MissingKind::zero;
            args.nan_is_zero = feature.missing_kind == MissingKind::nan_is_zero;
            args.bins = bins;
            if constexpr (std::is_same_v<Float, float>) {
              kernels().bin_values_f32(args);
            } else {
              kernels().bin_values_f64(args);
            }
            bool missing = false;
            for (std::int64_t r = 0; r < n; ++r) {
              missing |= bins[r] == args.missing_bin;
              lane_values[r] = static_cast<std::uint16_t>(lane_values[r] + bins[r] * feature.stride);
            }
            if (missing && !feature.may_miss)
              throw std::invalid_argument("missing value in a column said to have none");
            if (missing) missing_seen[static_cast<std::size_t>(f)].store(true, std::memory_order_relaxed);
          }
          const std::int64_t at = begin * group.row_stride + static_cast<std::int64_t>(lane);
          if (group.two_bytes) {
            std::uint16_t* const out = group.bins16.data() + at;
            for (std::int64_t r = 0; r < n; ++r) out[r * group.row_stride] = lane_values[r];
          } else {
            std::uint8_t* const out = group.bins8.data() + at;
            for (std::int64_t r = 0; r < n; ++r) out[r * group.row_stride] = static_cast<std::uint8_t>(lane_values[r]);
          }
        }
      }
    });
  });
  for (std::size_t f = 0; f < features_.size(); ++f) features_[f].has_missing = missing_seen[f].load();
}

// Rows [begin, end) of a group become the listed rows of another one.
void BinMatrix::copy_rows(const Group& from, std::span<const RowIdx> rows, std::int64_t begin, std::int64_t end,
                          Group& to) {
  const auto* const source = static_cast<const std::uint8_t*>(from.bins());
  auto* const target = static_cast<std::uint8_t*>(const_cast<void*>(to.bins()));
  const auto copy = [&](auto bytes) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::memcpy(target + i * bytes, source + rows[at(i)] * bytes, at(bytes));
    }
  };
  switch (const std::int64_t row_bytes = to.row_stride * (to.two_bytes ? 2 : 1)) {
    // Rows of a known length are copied by single moves.
    case 8: copy(std::integral_constant<std::int64_t, 8>{}); break;
    case 16: copy(std::integral_constant<std::int64_t, 16>{}); break;
    case 32: copy(std::integral_constant<std::int64_t, 32>{}); break;
    default: copy(row_bytes); break;
  }
}

void BinMatrix::fill_from(Team& team, const BinMatrix& other, std::span<const RowIdx> rows) {
  const auto n = static_cast<std::int64_t>(rows.size());
  if (other.pages_) {
    take_from_pages(team, *other.pages_, rows);
    for (std::size_t f = 0; f < features_.size(); ++f) {
      features_[f].has_missing = other.features_[f].has_missing && is_missing_somewhere(features_[f]);
    }
    return;
  }
  for_blocks(team, n, 4096, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t g = 0; g < groups_.size(); ++g) copy_rows(other.groups_[g], rows, begin, end, groups_[g]);
  });
  cleared_ = true;
  for (std::size_t f = 0; f < features_.size(); ++f) features_[f].entries = other.features_[f].entries;
  // The new places of every old row: rows may be asked for in any order, and more than once.
  std::vector<std::int64_t> first(at(other.n_rows_) + 1, 0);
  for (const RowIdx row : rows) ++first[row + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<RowIdx> places(rows.size());
  std::vector<std::int64_t> next(first.begin(), first.end() - 1);
  for (std::int64_t i = 0; i < n; ++i) places[at(next[rows[at(i)]]++)] = static_cast<RowIdx>(i);

  const SparseColumns& from = other.sparse_;
  sparse_.features = from.features;
  sparse_.begin.assign(1, 0);
  for (std::int64_t c = 0; c < from.n_columns(); ++c) {
    std::int64_t count = 0;
    for (const RowIdx row : from.rows_of(c)) count += first[row + 1] - first[row];
    sparse_.begin.push_back(sparse_.begin.back() + count);
  }
  sparse_.rows.reset(sparse_.n_entries());
  sparse_.bins.reset(sparse_.n_entries());
  const bool in_order = std::is_sorted(rows.begin(), rows.end());
  team.for_each(from.n_columns(), [&](std::int64_t c, int) {
    std::vector<std::pair<RowIdx, std::uint16_t>> column;
    const auto old_rows = from.rows_of(c);
    const auto old_bins = from.bins_of(c);
    for (std::size_t e = 0; e < old_rows.size(); ++e) {
      for (std::int64_t p = first[old_rows[e]]; p < first[old_rows[e] + 1]; ++p) {
        column.emplace_back(places[at(p)], old_bins[e]);
      }
    }
    if (!in_order) std::sort(column.begin(), column.end());
    std::int64_t to = sparse_.begin[at(c)];
    for (const auto& [row, bin] : column) {
      sparse_.rows[to] = row;
      sparse_.bins[to++] = bin;
    }
  });
  for (std::size_t f = 0; f < features_.size(); ++f) {
    features_[f].has_missing = other.features_[f].has_missing && is_missing_somewhere(features_[f]);
  }
}

void BinMatrix::take_from_pages(Team& team, RowPages& pages, std::span<const RowIdx> rows) {
  // Places in `rows`, by row; empty: rows increase, and place i is i.
  std::vector<RowIdx> order;
  if (!std::is_sorted(rows.begin(), rows.end())) {
    order.resize(rows.size());
    std::iota(order.begin(), order.end(), RowIdx{0});
    std::sort(order.begin(), order.end(), [&](RowIdx a, RowIdx b) { return rows[a] < rows[b]; });
  }
  const auto place_of = [&](std::int64_t i) { return order.empty() ? i : static_cast<std::int64_t>(order[at(i)]); };
  const auto first_at = [&](std::int64_t row) {
    std::int64_t low = 0;
    for (std::int64_t high = std::ssize(rows); low < high;) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<std::int64_t>(rows[at(place_of(middle))]) < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  pages.for_each([&](const RowPage& page) {
    const std::int64_t first = first_at(page.rows.begin);
    const std::int64_t n = first_at(page.rows.end) - first;
    for_blocks(team, n, 4096, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        const std::int64_t row_bytes = group.row_stride * (group.two_bytes ? 2 : 1);
        const auto* const from = static_cast<const std::uint8_t*>(page.bins[g]);
        auto* const to = group.two_bytes ? reinterpret_cast<std::uint8_t*>(group.bins16.data()) : group.bins8.data();
        for (std::int64_t i = first + begin; i < first + end; ++i) {
          const std::int64_t place = place_of(i);
          const std::int64_t row = static_cast<std::int64_t>(rows[at(place)]) - page.rows.begin;
          std::copy_n(from + row * row_bytes, row_bytes, to + place * row_bytes);
        }
      }
    });
  });
  cleared_ = true;
}

void BinMatrix::put_rows(const BinMatrix& part, std::int64_t first, RowRange rows) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const std::int64_t to = first * group.row_stride;
    const std::int64_t from = rows.begin * group.row_stride;
    const std::int64_t n = (rows.end - rows.begin) * group.row_stride;
    if (group.two_bytes) {
      std::copy_n(part.groups_[g].bins16.data() + from, n, group.bins16.data() + to);
    } else {
      std::copy_n(part.groups_[g].bins8.data() + from, n, group.bins8.data() + to);
    }
  }
  for (std::size_t f = 0; f < features_.size(); ++f) features_[f].has_missing |= part.features_[f].has_missing;
  cleared_ = true;
}

void BinMatrix::set_entries(SparseColumns entries) {
  sparse_ = std::move(entries);
  for (std::size_t c = 0; c < sparse_.features.size(); ++c) {
    features_[at(sparse_.features[c])].entries = static_cast<std::int32_t>(c);
  }
}

void BinMatrix::find_missing() {
  for (Feature& feature : features_) feature.has_missing = is_missing_somewhere(feature);
}

bool BinMatrix::is_trainable() const {
  return std::none_of(features_.begin(), features_.end(),
                      [](const Feature& f) { return (f.bundled && f.entries >= 0) || (f.has_missing && !f.may_miss); });
}

bool BinMatrix::is_missing_somewhere(const Feature& feature) const {
  if (feature.entries >= 0) {
    const auto bins = sparse_.bins_of(feature.entries);
    if (std::find(bins.begin(), bins.end(), feature.n_value_bins) != bins.end()) return true;
    if (feature.loose() && feature.zero_bin == feature.n_value_bins) {
      return static_cast<std::int64_t>(bins.size()) < n_rows_;
    }
  }
  if (feature.loose()) return feature.zero_bin == feature.n_value_bins;
  if (!feature.may_miss && feature.zero_bin != feature.n_value_bins) return false;  // its lane has no bin for it
  const Group& group = groups_[at(feature.group)];
  for (std::int64_t row = 0; row < n_rows_; ++row) {
    if (feature.bin_of_lane(lane_value(group, row, feature.lane)) == feature.n_value_bins) return true;
  }
  return false;
}

// ---- entries ----

SparseColumns BinMatrix::copy_sparse() const {
  std::vector<Entry> entries;
  for (const Group& group : groups_) {
    for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
      for (const Digit& digit : group.lanes[lane].digits) {
        if (!digit.bundle) continue;
        std::vector<std::int32_t> feature_of(at(digit.radix), -1);
        for (const std::int32_t f : digit.features) {
          const Feature& feature = features_[at(f)];
          std::fill_n(feature_of.begin() + feature.first_value, feature.n_other_bins(), f);
        }
        for (std::int64_t row = 0; row < n_rows_; ++row) {
          const auto value = static_cast<std::int32_t>(lane_value(group, row, static_cast<std::int64_t>(lane)));
          const std::int32_t d = value / digit.stride % digit.radix;
          if (d == 0) continue;
          const std::int32_t f = feature_of[at(d)];
          const auto bin = static_cast<std::uint16_t>(features_[at(f)].bin_of_digit(d));
          entries.push_back({static_cast<RowIdx>(row), f, bin, false});
        }
      }
    }
  }
  for (std::int64_t c = 0; c < sparse_.n_columns(); ++c) {
    const auto rows = sparse_.rows_of(c);
    const auto bins = sparse_.bins_of(c);
    for (std::size_t e = 0; e < rows.size(); ++e) entries.push_back({rows[e], sparse_.features[at(c)], bins[e], false});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.feature != b.feature ? a.feature < b.feature : a.row < b.row;
  });
  SparseColumns columns;
  columns.rows.reset(static_cast<std::int64_t>(entries.size()));
  columns.bins.reset(static_cast<std::int64_t>(entries.size()));
  std::size_t e = 0;
  for (std::size_t f = 0; f < features_.size(); ++f) {
    if (!features_[f].bundled && !features_[f].loose()) continue;
    columns.features.push_back(static_cast<std::int32_t>(f));
    for (; e < entries.size() && entries[e].feature == static_cast<std::int32_t>(f); ++e) {
      columns.rows[static_cast<std::int64_t>(e)] = entries[e].row;
      columns.bins[static_cast<std::int64_t>(e)] = entries[e].bin;
    }
    columns.begin.push_back(static_cast<std::int64_t>(e));
  }
  return columns;
}

void BinMatrix::set_sparse(const SparseColumns& columns) {
  zero_lanes();
  sparse_ = {};
  const Taken taken(*this);
  Placer placer(*this, taken, Use::other);
  std::vector<Entry> loose;
  for (std::int64_t c = 0; c < columns.n_columns(); ++c) {
    const auto rows = columns.rows_of(c);
    const auto bins = columns.bins_of(c);
    for (std::size_t e = 0; e < rows.size(); ++e) {
      const Feature& feature = features_[at(columns.features[at(c)])];
      const Entry entry{rows[e], columns.features[at(c)], bins[e], bins[e] == feature.n_value_bins};
      if (feature.loose()) {
        loose.push_back(entry);
      } else {
        placer.put(entry);
      }
    }
  }
  loose.insert(loose.end(), placer.odd.begin(), placer.odd.end());
  if (!loose.empty()) keep_odd_entries(std::move(loose));
}

}  // namespace gossamer
