// Best threshold of one feature in one leaf.
//
// Everything is in integer units of the layout, held in doubles, so that right = total - left is
// exact; the caller has scaled the rules to the same units. Prefix sums come first, then eight
// thresholds are evaluated together. A gain is numerator over denominator; a multiplication tells
// whether it can beat the best one so far, so that few thresholds need a division. Bins without
// rows repeat the gain of the bin before; small leaves skip them.

struct Prefix {
  static constexpr bool kIsPacked = false;
  int n = 0;         // thresholds
  double* gradient;  // sums of the rows at or below the threshold
  double* hessian;
  double* count;
  int32_t* bin;  // nullptr: threshold t is bin t

  Fields always = {0, 0, 0};  // rows on the left of every threshold: the missing ones, or none

  V8d gradients(int i) const { return load<V8d>(gradient + i) + static_cast<double>(always.gradient); }
  V8d hessians(int i) const { return load<V8d>(hessian + i) + static_cast<double>(always.hessian); }
  V8d counts(int i) const { return load<V8d>(count + i) + static_cast<double>(always.count); }
  int64_t count_at(int i) const { return static_cast<int64_t>(count[i]) + always.count; }
  int bin_of(int t) const { return bin != nullptr ? bin[t] : t; }
  Prefix with(const Fields& left) const {
    Prefix p = *this;
    p.always = left;
    return p;
  }
};

// Converts integers to doubles in place.
inline void convert_in_place(double* values, int n) {
  for (int i = 0; i < n; i += 8) store(values + i, convert<V8d>(load<V8i>(values + i)));
}

#if defined(GOSSAMER_AVX2) && !defined(GOSSAMER_AVX512)
// A set of four 64-bit slots as a set of their eight halves.
struct BothHalves {
  uint32_t set[16] = {};

  constexpr BothHalves() {
    for (uint32_t four = 0; four < 16; ++four) {
      for (uint32_t k = 0; k < 4; ++k) set[four] |= (four >> k & 1) * (3u << (2 * k));
    }
  }
};
constexpr BothHalves kBothHalves;
#endif

#if defined(GOSSAMER_AVX512)
// Sums up to each of eight words, and of what came before, to which the last sum goes.
inline __m512i running_sums(__m512i eight, __m512i& before) {
  const __m512i zero = _mm512_setzero_si512();
  eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 7));
  eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 6));
  eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 4));
  asm("" : "+v"(eight));  // gcc would add `before` first and wait for it three instructions earlier
  const __m512i sums = _mm512_add_epi64(eight, before);
  before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), eight));
  return sums;
}

// Which of eight words from word i on are among n.
inline __mmask8 first_words(int i, int n) { return static_cast<__mmask8>(n - i < 8 ? (1u << (n - i)) - 1 : 255u); }
#endif

// Collects cells that hold rows; returns how many. What follows them is overwritten.
inline int gather_filled(const PackedCell* cells, int n, uint64_t* words, uint8_t* filled) {
  int m = 0;
  int b = 0;
#if defined(GOSSAMER_AVX512)
  for (; b < n; b += 8) {
    const __m512i eight = _mm512_maskz_loadu_epi64(first_words(b, n), cells + b);
    const __mmask8 kept = _mm512_test_epi64_mask(eight, eight);
    _mm512_storeu_si512(words + m, _mm512_maskz_compress_epi64(kept, eight));
    filled[b / 8] = kept;
    m += __builtin_popcount(kept);
  }
#elif defined(GOSSAMER_AVX2)
  for (; b + 8 <= n; b += 8) {
    uint32_t kept = 0;
    for (int half = 0; half < 2; ++half) {
      const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(cells + b + 4 * half));
      const __m256i empty = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
      const uint32_t set = ~static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(empty))) & 15;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + m), put_first(four, kBothHalves.set[set]));
      m += __builtin_popcount(set);
      kept |= set << (4 * half);
    }
    filled[b / 8] = static_cast<uint8_t>(kept);
  }
