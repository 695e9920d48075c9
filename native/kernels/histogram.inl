// Histograms: one add per row and lane. The field layout inside a cell does not matter here.

struct PackedOps {
  using Cell = PackedCell;
  using Row = PackedRow;
  static constexpr int kMaxLanes = 12;  // per pass: three quarters of a first-level cache of 32 KB
  static void add(Cell* cell, Cell value) { *cell += value; }
  static Cell negative(Cell value) { return 0 - value; }
};

struct WideOps {
  using Cell = WideCell;
  using Row = WideCell;
  static constexpr int kMaxLanes = 8;  // beyond it, passes cost less than cells that leave the cache
  static void add(Cell* cell, const Cell& value) {
#if !defined(GOSSAMER_GENERIC_KERNELS)
    __m128i* const p = reinterpret_cast<__m128i*>(cell);
    _mm_store_si128(p, _mm_add_epi64(_mm_load_si128(p), _mm_loadu_si128(reinterpret_cast<const __m128i*>(&value))));
#else
    cell->gradient += value.gradient;
    cell->hessian_count += value.hessian_count;
#endif
  }
  static Cell negative(const Cell& value) { return {0 - value.gradient, 0 - value.hessian_count}; }
};

// Adds to kLanes lanes (at most 8) whose bins are the low bytes of `bins`.
template <class Ops, int kLaneCells, int kLanes>
GOSSAMER_INLINE void update(typename Ops::Cell* cells, uint64_t bins, typename Ops::Cell value) {
  Ops::add(cells + (bins & 0xff), value);
  if constexpr (kLanes > 1) update<Ops, kLaneCells, kLanes - 1>(cells + kLaneCells, bins >> 8, value);
}

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

// A row's value, spread over the fields of a cell.
struct Spreader {
  uint64_t hessian_mask;
  int count_bits;
  int gradient_shift;  // from where the gradient is in a row's value

  explicit Spreader(const CellLayout& layout)
      : hessian_mask((uint64_t{1} << layout.row_hessian_bits) - 1),
        count_bits(layout.count_bits),
        gradient_shift(layout.count_bits + layout.hessian_bits - layout.row_hessian_bits) {}

  PackedCell operator()(PackedRow row) const {
    const auto fields = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(row)));
    return ((fields & ~hessian_mask) << gradient_shift) + ((fields & hessian_mask) << count_bits) + 1;
  }
  const WideCell& operator()(const WideCell& row) const { return row; }

  // The cells of eight rows.
  GOSSAMER_INLINE void eight(const PackedRow* all, const RowIdx* rows, PackedCell* out) const {
    V8i32 values;
    for_parts<V8i32::kParts>(GOSSAMER_EACH {
      for (int k = 0; k < V8i32::kPerPart; ++k) {
        values.part[i][k] = static_cast<int32_t>(all[rows[i * V8i32::kPerPart + k]]);
      }
    });
    const V8u fields = bits_as<V8u>(convert<V8i>(values));
    const V8u gradients = (fields & ~hessian_mask) << static_cast<uint64_t>(gradient_shift);
    const V8u hessians = (fields & hessian_mask) << static_cast<uint64_t>(count_bits);
    store(out, gradients + hessians + 1);
  }
  GOSSAMER_INLINE void eight(const WideCell* all, const RowIdx* rows, WideCell* out) const {
    for (int k = 0; k < 8; ++k) out[k] = all[rows[k]];
  }
};

// Cells that wrap around are right again once all their rows are taken out.
template <class Ops>
inline void negate(typename Ops::Cell* values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) values[i] = Ops::negative(values[i]);
}

// A chunk of rows is added some lanes at a time, so that their cells stay in the first-level cache.
// Gathered rows are first copied to a compact buffer.
constexpr int64_t kChunkRows = 1024;
constexpr int64_t kMaxRowBytes = 32;
constexpr int64_t kAhead = 200;

