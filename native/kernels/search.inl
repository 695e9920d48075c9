// Best threshold of one feature in one leaf.
//
// Everything is in integer units of the layout, held in doubles, so that right = total - left is
// exact; the caller has scaled the rules to the same units. Prefix sums come first. Counts and
// hessians only grow along them, so the admissible thresholds are one interval: its ends are found
// by bisection, and inside it eight thresholds are looked at together. A gain is numerator over
// denominator; whether it can beat the best one so far is asked by multiplication, so that few
// thresholds pay for a division. Bins without rows repeat the gain of the bin before; small leaves
// skip them.

struct Prefix {
  int n = 0;            // thresholds
  double* gradient;     // of the rows at or below the threshold
  double* hessian;
  int64_t* count;
  uint64_t* words;      // room for packed sums
  int32_t* bin;         // nullptr: threshold t is bin t
};

// Integers to doubles in place.
inline void convert(double* values, int n) {
  for (int i = 0; i < n; i += 8) store(values + i, __builtin_convertvector(load<V8i>(values + i), V8d));
}

// The leaf has so few rows that sums of packed words cannot overflow: add first, unpack after.
void prefix_packed(const PackedCell* cells, int n, bool skip_empty, const CellLayout& layout, Prefix& p) {
  uint64_t* const words = p.words;
  uint64_t sum = 0;
  int m = 0;
  if (skip_empty) {
    for (int b = 0; b < n; ++b) {
      sum += cells[b];
      words[m] = sum;
      p.bin[m] = b;
      m += cells[b] != 0;
    }
  } else {
    for (; m < n; ++m) {
      sum += cells[m];
      words[m] = sum;
    }
    p.bin = nullptr;
  }
  p.n = m;
  const Unpacker unpack(layout);
  for (int i = 0; i < m; i += 8) {
    const V8u word = load<V8u>(words + i);
    const V8i count = (V8i)(word & unpack.count_mask);
    const V8i hessian = layout.constant_hessian() ? count : (V8i)((word >> unpack.count_bits) & unpack.hessian_mask);
    store(p.gradient + i, __builtin_convertvector((V8i)word >> unpack.gradient_shift, V8d));
    store(p.hessian + i, __builtin_convertvector(hessian, V8d));
    store(p.count + i, count);
  }
}

// Prefix sums of anything that yields the fields of bin b.
template <class Read>
inline void prefix_fields(int n, bool constant_hessian, const Read& read, Prefix& p) {
  auto* const gradients = reinterpret_cast<int64_t*>(p.gradient);
  auto* const hessians = reinterpret_cast<int64_t*>(p.hessian);
  Fields sum{0, 0, 0};
  for (int b = 0; b < n; ++b) {
    const Fields f = read(b);
    sum.gradient += f.gradient;
    sum.hessian += f.hessian;
    sum.count += f.count;
    gradients[b] = sum.gradient;
    hessians[b] = constant_hessian ? sum.count : sum.hessian;
    p.count[b] = sum.count;
  }
  p.n = n;
  p.bin = nullptr;
  convert(p.gradient, n);
  convert(p.hessian, n);
}

// LightGBM's gain of a leaf at its constrained value: -(2 S(G) w + (H + l2) w^2).
inline V8d leaf_gain(const V8d& gradient, const V8d& hessian, const V8d& count, const SplitRules& r,
                     double parent_output) {
  const V8d shrunk = max8(abs8(gradient) - r.lambda_l1, fill8(0.0));
  const V8d s = gradient < 0.0 ? -shrunk : shrunk;
  const V8d denominator = hessian + r.lambda_l2;
  V8d w = -s / denominator;
  if (r.max_delta_step > 0.0) w = max8(min8(w, fill8(r.max_delta_step)), fill8(-r.max_delta_step));
  if (r.path_smooth > 0.0) {
    const V8d trust = count / r.path_smooth;
    w = w * trust / (trust + 1.0) + parent_output / (trust + 1.0);
  }
  return -(2.0 * s * w + denominator * w * w);
}

struct Interval {
  int begin, end;
};