#endif
  for (uint32_t kept = 0; b < n; ++b) {
    const bool is_filled = cells[b] != 0;
    words[m] = cells[b];
    m += is_filled;
    kept = (b % 8 == 0 ? 0 : kept) | static_cast<uint32_t>(is_filled) << (b % 8);
    filled[b / 8] = static_cast<uint8_t>(kept);
  }
  return m;
}

// The bin of filled cell number t.
inline int nth_filled(const uint8_t* filled, int t) {
  int b = 0;
  for (int n_set = 0; n_set = __builtin_popcount(filled[b / 8]), t >= n_set; b += 8) t -= n_set;
  uint32_t set = filled[b / 8];
  for (; t > 0; --t) set &= set - 1;
  return b + __builtin_ctz(set);
}

// The leaf has so few rows that sums of packed words cannot overflow: add first, unpack after. What follows the sums is
// overwritten.
void add_up(const uint64_t* values, int n, uint64_t* sums) {
#if defined(GOSSAMER_AVX512)
  __m512i before = _mm512_setzero_si512();
  for (int i = 0; i < n; i += 8) {
    const __m512i eight = _mm512_maskz_loadu_epi64(first_words(i, n), values + i);
    _mm512_storeu_si512(sums + i, running_sums(eight, before));
  }
#else
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += values[i];
    sums[i] = sum;
  }
#endif
}

// Prefix sums of packed cells. They stay packed: most blocks of thresholds are passed over for their counts alone.
struct PackedPrefix {
  static constexpr bool kIsPacked = true;
  const Unpacker unpack;
  const bool constant_hessian;
  uint64_t* words;
  uint8_t* filled;  // a bit for each bin that holds rows: these are the thresholds; nullptr: threshold t is bin t
  int n = 0;        // thresholds
  uint64_t always = 0;

  PackedPrefix(const CellLayout& layout, const PackedCell* cells, int n_bins, bool skip_empty, uint64_t* words_buffer,
               uint8_t* filled_buffer)
      : unpack(layout),
        constant_hessian(layout.constant_hessian()),
        words(words_buffer),
        filled(skip_empty ? filled_buffer : nullptr) {
    n = skip_empty ? gather_filled(cells, n_bins, words, filled) : n_bins;
    add_up(skip_empty ? words : cells, n, words);
  }

  V8u sums(int i) const { return load<V8u>(words + i) + always; }
  V8d gradients(int i) const { return small_to_double(bits_as<V8i>(sums(i)) >> unpack.gradient_shift); }
  V8d counts(int i) const { return small_to_double(bits_as<V8i>(sums(i) & unpack.count_mask)); }
  V8d hessians(int i) const {
    if (constant_hessian) return counts(i);
    return small_to_double(bits_as<V8i>((sums(i) >> unpack.count_bits) & unpack.hessian_mask));
  }
  int64_t count_at(int i) const { return static_cast<int64_t>((words[i] + always) & unpack.count_mask); }
  PackedPrefix with(const Fields& left) const {
    PackedPrefix p = *this;
    p.always = (static_cast<uint64_t>(left.gradient) << unpack.gradient_shift) + static_cast<uint64_t>(left.count);
    if (!constant_hessian) p.always += static_cast<uint64_t>(left.hessian) << unpack.count_bits;
    return p;
  }
  int bin_of(int t) const { return filled != nullptr ? nth_filled(filled, t) : t; }

  void unpack_all(Prefix& p) const {
    for (int i = 0; i < n; i += 8) {
      store(p.gradient + i, gradients(i));
      store(p.hessian + i, hessians(i));
      store(p.count + i, counts(i));
    }
    p.n = n;
    if (filled == nullptr) p.bin = nullptr;
    for (int t = 0, b = 0; filled != nullptr && t < n; ++b) {
      if (filled[b / 8] >> (b % 8) & 1) p.bin[t++] = b;
    }
  }
};

