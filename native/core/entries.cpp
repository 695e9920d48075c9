#include "core/entries.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/bin_bounds.h"

namespace gossamer {
namespace {

constexpr std::int64_t kTileRows = 1024;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Bounds of all features in the type of the values, one after another.
template <class Float>
class Binner {
 public:
  explicit Binner(const std::vector<Feature>& features) {
    facts_.reserve(features.size());
    for (const Feature& f : features) {
      facts_.push_back({static_cast<std::int64_t>(bounds_.size()), f.n_value_bins, f.missing_kind});
      // The last bound is infinity: nothing lies above it.
      for (std::size_t b = 0; b + 1 < f.upper.size(); ++b) bounds_.push_back(round_down(f.upper[b]));
    }
  }

  std::uint16_t operator()(std::int32_t feature, Float x) const {
    const Facts& f = facts_[at(feature)];
    const bool nan = x != x;
    if (nan && f.kind != MissingKind::nan_is_zero) return static_cast<std::uint16_t>(f.n_value_bins);
    if (nan) x = 0;
    if (f.kind == MissingKind::zero && std::abs(static_cast<double>(x)) <= kZero) {
      return static_cast<std::uint16_t>(f.n_value_bins);
    }
    const Float* bound = bounds_.data() + f.begin;
    std::int32_t n = f.n_value_bins - 1;
    std::int32_t bin = 0;
    while (n > 0) {
      const std::int32_t half = (n + 1) / 2;
      bin += x > bound[bin + half - 1] ? half : 0;
      n -= half;
    }
    return static_cast<std::uint16_t>(bin);
  }

 private:
  // The largest Float at or below the bound: for a Float x, `x <= bound` is then the same question.
  static Float round_down(double bound) {
    auto t = static_cast<Float>(bound);
    if (static_cast<double>(t) > bound) t = std::nextafter(t, -std::numeric_limits<Float>::infinity());
    return t;
  }
  struct Facts {
    std::int64_t begin;
    std::int32_t n_value_bins;
    MissingKind kind;
  };
  std::vector<Facts> facts_;
  std::vector<Float> bounds_;
};

template <class T>
using FloatOf = std::conditional_t<std::is_same_v<T, float>, float, double>;

// What the readers of all kinds share.
template <class T>
struct Context {
  const std::vector<Feature>& features;
  std::vector<char> wanted;
  Binner<FloatOf<T>> binner;

  Context(const std::vector<Feature>& f, std::vector<char> w) : features(f), wanted(std::move(w)), binner(f) {}

  void take(std::int64_t row, std::int32_t feature, T value, std::vector<Entry>& entries) const {
    const std::uint16_t bin = binner(feature, static_cast<FloatOf<T>>(value));
    if (bin != features[at(feature)].zero_bin) entries.push_back({static_cast<RowIdx>(row), feature, bin});
  }
};

template <class T, class Index>
class RowSource final : public EntrySource {
 public:
  RowSource(const SparseView& view, TypedSparse<T, Index> sparse, const std::vector<Feature>& features,
            std::vector<char> wanted)
      : sparse_(sparse), context_(features, std::move(wanted)), feature_of_(at(view.n_columns), -1) {
    n_rows = view.n_rows;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (context_.wanted[f]) feature_of_[at(features[f].column)] = static_cast<std::int32_t>(f);
    }
  }

  std::unique_ptr<EntryReader> read(std::int64_t begin, std::int64_t end) const override {
    return std::make_unique<Reader>(*this, begin, end);
  }
  bool wants(std::size_t feature) const override { return context_.wanted[feature] != 0; }

 private:
  struct Reader final : EntryReader {
    Reader(const RowSource& s, std::int64_t begin, std::int64_t e) : source(s), row(begin), end(e) {}
    bool next(std::vector<Entry>& entries, std::int64_t& tile_begin, std::int64_t& tile_end) override {
      entries.clear();
      if (row >= end) return false;
      tile_begin = row;
      tile_end = row = std::min(row + kTileRows, end);
      const auto& s = source.sparse_;
      for (std::int64_t r = tile_begin; r < tile_end; ++r) {
        for (std::int64_t e = s.begin[r]; e < s.begin[r + 1]; ++e) {
          const std::int32_t f = source.feature_of_[at(s.indices[e])];
          if (f >= 0) source.context_.take(r, f, s.values[e], entries);
        }
      }
      return true;
    }
    const RowSource& source;
    std::int64_t row, end;
  };

  TypedSparse<T, Index> sparse_;
  Context<T> context_;
  std::vector<std::int32_t> feature_of_;
};

template <class T, class Index>
class ColumnSource final : public EntrySource {
 public:
  ColumnSource(const SparseView& view, TypedSparse<T, Index> sparse, const std::vector<Feature>& features,
               std::vector<char> wanted)
      : sparse_(sparse), context_(features, std::move(wanted)) {
    n_rows = view.n_rows;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (context_.wanted[f]) wanted_.push_back(static_cast<std::int32_t>(f));
    }
  }

  std::unique_ptr<EntryReader> read(std::int64_t begin, std::int64_t end) const override {
    return std::make_unique<Reader>(*this, begin, end);
  }
  bool wants(std::size_t feature) const override { return context_.wanted[feature] != 0; }