// First t in [0, n) for which holds(t); n if none. `holds` is false up to a point and true after.
template <class Holds>
inline int bisect(int n, const Holds& holds) {
  int low = 0;
  int high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Thresholds that leave enough rows and weight on both sides, with `add` rows more on the left.
inline Interval admissible(const SearchArgs& a, const SplitRules& r, const Prefix& p, const Fields& add) {
  const auto extra_count = static_cast<double>(add.count);
  const auto extra_hessian = static_cast<double>(add.hessian);
  const auto left_ok = [&](int t) {
    const double count = static_cast<double>(p.count[t]) + extra_count;
    const double hessian = p.hessian[t] + extra_hessian;
    return count >= r.min_data && hessian >= r.min_sum_hessian && hessian + r.lambda_l2 > 0.0;
  };
  const auto right_short = [&](int t) {
    const double count = a.count - (static_cast<double>(p.count[t]) + extra_count);
    const double hessian = a.hessian - (p.hessian[t] + extra_hessian);
    return !(count >= r.min_data && hessian >= r.min_sum_hessian && hessian + r.lambda_l2 > 0.0);
  };
  return {bisect(p.n, left_ok), bisect(p.n, right_short)};
}

// Raises `best` to the first highest gain in the interval that exceeds it; returns its threshold, or
// -1 if none does.
template <bool kPlain>
int evaluate(const SearchArgs& a, const SplitRules& r, const Prefix& p, const Fields& add, Interval range,
             double& best) {
  const auto mg = static_cast<double>(add.gradient);
  const auto mh = static_cast<double>(add.hessian);
  const auto mc = static_cast<double>(add.count);
  // A little below the best: rounding must not hide a better threshold.
  const auto nearly = [](double gain) { return gain - 1e-12 * (gain < 0.0 ? -gain : gain); };
  double bar = nearly(best);
  int found = -1;
  for (int i = range.begin; i < range.end; i += 8) {
    const V8d gl = load<V8d>(p.gradient + i) + mg;
    const V8d hl = load<V8d>(p.hessian + i) + mh;
    const V8d gr = a.gradient - gl;
    const V8d hr = a.hessian - hl;
    V8d gain;
    if constexpr (kPlain) {
      const V8d dl = hl + r.lambda_l2;
      const V8d dr = hr + r.lambda_l2;
      const V8d numerator = gl * gl * dr + gr * gr * dl;
      const V8d denominator = dl * dr;
      if (!any8(numerator > bar * denominator)) continue;
      gain = numerator / denominator;
    } else {
      const V8d cl = __builtin_convertvector(load<V8i>(p.count + i), V8d) + mc;
      gain = leaf_gain(gl, hl, cl, r, a.parent_output) + leaf_gain(gr, hr, a.count - cl, r, a.parent_output);
    }
    const int lanes = range.end - i < 8 ? range.end - i : 8;
    for (int k = 0; k < lanes; ++k) {
      if (gain[k] > best) {
        best = gain[k];
        found = i + k;
      }
    }
    bar = nearly(best);
  }
  return found;
}

// Tries the thresholds with `add` (the missing rows) on the left; empty: on the right.
bool improve(const SearchArgs& a, const SplitRules& r, const Prefix& p, const Fields& add, Candidate& best) {
  Interval range = admissible(a, r, p, add);
  if (a.only_threshold >= 0) {
    if (a.only_threshold < range.begin || a.only_threshold >= range.end) return false;
    range = {a.only_threshold, a.only_threshold + 1};
  }
  if (range.begin >= range.end) return false;
  const int t = r.plain() ? evaluate<true>(a, r, p, add, range, best.gain)
                          : evaluate<false>(a, r, p, add, range, best.gain);
  if (t < 0) return false;
  best.threshold = p.bin != nullptr ? p.bin[t] : t;
  best.missing_left = add.count > 0;
  return true;
}

bool search(const SearchArgs& a, const CellLayout& layout, const SplitRules& rules, Candidate& best) {
  const int n = a.n_value_bins;
  const int64_t step = (n + 16) & ~7;
  Prefix p{0, a.scratch, a.scratch + step, reinterpret_cast<int64_t*>(a.scratch + 2 * step),
           reinterpret_cast<uint64_t*>(a.scratch + 3 * step), reinterpret_cast<int32_t*>(a.scratch + 4 * step)};
  const bool constant = layout.constant_hessian();
  const Unpacker unpack(layout);
  Fields missing{0, 0, 0};
  if (a.cells == nullptr) {
    const LargeCells c = a.large;
    const auto read = [c](int b) { return Fields{c.gradient[b], c.hessian[b], static_cast<int64_t>(c.count[b])}; };
    prefix_fields(n, constant, read, p);
    if (a.has_missing) missing = read(n);
  } else if (layout.wide) {
    const auto* const cells = static_cast<const WideCell*>(a.cells);
    prefix_fields(n, constant, [&](int b) { return unpack(cells[b]); }, p);
    if (a.has_missing) missing = unpack(cells[n]);
  } else {
    const auto* const cells = static_cast<const PackedCell*>(a.cells);
    prefix_packed(cells, n, a.count < 2.0 * n && a.only_threshold < 0, layout, p);
    if (a.has_missing) missing = unpack(cells[n]);
  }
  if (constant) missing.hessian = missing.count;
  bool improved = improve(a, rules, p, Fields{0, 0, 0}, best);
  if (missing.count > 0) improved |= improve(a, rules, p, missing, best);
  return improved;
}
