#include "core/entries.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/bin_bounds.h"
#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kTileRows = 1024;
// A tile of compressed rows: its entries and the batches of values stay in the first cache levels.
constexpr std::int64_t kFewRows = 256;
constexpr std::int64_t kBatchValues = 1 << 14;
constexpr std::size_t kMostBatches = 512;

template <class T>
using FloatOf = std::conditional_t<std::is_same_v<T, float>, float, double>;

// All that binning a value takes, in one piece: with very many columns each look elsewhere is a cache
// miss. The only bound of a feature of two bins stands right here.
template <class Float>
struct Fact {
  std::int32_t feature = -1;  // -1: not wanted; below: see Batches
  std::uint16_t n_bounds = 0;
  std::uint16_t zero_bin = 0;
  Float bound = 0;          // the first one
  std::uint32_t begin = 0;  // of the bounds
};

// What the readers of all kinds share.
template <class Float>
class Binner {
 public:
  Binner(const std::vector<Feature>& features, std::vector<char> wanted) : wanted_(std::move(wanted)) {
    if (!features.empty()) kind_ = features.front().missing_kind;
    facts_.reserve(features.size());
    for (std::size_t f = 0; f < features.size(); ++f) {
      Fact<Float> fact;
      fact.feature = wanted_[f] ? static_cast<std::int32_t>(f) : -1;
      // The last bound is infinity: nothing lies above it.
      fact.n_bounds = static_cast<std::uint16_t>(features[f].n_value_bins - 1);
      fact.zero_bin = static_cast<std::uint16_t>(features[f].zero_bin);
      fact.begin = static_cast<std::uint32_t>(bounds_.size());
      for (std::size_t b = 0; b < fact.n_bounds && wanted_[f]; ++b)
        bounds_.push_back(round_down<Float>(features[f].upper[b]));
      if (fact.n_bounds > 0 && wanted_[f]) fact.bound = bounds_[fact.begin];
      facts_.push_back(fact);
    }
  }

  const Fact<Float>& fact(std::int64_t feature) const { return facts_[at(feature)]; }
  bool wants(std::size_t feature) const { return wanted_[feature] != 0; }

  void take(std::int64_t row, const Fact<Float>& fact, Float value, std::vector<Entry>& entries) const {
    const std::uint16_t bin = bin_of(fact, value);
    if (bin == fact.zero_bin) return;
    entries.push_back({static_cast<RowIdx>(row), fact.feature, bin, bin > fact.n_bounds});
  }
  // The same, written to `to`; returns where the next one goes.
  Entry* take(std::int64_t row, const Fact<Float>& fact, Float value, Entry* to) const {
    const std::uint16_t bin = bin_of(fact, value);
    *to = {static_cast<RowIdx>(row), fact.feature, bin, bin > fact.n_bounds};
    return to + (bin != fact.zero_bin);
  }

 private:
  std::uint16_t bin_of(const Fact<Float>& fact, Float x) const {
    const auto missing = static_cast<std::uint16_t>(fact.n_bounds + 1);
    if (x != x) {
      if (kind_ != MissingKind::nan_is_zero) return missing;
      x = 0;
    }
    if (kind_ == MissingKind::zero && std::abs(static_cast<double>(x)) <= kZero) return missing;
    if (fact.n_bounds <= 1) return fact.n_bounds == 1 && x > fact.bound;
    const Float* const bound = bounds_.data() + fact.begin;
    std::int32_t n = fact.n_bounds;
    std::int32_t bin = 0;
    while (n > 0) {
      const std::int32_t half = (n + 1) / 2;
      bin += x > bound[bin + half - 1] ? half : 0;
      n -= half;
    }
    return static_cast<std::uint16_t>(bin);
  }

  std::vector<char> wanted_;
  MissingKind kind_ = MissingKind::nan;
  std::vector<Fact<Float>> facts_;
  std::vector<Float> bounds_;
};