 private:
  // Columns wait at their next entry; a tile takes from each what lies in its rows.
  struct Reader final : EntryReader {
    Reader(const ColumnSource& s, std::int64_t begin, std::int64_t e) : source(s), row(begin), end(e) {
      // Columns with next to nothing in a tile cost as much as full ones: then tiles are large.
      const auto n_wanted = static_cast<std::int64_t>(s.wanted_.size());
      tile_rows = std::clamp<std::int64_t>(n_wanted / 4, kTileRows, 1 << 17);
      next_entry.reserve(s.wanted_.size());
      for (const std::int32_t f : s.wanted_) {
        const std::int64_t c = s.context_.features[at(f)].column;
        const Index* const first = s.sparse_.indices + s.sparse_.begin[c];
        const Index* const last = s.sparse_.indices + s.sparse_.begin[c + 1];
        next_entry.push_back(std::lower_bound(first, last, static_cast<Index>(begin)) - s.sparse_.indices);
      }
    }
    bool next(std::vector<Entry>& entries, std::int64_t& tile_begin, std::int64_t& tile_end) override {
      entries.clear();
      if (row >= end) return false;
      tile_begin = row;
      tile_end = row = std::min(row + tile_rows, end);
      const auto& s = source.sparse_;
      for (std::size_t i = 0; i < source.wanted_.size(); ++i) {
        const std::int32_t f = source.wanted_[i];
        const std::int64_t column_end = s.begin[source.context_.features[at(f)].column + 1];
        std::int64_t& e = next_entry[i];
        for (; e < column_end && static_cast<std::int64_t>(s.indices[e]) < tile_end; ++e) {
          source.context_.take(static_cast<std::int64_t>(s.indices[e]), f, s.values[e], entries);
        }
      }
      return true;
    }
    const ColumnSource& source;
    std::int64_t row, end, tile_rows;
    std::vector<std::int64_t> next_entry;
  };

  TypedSparse<T, Index> sparse_;
  Context<T> context_;
  std::vector<std::int32_t> wanted_;
};

template <class T>
class DenseSource final : public EntrySource {
 public:
  DenseSource(const MatrixView& matrix, TypedView<T> view, const std::vector<Feature>& features,
              std::vector<char> wanted)
      : view_(view), context_(features, std::move(wanted)) {
    n_rows = matrix.n_rows;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (context_.wanted[f]) wanted_.push_back(static_cast<std::int32_t>(f));
    }
  }

  std::unique_ptr<EntryReader> read(std::int64_t begin, std::int64_t end) const override {
    return std::make_unique<Reader>(*this, begin, end);
  }
  bool wants(std::size_t feature) const override { return context_.wanted[feature] != 0; }

 private:
  struct Reader final : EntryReader {
    Reader(const DenseSource& s, std::int64_t begin, std::int64_t e) : source(s), row(begin), end(e) {}
    bool next(std::vector<Entry>& entries, std::int64_t& tile_begin, std::int64_t& tile_end) override {
      entries.clear();
      if (row >= end) return false;
      tile_begin = row;
      tile_end = row = std::min(row + 128, end);
      for (const std::int32_t f : source.wanted_) {
        const Feature& feature = source.context_.features[at(f)];
        // Zero belongs to the zero bin whatever else does: most values need no search.
        for (std::int64_t r = tile_begin; r < tile_end; ++r) {
          const T x = source.view_(r, feature.column);
          if (x != T(0)) source.context_.take(r, f, x, entries);
        }
      }
      return true;
    }
    const DenseSource& source;
    std::int64_t row, end;
  };

  TypedView<T> view_;
  Context<T> context_;
  std::vector<std::int32_t> wanted_;
};

}  // namespace

std::unique_ptr<EntrySource> make_source(const MatrixView& matrix, const std::vector<Feature>& features,
                                         std::vector<char> wanted) {
  return visit(matrix, [&]<class T>(TypedView<T> view) -> std::unique_ptr<EntrySource> {
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

EntryCounts count_entries(Team& team, const EntrySource& source, const std::vector<Feature>& features,
                          const Stretches& stretches) {
  EntryCounts counts;
  counts.n_features = static_cast<std::int64_t>(features.size());
  counts.by_stretch.assign(features.size() * at(stretches.n), 0);
  std::vector<std::vector<char>> missing(at(stretches.n), std::vector<char>(features.size(), 0));
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    std::uint32_t* const count = counts.by_stretch.data() + at(s) * features.size();
    const auto reader = source.read(stretches.begin(s), stretches.begin(s + 1));
    std::vector<Entry> entries;
    std::int64_t begin = 0, end = 0;
    while (reader->next(entries, begin, end)) {
      for (const Entry& e : entries) {
        ++count[at(e.feature)];
        missing[at(s)][at(e.feature)] |= e.bin == features[at(e.feature)].n_value_bins;
      }
    }
  });
  counts.missing.assign(features.size(), 0);
  for (const auto& seen : missing) {
    for (std::size_t f = 0; f < seen.size(); ++f) counts.missing[f] |= seen[f];
  }
  return counts;
}

ColumnWriter::ColumnWriter(SparseColumns& columns, const std::vector<std::int32_t>& column_of,
                           const EntryCounts& counts, std::int64_t stretch)
    : columns_(columns), column_of_(column_of), with_bins_(columns.bins.size() > 0) {
  next_.reserve(columns.features.size());
  for (std::size_t c = 0; c < columns.features.size(); ++c) {
    std::int64_t first = columns.begin[c];
    for (std::int64_t s = 0; s < stretch; ++s) {
      first += counts.by_stretch[at(s * counts.n_features + columns.features[c])];
    }
    next_.push_back(first);
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
    std::vector<Entry> entries;
    std::int64_t begin = 0, end = 0;
    while (reader->next(entries, begin, end)) {
      for (const Entry& e : entries) {
        if (column_of[at(e.feature)] >= 0) writer.write(e);
      }
    }
  });
  return columns;
}

}  // namespace gossamer
