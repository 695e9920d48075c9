// Partition: bins of the split feature decide; the order of rows is kept on both sides.
//
//   rows   [ a b c d e f g h ]          left  may share memory with rows: it is written behind
//            | |   |     |   goes left        the position that is being read
//   left   [ a b d g ] . . .            right [ c e f h ] . . .

// Where row r of a column is: values of a row-major lane are 2^row_shift apart.
template <class Bin, bool kStrided>
struct Column {
  const Bin* bins;
  int shift;

  explicit Column(const PartitionArgs& a) : bins(static_cast<const Bin*>(a.column)), shift(a.row_shift) {}
  uint32_t operator[](int64_t row) const { return bins[kStrided ? row << shift : row]; }
};

// How a bin decides: by a threshold, or by a table of the values of a lane.
struct ByThreshold {
  uint32_t threshold;
  uint32_t missing;

  explicit ByThreshold(const PartitionArgs& a)
      : threshold(a.threshold), missing(a.missing_left ? a.missing_bin : a.threshold) {}
  uint32_t operator()(uint32_t bin) const { return (bin <= threshold) | (bin == missing); }
};

struct ByTable {
  const uint8_t* goes_left;

  explicit ByTable(const PartitionArgs& a) : goes_left(a.goes_left) {}
  uint32_t operator()(uint32_t bin) const { return goes_left[bin]; }
};

template <class Bin, class Rule, bool kStrided>
int64_t partition_scalar(const PartitionArgs& a, int64_t begin, int64_t n_left, int64_t n_right) {
  const Column<Bin, kStrided> column(a);
  const Rule rule(a);
  for (int64_t i = begin; i < a.n_rows; ++i) {
    const RowIdx row = a.rows != nullptr ? a.rows[i] : static_cast<RowIdx>(a.first_row + i);
    const uint32_t left = rule(column[row]);
    // Both sides are written, only one of them advances: no branch to mispredict.
    a.left[n_left] = row;
    a.right[n_right] = row;
    n_left += left;
    n_right += 1 - left;
  }
  return n_left;
}

#if defined(GOSSAMER_AVX2)

// Where a leaf has few of the rows, nearly every bin is in a cache line of its own, too far from the last one for the
// processor to fetch it in time.
constexpr int64_t kBinsAhead = 96;
inline bool has_far_rows(const PartitionArgs& a) {
  return a.rows != nullptr && a.n_rows > kBinsAhead && (a.rows[a.n_rows - 1] - a.rows[0]) / a.n_rows >= 8;
}

// Fetches the bins of the kRows rows that are kBinsAhead after row i of the leaf.
template <int kRows, class Bin, bool kStrided>
__attribute__((always_inline)) inline void prefetch_bins(const Column<Bin, kStrided>& column, const PartitionArgs& a,
                                                         int64_t i) {
  if (i + kBinsAhead + kRows > a.n_rows) return;
  for (int k = 0; k < kRows; ++k) {
    const int64_t row = a.rows[i + kBinsAhead + k];
    __builtin_prefetch(column.bins + (kStrided ? row << column.shift : row), 0, 3);
  }
}

#endif

#if defined(GOSSAMER_AVX512)

// Sixteen bins, assembled from single loads: this takes half the time of a gather instruction on Zen 4.
template <bool kStrided>
inline __m128i gather_bins(const Column<uint8_t, kStrided>& column, const RowIdx* rows) {
  uint64_t low = 0;
  uint64_t high = 0;
  for (int k = 0; k < 8; ++k) {
    low |= static_cast<uint64_t>(column[rows[k]]) << (8 * k);
    high |= static_cast<uint64_t>(column[rows[8 + k]]) << (8 * k);
    asm("" : "+r"(low), "+r"(high));  // gcc would build both through memory and stall
  }
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

// The bins of sixteen rows.
template <bool kContiguous, bool kStrided>
inline __m128i load_bins(const Column<uint8_t, kStrided>& column, const PartitionArgs& a, int64_t i) {
  if constexpr (kContiguous && !kStrided) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(column.bins + a.first_row + i));
  } else if constexpr (kContiguous) {
    RowIdx rows[16];
    for (int k = 0; k < 16; ++k) rows[k] = static_cast<RowIdx>(a.first_row + i + k);
    return gather_bins(column, rows);
  } else {
    return gather_bins(column, a.rows + i);
  }
}

