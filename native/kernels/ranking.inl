// Pairs of rows in one query, eight at a time. The first row of a pair has the better rank.

constexpr double kLn2 = 0.693147180559945309417;

double log2_of(double x) { return log8(fill8(x))[0] / kLn2; }

void discounts(int64_t n, double* out) {
  for (int64_t i = 0; i < n; i += 8) {
    V8d rank;
    for (int k = 0; k < 8; ++k) rank[k] = static_cast<double>(i + k + 2);
    const V8d d = kLn2 / log8(rank);
    for (int k = 0; k < 8 && i + k < n; ++k) out[i + k] = d[k];
  }
}

double exp_sum(const double* x, double shift, int64_t n, double* out) {
  V8d sum = fill8(0.0);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const V8d e = exp8(load<V8d>(x + i) - shift);
    store(out + i, e);
    sum += e;
  }
  V8d rest = fill8(0.0);
  for (int k = 0; i + k < n; ++k) rest[k] = x[i + k];
  rest = exp8(rest - shift);
  for (int k = 0; i + k < n; ++k) {
    out[i + k] = rest[k];
    sum[k] += rest[k];
  }
  return sum8(sum);
}

// Every key is compared with every other one: for few keys that is faster than sorting, since nothing is mispredicted.
void rank_keys(const int32_t* key, int64_t n, int32_t* rank) {
  V16i slot;
  for (int k = 0; k < 16; ++k) slot[k] = k;
  for (int64_t i = 0; i < n; i += 16) {
    const V16i own = load<V16i>(key + i);
    const int64_t end = i + 16 < n ? i + 16 : n;
    V16i n_before(0);
    for (int64_t j = 0; j < i; ++j) n_before = pick(V16i(key[j]) <= own, n_before + V16i(1), n_before);
    for (int64_t j = i; j < end; ++j) {
      const V16i other(key[j]);
      const V16i is_before = (other < own) | ((other == own) & (slot > V16i(static_cast<int32_t>(j - i))));
      n_before = pick(is_before, n_before + V16i(1), n_before);
    }
    for (int64_t j = end; j < n; ++j) n_before = pick(V16i(key[j]) < own, n_before + V16i(1), n_before);
    store(rank + i, n_before);
  }
}

// Eight rows of a query.
struct LambdaRows {
  V8d score, label, grown, gain, discount, n_relevant, harmonic, harmonic_before, rank;
};

template <PairDelta kDelta>
inline LambdaRows load_rows(const LambdaArgs& a, int64_t at) {
  LambdaRows rows;
  rows.score = load<V8d>(a.score + at);
  rows.label = load<V8d>(a.label + at);
  rows.grown = load<V8d>(a.grown + at);
  if constexpr (kDelta == PairDelta::ndcg) {
    rows.gain = load<V8d>(a.gain + at);
    rows.discount = load<V8d>(a.discount + at);
  }
  if constexpr (kDelta == PairDelta::map) {
    rows.n_relevant = load<V8d>(a.n_relevant + at);
    rows.harmonic = load<V8d>(a.harmonic + at);
    // Up to the rank before: the row's own share is excluded.
    for (int k = 0; k < 8; ++k) rows.rank[k] = static_cast<double>(at + k + 1);
    rows.harmonic_before = pick(rows.label > 0.0, rows.harmonic - 1.0 / rows.rank, rows.harmonic);
  }
  return rows;
}

template <PairDelta kDelta>
inline void put_row(const LambdaArgs& a, int64_t at, LambdaRows& rows, int k) {
  rows.score[k] = a.score[at];
  rows.label[k] = a.label[at];
  rows.grown[k] = a.grown[at];
  if constexpr (kDelta == PairDelta::ndcg) {
    rows.gain[k] = a.gain[at];
    rows.discount[k] = a.discount[at];
  }
  if constexpr (kDelta == PairDelta::map) {
    rows.n_relevant[k] = a.n_relevant[at];
    rows.harmonic[k] = a.harmonic[at];
    rows.rank[k] = static_cast<double>(at + 1);
    rows.harmonic_before[k] = rows.label[k] > 0.0 ? rows.harmonic[k] - 1.0 / rows.rank[k] : rows.harmonic[k];
  }
}

template <PairDelta kDelta>
inline LambdaRows fill_rows(const LambdaArgs& a, int64_t at) {
  LambdaRows rows;
  for (int k = 0; k < 8; ++k) put_row<kDelta>(a, at, rows, k);
  return rows;
}