// Prefix sums; `read` yields the fields of bin b.
template <class Read>
inline void prefix_fields(int n, bool constant_hessian, const Read& read, Prefix& p) {
  auto* const gradients = reinterpret_cast<int64_t*>(p.gradient);
  auto* const hessians = reinterpret_cast<int64_t*>(p.hessian);
  auto* const counts = reinterpret_cast<int64_t*>(p.count);
  Fields sum{0, 0, 0};
  for (int b = 0; b < n; ++b) {
    const Fields f = read(b);
    sum.gradient += f.gradient;
    sum.hessian += f.hessian;
    sum.count += f.count;
    gradients[b] = sum.gradient;
    hessians[b] = constant_hessian ? sum.count : sum.hessian;
    counts[b] = sum.count;
  }
  p.n = n;
  p.bin = nullptr;
  convert_in_place(p.gradient, n);
  convert_in_place(p.hessian, n);
  convert_in_place(p.count, n);
}

// Prefix sums of the cells of a large leaf. What follows them is overwritten.
inline void prefix_large(const LargeCells& cells, int n, bool constant_hessian, Prefix& p) {
#if defined(GOSSAMER_AVX512)
  __m512i gradient = _mm512_setzero_si512();
  __m512i hessian = gradient;
  __m512i count = gradient;
  for (int i = 0; i < n; i += 8) {
    const __mmask8 inside = first_words(i, n);
    const auto to_sums = [](__m512i eight, __m512i& before) { return _mm512_cvtepi64_pd(running_sums(eight, before)); };
    const __m512i counts = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(inside, cells.count + i));
    const __m512d count_sums = to_sums(counts, count);
    _mm512_storeu_pd(p.count + i, count_sums);
    _mm512_storeu_pd(p.gradient + i, to_sums(_mm512_maskz_loadu_epi64(inside, cells.gradient + i), gradient));
    _mm512_storeu_pd(p.hessian + i, constant_hessian
                                        ? count_sums
                                        : to_sums(_mm512_maskz_loadu_epi64(inside, cells.hessian + i), hessian));
  }
  p.n = n;
  p.bin = nullptr;
#else
  const auto read = [&](int b) {
    return Fields{cells.gradient[b], cells.hessian[b], static_cast<int64_t>(cells.count[b])};
  };
  prefix_fields(n, constant_hessian, read, p);
#endif
}

// A little below the best gain: rounding must not hide a better threshold.
inline V8d nearly(double gain) { return fill8(gain - 1e-12 * magnitude_of(gain)); }

// Limits of eight thresholds.
struct Limits8 {
  V8d low, high;

  V8d clamp(const V8d& w) const { return max8(min8(w, high), low); }
};

inline V8d eight_limits(const double* by_threshold, const Prefix& p, int i) {
  if (p.bin == nullptr) return load<V8d>(by_threshold + i);
  V8d limits;
  for (int k = 0; k < 8; ++k) limits[k] = i + k < p.n ? by_threshold[p.bin[i + k]] : 0.0;
  return limits;
}

inline Limits8 limits_of(const ValueLimits& limits, int side, const Prefix& p, int i) {
  if (limits.by_threshold[0] == nullptr) return {fill8(limits.low), fill8(limits.high)};
  return {eight_limits(limits.by_threshold[2 * side], p, i), eight_limits(limits.by_threshold[2 * side + 1], p, i)};
}

// Both sides of eight splits. Without L2, hessians are the denominators: to add zero would not change them.
template <bool kHasL2>
inline GainFraction<V8d> fraction_of(const V8d& gl, const V8d& hl, const V8d& gr, const V8d& hr, double lambda_l2) {
  if constexpr (kHasL2) return plain_gain(gl, hl, gr, hr, lambda_l2);
  return gain_fraction<V8d>(gl, hl, gr, hr);
}

