// Partition: bins of the split feature decide; the order of rows is kept on both sides.
//
//   rows   [ a b c d e f g h ]          left  may share memory with rows: it is written behind
//            | |   |     |   goes left        the place that is being read
//   left   [ a b d g ] . . .            right [ c e f h ] . . .

template <class Bin>
int64_t partition_scalar(const PartitionArgs& a, int64_t begin, int64_t n_left, int64_t n_right) {
  const auto* const column = static_cast<const Bin*>(a.column);
  const uint32_t threshold = a.threshold;
  const uint32_t missing = a.missing_left ? a.missing_bin : threshold;
  for (int64_t i = begin; i < a.n_rows; ++i) {
    const RowIdx row = a.rows != nullptr ? a.rows[i] : static_cast<RowIdx>(a.first_row + i);
    const uint32_t bin = column[row];
    const int left = (bin <= threshold) | (bin == missing);
    // Both sides are written, one of them moves on: no branch to mispredict.
    a.left[n_left] = row;
    a.right[n_right] = row;
    n_left += left;
    n_right += 1 - left;
  }
  return n_left;
}

#if defined(GOSSAMER_AVX512)

// Sixteen bins put together from single loads: half the time of a gather instruction on Zen 4.
inline __m128i gather_bins(const uint8_t* column, const RowIdx* rows) {
  uint64_t low = 0;
  uint64_t high = 0;
  for (int k = 0; k < 8; ++k) {
    low |= static_cast<uint64_t>(column[rows[k]]) << (8 * k);
    high |= static_cast<uint64_t>(column[rows[8 + k]]) << (8 * k);
    asm("" : "+r"(low), "+r"(high));  // gcc would build both through memory and stall
  }
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

// Compressing into a register and storing all 16 lanes: vpcompressd to memory is microcoded there
// and three times slower.
template <bool kContiguous>
int64_t partition_u8_simd(const PartitionArgs& a) {
  const auto* const column = static_cast<const uint8_t*>(a.column);
  const __m128i threshold = _mm_set1_epi8(static_cast<char>(a.threshold));
  const __m128i missing = _mm_set1_epi8(static_cast<char>(a.missing_left ? a.missing_bin : a.threshold));
  const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  int64_t n_left = 0;
  int64_t n_right = 0;
  int64_t i = 0;
  for (; i + 16 <= a.n_rows; i += 16) {
    __m512i rows;
    __m128i bins;
    if constexpr (kContiguous) {
      rows = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(a.first_row + i)), iota);
      bins = _mm_loadu_si128(reinterpret_cast<const __m128i*>(column + a.first_row + i));
    } else {
      rows = _mm512_loadu_si512(a.rows + i);
      bins = gather_bins(column, a.rows + i);
    }
    const auto left = static_cast<__mmask16>(_mm_cmple_epu8_mask(bins, threshold) | _mm_cmpeq_epi8_mask(bins, missing));
    const int taken = __builtin_popcount(left);
    _mm512_storeu_si512(a.right + n_right, _mm512_maskz_compress_epi32(static_cast<__mmask16>(~left), rows));
    _mm512_storeu_si512(a.left + n_left, _mm512_maskz_compress_epi32(left, rows));
    n_left += taken;
    n_right += 16 - taken;
  }
  return partition_scalar<uint8_t>(a, i, n_left, n_right);
}

int64_t partition_u8(const PartitionArgs& a) {
  return a.rows == nullptr ? partition_u8_simd<true>(a) : partition_u8_simd<false>(a);
}

#else

int64_t partition_u8(const PartitionArgs& a) { return partition_scalar<uint8_t>(a, 0, 0, 0); }

#endif

int64_t partition_u16(const PartitionArgs& a) { return partition_scalar<uint16_t>(a, 0, 0, 0); }
