// Best split among the numeric features of one leaf, for packed cells, plain rules and no limits: nearly all searches.
//
// All features of a block of lanes are searched in one call. One by one, eight thresholds of a feature are evaluated
// together. With AVX-512, eight features are searched side by side, bin after bin: then a prefix sum is one addition.

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
    V8u sums;
    sums.part[0] = (V8u::Part)running_sums(_mm512_maskz_loadu_epi64(first_words(i, n), words + i), before);
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
      const V8d hl =
          field_to_double(bits_as<V8i>(kConstantHessian ? counts : (sums >> unpack.count_bits) & unpack.hessian_mask));
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
    const double fewest = rules.min_data > 1.0 ? rules.min_data : 1.0;  // a side without rows is none
    const auto few = static_cast<int64_t>(__builtin_ceil(fewest));
    if (a.count < 2 * few || !(a.hessian + rules.lambda_l2 > 0.0)) return false;
    least = static_cast<uint64_t>(few);
    span = static_cast<uint64_t>(a.count - 2 * few);
    bool improved = false;
    Together together(*this);
    for (const SearchedFeature* f = a.features; f != a.features + a.n_features; ++f) {
      if (a.allowed != nullptr && !a.allowed[f->feature]) continue;
      improved |= together.takes(*f) ? together.add(*f, best) : search(*f, best);
    }
    return together.finish(best) || improved;
  }