// Rows of the next chunk, whose cache lines are prefetched while this chunk is added: evenly, since
// main memory delivers one line in about the time that half a row takes. Prefetched all at once,
// they would fill the miss buffers and stall the core.
struct NextRows {
  const char* bins;
  const RowIdx* rows;
  int64_t stride;
  int64_t n;

  // While rows i and i + 1 are added. Always inlined: gcc takes a function that only prefetches for one without effect
  // and drops it.
  __attribute__((always_inline)) void prefetch(int64_t i) const {
    if (i + 2 <= n) __builtin_prefetch(bins + rows[i] * stride, 0, 2);
  }
};

// Their values.
template <class Row>
struct NextValues {
  const Row* values;
  const RowIdx* rows;
  int64_t n;

  __attribute__((always_inline)) void prefetch(int64_t i) const {
    if (i + 2 > n) return;
    __builtin_prefetch(values + rows[i], 0, 2);
    __builtin_prefetch(values + rows[i + 1], 0, 2);
  }
};

// The same for rows in the order of the table.
struct NextInOrder {
  const char* at;
  int64_t step;  // two rows

  __attribute__((always_inline)) void prefetch(int64_t) {
    __builtin_prefetch(at, 0, 2);
    at += step;
  }
};

// `fetched`: bins and values have been prefetched.
template <class Ops, int kBytes>
void copy_rows(const BuildArgs& a, int64_t begin, int64_t n, uint8_t* __restrict bins,
               typename Ops::Cell* __restrict values, bool fetched) {
  const auto* const all_bins = static_cast<const uint8_t*>(a.bins);
  const auto* const all_values = static_cast<const typename Ops::Row*>(a.row_values);
  const Spreader spread(*a.layout);
  const RowIdx* const rows = a.rows + begin;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    if (!fetched && begin + i + kAhead + 8 <= a.n_rows) {
      for (int64_t k = i + kAhead; k < i + kAhead + 8; ++k) {
        const int64_t ahead = rows[k];
        if (begin == 0) __builtin_prefetch(all_bins + ahead * kBytes, 0, 2);
        __builtin_prefetch(all_values + ahead, 0, 2);
      }
    }
    for (int64_t k = i; k < i + 8; ++k) {
      memcpy(bins + k * kBytes, all_bins + static_cast<int64_t>(rows[k]) * kBytes, kBytes);
    }
    spread.eight(all_values, rows + i, values + i);
  }
  for (; i < n; ++i) {
    const int64_t row = rows[i];
    memcpy(bins + i * kBytes, all_bins + row * kBytes, kBytes);
    values[i] = spread(all_values[row]);
  }
}

// Adds a row to kLanes lanes; `row` begins with the first of them.
template <class Ops, int kLaneCells, int kLanes>
GOSSAMER_INLINE void add_row(const uint8_t* row, const typename Ops::Cell& value, typename Ops::Cell* cells) {
  uint64_t eight;
  memcpy(&eight, row, 8);  // may read past the row: arrays end with slack
  update<Ops, kLaneCells, (kLanes < 8 ? kLanes : 8)>(cells, eight, value);
  if constexpr (kLanes > 8) {
    memcpy(&eight, row + 8, 8);
    update<Ops, kLaneCells, kLanes - 8>(cells + 8 * kLaneCells, eight, value);
  }
}

// Calls add(row, value) for each listed row where it is: without a second pass, a copy is not worth its store.
template <class Ops, class Add>
GOSSAMER_INLINE void for_listed(const BuildArgs& a, int64_t row_bytes, Add add) {
  constexpr int64_t kRowsAhead = 128;
  const auto* const bins = static_cast<const uint8_t*>(a.bins);
  const auto* const all_values = static_cast<const typename Ops::Row*>(a.row_values);
  const Spreader spread(*a.layout);
  const RowIdx* const rows = a.rows;
  const int64_t n = a.n_rows;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    alignas(64) typename Ops::Cell values[8];
    spread.eight(all_values, rows + i, values);
    if (a.take_out) negate<Ops>(values, 8);
    const int64_t ahead = i + kRowsAhead + 8 <= n ? i + kRowsAhead : i;
    for (int64_t k = 0; k < 8; ++k) {
      const int64_t far = rows[ahead + k];
      __builtin_prefetch(bins + far * row_bytes, 0, 2);
      __builtin_prefetch(all_values + far, 0, 2);
      add(bins + rows[i + k] * row_bytes, values[k]);
    }
  }
  for (; i < n; ++i) {
    typename Ops::Cell value = spread(all_values[rows[i]]);
    if (a.take_out) value = Ops::negative(value);
    add(bins + rows[i] * row_bytes, value);
  }
}

