// Histograms of rows with 17 to 32 lanes: bins become columns before they are added, two lanes at a time.
//
// Zen 5 merges stores to lines that it has just written. Cells of two lanes lie in so few lines that an add takes 0.9
// cycles there; with eight lanes, as in histogram.inl, it takes 1.05. Zen 4 and Intel's cores gain nothing.

#if defined(GOSSAMER_AVX512)

constexpr int64_t kColumnRows = 512;  // a chunk; with the cells of two lanes it takes half of a first-level cache
constexpr int64_t kBlockBytes = 8 * kMaxRowBytes;

// Eight rows become a block, where byte 8 * lane + k is the bin of row k. row_at(k) is where that row is.
template <class RowAt>
GOSSAMER_INLINE void make_block(RowAt row_at, uint8_t* block) {
  const auto load = [&](int k) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row_at(k))); };
  const auto two = [&](int k) { return _mm512_inserti64x4(_mm512_castsi256_si512(load(k)), load(k + 2), 1); };
  const __m512i x[4] = {two(0), two(1), two(4), two(5)};
  // Words 0 and 2, or 1 and 3, of four rows.
  const __m512i even[2] = {_mm512_unpacklo_epi64(x[0], x[1]), _mm512_unpacklo_epi64(x[2], x[3])};
  const __m512i odd[2] = {_mm512_unpackhi_epi64(x[0], x[1]), _mm512_unpackhi_epi64(x[2], x[3])};
  const auto put = [&](int word, __m512i rows) { _mm512_store_si512(block + 64 * word, transpose_eight(rows)); };
  put(0, _mm512_shuffle_i64x2(even[0], even[1], 0x88));
  put(1, _mm512_shuffle_i64x2(odd[0], odd[1], 0x88));
  put(2, _mm512_shuffle_i64x2(even[0], even[1], 0xdd));
  put(3, _mm512_shuffle_i64x2(odd[0], odd[1], 0xdd));
}

// Bits of lanes where an eighth of the rows or more have the bin of the row before. An add to the same cell as the add
// before it waits for that one, unless other lanes have adds meanwhile.
inline uint32_t find_busy_lanes(const uint8_t* blocks, int64_t n) {
  constexpr int64_t kStep = 4;  // these blocks tell
  __m512i repeats[4] = {};
  int64_t n_seen = 0;
  for (int64_t b = 0; b < n; b += kStep, n_seen += 8) {
    for (int word = 0; word < 4; ++word) {
      const __m512i bins = _mm512_load_si512(blocks + b * kBlockBytes + 64 * word);
      const __mmask64 same = _mm512_cmpeq_epi8_mask(bins, _mm512_rol_epi64(bins, 8));
      repeats[word] = _mm512_mask_add_epi8(repeats[word], same, repeats[word], _mm512_set1_epi8(1));
    }
  }
  uint32_t busy = 0;
  for (int word = 0; word < 4; ++word) {
    const __m512i by_lane = _mm512_sad_epu8(repeats[word], _mm512_setzero_si512());
    busy |= static_cast<uint32_t>(_mm512_cmpge_epi64_mask(by_lane, _mm512_set1_epi64(n_seen / 8))) << (8 * word);
  }
  return busy;
}

// What is prefetched while a chunk is added: nothing, rows of a list, or lines of rows in order.
struct NothingAhead {
  void prefetch(int64_t) const {}
};

struct RowsAhead {
  const char* bins;
  const PackedRow* values;
  const RowIdx* rows;

  __attribute__((always_inline)) void prefetch(int64_t i) const {
    const auto row = static_cast<int64_t>(rows[i]);
    __builtin_prefetch(bins + row * kMaxRowBytes, 0, 2);
    __builtin_prefetch(values + row, 0, 2);
  }
};

struct LinesAhead {
  const char* at;

  __attribute__((always_inline)) void prefetch(int64_t i) const { __builtin_prefetch(at + 64 * i, 0, 2); }
};

