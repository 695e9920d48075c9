// Eight doubles or sixteen floats at a time: one source, the same IEEE operations in the same order at every level.
// exp and log are the classic Cephes
// approximations: no libm call, no table, no branch.

GOSSAMER_INLINE V8d to_double(const V8f& x) { return convert<V8d>(x); }

GOSSAMER_INLINE V8d fill8(double x) { return V8d(x); }
GOSSAMER_INLINE V8d max8(const V8d& a, const V8d& b) { return larger(a, b); }
GOSSAMER_INLINE V8d min8(const V8d& a, const V8d& b) { return smaller(a, b); }
GOSSAMER_INLINE V8d abs8(const V8d& a) { return pick(a < 0.0, -a, a); }

// Slots are added pairwise in a fixed order.
inline double sum8(const V8d& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

inline double max_slot(const V8d& v) {
  double best = v[0];
  for (int i = 1; i < 8; ++i) best = v[i] > best ? v[i] : best;
  return best;
}

// 1.5 * 2^52: adding it leaves the nearest integer in the low mantissa bits.
constexpr double kRound = 6755399441055744.0;
constexpr int64_t kRoundBits = 0x4338000000000000;

GOSSAMER_INLINE V8i round_to_int(const V8d& x) { return bits_as<V8i>(x + kRound) - kRoundBits; }

// The same for floats below 2^22 in size, by 1.5 * 2^23.
GOSSAMER_INLINE V16i round_to_int(const V16f& x) { return bits_as<V16i>(x + 12582912.0f) - 0x4b400000; }

// Integers below 2^51 in size as doubles: exact, and fast where the processor has no such conversion.
GOSSAMER_INLINE V8d small_to_double(const V8i& x) { return bits_as<V8d>(x + kRoundBits) - kRound; }

inline V8i slot_numbers() {
  V8i numbers;
  for (int k = 0; k < 8; ++k) numbers[k] = k;
  return numbers;
}

// Relative error below 2e-16 in [-708, 708], clamped outside.
GOSSAMER_INLINE V8d exp8(V8d x) {
  x = max8(min8(x, fill8(708.0)), fill8(-708.0));
  const V8d shifted = x * 1.4426950408889634074 + kRound;
  const V8d n = shifted - kRound;
  x = x - n * 6.93145751953125e-1;
  x = x - n * 1.42860682030941723212e-6;
  const V8d xx = x * x;
  const V8d p = x * ((1.26177193074810590878e-4 * xx + 3.02994407707441961300e-2) * xx + 9.99999999999999999910e-1);
  const V8d q = ((3.00198505138664455042e-6 * xx + 2.52448340349684104192e-3) * xx + 2.27265548208155028766e-1) * xx +
                2.00000000000000000005;
  const V8d e = 1.0 + 2.0 * (p / (q - p));
  return e * bits_as<V8d>((bits_as<V8u>(shifted) << 52) + (uint64_t{1023} << 52));
}

// For finite x > 0 (normal numbers).
GOSSAMER_INLINE V8d log8(const V8d& value) {
  const V8u bits = bits_as<V8u>(value);
  // Exponent as a double without an integer conversion: put it into the mantissa of 2^52.
  V8d exponent = bits_as<V8d>((bits >> 52) | uint64_t{0x4330000000000000}) - 4503599627370496.0 - 1022.0;
  const V8d m = bits_as<V8d>((bits & uint64_t{0x000fffffffffffff}) | uint64_t{0x3fe0000000000000});
  const auto small = m < 0.70710678118654752440;
  exponent = pick(small, exponent - 1.0, exponent);
  const V8d x = pick(small, m + m - 1.0, m - 1.0);
  const V8d z = x * x;
  const V8d p = ((((1.01875663804580931796e-4 * x + 4.97494994976747001425e-1) * x + 4.70579119878881725854) * x +
                  1.44989225341610930846e1) *
                     x +
                 1.79368678507819816313e1) *
                    x +
                7.70838733755885391666;
  const V8d q = ((((x + 1.12873587189167450590e1) * x + 4.52279145837532221105e1) * x + 8.29875266912776603211e1) * x +
                 7.11544750618563894466e1) *
                    x +
                2.31251620126765340583e1;
  V8d y = x * (z * p / q);
  y = y - exponent * 2.121944400546905827679e-4;
  y = y - 0.5 * z;
  return x + y + exponent * 0.693359375;
}

inline V8d sqrt8(const V8d& x) {
  V8d root;
  for (int k = 0; k < 8; ++k) root[k] = root_of(x[k]);
  return root;
}

// log(1 + x) for finite x > -1, accurate near 0 too: the rounding error of 1 + x is corrected.
GOSSAMER_INLINE V8d log1p8(const V8d& x) {
  const V8d u = 1.0 + x;
  return log8(u) - ((u - 1.0) - x) / u;
}

// exp(x) - 1 without cancellation around 0: the same approximation without its leading 1.
GOSSAMER_INLINE V8d expm1_8(const V8d& x) {
  const V8d xx = x * x;
  const V8d p = x * ((1.26177193074810590878e-4 * xx + 3.02994407707441961300e-2) * xx + 9.99999999999999999910e-1);
  const V8d q = ((3.00198505138664455042e-6 * xx + 2.52448340349684104192e-3) * xx + 2.27265548208155028766e-1) * xx +
                2.00000000000000000005;
  return pick(abs8(x) < 0.34, 2.0 * (p / (q - p)), exp8(x) - 1.0);
}

// log(1 + exp(x)) without overflow.
GOSSAMER_INLINE V8d softplus8(const V8d& x) { return max8(x, fill8(0.0)) + log1p8(exp8(-abs8(x))); }

// 1 / (1 + exp(-x)) and 1 / (1 + exp(x)), both accurate, by one exp.
struct Sigmoids {
  V8d of_plus;
  V8d of_minus;
};

GOSSAMER_INLINE Sigmoids sigmoids8(const V8d& x) {
  const V8d e = exp8(-abs8(x));
  const V8d large = 1.0 / (1.0 + e);
  const V8d small = e * large;
  const auto positive = x > 0.0;
  return {pick(positive, large, small), pick(positive, small, large)};
}

inline V8d tanh8(const V8d& x) {
  const V8d t = expm1_8(-2.0 * abs8(x));
  const V8d magnitude = -t / (t + 2.0);
  return pick(x < 0.0, -magnitude, magnitude);
}

// log(gamma(x)) for x >= 1: Stirling's series from 8 on, the recurrence below.
inline V8d lgamma8(const V8d& x) {
  const auto is_small = x < 8.0;
  const V8d base = pick(is_small, x, fill8(1.0));
  V8d product = base;
  for (int k = 1; k < 8; ++k) product = product * (base + static_cast<double>(k));
  const V8d z = pick(is_small, x + 8.0, x);
  const V8d r = 1.0 / z;
  const V8d rr = r * r;
  const V8d series =
      r * (8.333333333333333e-2 +
           rr * (-2.777777777777778e-3 +
                 rr * (7.936507936507937e-4 +
                       rr * (-5.952380952380953e-4 + rr * (8.417508417508417e-4 + rr * -1.917526917526918e-3)))));
  const V8d stirling = (z - 0.5) * log8(z) - z + 9.1893853320467274178e-1 + series;
  return pick(is_small, stirling - log8(product), stirling);
}

// Relative error about 1e-7 in [-87, 87], clamped outside.
GOSSAMER_INLINE V16f exp16(V16f x) {
  const V16f top = 87.0f;
  x = larger(-top, smaller(top, x));
  const V16f shifted = x * 1.44269504088896341f + 12582912.0f;
  const V16f n = shifted - 12582912.0f;
  x = x - n * 0.693359375f;
  x = x + n * 2.12194440e-4f;
  const V16f p = ((((1.9875691500e-4f * x + 1.3981999507e-3f) * x + 8.3334519073e-3f) * x + 4.1665795894e-2f) * x +
                  1.6666665459e-1f) *
                     x +
                 5.0000001201e-1f;
  const V16f e = p * x * x + x + 1.0f;
  return e * bits_as<V16f>((bits_as<V16i>(shifted) - 0x4b400000 + 127) << 23);
}

// Density of the standard normal distribution; 0 from |x| = 37 on is as good as 1e-300.
inline V8d normal_density8(const V8d& x) { return exp8(-0.5 * x * x) * 0.39894228040143267794; }

// Mills ratio of the normal distribution, (1 - cdf(x)) / density(x), for 0 <= x <= 1e6: from Cephes' three
// ranges of erfc. Relative error below 2e-15. It neither underflows nor cancels, where cdf and density do.
inline V8d mills8(const V8d& x) {
  const V8d t = x * 0.70710678118654752440;
  const V8d tt = t * t;
  V8d p = 9.60497373987051638749 * tt + 9.00260197203842689217e1;
  p = ((p * tt + 2.23200534594684319226e3) * tt + 7.00332514112805075473e3) * tt + 5.55923013010394962768e4;
  V8d q = (tt + 3.35617141647503099647e1) * tt + 5.21357949780152679795e2;
  q = ((q * tt + 4.59432382970980127987e3) * tt + 2.26290000613890934246e4) * tt + 4.92673942608635921086e4;
  const V8d near = exp8(tt) * (1.0 - t * p / q);

  p = 2.46196981473530512524e-10 * t + 5.64189564831068821977e-1;
  p = ((p * t + 7.46321056442269912687) * t + 4.86371970985681366614e1) * t + 1.96520832956077098242e2;
  p = ((p * t + 5.26445194995477358631e2) * t + 9.34528527171957607540e2) * t + 1.02755188689515710272e3;
  p = p * t + 5.57535335369399327526e2;
  q = (t + 1.32281951154744992508e1) * t + 8.67072140885989742329e1;
  q = ((q * t + 3.54937778887819891062e2) * t + 9.75708501743205489753e2) * t + 1.82390916687909736289e3;
  q = ((q * t + 2.24633760818710981792e3) * t + 1.65666309194161350182e3) * t + 5.57535340817727675546e2;
  const V8d middle = p / q;

  p = (5.64189583547755073984e-1 * t + 1.27536670759978104416) * t + 5.01905042251180477414;
  p = ((p * t + 6.16021097993053585195) * t + 7.40974269950448939160) * t + 2.97886665372100240670;
  q = (t + 2.26052863220117276590) * t + 9.39603524938001434673;
  q = ((q * t + 1.20489539808096656605e1) * t + 1.70814450747565897222e1) * t + 9.60896809063285878198;
  q = q * t + 3.36907645100081516050;
  const V8d far = p / q;
  return 1.25331413731550025121 * pick(t < 1.0, near, pick(t < 8.0, middle, far));
}