constexpr double kFarthest = 600.0;  // exp of it, times any difference of such scores, does not overflow

// exp(sigmoid * (a - b)) of two scores is a quotient of exponentials of single rows, unless one of these overflows:
// each pair then has an exponential of its own.
inline bool is_far(const LambdaArgs& a, double highest, double lowest) {
  return !(a.sigmoid * (highest - lowest) < kFarthest);
}

inline void grow_scores(const LambdaArgs& a, double highest) {
  for (int64_t i = 0; i < a.n; i += 8) {
    const V8d grown = exp8((highest - load<V8d>(a.score + i)) * a.sigmoid);
    for (int k = 0; k < 8; ++k) a.grown[i + k] = i + k < a.n ? grown[k] : 1.0;
  }
}

// Relative error below 1e-11 in [-708, 708], clamped outside: accurate enough for gradients, and without a division.
GOSSAMER_INLINE V8d exp8_short(V8d x) {
  x = max8(min8(x, fill8(708.0)), fill8(-708.0));
  const V8d shifted = x * 1.4426950408889634074 + kRound;
  const V8d n = shifted - kRound;
  x = x - n * 6.93145751953125e-1;
  x = x - n * 1.42860682030941723212e-6;
  V8d e = x * (1.0 / 362880.0) + 1.0 / 40320.0;
  e = e * x + 1.0 / 5040.0;
  e = e * x + 1.0 / 720.0;
  e = e * x + 1.0 / 120.0;
  e = e * x + 1.0 / 24.0;
  e = e * x + 1.0 / 6.0;
  e = e * x + 0.5;
  e = e * x + 1.0;
  e = e * x + 1.0;
  return e * bits_as<V8d>((bits_as<V8u>(shifted) << 52) + (uint64_t{1023} << 52));
}

// Gradients of the first rows; the second rows get the negative.
struct Lambdas {
  V8d gradient, hessian, size;
};

// `shrunk`: 1 over `grown` of the first rows.
template <PairDelta kDelta, bool kFar>
inline Lambdas lambdas(const LambdaArgs& a, const LambdaRows& first, const V8d& shrunk, const LambdaRows& second,
                       const V8i& counts) {
  const V8d distance = max8(first.score - second.score, fill8(0.0));  // negative only in slots that do not count
  const auto is_high = first.label > second.label;
  V8d delta = fill8(1.0);
  if constexpr (kDelta == PairDelta::ndcg) {
    const V8d gap = first.gain - second.gain;
    delta = pick(is_high, gap, -gap) * (first.discount - second.discount) * a.scale;
  }
  if constexpr (kDelta == PairDelta::map) {
    const V8d between = second.harmonic_before - first.harmonic;
    const V8d own = first.n_relevant / first.rank;
    const V8d other = second.n_relevant / second.rank;
    const V8d change = pick(is_high, own - other + between, (other - own - 1.0 / first.rank) - between);
    delta = abs8(change) * a.scale;
  }
  delta = pick(counts, delta, fill8(0.0));
  const V8d e = kFar ? exp8_short(min8(distance * a.sigmoid, fill8(kFarthest))) : shrunk * second.grown;
  // p is 1 / (1 + e), or e times that if the second row should be first. It shares a division with the difference.
  const V8d spread = a.divide_by_difference ? 0.01 + distance : fill8(1.0);
  const V8d inverse = 1.0 / ((1.0 + e) * spread);
  const V8d least = spread * inverse;
  const V8d size = a.sigmoid * delta * pick(is_high, inverse, e * inverse);
  const V8d weight = a.divide_by_difference ? (1.0 + e) * inverse * delta : delta;
  const V8d curvature = max8(e * least * least, fill8(a.hessian_floor));
  return {pick(is_high, -size, size), curvature * (a.sigmoid * a.sigmoid * a.hessian_factor) * weight, size};
}

// Blocks of eight ranks: the label that all of them share, or NaN.
inline void share_labels(const LambdaArgs& a) {
  for (int64_t b = 0; b < a.n; b += 8) {
    const double label = a.label[b];
    bool same = true;
    for (int64_t j = b; j < b + 8 && j < a.n; ++j) same &= a.label[j] == label;
    a.shared[b / 8] = same ? label : __builtin_nan("");
  }
}

