// Leaves as bits: sixty-four rows of a lane are compared at once, and no list of rows is read or written.

// Which of the 64 rows from `row` on go left.
template <class Rule>
inline uint64_t rows_left(const uint8_t* column, const Rule& rule, int64_t row) {
  uint64_t left = 0;
  for (int k = 0; k < 64; ++k) left |= static_cast<uint64_t>(rule(column[row + k])) << k;
  return left;
}

#if defined(GOSSAMER_AVX512)

inline uint64_t rows_left(const uint8_t* column, const ByThreshold& rule, int64_t row) {
  const __m512i bins = _mm512_loadu_si512(column + row);
  return _mm512_cmple_epu8_mask(bins, _mm512_set1_epi8(static_cast<char>(rule.threshold))) |
         _mm512_cmpeq_epi8_mask(bins, _mm512_set1_epi8(static_cast<char>(rule.missing)));
}

inline uint64_t rows_left(const uint8_t* column, const BySet& rule, int64_t row) {
  const __m512i values = _mm512_loadu_si512(column + row);
  const __m512i byte = _mm512_and_si512(_mm512_srli_epi16(values, 3), _mm512_set1_epi8(31));
  const __m512i low = _mm512_broadcast_i32x4(rule.low);
  const __m512i high = _mm512_broadcast_i32x4(rule.high);
  const __m512i bits =
      _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(low, byte), _mm512_movepi8_mask(values), high, byte);
  const __m512i powers = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
  return _mm512_test_epi8_mask(bits, _mm512_shuffle_epi8(powers, _mm512_and_si512(values, _mm512_set1_epi8(7))));
}

#elif defined(GOSSAMER_AVX2)

inline uint64_t rows_left(const uint8_t* column, const ByThreshold& rule, int64_t row) {
  const __m256i threshold = _mm256_set1_epi8(static_cast<char>(rule.threshold));
  const __m256i missing = _mm256_set1_epi8(static_cast<char>(rule.missing));
  uint64_t left = 0;
  for (int half = 0; half < 2; ++half) {
    const __m256i bins = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + row + 32 * half));
    const __m256i is_left =
        _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(bins, threshold), bins), _mm256_cmpeq_epi8(bins, missing));
    left |= static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(is_left))) << (32 * half);
  }
  return left;
}

#endif

// Main memory delivers a column faster than the processor's own prefetcher asks for it.
constexpr int64_t kColumnAhead = 1536;

template <class Rule>
int64_t split_bits_with(const SplitBitsArgs& a) {
  const auto* const column = static_cast<const uint8_t*>(a.lane.column) + a.lane.first_row;
  const Rule rule(a.lane);
  const int64_t n_words = (a.lane.n_rows + 63) / 64;
  int64_t n_left = 0;
  for (int64_t w = 0; w < n_words; ++w) {
    __builtin_prefetch(column + 64 * w + kColumnAhead, 0, 2);
    const uint64_t leaf = a.leaf[w];
    const uint64_t left = leaf & rows_left(column, rule, 64 * w);  // may read past the last row: no bit is set there
    a.left[w] = left;
    a.right[w] = leaf ^ left;
    n_left += __builtin_popcountll(left);
  }
  return n_left;
}

int64_t split_bits(const SplitBitsArgs& a) {
  return a.lane.goes_left != nullptr ? split_bits_with<OfBytes>(a) : split_bits_with<ByThreshold>(a);
}

#if defined(GOSSAMER_AVX512)