// Not inlined: gcc then keeps everything in registers.
template <class Ops, int kLaneCells, int kLanes>
__attribute__((noinline)) void add_listed(const BuildArgs& a, typename Ops::Cell* cells) {
  for_listed<Ops>(a, a.row_stride,
                  [cells, lane = a.first_lane](const uint8_t* row, const typename Ops::Cell& value)
                      __attribute__((always_inline)) { add_row<Ops, kLaneCells, kLanes>(row + lane, value, cells); });
}

template <class Ops, int kLaneCells, int kLanes = Ops::kMaxLanes>
void add_listed_pass(const BuildArgs& a, typename Ops::Cell* cells) {
  if (a.n_lanes == kLanes) return add_listed<Ops, kLaneCells, kLanes>(a, cells);
  if constexpr (kLanes > 1) add_listed_pass<Ops, kLaneCells, kLanes - 1>(a, cells);
}

// Not inlined, likewise.
template <class Ops, int kLaneCells, int kLanes, class Next>
__attribute__((noinline)) void add_lanes(const uint8_t* bins, int64_t stride, const typename Ops::Cell* values,
                                         int64_t n, typename Ops::Cell* cells, Next next) {
  int64_t i = 0;
  for (; i + 2 <= n; i += 2, bins += 2 * stride) {
    next.prefetch(i);
    add_row<Ops, kLaneCells, kLanes>(bins, values[i], cells);
    add_row<Ops, kLaneCells, kLanes>(bins + stride, values[i + 1], cells);
  }
  if (i < n) add_row<Ops, kLaneCells, kLanes>(bins, values[i], cells);
}

template <class Ops, int kLaneCells, class Next, int kLanes = Ops::kMaxLanes>
void add_pass(int n_lanes, const uint8_t* bins, int64_t stride, const typename Ops::Cell* values, int64_t n,
              typename Ops::Cell* cells, Next next) {
  if (n_lanes == kLanes) return add_lanes<Ops, kLaneCells, kLanes>(bins, stride, values, n, cells, next);
  if constexpr (kLanes > 1) add_pass<Ops, kLaneCells, Next, kLanes - 1>(n_lanes, bins, stride, values, n, cells, next);
}

// The values of rows in the order of the table, from row `begin` of the arguments on. Returns where their bins are.
template <class Ops>
inline const uint8_t* load_in_order(const BuildArgs& a, int64_t begin, int64_t n, int64_t row_bytes,
                                    typename Ops::Cell* values) {
  const Spreader spread(*a.layout);
  const auto* const rows = static_cast<const typename Ops::Row*>(a.row_values) + a.first_row + begin;
  for (int64_t i = 0; i < n; ++i) values[i] = spread(rows[i]);
  return static_cast<const uint8_t*>(a.bins) + (a.first_row + begin) * row_bytes;
}

// Copies the bins and values of listed rows, which have a byte a lane.
template <class Ops>
inline const uint8_t* load_listed(const BuildArgs& a, int64_t begin, int64_t n, uint8_t* bins,
                                  typename Ops::Cell* values, bool fetched) {
  switch (a.row_stride) {  // a power of two
    case 1: copy_rows<Ops, 1>(a, begin, n, bins, values, fetched); break;
    case 2: copy_rows<Ops, 2>(a, begin, n, bins, values, fetched); break;
    case 4: copy_rows<Ops, 4>(a, begin, n, bins, values, fetched); break;
    case 8: copy_rows<Ops, 8>(a, begin, n, bins, values, fetched); break;
    case 16: copy_rows<Ops, 16>(a, begin, n, bins, values, fetched); break;
    default: copy_rows<Ops, 32>(a, begin, n, bins, values, fetched); break;
  }
  return bins;
}