#if defined(GOSSAMER_AVX512)
  // A screen for the gains of many thresholds. With l and r for the two sides, T = hl + hr (each with lambda_l2) and
  // D = gl - G / T * hl, a gain is G^2 / T + D^2 * T / (hl * hr). D is computed in single precision, which is enough:
  //   |D|        is too small by `slack` and a few parts in 2^24 at most, with upper halves of words as gradients
  //   hl * hr    is too large by a few parts in 2^24 of hl * T at most; T is taken as smaller by kMargin
  // So whatever beats the best gain passes. The gain itself is then computed as everywhere.
  struct Screen {
    static constexpr double kTolerance = 1e-9;    // of gains, in double precision
    static constexpr double kMargin = 0x1.0p-18;  // of T: a float has 24 bits
    double total, own, unit, per_gain, tolerance;
    bool is_usable;  // no number gets too large or too small for a float; otherwise everything passes
    float factor = 0.0f, offset = 0.0f, l2 = 0.0f, slack, slope, top;
    __m512i mask;
    __m128i shift;

    explicit Screen(const PackedSearch& p)
        : total(p.a.hessian + 2.0 * p.rules.lambda_l2),
          own(p.a.gradient / total * p.a.gradient),
          // The upper half of a word is gradient * unit + hessian * its own unit, rounded down.
          unit(0x1.0p-32 * static_cast<double>(uint64_t{1} << p.unpack.gradient_shift)),
          per_gain(unit / total * unit),
          // The smaller a side, the larger the relative error of what is left for it.
          tolerance(kTolerance + 1e-15 * total / (least_hessian(p.rules) + p.rules.lambda_l2)),
          mask(_mm512_set1_epi32(static_cast<int>(kConstantHessian ? p.unpack.count_mask : p.unpack.hessian_mask))),
          shift(_mm_cvtsi32_si128(p.unpack.count_bits)) {
      const double hessian_unit = kConstantHessian ? 0.0 : 0x1.0p-32 * static_cast<double>(p.unpack.count_mask + 1);
      const double per_hessian = hessian_unit + p.a.gradient / total * unit;
      slack = static_cast<float>(2.0 + 0x1.0p-21 * (magnitude_of(per_hessian) + hessian_unit) * total);
      is_usable =
          total < 0x1.0p40 && magnitude_of(per_hessian) < 0x1.0p100 && (!kHasL2 || p.rules.lambda_l2 > 0x1.0p-100);
      if (!is_usable) return;
      factor = static_cast<float>(per_hessian);
      l2 = static_cast<float>(p.rules.lambda_l2);
      offset = static_cast<float>(p.rules.lambda_l2 * hessian_unit);
    }

    void set_bar(double best) {
      const double bar = best - tolerance * magnitude_of(best) - own * (1.0 + kTolerance);
      const double per_side = bar * per_gain;
      const bool is_high = is_usable && per_side > 0x1.0p-100;
      slope = is_high ? static_cast<float>(per_side) : 0.0f;
      top = is_high ? static_cast<float>(per_side * total * (1.0 - kMargin)) : -1.0f;
    }

    // Of two times eight sums; for their order see joined.
    GOSSAMER_INLINE __mmask16 passes(__m512i first, __m512i second) const {
      const auto halves = [](__m512i x, __m512i y, auto which) __attribute__((always_inline)) {
        constexpr int kWhich = decltype(which)::value;
        return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), kWhich));
      };
      __m512 gradient = _mm512_cvtepi32_ps(halves(first, second, Constant<0xdd>{}));
      const auto fields = [&](__m512i x) { return kConstantHessian ? x : _mm512_srl_epi64(x, shift); };
      const __m512i low = halves(fields(first), fields(second), Constant<0x88>{});
      __m512 hessian = _mm512_cvtepi32_ps(_mm512_and_si512(low, mask));
      if constexpr (kHasL2) {
        hessian = _mm512_add_ps(hessian, _mm512_set1_ps(l2));
        gradient = _mm512_add_ps(gradient, _mm512_set1_ps(offset));
      }
      const __m512 d = _mm512_fnmadd_ps(_mm512_set1_ps(factor), hessian, gradient);
      const __m512 most = _mm512_add_ps(_mm512_abs_ps(d), _mm512_set1_ps(slack));
      const __m512 least =
          _mm512_mul_ps(hessian, _mm512_fnmadd_ps(_mm512_set1_ps(slope), hessian, _mm512_set1_ps(top)));
      return _mm512_cmp_ps_mask(_mm512_mul_ps(most, most), least, _CMP_GT_OQ);
    }

    // The bits of eight features, in the order of both halves of what was screened.
    static GOSSAMER_INLINE int spread(int features) {
      return static_cast<int>(_pdep_u32(static_cast<uint32_t>(features), 0x3333) |
                              _pdep_u32(static_cast<uint32_t>(features), 0xcccc));
    }

    // Byte i is row i of eight rows that were screened two at a time.
    static GOSSAMER_INLINE uint64_t joined(const __mmask16 (&passed)[4]) {
      uint64_t found = 0;
      for (int i = 0; i < 4; ++i) {
        const uint32_t both = _pext_u32(passed[i], 0x3333) | _pext_u32(passed[i], 0xcccc) << 8;
        found |= static_cast<uint64_t>(both) << (16 * i);
      }
      return found;
    }
  };

  // Features that are searched side by side: a slot each.
  class Together {
   public:
    explicit Together(const PackedSearch& p) : p_(p) {}

    // Whatever follows the bins of a feature must be empty.
    bool takes(const SearchedFeature& f) const { return p_.a.lane_cells > 0 && !f.has_missing; }

    bool add(const SearchedFeature& f, PackedCandidate& best) {
      features_[n_++] = &f;
      return n_ == 8 && search_eight(best);
    }

    bool finish(PackedCandidate& best) {
      if (n_ > 4) return search_eight(best);
      bool improved = false;
      for (int k = 0; k < n_; ++k) improved |= p_.search(*features_[k], best);
      return improved;
    }

   private:
    bool search_eight(PackedCandidate& best) {
      int n_bins = 0;
      const uint64_t* cells[8];
      for (int k = 0; k < 8; ++k) {
        if (k >= n_) features_[k] = features_[k - 1];  // twice the same feature changes nothing
        n_bins = features_[k]->n_value_bins > n_bins ? features_[k]->n_value_bins : n_bins;
        cells[k] = p_.a.cells + features_[k]->first_cell;
      }
      n_ = 0;
      Screen screen(p_);
      screen.set_bar(best.gain);
      __m512i sums = _mm512_setzero_si512();
      bool improved = false;
      for (int bin = 0; bin < n_bins; bin += 8) {
        const __m512i before = sums;
        __m512i tile[8];
        load_tile(cells, bin, tile);
        for_parts<8>(GOSSAMER_EACH { tile[i] = sums = _mm512_add_epi64(sums, tile[i]); });
        // Counts rise with the bin: most bins of a small leaf leave one side too few rows. The gains of these are often
        // large.
        const __mmask8 has_left = p_.has_enough(sums);
        const __mmask8 has_right = p_.leaves_enough(tile[0]);
        if (has_right == 0) break;
        if ((has_left & has_right) == 0) continue;
        __mmask16 passed[4];
        for_parts<4>(GOSSAMER_EACH { passed[i] = screen.passes(tile[2 * i], tile[2 * i + 1]); });
        const int all = passed[0] | passed[1] | passed[2] | passed[3];
        if ((all & Screen::spread(has_left & has_right)) == 0) continue;
        __mmask8 has_rows[8];
        for_parts<8>(GOSSAMER_EACH { has_rows[i] = p_.has_rows(tile[i], i > 0 ? tile[i - 1] : before); });
        const uint64_t kept = Screen::joined(passed) & joined(has_rows);
        if (kept == 0) continue;
        __m512i found[8];  // a copy, so that the tile stays in registers
        for_parts<8>(GOSSAMER_EACH { found[i] = tile[i]; });
        if (!take_best(bin, found, kept, best)) continue;
        screen.set_bar(best.gain);
        improved = true;
      }
      return improved;
    }

    // tile[i] has bin number `bin` + i of all features.
    static GOSSAMER_INLINE void load_tile(const uint64_t* const (&cells)[8], int bin, __m512i (&tile)[8]) {
      __m512i x[8], y[8];
      for_parts<8>(GOSSAMER_EACH { x[i] = _mm512_loadu_si512(cells[i] + bin); });
      for_parts<4>(GOSSAMER_EACH {
        y[2 * i] = _mm512_unpacklo_epi64(x[2 * i], x[2 * i + 1]);
        y[2 * i + 1] = _mm512_unpackhi_epi64(x[2 * i], x[2 * i + 1]);
      });
      for_parts<2>(GOSSAMER_EACH {
        x[4 * i] = _mm512_shuffle_i64x2(y[4 * i], y[4 * i + 2], 0x88);
        x[4 * i + 1] = _mm512_shuffle_i64x2(y[4 * i + 1], y[4 * i + 3], 0x88);
        x[4 * i + 2] = _mm512_shuffle_i64x2(y[4 * i], y[4 * i + 2], 0xdd);
        x[4 * i + 3] = _mm512_shuffle_i64x2(y[4 * i + 1], y[4 * i + 3], 0xdd);
      });
      for_parts<4>(GOSSAMER_EACH {
        tile[i] = _mm512_shuffle_i64x2(x[i], x[i + 4], 0x88);
        tile[i + 4] = _mm512_shuffle_i64x2(x[i], x[i + 4], 0xdd);
      });
    }

    // Byte i is mask i.
    static GOSSAMER_INLINE uint64_t joined(const __mmask8 (&masks)[8]) {
      const __mmask16 first = _mm512_kunpackb(masks[1], masks[0]);
      const __mmask16 second = _mm512_kunpackb(masks[3], masks[2]);
      const __mmask16 third = _mm512_kunpackb(masks[5], masks[4]);
      const __mmask16 fourth = _mm512_kunpackb(masks[7], masks[6]);
      return _cvtmask64_u64(_mm512_kunpackd(_mm512_kunpackw(fourth, third), _mm512_kunpackw(second, first)));
    }

    // Compares the largest exact gain with the best one. All gains are computed first: one after another, they would
    // wait for each other, and be hard to predict branches.
    __attribute__((noinline)) bool take_best(int bin, const __m512i (&tile)[8], uint64_t kept,
                                             PackedCandidate& best) const {
      __m512d gains[8];
      __m512d largest = _mm512_set1_pd(best.gain);
      for (uint64_t left = kept; left != 0;) {
        const int i = __builtin_ctzll(left) / 8;
        V8u sums;
        V8d gain;
        sums.part[0] = (V8u::Part)tile[i];
        const auto admissible = static_cast<__mmask8>(p_.gains_of(sums, gain) & static_cast<Mask8>(left >> (8 * i)));
        left &= ~(uint64_t{255} << (8 * i));
        gains[i] = _mm512_mask_mov_pd(_mm512_set1_pd(-1.0e300), admissible, raw(gain));
        largest = _mm512_max_pd(largest, gains[i]);
      }
      const double gain = _mm512_reduce_max_pd(largest);
      bool improved = false;
      for (; kept != 0; kept &= ~(uint64_t{255} << (__builtin_ctzll(kept) & 56))) {
        const int i = __builtin_ctzll(kept) / 8;
        __mmask8 equal = _mm512_cmp_pd_mask(gains[i], _mm512_set1_pd(gain), _CMP_EQ_OQ);
        for (; equal != 0; equal &= static_cast<__mmask8>(equal - 1)) {
          const int32_t feature = features_[__builtin_ctz(equal)]->feature;
          if (!beats(gain, feature, best.gain, best.feature)) continue;
          best = {gain, feature, bin + i, false};
          improved = true;
        }
      }
      return improved;
    }

    const PackedSearch& p_;
    const SearchedFeature* features_[8] = {};
    int n_ = 0;
  };

  // Which of eight left sides leave enough rows on both sides, and differ from those of the bin before.
  __mmask8 has_rows(__m512i sums, __m512i before) const {
    V8u counts;
    counts.part[0] = (V8u::Part)sums;
    return _mm512_mask_cmpneq_epu64_mask(between(counts & unpack.count_mask, least, span), sums, before);
  }

  // Which of eight left sides have as many rows as a side needs, and which leave that many to the other side.
  __mmask8 has_enough(__m512i sums) const {
    const __m512i counts = _mm512_and_si512(sums, _mm512_set1_epi64(static_cast<int64_t>(unpack.count_mask)));
    return _mm512_cmpge_epu64_mask(counts, _mm512_set1_epi64(static_cast<int64_t>(least)));
  }
  __mmask8 leaves_enough(__m512i sums) const {
    const __m512i counts = _mm512_and_si512(sums, _mm512_set1_epi64(static_cast<int64_t>(unpack.count_mask)));
    return _mm512_cmple_epu64_mask(counts, _mm512_set1_epi64(static_cast<int64_t>(least + span)));
  }

  // Gains of eight sums of left sides, and which of them leave enough weight on both sides.
  Mask8 gains_of(const V8u& sums, V8d& gain) const {
    const V8d min_hessian = fill8(least_hessian(rules));
    const V8u hessians =
        kConstantHessian ? sums & unpack.count_mask : (sums >> unpack.count_bits) & unpack.hessian_mask;
    const V8d gl = field_to_double(bits_as<V8i>(sums) >> unpack.gradient_shift);
    const V8d hl = field_to_double(bits_as<V8i>(hessians));
    const V8d gr = a.gradient - gl;
    const V8d hr = a.hessian - hl;
    const GainFraction<V8d> both = fraction_of<kHasL2>(gl, hl, gr, hr, rules.lambda_l2);
    gain = both.numerator / both.denominator;
    return at_least(hl, min_hessian) & at_least(hr, min_hessian);
  }
#else
  struct Together {
    explicit Together(const PackedSearch&) {}
    bool takes(const SearchedFeature&) const { return false; }
    bool add(const SearchedFeature&, PackedCandidate&) { return false; }
    bool finish(PackedCandidate&) { return false; }
  };
#endif
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