// The table of a lane of one byte as bits: sixteen values are looked up at once.
struct BySet : ByTable {
  __m128i low, high;  // of values below 128, and of the others

  // The words do not go through an array: with -mtune=znver3, gcc 12 drops what is written to it.
  explicit BySet(const PartitionArgs& a)
      : ByTable(a),
        low(_mm_set_epi64x(bits_from(64), bits_from(0))),
        high(_mm_set_epi64x(bits_from(192), bits_from(128))) {}
  long long bits_from(int value) const {
    const __m512i left = _mm512_loadu_si512(goes_left + value);
    return static_cast<long long>(_mm512_test_epi8_mask(left, left));
  }
  __mmask16 holds(__m128i values) const {
    const __m128i byte = _mm_and_si128(_mm_srli_epi16(values, 3), _mm_set1_epi8(31));
    const __m128i bits = _mm_mask_shuffle_epi8(_mm_shuffle_epi8(low, byte), _mm_movepi8_mask(values), high, byte);
    const __m128i powers = _mm_set1_epi64x(static_cast<long long>(0x8040201008040201));
    return _mm_test_epi8_mask(bits, _mm_shuffle_epi8(powers, _mm_and_si128(values, _mm_set1_epi8(7))));
  }
};

// Which of sixteen rows go left.
template <class Bin, bool kContiguous, bool kStrided, class Rule>
inline __mmask16 decide(const Column<Bin, kStrided>& column, const Rule& rule, const PartitionArgs& a, int64_t i) {
  uint32_t even = 0;
  uint32_t odd = 0;
  for (int k = 0; k < 16; k += 2) {
    const int64_t row0 = kContiguous ? a.first_row + i + k : static_cast<int64_t>(a.rows[i + k]);
    const int64_t row1 = kContiguous ? a.first_row + i + k + 1 : static_cast<int64_t>(a.rows[i + k + 1]);
    even |= rule(column[row0]) << k;
    odd |= rule(column[row1]) << (k + 1);
    asm("" : "+r"(even), "+r"(odd));  // as in gather_bins
  }
  return static_cast<__mmask16>(even | odd);
}

template <class Bin, bool kContiguous, bool kStrided>
inline __mmask16 decide(const Column<uint8_t, kStrided>& column, const ByThreshold& rule, const PartitionArgs& a,
                        int64_t i) {
  const __m128i bins = load_bins<kContiguous>(column, a, i);
  const __m128i threshold = _mm_set1_epi8(static_cast<char>(rule.threshold));
  const __m128i missing = _mm_set1_epi8(static_cast<char>(rule.missing));
  return static_cast<__mmask16>(_mm_cmple_epu8_mask(bins, threshold) | _mm_cmpeq_epi8_mask(bins, missing));
}

template <class Bin, bool kContiguous, bool kStrided>
inline __mmask16 decide(const Column<uint8_t, kStrided>& column, const BySet& rule, const PartitionArgs& a, int64_t i) {
  return rule.holds(load_bins<kContiguous>(column, a, i));
}