// Rows after row `end` of the arguments that are prefetched.
inline int64_t n_ahead(const BuildArgs& a, int64_t end) {
  const int64_t left = a.n_rows + a.n_after - end;
  return left < kChunkRows ? left : kChunkRows;
}

// What is prefetched during a pass over the rows before row `end` of the arguments: every other listed row in the first
// pass, the rest in the second one.
inline NextRows rows_after(const BuildArgs& a, int64_t end, int64_t row_bytes, int64_t pass) {
  const int64_t after = n_ahead(a, end);
  if (pass > 1) return {};
  if (after >= 2) return {static_cast<const char*>(a.bins), a.rows + end + pass, row_bytes, after};
  const int64_t n_next = a.n_next < kChunkRows ? a.n_next : kChunkRows;
  if (n_next < 2) return {};
  return {static_cast<const char*>(a.next_bins), a.next_rows + pass, row_bytes, n_next};
}

// And in the third pass: there need not be one.
template <class Ops>
inline auto values_after(const BuildArgs& a, int64_t end) {
  using Row = typename Ops::Row;
  return NextValues<Row>{static_cast<const Row*>(a.row_values), a.rows + end, n_ahead(a, end)};
}

// The same for rows in order: bins in the first pass, values in the second one.
template <class Ops>
inline NextInOrder in_order_after(const BuildArgs& a, int64_t end, int64_t row_bytes, int64_t pass) {
  const int64_t value_bytes = sizeof(typename Ops::Row);
  const int64_t row = a.first_row + end;
  if (pass == 0) return {static_cast<const char*>(a.bins) + row * row_bytes, 2 * row_bytes};
  return {static_cast<const char*>(a.row_values) + row * value_bytes, pass == 1 ? 2 * value_bytes : 0};
}

// Adds the rows of a chunk to lanes that have bins in common: the sum of the rows that have all of these to one cell of
// each lane, the other rows one by one. `bins` and `cells` begin with the first of the lanes.
template <class Ops, int kLaneCells, int kLanes, class Next>
__attribute__((noinline)) void add_rare_rows(uint64_t common, const uint8_t* bins, int64_t stride,
                                             const typename Ops::Cell* values, int64_t n, typename Ops::Cell sum,
                                             typename Ops::Cell* cells, Next next) {
  constexpr uint64_t kMask = ~uint64_t{0} >> (64 - 8 * kLanes);
  const auto load = [&](int64_t i) {
    uint64_t eight;
    memcpy(&eight, bins + i * stride, 8);  // may read past the row: arrays end with slack
    return eight;
  };
  uint32_t rare[kChunkRows + 8];
  int64_t n_rare = 0;
  int64_t i = 0;
#if defined(GOSSAMER_AVX512)
  // Eight rows at a time; two of them are read at once, up to 32 bytes into the row after them.
  const __m512i firsts = _mm512_set_epi64(0, 0, 0, 0, 12, 8, 4, 0);
  const __m512i common8 = _mm512_set1_epi64(static_cast<int64_t>(common));
  const __m512i mask8 = _mm512_set1_epi64(static_cast<int64_t>(kMask));
  __m256i numbers = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  for (; stride == kMaxRowBytes && i + 8 < n; i += 8) {
    for (int64_t k = 0; k < 8; k += 2) next.prefetch(i + k);
    const auto two = [&](int64_t k) { return _mm512_loadu_si512(bins + (i + k) * kMaxRowBytes); };
    const __m512i low = _mm512_permutex2var_epi64(two(0), firsts, two(2));
    const __m512i high = _mm512_permutex2var_epi64(two(4), firsts, two(6));
    const __m512i eight = _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
    const __mmask8 is_rare = _mm512_test_epi64_mask(_mm512_xor_si512(eight, common8), mask8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rare + n_rare), _mm256_maskz_compress_epi32(is_rare, numbers));
    n_rare += __builtin_popcount(is_rare);
    numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(8));
  }