// Features that have a lane to themselves and many bins: a value of each is in most rows, and many values at a time
// are searched for several times as fast. Facts refer to batch b by the feature -2 - b.
template <class Float>
class Batches {
 public:
  explicit Batches(const std::vector<Feature>& features) {
    for (std::size_t f = 0; f < features.size() && all_.size() < kMostBatches; ++f) {
      const Feature& feature = features[f];
      if (feature.loose() || feature.bundled || feature.n_value_bins < 4) continue;
      all_.push_back({static_cast<std::int32_t>(f), &feature, SearchBounds<Float>(feature.upper)});
    }
  }

  std::size_t size() const { return all_.size(); }
  std::int64_t tile_rows() const {
    return std::clamp<std::int64_t>(kBatchValues / static_cast<std::int64_t>(all_.size() + 1), 32, kFewRows);
  }
  std::int32_t feature(std::size_t b) const { return all_[b].feature; }

  // The values of a tile of one reader.
  class Tile {
   public:
    explicit Tile(const Batches& batches)
        : batches_(batches),
          room_(batches.tile_rows()),
          n_(batches.size(), 0),
          values_(batches.size() * at(room_)),
          rows_(values_.size()) {}

    void add(std::int32_t feature, std::int64_t row, Float value) {
      const auto b = at(-2 - feature);
      const std::size_t place = b * at(room_) + at(n_[b]++);
      values_[place] = value;
      rows_[place] = static_cast<RowIdx>(row);
    }
    // Writes the entries to `to`, and forgets them; returns where the next one goes.
    Entry* take(Entry* to) {
      for (std::size_t b = 0; b < n_.size(); ++b) to = take(b, to);
      return to;
    }

   private:
    Entry* take(std::size_t b, Entry* to) {
      const Batch& batch = batches_.all_[b];
      std::uint16_t bins[kFewRows];
      BinValuesArgs<Float> args;
      args.values = values_.data() + b * at(room_);
      args.n = std::exchange(n_[b], 0);
      args.bounds = batch.bounds.bounds.data();
      args.n_steps = batch.bounds.n_steps;
      args.missing_bin = static_cast<std::uint16_t>(batch.facts->n_value_bins);
      args.zero_is_missing = batch.facts->missing_kind == MissingKind::zero;
      args.nan_is_zero = batch.facts->missing_kind == MissingKind::nan_is_zero;
      args.bins = bins;
      if constexpr (std::is_same_v<Float, float>) {
        kernels().bin_values_f32(args);
      } else {
        kernels().bin_values_f64(args);
      }
      const auto zero_bin = static_cast<std::uint16_t>(batch.facts->zero_bin);
      const RowIdx* const rows = rows_.data() + b * at(room_);
      for (std::int64_t i = 0; i < args.n; ++i) {
        *to = {rows[i], batch.feature, bins[i], bins[i] == args.missing_bin};
        to += bins[i] != zero_bin;
      }
      return to;
    }

    const Batches& batches_;
    std::int64_t room_;  // values that a batch can hold
    std::vector<std::int64_t> n_;
    std::vector<Float> values_;
    std::vector<RowIdx> rows_;
  };

 private:
  struct Batch {
    std::int32_t feature;
    const Feature* facts;
    SearchBounds<Float> bounds;
  };
  std::vector<Batch> all_;
};

// A source of which `Reader` reads stretches.
template <class Own, class T>
class BinnedSource : public EntrySource {
 public:
  BinnedSource(std::int64_t rows, const std::vector<Feature>& features, std::vector<char> wanted)
      : features_(features), binner_(features, std::move(wanted)) {
    n_rows = rows;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (binner_.wants(f)) wanted_.push_back(static_cast<std::int32_t>(f));
    }
  }

  std::unique_ptr<EntryReader> read(std::int64_t begin, std::int64_t end) const override {
    return std::make_unique<typename Own::Reader>(static_cast<const Own&>(*this), begin, end);
  }
  bool wants(std::size_t feature) const override { return binner_.wants(feature); }

 protected:
  const std::vector<Feature>& features_;
  Binner<FloatOf<T>> binner_;
  std::vector<std::int32_t> wanted_;
};

