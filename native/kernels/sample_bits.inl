// Samples of rows as bits: which numbers are among the largest, and which of the other rows are drawn.

void size_bits(const float* x, int64_t n, uint32_t* out) {
  constexpr int32_t kInfinity = 0x7F800000;
  for (int64_t i = 0; i < n; ++i) {
    int32_t number;
    memcpy(&number, x + i, sizeof number);
    number &= 0x7FFFFFFF;
    out[i] = static_cast<uint32_t>(number > kInfinity ? 0 : number);
  }
}

void find_above(const uint32_t* numbers, int64_t n, int32_t bound, uint64_t* words) {
  int64_t i = 0;
#if defined(GOSSAMER_AVX512)
  const __m512i bounds = _mm512_set1_epi32(bound);
  for (; i + 64 <= n; i += 64) {
    uint64_t word = 0;
    for (int k = 0; k < 64; k += 16) {
      word |= static_cast<uint64_t>(_mm512_cmpgt_epi32_mask(_mm512_loadu_si512(numbers + i + k), bounds)) << k;
    }
    words[i / 64] = word;
  }
#elif defined(GOSSAMER_AVX2)
  const __m256i bounds = _mm256_set1_epi32(bound);
  for (; i + 64 <= n; i += 64) {
    uint64_t word = 0;
    for (int k = 0; k < 64; k += 8) {
      const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + i + k));
      const int above = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(eight, bounds)));
      word |= static_cast<uint64_t>(above) << k;
    }
    words[i / 64] = word;
  }
#endif
  for (; i < n; i += 64) {
    uint64_t word = 0;
    for (int64_t k = 0; k < 64 && i + k < n; ++k) {
      word |= static_cast<uint64_t>(static_cast<int32_t>(numbers[i + k]) > bound) << k;
    }
    words[i / 64] = word;
  }
}

inline uint64_t deposit(uint64_t bits, uint64_t mask) {
#if defined(__BMI2__)
  return _pdep_u64(bits, mask);
#else
  uint64_t out = 0;
  for (; mask != 0; mask &= mask - 1, bits >>= 1) out |= mask & (0 - mask) & (0 - (bits & 1));
  return out;
#endif
}

void deposit_bits(const uint64_t* mask, int64_t n_words, const uint64_t* stream, uint64_t* out) {
  int64_t at = 0;  // bits of the stream that were taken
  for (int64_t w = 0; w < n_words; ++w) {
    const int shift = static_cast<int>(at % 64);
    uint64_t bits = stream[at / 64] >> shift;
    if (shift != 0) bits |= stream[at / 64 + 1] << (64 - shift);
    out[w] = deposit(bits, mask[w]);
    at += __builtin_popcountll(mask[w]);
  }
}

int64_t keep_digit(const uint32_t* numbers, int64_t n, int shift, uint32_t digit, uint32_t* out, int64_t* n_above) {
  const auto last = static_cast<int32_t>(((digit + 1) << shift) - 1);  // the largest number with the digit
  int64_t n_kept = 0;
  int64_t above = 0;
  int64_t i = 0;
#if defined(GOSSAMER_AVX512)
  const __m512i firsts = _mm512_set1_epi32(static_cast<int>(digit << shift));
  const __m512i lasts = _mm512_set1_epi32(last);
  for (; i + 16 <= n; i += 16) {  // all slots of a register are stored: at most n so far
    const __m512i own = _mm512_loadu_si512(numbers + i);
    const __mmask16 is_above = _mm512_cmpgt_epi32_mask(own, lasts);
    const __mmask16 kept = _mm512_cmpge_epi32_mask(own, firsts) & ~is_above;
    _mm512_storeu_si512(out + n_kept, _mm512_maskz_compress_epi32(kept, own));
    n_kept += __builtin_popcount(kept);
    above += __builtin_popcount(is_above);
  }
#endif
  for (; i < n; ++i) {  // no branch: it would be mispredicted
    out[n_kept] = numbers[i];
    n_kept += numbers[i] >> shift == digit;
    above += static_cast<int32_t>(numbers[i]) > last;
  }
  *n_above += above;
  return n_kept;
}