// Raises `best` to the first highest gain that exceeds it among thresholds [begin, end); returns that threshold, or -1.
// With kLimited, both values are clamped to a.limits; the gain without limits is never less.
template <bool kPlain, bool kHasL2, bool kLimited, class PrefixSums>
int evaluate(const SearchArgs& a, const SplitRules& r, const PrefixSums& p, int begin, int end, double& best) {
  const auto least_count = static_cast<int64_t>(__builtin_ceil(r.min_data));
  const auto most_count = static_cast<int64_t>(a.count) - least_count;
  const V8d min_data = fill8(r.min_data);
  const V8d min_hessian = fill8(least_hessian(r));
  V8d bar = nearly(best);
  int found = -1;
  for (int i = begin; i < end; i += 8) {
    // Counts rise with the threshold: most thresholds of a small leaf leave one side too few rows.
    const bool is_whole = i + 8 <= end;
    const int64_t first_count = p.count_at(i);
    const int64_t last_count = is_whole ? p.count_at(i + 7) : most_count + 1;
    if (last_count < least_count && is_whole) continue;
    if (first_count > most_count) break;
    const V8d gl = p.gradients(i);
    const V8d hl = p.hessians(i);
    const V8d gr = a.gradient - gl;
    const V8d hr = a.hessian - hl;
    [[maybe_unused]] GainFraction<V8d> both{};
    Mask8 admissible;
    if constexpr (kPlain) {
      both = fraction_of<kHasL2>(gl, hl, gr, hr, r.lambda_l2);
      admissible = above(both.numerator, bar * both.denominator);
      if (!any(admissible)) continue;
      admissible &= at_least(hl, min_hessian) & at_least(hr, min_hessian);
    } else {
      admissible = at_least(hl, min_hessian) & at_least(hr, min_hessian);
    }
    if (first_count < least_count || last_count > most_count) {
      const V8d cl = p.counts(i);
      admissible &= at_least(cl, min_data) & at_least(a.count - cl, min_data);
    }
    if (!any(admissible)) continue;
    V8d gain;
    if constexpr (kPlain && !kLimited) {
      gain = both.numerator / both.denominator;
    } else if constexpr (!kLimited) {
      const V8d cl = p.counts(i);
      gain = leaf_gain(gl, hl, cl, r, a.parent_output) + leaf_gain<V8d>(gr, hr, a.count - cl, r, a.parent_output);
    }
    [[maybe_unused]] V8d rise{};
    if constexpr (kLimited) {
      const V8d cl = p.counts(i);
      const V8d cr = a.count - cl;
      const V8d dl = hl + r.lambda_l2;
      const V8d dr = hr + r.lambda_l2;
      const V8d sl = shrink(gl, r.lambda_l1);
      const V8d sr = shrink(gr, r.lambda_l1);
      const V8d wl = limits_of(*a.limits, 0, p, i).clamp(value_of(sl, dl, cl, r, a.parent_output));
      const V8d wr = limits_of(*a.limits, 1, p, i).clamp(value_of(sr, dr, cr, r, a.parent_output));
      gain = gain_at(gl, sl, dl, wl, r) + gain_at(gr, sr, dr, wr, r);
      rise = a.limits->direction > 0 ? wr - wl : wl - wr;
    }
    const int n = end - i < 8 ? end - i : 8;
    for (int k = 0; k < n; ++k) {
      if constexpr (kLimited) {
        if (rise[k] < 0.0 && a.limits->orders(p.bin_of(i + k))) continue;
      }
      if (is_set(admissible, k) && gain[k] > best) {
        best = gain[k];
        found = i + k;
      }
    }
    bar = nearly(best);
  }
  return found;
}

template <bool kLimited, class PrefixSums>
bool improve_within(const SearchArgs& a, const SplitRules& r, const PrefixSums& p, const Fields& add, Candidate& best) {
  const int begin = a.only_threshold >= 0 ? a.only_threshold : 0;
  const int end = a.only_threshold >= 0 ? a.only_threshold + 1 : p.n;
  const auto run = !r.plain()           ? evaluate<false, true, kLimited, PrefixSums>
                   : r.lambda_l2 != 0.0 ? evaluate<true, true, kLimited, PrefixSums>
                                        : evaluate<true, false, kLimited, PrefixSums>;
  const int t = run(a, r, p.with(add), begin, end, best.gain);
  if (t < 0) return false;
  best.threshold = p.bin_of(t);
  best.missing_left = add.count > 0;
  return true;
}

template <class PrefixSums>
bool improve(const SearchArgs& a, const SplitRules& r, const PrefixSums& p, const Fields& add, Candidate& best) {
  if constexpr (!PrefixSums::kIsPacked) {
    if (a.limits != nullptr) return improve_within<true>(a, r, p, add, best);
  }
  return improve_within<false>(a, r, p, add, best);
}