#endif
  for (; i < n; ++i) {
    if (i % 2 == 0) next.prefetch(i);
    rare[n_rare] = static_cast<uint32_t>(i);
    n_rare += ((load(i) ^ common) & kMask) != 0;
  }
  for (int64_t k = 0; k < n_rare; ++k) {
    const typename Ops::Cell value = values[rare[k]];
    Ops::add(&sum, Ops::negative(value));
    update<Ops, kLaneCells, kLanes>(cells, load(rare[k]), value);
  }
  update<Ops, kLaneCells, kLanes>(cells, common, sum);
}

template <class Ops, int kLaneCells, class Next, int kLanes = 8>
void add_common(const CommonBins& common, const uint8_t* bins, int64_t stride, const typename Ops::Cell* values,
                int64_t n, const typename Ops::Cell& sum, typename Ops::Cell* cells, Next next) {
  if (common.n_lanes == kLanes) {
    return add_rare_rows<Ops, kLaneCells, kLanes>(common.bins, bins, stride, values, n, sum, cells, next);
  }
  if constexpr (kLanes > 1) {
    add_common<Ops, kLaneCells, Next, kLanes - 1>(common, bins, stride, values, n, sum, cells, next);
  }
}

// Lanes that are added in one go.
struct Pass {
  int lane;
  int n_lanes;
  const CommonBins* common;  // nullptr: none
};

// Eight lanes are read at once, and leave the most of the cache to the rows.
inline int list_plain_passes(int lane, int end, int most_lanes, Pass* passes) {
  int n = 0;
  for (; end - lane > most_lanes; lane += 8) passes[n++] = {lane, 8, nullptr};
  if (lane < end) passes[n++] = {lane, end - lane, nullptr};
  return n;
}

inline int list_passes(const BuildArgs& a, int most_lanes, Pass* passes) {
  int lane = a.first_lane;
  const int end = a.first_lane + a.n_lanes;
  int n = 0;
  for (int c = 0; c < a.n_common; ++c) {
    const CommonBins& common = a.common[c];
    if (common.first_lane < lane || common.first_lane + common.n_lanes > end) continue;
    n += list_plain_passes(lane, common.first_lane, most_lanes, passes + n);
    passes[n++] = {common.first_lane, common.n_lanes, &common};
    lane = common.first_lane + common.n_lanes;
  }
  return n + list_plain_passes(lane, end, most_lanes, passes + n);
}

#if defined(GOSSAMER_AVX512)
// In histogram_columns.inl.
template <int kLaneCells>
bool build_by_columns(const BuildArgs& a);
#endif

template <class Ops, int kLaneCells>
void build_lanes(const BuildArgs& a) {
  using Cell = typename Ops::Cell;
#if defined(GOSSAMER_AVX512)
  if constexpr (sizeof(Cell) == sizeof(PackedCell)) {
    if (build_by_columns<kLaneCells>(a)) return;
  }
#endif
  alignas(64) uint8_t bins[kChunkRows * kMaxRowBytes + 8];
  alignas(64) Cell values[kChunkRows];
  auto* const cells = static_cast<Cell*>(a.cells);
  Pass passes[kMaxRowBytes];
  const int n_passes = list_passes(a, Ops::kMaxLanes, passes);
  if (a.rows != nullptr && n_passes == 1 && passes[0].common == nullptr) {
    return add_listed_pass<Ops, kLaneCells>(a, cells + a.first_lane * kLaneCells);
  }
  for (int64_t begin = 0; begin < a.n_rows; begin += kChunkRows) {
    const int64_t n = a.n_rows - begin < kChunkRows ? a.n_rows - begin : kChunkRows;
    const uint8_t* const chunk = a.rows == nullptr
                                     ? load_in_order<Ops>(a, begin, n, a.row_stride, values)
                                     : load_listed<Ops>(a, begin, n, bins, values, begin > 0 && n_passes > 2);
    if (a.take_out) negate<Ops>(values, n);
    Cell sum{};
    if (a.n_common > 0) {
      for (int64_t i = 0; i < n; ++i) Ops::add(&sum, values[i]);
    }
    for (int p = 0; p < n_passes; ++p) {
      const Pass& pass = passes[p];
      Cell* const own = cells + pass.lane * kLaneCells;
      const auto add = [&](auto next) {
        if constexpr (kLaneCells >= 192) {
          if (pass.common != nullptr) {
            add_common<Ops, kLaneCells>(*pass.common, chunk + pass.lane, a.row_stride, values, n, sum, own, next);
            return;
          }
        }
        add_pass<Ops, kLaneCells>(pass.n_lanes, chunk + pass.lane, a.row_stride, values, n, own, next);
      };
      if (a.rows == nullptr) {
        add(in_order_after<Ops>(a, begin + n, a.row_stride, p));
      } else if (p == 2) {
        add(values_after<Ops>(a, begin + n));
      } else {
        add(rows_after(a, begin + n, a.row_stride, p));
      }
    }
  }
}