template <class T, class Index>
class RowSource final : public BinnedSource<RowSource<T, Index>, T> {
  using Float = FloatOf<T>;

 public:
  RowSource(const SparseView& view, TypedSparse<T, Index> sparse, const std::vector<Feature>& features,
            std::vector<char> wanted)
      : RowSource::BinnedSource(view.n_rows, features, std::move(wanted)),
        sparse_(sparse),
        batches_(features),
        by_column_(at(view.n_columns)) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      by_column_[at(features[f].column)] = this->binner_.fact(static_cast<std::int64_t>(f));
    }
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      Fact<Float>& fact = by_column_[at(features[at(batches_.feature(b))].column)];
      if (fact.feature >= 0) fact.feature = -2 - static_cast<std::int32_t>(b);
    }
  }

  void write_to(std::span<const OneHotPlace> places) override {
    ones_.clear();
    if (std::all_of(places.begin(), places.end(), [](const OneHotPlace& p) { return p.lane == nullptr; })) return;
    ones_.assign(by_column_.size(), {});
    for (std::size_t column = 0; column < by_column_.size(); ++column) {
      const std::int32_t f = by_column_[column].feature;
      if (f >= 0 && places[at(f)].lane != nullptr) ones_[column] = {places[at(f)], by_column_[column].bound};
    }
  }

  struct Reader final : EntryReader {
    Reader(const RowSource& s, std::int64_t begin, std::int64_t e)
        : source(s), row(begin), end(e), tile_rows(s.batches_.tile_rows()), batches(s.batches_) {}
    bool next(std::span<const Entry>& tile) override {
      if (row >= end) return false;
      const std::int64_t tile_end = std::min(row + tile_rows, end);
      // One more: what is not kept is written, too.
      const std::size_t most = at(source.sparse_.begin[tile_end] - source.sparse_.begin[row] + 1);
      if (entries.size() < most) entries.resize(most);
      Entry* const first = entries.data();
      tile = {first, batches.take(source.ones_.empty() ? read<false>(tile_end, first) : read<true>(tile_end, first))};
      return true;
    }
    // Rows before tile_end. Returns where the next entry goes.
    template <bool kHasOnes>
    Entry* read(std::int64_t tile_end, Entry* to) {
      const TypedSparse<T, Index> s = source.sparse_;  // a copy, and pointers: entries may be written to anything
      const Fact<Float>* const facts = source.by_column_.data();
      const One* const ones = source.ones_.data();
      for (; row < tile_end; ++row) {
        std::int64_t column = -1;
        for (std::int64_t e = s.begin[row]; e < s.begin[row + 1]; ++e) {
          column = s.index(e, column);
          const auto value = static_cast<Float>(s.values[e]);
          if (kHasOnes && ones[column].takes(row, value)) continue;
          const Fact<Float>& fact = facts[column];
          if (fact.feature >= 0) {
            to = source.binner_.take(row, fact, value, to);
          } else if (fact.feature < -1) {
            batches.add(fact.feature, row, value);
          }
        }
      }
      return to;
    }
    const RowSource& source;
    std::int64_t row, end, tile_rows;
    typename Batches<Float>::Tile batches;
    std::vector<Entry> entries;
  };

 private:
  struct One {
    OneHotPlace place;
    Float bound = 0;

    // False: the value is left to others.
    bool takes(std::int64_t row, Float value) const {
      if (place.lane == nullptr || value != value) return false;
      if (!(value > bound)) return true;  // zero's bin
      std::uint8_t& in_lane = place.lane[row * place.row_stride];
      if (place.taken[in_lane] != 0) return false;
      in_lane = static_cast<std::uint8_t>(in_lane + place.value);
      return true;
    }
  };

  TypedSparse<T, Index> sparse_;
  Batches<Float> batches_;
  std::vector<Fact<Float>> by_column_;
  std::vector<One> ones_;  // by column; empty: none
};