// All values go left, missing ones right: there is nothing to order, whatever the direction. The threshold must be the
// leaf's last bin, whether or not it holds rows.
bool part_missing(const SearchArgs& a, const SplitRules& r, const Prefix& p, Candidate& best) {
  ValueLimits limits = *a.limits;
  limits.direction = 0;
  SearchArgs all = a;
  all.limits = &limits;
  Prefix last = p;
  int32_t bins[8];
  for (int k = 0; k < 8; ++k) bins[k] = a.limits->last_bin;
  last.gradient += p.n - 1;
  last.hessian += p.n - 1;
  last.count += p.n - 1;
  last.n = 1;
  last.bin = bins;
  return improve(all, r, last, Fields{0, 0, 0}, best);
}

// Missing rows on the right, then on the left.
template <class PrefixSums>
bool improve_both(const SearchArgs& a, const SplitRules& rules, const PrefixSums& p, const Fields& missing,
                  Candidate& best) {
  bool improved = improve(a, rules, p, Fields{0, 0, 0}, best);
  if (missing.count > 0) improved |= improve(a, rules, p, missing, best);
  return improved;
}

bool search(const SearchArgs& a, const CellLayout& layout, const SplitRules& rules, Candidate& best) {
  const int n = a.n_value_bins;
  const int64_t step = (n + 16) & ~7;
  Prefix p{0, a.scratch, a.scratch + step, a.scratch + 2 * step, reinterpret_cast<int32_t*>(a.scratch + 4 * step)};
  const bool constant = layout.constant_hessian();
  const Unpacker unpack(layout);
  Fields missing{0, 0, 0};
  if (a.cells == nullptr) {
    const LargeCells c = a.large;
    prefix_large(c, n, constant, p);
    if (a.has_missing) missing = {c.gradient[n], c.hessian[n], static_cast<int64_t>(c.count[n])};
  } else if (layout.wide) {
    const auto* const cells = static_cast<const WideCell*>(a.cells);
    prefix_fields(n, constant, [&](int b) { return unpack(cells[b]); }, p);
    if (a.has_missing) missing = unpack(cells[n]);
  } else {
    const auto* const cells = static_cast<const PackedCell*>(a.cells);
    if (a.has_missing) missing = unpack(cells[n]);
    if (constant) missing.hessian = missing.count;
    // Where limits depend on the threshold, an empty bin may have another gain than the bin before.
    const bool repeats = a.limits == nullptr || a.limits->by_threshold[0] == nullptr;
    const bool skip_empty = a.count < 2.0 * n && a.only_threshold < 0 && repeats;
    const PackedPrefix packed(layout, cells, n, skip_empty, reinterpret_cast<uint64_t*>(a.scratch + 3 * step),
                              reinterpret_cast<uint8_t*>(p.bin + step));
    if (a.limits == nullptr) return improve_both(a, rules, packed, missing, best);
    packed.unpack_all(p);
  }
  if (constant) missing.hessian = missing.count;
  bool improved = improve_both(a, rules, p, missing, best);
  const bool ordered = a.limits != nullptr && a.limits->direction != 0 && a.only_threshold < 0;
  if (ordered && missing.count > 0 && p.n > 0 && a.limits->last_bin >= a.limits->first_bin) {
    improved |= part_missing(a, rules, p, best);
  }
  return improved;
}

// ---- many splits, one cell each ----

struct Fields8 {
  V8i gradient;
  V8i hessian;
  V8i count;
};