template <class Ops>
void build_by_lane_cells(const BuildArgs& a) {
  switch (a.lane_cells) {
    case 16: return build_lanes<Ops, 16>(a);
    case 64: return build_lanes<Ops, 64>(a);
    case 192: return build_lanes<Ops, 192>(a);
    default: return build_lanes<Ops, 256>(a);
  }
}

void build_u8(const BuildArgs& a) {
  a.layout->wide ? build_by_lane_cells<WideOps>(a) : build_by_lane_cells<PackedOps>(a);
}

// Adds to kLanes lanes (at most 4) of two bytes, each with its own first cell.
template <class Ops, int kLanes>
inline void update_u16(typename Ops::Cell* __restrict cells, const int32_t* offset, uint64_t bins,
                       const typename Ops::Cell& value) {
  Ops::add(cells + offset[0] + (bins & 0xffff), value);
  if constexpr (kLanes > 1) update_u16<Ops, kLanes - 1>(cells, offset + 1, bins >> 16, value);
}

template <class Ops, int kLanes>
__attribute__((noinline)) void build_lanes_u16(const BuildArgs& a) {
  auto* const cells = static_cast<typename Ops::Cell*>(a.cells);
  const int64_t row_bytes = a.row_stride * 2;
  int32_t offset[kLanes];
  for (int k = 0; k < kLanes; ++k) offset[k] = a.lane_offset[a.first_lane + k];
  const auto add = [&](const uint8_t* row, const typename Ops::Cell& value) __attribute__((always_inline)) {
    const auto four = [&](auto from) {
      constexpr int kFrom = decltype(from)::value;
      if constexpr (kFrom < kLanes) {
        uint64_t lanes;
        memcpy(&lanes, row + 2 * (a.first_lane + kFrom), 8);  // may read past the row: arrays end with slack
        update_u16<Ops, (kLanes - kFrom < 4 ? kLanes - kFrom : 4)>(cells, offset + kFrom, lanes, value);
      }
    };
    four(Constant<0>{});
    four(Constant<4>{});
    four(Constant<8>{});
    four(Constant<12>{});
  };
  if (a.rows != nullptr) return for_listed<Ops>(a, row_bytes, add);
  alignas(64) typename Ops::Cell values[kChunkRows];
  for (int64_t begin = 0; begin < a.n_rows; begin += kChunkRows) {
    const int64_t n = a.n_rows - begin < kChunkRows ? a.n_rows - begin : kChunkRows;
    const uint8_t* const rows = load_in_order<Ops>(a, begin, n, row_bytes, values);
    if (a.take_out) negate<Ops>(values, n);
    NextInOrder next = in_order_after<Ops>(a, begin + n, row_bytes, 0);
    for (int64_t i = 0; i < n; ++i) {
      if (i % 2 == 0) next.prefetch(i);
      add(rows + i * row_bytes, values[i]);
    }
  }
}

