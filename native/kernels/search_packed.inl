// Best split among the numeric features of one leaf, for packed cells, plain rules and no limits: nearly all searches.
//
// All features of a block of lanes are searched in one call. Eight thresholds are evaluated together, from prefix sums
// that stay in registers. A block of thresholds costs no branch unless one of them may beat the best split so far:
// which side has too few rows is part of the mask.

// Rows of a leaf per bin from which bins without rows are evaluated like the others; smaller leaves drop them first.
constexpr int64_t kRowsPerBin = 1;
constexpr int kFewBins = 32;  // so few are never worth dropping any

#if defined(GOSSAMER_AVX512)

// Prefix sums of packed words, eight at a time; what follows the last word repeats the last sum.
struct RunningSums {
  const uint64_t* words;
  int n;
  __m512i before;

  RunningSums(const uint64_t* w, int size, uint64_t always)
      : words(w), n(size), before(_mm512_set1_epi64(static_cast<int64_t>(always))) {}

  // Makes what `words` must be from cells: here the cells themselves.
  static const uint64_t* prepare(const uint64_t* cells, int, uint64_t*) { return cells; }

  V8u next(int i) {
    const __m512i zero = _mm512_setzero_si512();
    const auto inside = static_cast<__mmask8>(n - i < 8 ? (1u << (n - i)) - 1 : 255u);
    __m512i eight = _mm512_maskz_loadu_epi64(inside, words + i);
    eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 7));
    eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 6));
    eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 4));
    asm("" : "+v"(eight));  // gcc would add `before` first and wait for it three instructions earlier
    V8u sums;
    sums.part[0] = (V8u::Part)_mm512_add_epi64(eight, before);
    before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), eight));
    return sums;
  }
};

inline V8d field_to_double(const V8i& x) { return convert<V8d>(x); }

inline Mask8 between(const V8u& x, uint64_t least, uint64_t span) {
  const __m512i above = _mm512_sub_epi64((__m512i)x.part[0], _mm512_set1_epi64(static_cast<int64_t>(least)));
  return _mm512_cmple_epu64_mask(above, _mm512_set1_epi64(static_cast<int64_t>(span)));
}

// Raises `best` to the largest gain in the mask that exceeds it; returns its first slot, or -1.
inline int raise(const V8d& gain, Mask8 mask, double& best) {
  mask = _mm512_mask_cmp_pd_mask(mask, raw(gain), _mm512_set1_pd(best), _CMP_GT_OQ);
  if (mask == 0) return -1;
  best = _mm512_mask_reduce_max_pd(mask, raw(gain));
  return __builtin_ctz(_mm512_mask_cmp_pd_mask(mask, raw(gain), _mm512_set1_pd(best), _CMP_EQ_OQ));
}

#else

struct RunningSums {
  const uint64_t* sums;
  uint64_t always;

  RunningSums(const uint64_t* s, int, uint64_t a) : sums(s), always(a) {}

  static const uint64_t* prepare(const uint64_t* cells, int n, uint64_t* buffer) {
    add_up(cells, n, buffer);
    for (int i = n; i % 8 != 0; ++i) buffer[i] = buffer[n - 1];
    return buffer;
  }

  V8u next(int i) { return load<V8u>(sums + i) + always; }
};

inline V8d field_to_double(const V8i& x) { return small_to_double(x); }

inline Mask8 between(const V8u& x, uint64_t least, uint64_t span) {
  const V8i above = bits_as<V8i>(x) - static_cast<int64_t>(least);
  return (above >= V8i(0)) & (above <= V8i(static_cast<int64_t>(span)));
}

inline int raise(const V8d& gain, const Mask8& mask, double& best) {
  int found = -1;
  for (int k = 0; k < 8; ++k) {
    if (!is_set(mask, k) || !(gain[k] > best)) continue;
    best = gain[k];
    found = k;
  }
  return found;
}

#endif

// The largest number below x.
inline double just_below(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if (x == 0.0) return -5e-324;
  bits += x > 0.0 ? -1 : 1;
  memcpy(&x, &bits, sizeof(bits));
  return x;
}