// Gains of eight splits, with the arithmetic of `evaluate`: left is the leaf minus the cell.
template <bool kPlain, class Read>
bool evaluate_right(const SearchRightArgs& a, const SplitRules& r, bool constant_hessian, const Read& read,
                    FeatureCandidate& best) {
  const auto total_gradient = static_cast<double>(a.leaf.gradient);
  const auto total_hessian = static_cast<double>(constant_hessian ? a.leaf.count : a.leaf.hessian);
  const auto total_count = static_cast<double>(a.leaf.count);
  const V8d min_data = fill8(r.min_data);
  const V8d min_hessian = fill8(least_hessian(r));
  V8d bar = nearly(best.gain);
  bool found = false;
  bool filled = best.any_filled;
  for (int i = 0; i < a.n; i += 8) {
    const int n_used = a.n - i < 8 ? a.n - i : 8;
    const Fields8 f = read(i, n_used);
    const V8i left_count = a.leaf.count - f.count;
    const V8d cl = convert<V8d>(left_count);
    const V8d cr = total_count - cl;
    filled |= any(at_least(cr, min_data));
    Mask8 admissible = at_least(cl, min_data) & at_least(cr, min_data);
    if (!any(admissible)) continue;
    const V8d gl = convert<V8d>(a.leaf.gradient - f.gradient);
    const V8d hl = constant_hessian ? cl : convert<V8d>(a.leaf.hessian - f.hessian);
    const V8d gr = total_gradient - gl;
    const V8d hr = total_hessian - hl;
    admissible &= at_least(hl, min_hessian) & at_least(hr, min_hessian);
    V8d gain;
    if constexpr (kPlain) {
      const GainFraction<V8d> both = plain_gain(gl, hl, gr, hr, r.lambda_l2);
      admissible &= above(both.numerator, bar * both.denominator);
      if (!any(admissible)) continue;
      gain = both.numerator / both.denominator;
    } else {
      if (!any(admissible)) continue;
      gain = leaf_gain(gl, hl, cl, r, a.parent_output) + leaf_gain(gr, hr, cr, r, a.parent_output);
    }
    for (int k = 0; k < n_used; ++k) {
      const int32_t feature = a.features[i + k];
      const bool better = beats(gain[k], feature, best.gain, best.feature);
      if (is_set(admissible, k) && better && (a.allowed == nullptr || a.allowed[feature])) {
        best.gain = gain[k];
        best.feature = feature;
        best.cell = i + k;
        found = true;
      }
    }
    bar = nearly(best.gain);
  }
  best.any_filled = filled;
  return found;
}

// Cells past the end read as empty.
template <class T>
inline const T* padded(const T* values, int i, int n_used, T* buffer) {
  if (n_used == 8) return values + i;
  for (int k = 0; k < 8; ++k) buffer[k] = k < n_used ? values[i + k] : T{};
  return buffer;
}

bool search_right(const SearchRightArgs& a, const CellLayout& layout, const SplitRules& rules, FeatureCandidate& best) {
  const bool constant = layout.constant_hessian();
  const Unpacker unpack(layout);
  const auto run = [&](const auto& read) {
    return rules.plain() ? evaluate_right<true>(a, rules, constant, read, best)
                         : evaluate_right<false>(a, rules, constant, read, best);
  };
  if (a.cells == nullptr) {
    return run([&](int i, int n_used) {
      int64_t buffer[8];
      uint32_t counts[8];
      Fields8 f;
      f.gradient = load<V8i>(padded(a.large.gradient, i, n_used, buffer));
      f.hessian = load<V8i>(padded(a.large.hessian, i, n_used, buffer));
      const uint32_t* const count = padded(a.large.count, i, n_used, counts);
      for (int k = 0; k < 8; ++k) f.count[k] = static_cast<int64_t>(count[k]);
      return f;
    });
  }
  if (layout.wide) {
    const auto* const cells = static_cast<const WideCell*>(a.cells);
    return run([&](int i, int n_used) {
      Fields8 f{};
      for (int k = 0; k < n_used; ++k) {
        const Fields one = unpack(cells[i + k]);
        f.gradient[k] = one.gradient;
        f.hessian[k] = one.hessian;
        f.count[k] = one.count;
      }
      return f;
    });
  }
  const auto* const cells = static_cast<const PackedCell*>(a.cells);
  return run([&](int i, int n_used) {
    uint64_t buffer[8];
    const V8u word = load<V8u>(padded(cells, i, n_used, buffer));
    Fields8 f;
    f.gradient = bits_as<V8i>(word) >> unpack.gradient_shift;
    f.hessian = bits_as<V8i>((word >> unpack.count_bits) & unpack.hessian_mask);
    f.count = bits_as<V8i>(word & unpack.count_mask);
    return f;
  });
}