template <class Ops, int kLanes = 16>
void build_pass_u16(const BuildArgs& a) {
  if (a.n_lanes == kLanes) return build_lanes_u16<Ops, kLanes>(a);
  if constexpr (kLanes > 1) build_pass_u16<Ops, kLanes - 1>(a);
}

void build_u16(const BuildArgs& a) { a.layout->wide ? build_pass_u16<WideOps>(a) : build_pass_u16<PackedOps>(a); }

// Rows have different lengths. Where the cells do not fit a second-level cache, those of the next rows are prefetched.
template <class Ops, class Code, bool kFarCells>
void build_entries(const SparseBuildArgs& a) {
  using Cell = typename Ops::Cell;
  const auto* const codes = static_cast<const Code*>(a.codes);
  const auto* const row_values = static_cast<const typename Ops::Row*>(a.row_values);
  const Spreader spread(*a.layout);
  const uint32_t n_heavy = a.n_heavy;
  Cell* const heavy = static_cast<Cell*>(a.heavy);
  Cell* const light = static_cast<Cell*>(a.light);
  constexpr int64_t kRowsAhead = 12;
  constexpr int64_t kCellsAhead = 2;
  const auto row_at = [&](int64_t i) { return a.rows != nullptr ? static_cast<int64_t>(a.rows[i]) : a.first_row + i; };
  for (int64_t i = 0; i < a.n_rows; ++i) {
    if (i + 2 * kRowsAhead < a.n_rows) {
      const int64_t far = row_at(i + 2 * kRowsAhead);
      __builtin_prefetch(a.row_begin + far, 0, 2);
      __builtin_prefetch(row_values + far, 0, 2);
    }
    if (i + kRowsAhead < a.n_rows) {
      const int64_t near = row_at(i + kRowsAhead);
      for (int64_t e = a.row_begin[near]; e < a.row_begin[near + 1]; e += 64 / sizeof(Code)) {
        __builtin_prefetch(codes + e, 0, 2);
      }
    }
    if (kFarCells && i + kCellsAhead < a.n_rows) {
      const int64_t next = row_at(i + kCellsAhead);
      for (int64_t e = a.row_begin[next]; e < a.row_begin[next + 1]; ++e) {
        const uint32_t code = codes[e];
        __builtin_prefetch(code < n_heavy ? heavy + code : light + (code - n_heavy), 1, 2);
      }
    }
    const int64_t row = row_at(i);
    const Cell value = spread(row_values[row]);
    const int64_t end = a.row_begin[row + 1];
    int64_t e = a.row_begin[row];
    for (; e < end && codes[e] < n_heavy; ++e) Ops::add(heavy + codes[e], value);  // codes of a row are increasing
    for (; e < end; ++e) Ops::add(light + (codes[e] - n_heavy), value);
  }
}

template <class Ops>
void build_entries_of(const SparseBuildArgs& a) {
  constexpr int64_t kNearBytes = 512 * 1024;  // half of a second-level cache
  if (a.n_cells * static_cast<int64_t>(sizeof(typename Ops::Cell)) > kNearBytes) {
    a.wide_codes ? build_entries<Ops, uint32_t, true>(a) : build_entries<Ops, uint16_t, true>(a);
  } else {
    a.wide_codes ? build_entries<Ops, uint32_t, false>(a) : build_entries<Ops, uint16_t, false>(a);
  }
}

void build_sparse(const SparseBuildArgs& a) {
  a.layout->wide ? build_entries_of<WideOps>(a) : build_entries_of<PackedOps>(a);
}

// ---- between cells and sums ----

struct Fields {
  int64_t gradient;
  int64_t hessian;
  int64_t count;
};

// The shifts of one layout, computed outside the loops.
struct Unpacker {
  int count_bits;
  int gradient_shift;
  uint64_t count_mask;
  uint64_t hessian_mask;

  explicit Unpacker(const CellLayout& layout)
      : count_bits(layout.count_bits),
        gradient_shift(layout.count_bits + layout.hessian_bits),
        count_mask((uint64_t{1} << layout.count_bits) - 1),
        hessian_mask((uint64_t{1} << layout.hessian_bits) - 1) {}

