// Bins of a matrix in the memory of a device; see bin.h. The comparisons are those of kernels/bin_values.inl.

template <class Value>
inline int bin_of(const BinArgs& b, const BinnedFeature& f, Value x) {
  const bool is_nan = x != x;
  const bool is_zero = x <= kZeroLimit<Value> && x >= -kZeroLimit<Value>;
  const bool is_missing =
      (is_nan && b.missing_kind != kNanIsZero) || (b.missing_kind == kZeroIsMissing && (is_nan || is_zero));
  if (is_missing) return f.n_bounds + 1;
  return count_below(static_cast<const Value*>(b.bounds) + f.first_bound, f.n_bounds, is_nan ? Value(0) : x);
}

template <class Value>
inline void bin_rows(const BinArgs& b) {
  constexpr int64_t kRows = 256;  // of a block at a time
  for (int64_t first = blockIdx.x * kRows; first < b.matrix.n_rows; first += gridDim.x * kRows) {
    const int64_t rest = b.matrix.n_rows - first;
    for_values(b.matrix, static_cast<int>(rest < kRows ? rest : kRows), b.n_features, [&](int r, int i) {
      const BinnedFeature& f = b.features[i];
      const int64_t row = first + r;
      const int bin = bin_of(b, f, value_at<Value>(b.matrix, row, f.column));
      if (bin > f.n_bounds) b.is_missing[i] = 1;
      if (f.two_bytes != 0) {
        b.rows16[row * b.stride16 + f.lane] = static_cast<uint16_t>(bin);
      } else {
        b.rows8[row * b.stride8 + f.lane] = static_cast<uint8_t>(bin);
      }
    });
  }
}

template <class Item>
inline void gather_items(const GatherArgs& g) {
  const auto* const from = static_cast<const Item*>(g.matrix.values);
  auto* const out = static_cast<Item*>(g.out);
  for (int64_t i = thread_of_grid(); i < g.n_rows * g.n_columns; i += threads_in_grid()) {
    const int64_t r = i / g.n_columns;
    const int64_t c = i % g.n_columns;
    const int64_t row = g.rows != nullptr ? g.rows[r] : g.first_row + r;
    const int64_t column = g.columns != nullptr ? g.columns[c] : c;
    out[i] = from[row * g.matrix.row_stride + column * g.matrix.column_stride];
  }
}

inline void gather(const GatherArgs& g) {
  switch (g.item_bytes) {
    case 1: return gather_items<uint8_t>(g);
    case 2: return gather_items<uint16_t>(g);
    case 4: return gather_items<uint32_t>(g);
    default: return gather_items<uint64_t>(g);
  }
}