// Adds blocks to one lane, or two, or three: eight rows to one, then to the next one. Prefetches once for each block.
template <int kLaneCells, int kLanes, class Ahead>
__attribute__((noinline)) void add_columns(const uint8_t* blocks, const PackedCell* values, int64_t n,
                                           PackedCell* cells, Ahead ahead) {
  for (int64_t b = 0; b < n; ++b, blocks += kBlockBytes, values += 8) {
    ahead.prefetch(b);
    uint64_t bins[kLanes];
    memcpy(bins, blocks, sizeof(bins));
#pragma GCC unroll 3
    for (int lane = 0; lane < kLanes; ++lane) {
#pragma GCC unroll 4
      for (int k = 0; k < 8; k += 2) {
        cells[lane * kLaneCells + (bins[lane] & 0xff)] += values[k];
        cells[lane * kLaneCells + (bins[lane] >> 8 & 0xff)] += values[k + 1];
        bins[lane] >>= 16;
        // One of the registers whose two low bytes can be read on their own: otherwise each bin takes three
        // instructions.
        asm("" : "+Q"(bins[lane]));
      }
    }
  }
}

// Adds blocks to many lanes, some of them busy. Prefetches four times for each block.
template <int kLaneCells, int kLanes, class Ahead>
__attribute__((noinline)) void add_busy_columns(const uint8_t* blocks, const PackedCell* values, int64_t n,
                                                PackedCell* cells, Ahead ahead) {
  for (int64_t b = 0; b < n; ++b, blocks += kBlockBytes, values += 8) {
    for (int k = 0; k < 8; ++k) {
      if (k % 2 == 0) ahead.prefetch(4 * b + k / 2);
      const PackedCell value = values[k];
#pragma GCC unroll 16
      for (int lane = 0; lane < kLanes; ++lane) cells[lane * kLaneCells + blocks[8 * lane + k]] += value;
    }
  }
}

template <int kLaneCells, class Ahead, int kLanes = PackedOps::kMaxLanes>
void add_busy_pass(int n_lanes, const uint8_t* blocks, const PackedCell* values, int64_t n, PackedCell* cells,
                   Ahead ahead) {
  if (n_lanes == kLanes) return add_busy_columns<kLaneCells, kLanes>(blocks, values, n, cells, ahead);
  if constexpr (kLanes > 1) add_busy_pass<kLaneCells, Ahead, kLanes - 1>(n_lanes, blocks, values, n, cells, ahead);
}