template <class T, class Index>
class ColumnSource final : public BinnedSource<ColumnSource<T, Index>, T> {
 public:
  ColumnSource(const SparseView& view, TypedSparse<T, Index> sparse, const std::vector<Feature>& features,
               std::vector<char> wanted)
      : ColumnSource::BinnedSource(view.n_rows, features, std::move(wanted)), sparse_(sparse) {}

  // Columns wait at their next entry; a tile takes from each what lies in its rows.
  struct Reader final : EntryReader {
    Reader(const ColumnSource& s, std::int64_t begin, std::int64_t e) : source(s), row(begin), end(e) {
      // Columns with next to nothing in a tile cost as much as full ones: then tiles are large.
      const auto n_wanted = static_cast<std::int64_t>(s.wanted_.size());
      tile_rows = std::clamp<std::int64_t>(n_wanted / 4, kTileRows, 1 << 17);
      next_entry.reserve(s.wanted_.size());
      for (const std::int32_t f : s.wanted_) {
        const std::int64_t c = s.features_[at(f)].column;
        const Index* const first = s.sparse_.indices + s.sparse_.begin[c];
        const Index* const last = s.sparse_.indices + s.sparse_.begin[c + 1];
        next_entry.push_back(std::lower_bound(first, last, static_cast<Index>(begin)) - s.sparse_.indices);
      }
    }
    bool next(std::span<const Entry>& tile) override {
      if (row >= end) return false;
      entries.clear();
      const std::int64_t tile_begin = row;
      row = std::min(row + tile_rows, end);
      const auto& s = source.sparse_;
      for (std::size_t i = 0; i < source.wanted_.size(); ++i) {
        const std::int32_t f = source.wanted_[i];
        const std::int64_t column_end = s.begin[source.features_[at(f)].column + 1];
        const auto& fact = source.binner_.fact(f);
        std::int64_t last = tile_begin - 1;
        for (std::int64_t& e = next_entry[i]; e < column_end; ++e) {
          const std::int64_t entry_row = s.index(e, last);
          if (entry_row >= row) break;
          source.binner_.take(entry_row, fact, static_cast<FloatOf<T>>(s.values[e]), entries);
          last = entry_row;
        }
      }
      tile = entries;
      return true;
    }
    const ColumnSource& source;
    std::int64_t row, end, tile_rows;
    std::vector<std::int64_t> next_entry;
    std::vector<Entry> entries;
  };

 private:
  TypedSparse<T, Index> sparse_;
};

template <class T>
class DenseSource final : public BinnedSource<DenseSource<T>, T> {
 public:
  DenseSource(const MatrixView& matrix, TypedView<T> view, const std::vector<Feature>& features,
              std::vector<char> wanted)
      : DenseSource::BinnedSource(matrix.n_rows, features, std::move(wanted)), view_(view) {}

  struct Reader final : EntryReader {
    Reader(const DenseSource& s, std::int64_t begin, std::int64_t e) : source(s), row(begin), end(e) {}
    bool next(std::span<const Entry>& tile) override {
      if (row >= end) return false;
      entries.clear();
      const std::int64_t tile_begin = row;
      row = std::min(row + kRows, end);
      FloatOf<T> values[kRows];
      for (const std::int32_t f : source.wanted_) {
        const std::int64_t column = source.features_[at(f)].column;
        const auto& fact = source.binner_.fact(f);
        if constexpr (std::is_same_v<T, AnyNumber>) read_column(source.view_, column, tile_begin, row, values);
        const auto value = [&](std::int64_t r) {
          if constexpr (std::is_same_v<T, AnyNumber>)
            return values[r - tile_begin];
          else
            return source.view_(r, column);
        };
        // Zero belongs to the zero bin whatever else does: most values need no search.
        for (std::int64_t r = tile_begin; r < row; ++r) {
          const FloatOf<T> x = value(r);
          if (x != 0) source.binner_.take(r, fact, x, entries);
        }
      }
      tile = entries;
      return true;
    }
    static constexpr std::int64_t kRows = 128;
    const DenseSource& source;
    std::int64_t row, end;
    std::vector<Entry> entries;
  };