  Fields operator()(PackedCell cell) const {
    return {static_cast<int64_t>(cell) >> gradient_shift, static_cast<int64_t>((cell >> count_bits) & hessian_mask),
            static_cast<int64_t>(cell & count_mask)};
  }
  Fields operator()(const WideCell& cell) const {
    return {static_cast<int64_t>(cell.gradient), static_cast<int64_t>(cell.hessian_count >> count_bits),
            static_cast<int64_t>(cell.hessian_count & count_mask)};
  }
};

template <class Cell, int kSign>
void unpack_into(const void* cells_ptr, int64_t n, const CellLayout& layout, LargeCells sums) {
  const auto* const __restrict cells = static_cast<const Cell*>(cells_ptr);
  const Unpacker unpack(layout);
  int64_t* const __restrict gradient = sums.gradient;
  int64_t* const __restrict hessian = sums.hessian;
  uint32_t* const __restrict count = sums.count;
  if (layout.constant_hessian()) {
    for (int64_t i = 0; i < n; ++i) {
      const Fields f = unpack(cells[i]);
      gradient[i] += kSign * f.gradient;
      count[i] += static_cast<uint32_t>(kSign * f.count);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const Fields f = unpack(cells[i]);
    gradient[i] += kSign * f.gradient;
    hessian[i] += kSign * f.hessian;
    count[i] += static_cast<uint32_t>(kSign * f.count);
  }
}

void unpack_add(const void* cells, int64_t n, const CellLayout& layout, LargeCells sums) {
  layout.wide ? unpack_into<WideCell, 1>(cells, n, layout, sums) : unpack_into<PackedCell, 1>(cells, n, layout, sums);
}

void unpack_subtract(const void* cells, int64_t n, const CellLayout& layout, LargeCells sums) {
  layout.wide ? unpack_into<WideCell, -1>(cells, n, layout, sums) : unpack_into<PackedCell, -1>(cells, n, layout, sums);
}

void pack(LargeCells sums, int64_t n, const CellLayout& layout, void* cells_ptr) {
  const bool constant = layout.constant_hessian();
  const int shift = layout.count_bits + layout.hessian_bits;
  if (layout.wide) {
    auto* const cells = static_cast<WideCell*>(cells_ptr);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t hessian = constant ? 0 : static_cast<uint64_t>(sums.hessian[i]);
      cells[i] = {static_cast<uint64_t>(sums.gradient[i]), (hessian << layout.count_bits) + sums.count[i]};
    }
    return;
  }
  auto* const cells = static_cast<PackedCell*>(cells_ptr);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t hessian = constant ? 0 : static_cast<uint64_t>(sums.hessian[i]);
    cells[i] = (static_cast<uint64_t>(sums.gradient[i]) << shift) + (hessian << layout.count_bits) + sums.count[i];
  }
}

void add_words(const uint64_t* __restrict x, int64_t n, uint64_t* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] += x[i];
}

void subtract_words(const uint64_t* __restrict x, int64_t n, uint64_t* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] -= x[i];
}

// The hessian array holds zeros throughout when the hessian is constant: adding it is harmless.
template <int kSign>
void add_signed(LargeCells x, int64_t n, LargeCells out) {
  const int64_t* const __restrict xg = x.gradient;
  const int64_t* const __restrict xh = x.hessian;
  const uint32_t* const __restrict xc = x.count;
  int64_t* const __restrict g = out.gradient;
  int64_t* const __restrict h = out.hessian;
  uint32_t* const __restrict c = out.count;
  for (int64_t i = 0; i < n; ++i) g[i] += kSign * xg[i];
  for (int64_t i = 0; i < n; ++i) h[i] += kSign * xh[i];
  for (int64_t i = 0; i < n; ++i) c[i] += static_cast<uint32_t>(kSign) * xc[i];
}

void add_large(LargeCells x, int64_t n, LargeCells out) { add_signed<1>(x, n, out); }
void subtract_large(LargeCells x, int64_t n, LargeCells out) { add_signed<-1>(x, n, out); }