template <int kLaneCells, bool kListed>
void build_columns(const BuildArgs& a) {
  alignas(64) uint8_t blocks[kColumnRows * kMaxRowBytes];
  alignas(64) PackedCell values[kColumnRows];
  const auto* const all_bins = static_cast<const uint8_t*>(a.bins);
  const auto* const all_values = static_cast<const PackedRow*>(a.row_values);
  auto* const cells = static_cast<PackedCell*>(a.cells);
  const Spreader spread(*a.layout);
  Pass passes[kMaxRowBytes];
  const int n_passes = list_passes(a, PackedOps::kMaxLanes, passes);
  const auto row_at = [&](int64_t i) __attribute__((always_inline)) {
    return kListed ? static_cast<int64_t>(a.rows[i]) : a.first_row + i;
  };
  const auto bins_at = [&](int64_t i) __attribute__((always_inline)) { return all_bins + row_at(i) * kMaxRowBytes; };
  // From row `begin` of the arguments on.
  const auto ahead_from = [&](int64_t begin) {
    if constexpr (kListed) {
      return RowsAhead{reinterpret_cast<const char*>(all_bins), all_values, a.rows + begin};
    } else {
      return LinesAhead{reinterpret_cast<const char*>(bins_at(begin))};
    }
  };
  constexpr int64_t kRowsEach = kListed ? 1 : 64 / kMaxRowBytes;  // that are prefetched together
  constexpr int64_t kRowsAhead = 64;                              // in the first chunk
  if constexpr (kListed) {
    for (int64_t i = 0; i < kRowsAhead; ++i) ahead_from(0).prefetch(i);
  }
  for (int64_t begin = 0; begin < a.n_rows; begin += kColumnRows) {
    const int64_t end = begin + kColumnRows < a.n_rows ? begin + kColumnRows : a.n_rows;
    const int64_t n = end - begin;
    const int64_t n_blocks = n / 8;
    for (int64_t b = 0; b < n_blocks; ++b) {
      const int64_t row = begin + 8 * b;
      if constexpr (kListed) {
        const int64_t far = row + kRowsAhead;
        if (begin == 0 && far + 8 <= n) {
          for (int64_t i = far; i < far + 8; ++i) ahead_from(0).prefetch(i);
        }
        spread.eight(all_values, a.rows + row, values + 8 * b);
      }
      make_block([&](int k) __attribute__((always_inline)) { return bins_at(row + k); }, blocks + b * kBlockBytes);
    }
    for (int64_t i = kListed ? 8 * n_blocks : 0; i < n; ++i) values[i] = spread(all_values[row_at(begin + i)]);
    if (a.take_out) negate<PackedOps>(values, n);
    for (int64_t i = 8 * n_blocks; i < n; ++i) {
      for (int lane = a.first_lane; lane < a.first_lane + a.n_lanes; ++lane) {
        cells[lane * kLaneCells + bins_at(begin + i)[lane]] += values[i];
      }
    }
    const uint32_t busy = find_busy_lanes(blocks, n_blocks);
    // The rows after this chunk are prefetched as evenly as they can be; without a branch for each of them.
    const int64_t left = a.n_rows + a.n_after - end;
    const int64_t until = end + (left < kColumnRows ? left : kColumnRows);
    int64_t next = end;
    const auto add_ahead = [&](int64_t times, auto add) {
      const int64_t from = next;
      next += kRowsEach * times;
      next <= until ? add(ahead_from(from)) : add(NothingAhead{});
    };
    for (int p = 0; p < n_passes; ++p) {
      int lane = passes[p].lane;
      const int last = lane + passes[p].n_lanes;
      if (busy >> lane & ((1u << passes[p].n_lanes) - 1)) {
        add_ahead(4 * n_blocks, [&](auto ahead) {
          add_busy_pass<kLaneCells>(last - lane, blocks + 8 * lane, values, n_blocks, cells + lane * kLaneCells, ahead);
        });
        continue;
      }
      while (lane < last) {
        const int n_lanes = last - lane == 3 ? 3 : last - lane >= 2 ? 2 : 1;
        add_ahead(n_blocks, [&](auto ahead) {
          using Ahead = decltype(ahead);
          const auto add = n_lanes == 2   ? add_columns<kLaneCells, 2, Ahead>
                           : n_lanes == 3 ? add_columns<kLaneCells, 3, Ahead>
                                          : add_columns<kLaneCells, 1, Ahead>;
          add(blocks + 8 * lane, values, n_blocks, cells + lane * kLaneCells, ahead);
        });
        lane += n_lanes;
      }
    }
  }
}

// Returns false where rows had better be added as in histogram.inl, and then does nothing.
template <int kLaneCells>
bool build_by_columns(const BuildArgs& a) {
  constexpr int kLeastLanes = 16;  // fewer do not prefetch a whole chunk
  constexpr int64_t kLeastRows = 256;
  if (!a.as_columns || a.row_stride != kMaxRowBytes || a.n_common > 0) return false;
  if (a.n_lanes < kLeastLanes || a.n_rows < kLeastRows) return false;
  a.rows != nullptr ? build_columns<kLaneCells, true>(a) : build_columns<kLaneCells, false>(a);
  return true;
}

#endif