 private:
  TypedView<T> view_;
};

}  // namespace

std::unique_ptr<EntrySource> make_source(const MatrixView& matrix, const std::vector<Feature>& features,
                                         std::vector<char> wanted) {
  return visit_few(matrix, [&]<class T>(TypedView<T> view) -> std::unique_ptr<EntrySource> {
    return std::make_unique<DenseSource<T>>(matrix, view, features, std::move(wanted));
  });
}

std::unique_ptr<EntrySource> make_source(const SparseView& matrix, const std::vector<Feature>& features,
                                         std::vector<char> wanted) {
  return visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> sparse) -> std::unique_ptr<EntrySource> {
    if (matrix.by_row) return std::make_unique<RowSource<T, Index>>(matrix, sparse, features, std::move(wanted));
    return std::make_unique<ColumnSource<T, Index>>(matrix, sparse, features, std::move(wanted));
  });
}

EntryCounts count_entries(Team& team, const EntrySource& source, std::int64_t n_features, const Stretches& stretches) {
  EntryCounts counts;
  counts.n_features = n_features;
  counts.by_stretch.assign(at(n_features * stretches.n), 0);
  counts.missing.assign(at(n_features), 0);
  std::vector<std::vector<std::int32_t>> missing(at(stretches.n));
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    std::uint32_t* const count = counts.by_stretch.data() + s * n_features;
    const auto reader = source.read(stretches.begin(s), stretches.begin(s + 1));
    std::span<const Entry> entries;
    while (reader->next(entries)) {
      for (const Entry& e : entries) {
        ++count[at(e.feature)];
        if (e.missing && (missing[at(s)].empty() || missing[at(s)].back() != e.feature)) {
          missing[at(s)].push_back(e.feature);
        }
      }
    }
  });
  for (const auto& seen : missing) {
    for (const std::int32_t f : seen) counts.missing[at(f)] = 1;
  }
  return counts;
}

ColumnWriter::ColumnWriter(SparseColumns& columns, const std::vector<std::int32_t>& column_of,
                           const EntryCounts& counts, std::int64_t stretch)
    : columns_(columns), column_of_(column_of), with_bins_(columns.bins.size() > 0) {
  next_.reserve(columns.features.size());
  end_.reserve(columns.features.size());
  for (std::size_t c = 0; c < columns.features.size(); ++c) {
    std::int64_t first = columns.begin[c];
    for (std::int64_t s = 0; s < stretch; ++s) {
      first += counts.by_stretch[at(s * counts.n_features + columns.features[c])];
    }
    next_.push_back(first);
    end_.push_back(first + counts.by_stretch[at(stretch * counts.n_features + columns.features[c])]);
  }
}

SparseColumns make_columns_for(const std::vector<std::int32_t>& kept, const EntryCounts& counts, bool with_bins,
                               std::vector<std::int32_t>& column_of) {
  SparseColumns columns;
  column_of.assign(at(counts.n_features), -1);
  columns.features = kept;
  columns.begin.reserve(kept.size() + 1);
  for (const std::int32_t f : kept) {
    column_of[at(f)] = static_cast<std::int32_t>(columns.begin.size()) - 1;
    columns.begin.push_back(columns.begin.back() + counts.total(f));
  }
  columns.rows.reset(columns.n_entries());
  if (with_bins) columns.bins.reset(columns.n_entries());
  return columns;
}

SparseColumns collect_rows(Team& team, const EntrySource& source, const std::vector<std::int32_t>& kept,
                           const EntryCounts& counts, const Stretches& stretches) {
  std::vector<std::int32_t> column_of;
  SparseColumns columns = make_columns_for(kept, counts, false, column_of);
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    ColumnWriter writer(columns, column_of, counts, s);
    const auto reader = source.read(stretches.begin(s), stretches.begin(s + 1));
    std::span<const Entry> entries;
    while (reader->next(entries)) {
      for (const Entry& e : entries) writer.write(e);
    }
    writer.finish();
  });
  return columns;
}

}  // namespace gossamer
