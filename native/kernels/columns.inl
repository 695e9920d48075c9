// Lanes of rows become columns.

// Eight rows of eight bytes become eight columns.
inline void transpose_eight(uint64_t (&x)[8]) {
  const auto swap = [](uint64_t& a, uint64_t& b, int shift, uint64_t mask) {
    const uint64_t other = ((a >> shift) ^ b) & mask;
    a ^= other << shift;
    b ^= other;
  };
  for (int i = 0; i < 8; i += 2) swap(x[i], x[i + 1], 8, 0x00ff00ff00ff00ff);
  for (int i = 0; i < 8; i += i % 2 == 0 ? 1 : 3) swap(x[i], x[i + 2], 16, 0x0000ffff0000ffff);
  for (int i = 0; i < 4; ++i) swap(x[i], x[i + 4], 32, 0x00000000ffffffff);
}

#if defined(GOSSAMER_AVX512)

// The same in one register.
inline __m512i transpose_eight(__m512i rows) {
  const __m512i pairs = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  alignas(64) static constexpr uint16_t kByLane[32] = {0, 8,  16, 24, 1, 9,  17, 25, 2, 10, 18, 26, 3, 11, 19, 27,
                                                       4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kByLane), _mm512_shuffle_epi8(rows, pairs));
}

inline __m512i load_eight(const uint8_t* rows, int64_t stride) {
  if (stride == 8) return _mm512_loadu_si512(rows);
  const auto bytes = [&](int row) {
    long long eight;
    memcpy(&eight, rows + row * stride, 8);
    return eight;
  };
  return _mm512_setr_epi64(bytes(0), bytes(1), bytes(2), bytes(3), bytes(4), bytes(5), bytes(6), bytes(7));
}

// Eight registers of eight words of 64 bits.
inline void transpose_words(__m512i (&x)[8]) {
  __m512i pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
  }
  for (int odd = 0; odd < 2; ++odd) {
    const __m512i low_even = _mm512_shuffle_i64x2(pairs[odd], pairs[odd + 2], 0x88);
    const __m512i low_odd = _mm512_shuffle_i64x2(pairs[odd], pairs[odd + 2], 0xdd);
    const __m512i high_even = _mm512_shuffle_i64x2(pairs[odd + 4], pairs[odd + 6], 0x88);
    const __m512i high_odd = _mm512_shuffle_i64x2(pairs[odd + 4], pairs[odd + 6], 0xdd);
    x[odd] = _mm512_shuffle_i64x2(low_even, high_even, 0x88);
    x[odd + 2] = _mm512_shuffle_i64x2(low_odd, high_odd, 0x88);
    x[odd + 4] = _mm512_shuffle_i64x2(low_even, high_even, 0xdd);
    x[odd + 6] = _mm512_shuffle_i64x2(low_odd, high_odd, 0xdd);
  }
}

#endif

void copy_to_columns(const uint8_t* rows, int64_t stride, int64_t n_rows, int n_lanes, uint8_t* const* columns) {
  int64_t row = 0;
#if defined(GOSSAMER_AVX512)
  for (; row + 64 <= n_rows; row += 64) {
    __m512i x[8];
    for (int i = 0; i < 8; ++i) x[i] = transpose_eight(load_eight(rows + (row + 8 * i) * stride, stride));
    transpose_words(x);
    for (int k = 0; k < n_lanes; ++k) _mm512_storeu_si512(columns[k] + row, x[k]);
  }
#endif
  for (; row + 8 <= n_rows; row += 8) {
    uint64_t eight[8];
    for (int k = 0; k < 8; ++k) memcpy(&eight[k], rows + (row + k) * stride, 8);
    transpose_eight(eight);
    for (int k = 0; k < n_lanes; ++k) memcpy(columns[k] + row, &eight[k], 8);
  }
  for (; row < n_rows; ++row) {
    for (int k = 0; k < n_lanes; ++k) columns[k][row] = rows[row * stride + k];
  }
}