template <bool kHasL2, bool kConstantHessian>
struct PackedSearch {
  const PackedSearchArgs& a;
  const SplitRules& rules;
  const Unpacker unpack;
  uint64_t least = 0;  // a left side of least ... least + span rows leaves enough rows on both sides
  uint64_t span = 0;

  // Raises `best` to the first highest gain that exceeds it; returns its threshold, or -1. `always`: the packed sums of
  // rows on the left of every threshold.
  int evaluate(const uint64_t* words, int n, uint64_t always, double& best) const {
    const V8d min_hessian = fill8(least_hessian(rules));
    RunningSums running(words, n, always);
    V8d bar = nearly(best);
    int found = -1;
    for (int i = 0; i < n; i += 8) {
      const V8u sums = running.next(i);
      const V8u counts = sums & unpack.count_mask;
      const V8d gl = field_to_double(bits_as<V8i>(sums) >> unpack.gradient_shift);
      const V8d hl = field_to_double(
          bits_as<V8i>(kConstantHessian ? counts : (sums >> unpack.count_bits) & unpack.hessian_mask));
      const V8d gr = a.gradient - gl;
      const V8d hr = a.hessian - hl;
      const GainFraction<V8d> both = fraction_of<kHasL2>(gl, hl, gr, hr, rules.lambda_l2);
      Mask8 admissible = above(both.numerator, bar * both.denominator) & between(counts, least, span);
      if (!any(admissible)) continue;
      admissible &= at_least(hl, min_hessian) & at_least(hr, min_hessian);
      const int k = raise(both.numerator / both.denominator, admissible, best);
      if (k < 0) continue;
      found = i + k;
      bar = nearly(best);
    }
    return found;
  }

  bool search(const SearchedFeature& f, PackedCandidate& best) const {
    // A feature that wins ties needs no more than the best gain, any other feature must exceed it.
    double gain = f.feature < best.feature ? just_below(best.gain) : best.gain;
    const uint64_t* const cells = a.cells + f.first_cell;
    int n = f.n_value_bins;
    auto* const buffer = reinterpret_cast<uint64_t*>(a.scratch);
    auto* const filled = reinterpret_cast<uint8_t*>(buffer + ((n + 16) & ~7));
    const bool drops_empty = n > kFewBins && a.count < kRowsPerBin * n;
    const uint64_t* words = cells;
    if (drops_empty) {
      n = gather_filled(cells, n, buffer, filled);
      words = buffer;
    }
    words = RunningSums::prepare(words, n, buffer);
    int t = evaluate(words, n, 0, gain);
    const uint64_t missing = f.has_missing ? cells[f.n_value_bins] : 0;
    const int with_missing = missing != 0 ? evaluate(words, n, missing, gain) : -1;
    if (with_missing >= 0) t = with_missing;
    if (t < 0) return false;
    best = {gain, f.feature, drops_empty ? nth_filled(filled, t) : t, with_missing >= 0};
    return true;
  }

  bool run(PackedCandidate& best) {
    const auto few = static_cast<int64_t>(__builtin_ceil(rules.min_data));
    if (a.count < 2 * few) return false;
    least = static_cast<uint64_t>(few);
    span = static_cast<uint64_t>(a.count - 2 * few);
    bool improved = false;
    for (const SearchedFeature* f = a.features; f != a.features + a.n_features; ++f) {
      if (a.allowed == nullptr || a.allowed[f->feature]) improved |= search(*f, best);
    }
    return improved;
  }
};

bool search_packed(const PackedSearchArgs& a, const CellLayout& layout, const SplitRules& rules,
                   PackedCandidate& best) {
  const Unpacker unpack(layout);
  const bool has_l2 = rules.lambda_l2 != 0.0;
  if (layout.constant_hessian()) {
    return has_l2 ? PackedSearch<true, true>{a, rules, unpack}.run(best)
                  : PackedSearch<false, true>{a, rules, unpack}.run(best);
  }
  return has_l2 ? PackedSearch<true, false>{a, rules, unpack}.run(best)
                : PackedSearch<false, false>{a, rules, unpack}.run(best);
}
