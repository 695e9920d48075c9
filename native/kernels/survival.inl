// Accelerated failure time: loss and derivatives of intervals of times, eight rows at a time.
//
// With z = (log(time) - score) / sigma, a row's loss is -log(density(z) / (sigma * time)) where its time is
// known, else -log(cdf(z of the upper end) - cdf(z of the lower end)). The forms below neither cancel nor
// underflow in the tails: only the results are clipped.

enum : int { kNormal = 0, kLogistic = 1, kExtreme = 2 };
constexpr double kLogRootTwoPi = 0.91893853320467274178;

// A time that is known has lower == upper. No lower end: 0; no upper end: infinite.
struct AftRows {
  V8d lower_z, upper_z;  // finite; the two below tell which ends do not exist
  V8i exact, no_lower, no_upper;
  V8d log_time;  // of the lower end, for known times
};

// Loss and its derivatives by the score times sigma and sigma squared.
struct AftTerms {
  V8d loss, gradient, hessian;
};

inline AftRows aft_rows(const V8d& score, const V8d& lower, const V8d& upper, double sigma) {
  AftRows rows;
  rows.exact = lower == upper;
  rows.no_lower = lower <= 0.0;
  rows.no_upper = upper > 1e300;
  rows.log_time = log8(pick(rows.no_lower, fill8(1.0), lower));
  rows.lower_z = (rows.log_time - score) / sigma;
  rows.upper_z = (log8(pick(rows.no_upper, fill8(1.0), upper)) - score) / sigma;
  return rows;
}

// The interval is mirrored so that its end u nearer to the centre is the upper one. In the lower tail all terms are
// relative to density(u), through the Mills ratio.
inline AftTerms aft_normal(const AftRows& rows) {
  const V8d most = fill8(1e4), beyond = fill8(1e5);
  V8d l = max8(min8(rows.lower_z, most), -most);
  V8d u = max8(min8(rows.upper_z, most), -most);
  const V8d z = l;
  l = pick(rows.no_lower, -beyond, l);
  u = pick(rows.no_upper, beyond, u);
  const auto mirrored = l + u > 0.0;
  const V8d high = pick(mirrored, -l, u);
  const V8d low = pick(mirrored, -u, l);
  const V8d less = 0.5 * (high - low) * (high + low);  // log(density(low) / density(high)), <= 0
  const V8d ratio = exp8(less);
  const V8d mills_high = mills8(abs8(high));
  const V8d mills_low = mills8(abs8(low));
  const auto tail = high < 0.0;
  const V8d density_high = normal_density8(high);
  const V8d density_low = density_high * ratio;
  const V8d mass =
      pick(tail, mills_high - ratio * mills_low, 1.0 - density_high * mills_high - density_low * mills_low);
  const V8d first = pick(tail, -expm1_8(less), density_high - density_low);
  const V8d second = pick(tail, low * ratio - high, low * density_low - high * density_high);
  // Two ends that are equal in floating point have no mass: they are treated as a known time.
  const auto exact = rows.exact | (mass < 1e-300);
  const V8d share = pick(exact, fill8(1.0), mass);
  const V8d slope = first / share;
  AftTerms terms;
  const V8d outside = -log8(share) + pick(tail, 0.5 * high * high + kLogRootTwoPi, fill8(0.0));
  terms.loss = pick(exact, 0.5 * z * z + kLogRootTwoPi, outside);
  terms.gradient = pick(exact, -z, pick(mirrored, -slope, slope));
  terms.hessian = pick(exact, fill8(1.0), slope * slope - second / share);
  return terms;
}

// One form for all kinds of rows: p = cdf, q = 1 - p at the two ends.
inline AftTerms aft_logistic(const AftRows& rows) {
  const V8d zero = fill8(0.0), one = fill8(1.0);
  const V8d p_low = pick(rows.no_lower, zero, 1.0 / (1.0 + exp8(-rows.lower_z)));
  const V8d q_low = pick(rows.no_lower, one, 1.0 / (1.0 + exp8(rows.lower_z)));
  const V8d p_high = pick(rows.no_upper, one, 1.0 / (1.0 + exp8(-rows.upper_z)));
  const V8d q_high = pick(rows.no_upper, zero, 1.0 / (1.0 + exp8(rows.upper_z)));
  const auto softplus = [](const V8d& x) { return max8(x, fill8(0.0)) + log8(1.0 + exp8(-abs8(x))); };
  // -log(p_high * q_low * (1 - exp(-width))): the difference of the two cdfs.
  const V8d above = pick(rows.no_lower, zero, softplus(rows.lower_z));
  const V8d below = pick(rows.no_upper, zero, softplus(-rows.upper_z));
  const V8d width = pick(rows.no_lower | rows.no_upper, fill8(700.0), rows.upper_z - rows.lower_z);
  const V8d open = pick(rows.exact, one, max8(-expm1_8(-width), fill8(1e-300)));
  return {above + below - log8(open), q_high - p_low, p_high * q_high + p_low * q_low};
}