// The places of the set bits of a word as bytes, of which sixteen at a time become rows. Always stores kStores times
// sixteen rows: whether a word has more bits is hard to predict. Returns the number of bits.
template <int kStores>
__attribute__((target("avx512vbmi2"))) inline int list_word(uint64_t word, int64_t first_row, RowIdx* out) {
  alignas(64) static constexpr uint8_t kPlaces[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                                      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                                      48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i set = _mm512_maskz_compress_epi8(word, _mm512_load_si512(kPlaces));
  const __m512i first = _mm512_set1_epi32(static_cast<int>(first_row));
  const int n = __builtin_popcountll(word);
  const auto store = [&](int from, __m128i bytes) __attribute__((always_inline, target("avx512vbmi2"))) {
    _mm512_storeu_si512(out + from, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(bytes)));
  };
  store(0, _mm512_castsi512_si128(set));
  if (kStores > 1 || n > 16) store(16, _mm512_extracti32x4_epi32(set, 1));
  if (kStores > 2 || n > 32) store(32, _mm512_extracti32x4_epi32(set, 2));
  if (n > 48) store(48, _mm512_extracti32x4_epi32(set, 3));
  return n;
}

// Returns how many words were listed.
__attribute__((target("avx512vbmi2"))) int64_t list_bytes(const uint64_t* words, int64_t n_words, RowIdx first_row,
                                                          RowIdx*& out, const RowIdx* end) {
  constexpr int64_t kWords = 8;  // are listed in the same way
  int64_t w = 0;
  for (; w + kWords <= n_words && out + 64 * kWords <= end; w += kWords) {  // all slots of a register are stored
    int n = 0;
    for (int64_t k = 0; k < kWords; ++k) n += __builtin_popcountll(words[w + k]);
    const auto list = [&](auto stores) __attribute__((target("avx512vbmi2"))) {
      for (int64_t k = w; k < w + kWords; ++k)
        out += list_word<decltype(stores)::value>(words[k], first_row + 64 * k, out);
    };
    n > 10 * kWords ? list(Constant<3>{}) : list(Constant<1>{});
  }
  for (; w < n_words && out + 64 <= end; ++w) out += list_word<1>(words[w], first_row + 64 * w, out);
  return w;
}

#endif

// Writes the number of a leaf down for every row whose bit is set.
void number_bits(const uint64_t* words, int64_t n_words, uint16_t number, uint16_t* out) {
#if defined(GOSSAMER_AVX512)
  const __m512i numbers = _mm512_set1_epi16(static_cast<short>(number));
  for (int64_t w = 0; w < n_words; ++w, out += 64) {
    for (int half = 0; half < 2; ++half) {
      const auto set = static_cast<__mmask32>(words[w] >> (32 * half));
      const __m512i before = _mm512_loadu_si512(out + 32 * half);
      _mm512_storeu_si512(out + 32 * half, _mm512_mask_mov_epi16(before, set, numbers));
    }
  }
#else
  for (int64_t w = 0; w < n_words; ++w, out += 64) {
    for (uint64_t set = words[w]; set != 0; set &= set - 1) out[__builtin_ctzll(set)] = number;
  }
#endif
}

void list_bits(const uint64_t* words, int64_t n_words, RowIdx first_row, RowIdx* out, RowIdx* end) {
  int64_t w = 0;
#if defined(GOSSAMER_AVX512)
  static const bool has_bytes = __builtin_cpu_supports("avx512vbmi2");
  if (has_bytes) w = list_bytes(words, n_words, first_row, out, end);
  const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (; w < n_words && out + 64 <= end; ++w) {  // all slots of a register are stored
    for (int k = 0; k < 64; k += 16) {
      const auto set = static_cast<__mmask16>(words[w] >> k);
      const __m512i rows = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first_row + 64 * w + k)), iota);
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(set, rows));
      out += __builtin_popcount(set);
    }
  }
#elif defined(GOSSAMER_AVX2)
  const __m256i iota = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  for (; w < n_words && out + 64 <= end; ++w) {
    for (int k = 0; k < 64; k += 8) {
      const auto set = static_cast<uint32_t>(words[w] >> k) & 0xff;
      const __m256i rows = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first_row + 64 * w + k)), iota);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), put_first(rows, set));
      out += __builtin_popcount(set);
    }
  }
#endif
  for (; w < n_words; ++w) {
    for (uint64_t set = words[w]; set != 0; set &= set - 1) {
      if (out == end) return;
      *out++ = static_cast<RowIdx>(first_row + 64 * w + __builtin_ctzll(set));
    }
  }
}