// Ranks i < n_top with the ranks after them in [begin, end), a multiple of eight apart.
template <PairDelta kDelta, bool kFar>
inline V8d tile_pairs(const LambdaArgs& a, int64_t n_top, int64_t begin, int64_t end) {
  const V8i slot = slot_numbers();
  V8d total = fill8(0.0);
  for (int64_t i = 0; i < n_top && i + 1 < end; ++i) {
    const LambdaRows first = fill_rows<kDelta>(a, i);
    const double label = a.label[i];
    const V8d shrunk = fill8(1.0 / a.grown[i]);
    V8d gradient = fill8(0.0);
    V8d hessian = fill8(0.0);
    const int64_t after = (i + 1) & ~int64_t{7};
    for (int64_t j = after > begin ? after : begin; j < end; j += 8) {
      if (a.shared[j / 8] == label) continue;
      V8i counts = load<V8d>(a.label + j) != first.label;
      if (j <= i) counts = counts & (slot > i - j);
      if (j + 8 > a.n) counts = counts & (slot < a.n - j);
      const Lambdas pairs = lambdas<kDelta, kFar>(a, first, shrunk, load_rows<kDelta>(a, j), counts);
      gradient += pairs.gradient;
      hessian += pairs.hessian;
      total += pairs.size;
      store(a.gradient + j, load<V8d>(a.gradient + j) - pairs.gradient);
      store(a.hessian + j, load<V8d>(a.hessian + j) + pairs.hessian);
    }
    a.gradient[i] += sum8(gradient);
    a.hessian[i] += sum8(hessian);
  }
  return total;
}

template <PairDelta kDelta>
double top_pairs(const LambdaArgs& a, int64_t n_top) {
  if constexpr (kDelta == PairDelta::ndcg) {
    if (fill_near(a)) return a.divide_by_difference ? add_near_pairs<true>(a, n_top) : add_near_pairs<false>(a, n_top);
  }
  constexpr int64_t kTile = 2048;  // stays in cache while all first rows pass over it
  share_labels(a);
  const bool far = is_far(a, a.score[0], a.score[a.n - 1]);
  if (!far) grow_scores(a, a.score[0]);
  const auto tile = far ? tile_pairs<kDelta, true> : tile_pairs<kDelta, false>;
  V8d total = fill8(0.0);
  for (int64_t begin = 0; begin < a.n; begin += kTile) {
    total += tile(a, n_top, begin, begin + kTile < a.n ? begin + kTile : a.n);
  }
  return 2.0 * sum8(total);
}

template <PairDelta kDelta>
double listed_pairs(const LambdaArgs& a, const int32_t* first, const int32_t* second, int64_t n_pairs) {
  V8d total = fill8(0.0);
  for (int64_t i = 0; i < n_pairs; i += 8) {
    const int n = n_pairs - i < 8 ? static_cast<int>(n_pairs - i) : 8;
    LambdaRows rows = fill_rows<kDelta>(a, first[i]);
    LambdaRows others = rows;  // slots without a pair have equal labels, so they add nothing
    for (int k = 0; k < n; ++k) {
      put_row<kDelta>(a, first[i + k], rows, k);
      put_row<kDelta>(a, second[i + k], others, k);
    }
    for (int k = n; k < 8; ++k) put_row<kDelta>(a, first[i], rows, k);
    const Lambdas pairs = lambdas<kDelta, true>(a, rows, fill8(1.0), others, rows.label != others.label);
    total += pairs.size;
    for (int k = 0; k < n; ++k) {
      a.gradient[first[i + k]] += pairs.gradient[k];
      a.hessian[first[i + k]] += pairs.hessian[k];
      a.gradient[second[i + k]] -= pairs.gradient[k];
      a.hessian[second[i + k]] += pairs.hessian[k];
    }
  }
  return 2.0 * sum8(total);
}

double lambda_top(const LambdaArgs& a, int64_t n_top) {
  switch (a.delta) {
    case PairDelta::ndcg: return top_pairs<PairDelta::ndcg>(a, n_top);
    case PairDelta::pairwise: return top_pairs<PairDelta::pairwise>(a, n_top);
    default: return top_pairs<PairDelta::map>(a, n_top);
  }
}

double lambda_listed(const LambdaArgs& a, const int32_t* first, const int32_t* second, int64_t n_pairs) {
  switch (a.delta) {
    case PairDelta::ndcg: return listed_pairs<PairDelta::ndcg>(a, first, second, n_pairs);
    case PairDelta::pairwise: return listed_pairs<PairDelta::pairwise>(a, first, second, n_pairs);
    default: return listed_pairs<PairDelta::map>(a, first, second, n_pairs);
  }
}