// Smallest extreme values (Weibull times): cdf = 1 - exp(-w), w = exp(z). One form for all kinds of rows:
// w of the lower end, and d = the difference between the two ends.
inline AftTerms aft_extreme(const AftRows& rows) {
  const V8d zero = fill8(0.0), one = fill8(1.0);
  const V8d bound = fill8(100.0), most = fill8(700.0);
  const V8d w = pick(rows.no_lower, zero, exp8(max8(min8(rows.lower_z, bound), -bound)));
  const V8d between = w * expm1_8(max8(min8(rows.upper_z - rows.lower_z, most), zero));
  const V8d from_zero = exp8(max8(min8(rows.upper_z, bound), -bound));
  V8d d = pick(rows.no_upper, most, pick(rows.no_lower, from_zero, between));
  d = max8(min8(d, most), fill8(1e-300));
  const V8d b = d / expm1_8(d);  // 1 for a known time
  const V8d curved = pick(d < 1e-4, d * (0.5 + d * (1.0 / 12.0)), b + d - 1.0);
  AftTerms terms;
  const V8d known = w - max8(min8(rows.lower_z, bound), -bound);
  terms.loss = pick(rows.exact, known, w - log8(-expm1_8(-d)));
  terms.gradient = pick(rows.exact, one, b) - w;
  terms.hessian = w + pick(rows.exact, zero, b * curved);
  return terms;
}

// Calls body(first row, n_used, terms) for eight rows at a time; slots past the end repeat the last row.
template <class Body>
inline void for_aft_rows(const AftArgs& a, const Body& body) {
  for (int64_t i = 0; i < a.n; i += 8) {
    const int n_used = a.n - i < 8 ? static_cast<int>(a.n - i) : 8;
    V8d score, lower, upper;
    for (int k = 0; k < 8; ++k) {
      const int64_t row = i + (k < n_used ? k : n_used - 1);
      score[k] = a.score[row];
      lower[k] = static_cast<double>(a.lower[row]);
      upper[k] = a.upper != nullptr ? static_cast<double>(a.upper[row]) : lower[k];
    }
    const AftRows rows = aft_rows(score, lower, upper, a.sigma);
    AftTerms terms = a.distribution == kNormal     ? aft_normal(rows)
                     : a.distribution == kLogistic ? aft_logistic(rows)
                                                   : aft_extreme(rows);
    // The density of the time, not of z.
    terms.loss += pick(rows.exact, rows.log_time + log8(fill8(a.sigma)), fill8(0.0));
    body(i, n_used, terms);
  }
}

inline double weight_at(const float* weight, int64_t i) {
  return weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
}

// The bounds are XGBoost's.
void gradients_aft(const AftArgs& a, float* gradient, float* hessian) {
  for_aft_rows(a, [&](int64_t first, int n_used, const AftTerms& terms) {
    const V8d g = max8(min8(terms.gradient / a.sigma, fill8(15.0)), fill8(-15.0));
    const V8d h = max8(min8(terms.hessian / (a.sigma * a.sigma), fill8(15.0)), fill8(1e-16));
    for (int k = 0; k < n_used; ++k) {
      const double w = weight_at(a.weight, first + k);
      gradient[first + k] = static_cast<float>(g[k] * w);
      hessian[first + k] = static_cast<float>(h[k] * w);
    }
  });
}

void sum_aft(const AftArgs& a, double most, double* sums) {
  sums[0] = sums[1] = sums[2] = 0.0;
  for_aft_rows(a, [&](int64_t first, int n_used, const AftTerms& terms) {
    const V8d loss = min8(terms.loss, fill8(most));
    for (int k = 0; k < n_used; ++k) {
      const double w = weight_at(a.weight, first + k);
      sums[0] += loss[k] * w;
      sums[1] += terms.gradient[k] / a.sigma * w;
      sums[2] += terms.hessian[k] / (a.sigma * a.sigma) * w;
    }
  });
}