// Compresses into a register and stores all 16 slots: vpcompressd to memory is microcoded there
// and three times slower.
template <class Bin, class Rule, bool kContiguous, bool kStrided>
int64_t partition_simd(const PartitionArgs& a) {
  const Column<Bin, kStrided> column(a);
  const Rule rule(a);
  const bool far_rows = !kContiguous && has_far_rows(a);
  const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  int64_t n_left = 0;
  int64_t n_right = 0;
  int64_t i = 0;
  for (; i + 16 <= a.n_rows; i += 16) {
    __m512i rows;
    if constexpr (kContiguous) {
      rows = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(a.first_row + i)), iota);
    } else {
      rows = _mm512_loadu_si512(a.rows + i);
    }
    if (far_rows) prefetch_bins<16>(column, a, i);
    const __mmask16 left = decide<Bin, kContiguous>(column, rule, a, i);
    const int taken = __builtin_popcount(left);
    _mm512_storeu_si512(a.right + n_right, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~left), rows));
    _mm512_storeu_si512(a.left + n_left, _mm512_maskz_compress_epi32(left, rows));
    n_left += taken;
    n_right += 16 - taken;
  }
  return partition_scalar<Bin, Rule, kStrided>(a, i, n_left, n_right);
}

#elif defined(GOSSAMER_AVX2)

// Which of eight rows go left; `row(k)` is the k-th of them.
template <class Column, class Rule, class Row>
inline uint32_t decide(const Column& column, const Rule& rule, const Row& row) {
  uint32_t even = 0;
  uint32_t odd = 0;
  for (int k = 0; k < 8; k += 2) {
    even |= rule(column[row(k)]) << k;
    odd |= rule(column[row(k + 1)]) << (k + 1);
    asm("" : "+r"(even), "+r"(odd));  // gcc would gather through memory and stall
  }
  return even | odd;
}

// The rows of one side come first in a register; all eight slots are stored.
template <class Bin, class Rule, bool kContiguous, bool kStrided>
int64_t partition_simd(const PartitionArgs& a) {
  const Column<Bin, kStrided> column(a);
  const Rule rule(a);
  const bool far_rows = !kContiguous && has_far_rows(a);
  const __m256i iota = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  int64_t n_left = 0;
  int64_t n_right = 0;
  int64_t i = 0;
  for (; i + 8 <= a.n_rows; i += 8) {
    __m256i rows;
    uint32_t left;
    if (far_rows) prefetch_bins<8>(column, a, i);
    if constexpr (kContiguous) {
      rows = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(a.first_row + i)), iota);
      left = decide(column, rule, [&](int k) { return a.first_row + i + k; });
    } else {
      rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.rows + i));
      left = decide(column, rule, [&](int k) { return static_cast<int64_t>(a.rows[i + k]); });
    }
    const int taken = __builtin_popcount(left);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(a.right + n_right), put_first(rows, left ^ 0xff));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(a.left + n_left), put_first(rows, left));
    n_left += taken;
    n_right += 8 - taken;
  }
  return partition_scalar<Bin, Rule, kStrided>(a, i, n_left, n_right);
}

#endif

#if defined(GOSSAMER_AVX2)

template <class Bin, class Rule>
int64_t partition_with(const PartitionArgs& a) {
  if (a.row_shift == 0) {
    return a.rows == nullptr ? partition_simd<Bin, Rule, true, false>(a) : partition_simd<Bin, Rule, false, false>(a);
  }
  return a.rows == nullptr ? partition_simd<Bin, Rule, true, true>(a) : partition_simd<Bin, Rule, false, true>(a);
}

#else

template <class Bin, class Rule>
int64_t partition_with(const PartitionArgs& a) {
  return a.row_shift == 0 ? partition_scalar<Bin, Rule, false>(a, 0, 0, 0)
                          : partition_scalar<Bin, Rule, true>(a, 0, 0, 0);
}

#endif

// The table of a lane of one byte.
#if defined(GOSSAMER_AVX512)
using OfBytes = BySet;
#else
using OfBytes = ByTable;
#endif

int64_t partition_u8(const PartitionArgs& a) {
  return a.goes_left != nullptr ? partition_with<uint8_t, OfBytes>(a) : partition_with<uint8_t, ByThreshold>(a);
}

int64_t partition_u16(const PartitionArgs& a) {
  return a.goes_left != nullptr ? partition_with<uint16_t, ByTable>(a) : partition_with<uint16_t, ByThreshold>(a);
}
