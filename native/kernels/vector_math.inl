// Eight doubles or sixteen floats at a time through the compiler's vector types: one source, the
// same IEEE operations in the same order at every level. exp and log are the classic Cephes
// approximations: no libm call, no table, no branch.

typedef double V8d __attribute__((vector_size(64)));
typedef int64_t V8i __attribute__((vector_size(64)));
typedef uint64_t V8u __attribute__((vector_size(64)));
typedef float V16f __attribute__((vector_size(64)));
typedef int32_t V16i __attribute__((vector_size(64)));
typedef float V8f __attribute__((vector_size(32)));
typedef int32_t V8i32 __attribute__((vector_size(32)));

template <class V, class T>
inline V load(const T* p) {
  V v;
  memcpy(&v, p, sizeof(V));
  return v;
}

template <class V, class T>
inline void store(T* p, const V& v) {
  memcpy(p, &v, sizeof(V));
}

inline V8d to_double(const V8f& x) { return __builtin_convertvector(x, V8d); }

inline V8d fill8(double x) { return V8d{x, x, x, x, x, x, x, x}; }
inline V8d max8(const V8d& a, const V8d& b) { return a > b ? a : b; }
inline V8d min8(const V8d& a, const V8d& b) { return a < b ? a : b; }
inline V8d abs8(const V8d& a) { return a < 0.0 ? -a : a; }

// Comparisons of eight lanes. On AVX-512 they live in mask registers, which gcc's vector types would
// move to vector registers and back.
#if defined(GOSSAMER_AVX512)
using Mask8 = __mmask8;
inline __m512d raw(const V8d& v) {
  __m512d r;
  memcpy(&r, &v, sizeof(r));
  return r;
}
inline Mask8 at_least(const V8d& a, const V8d& b) { return _mm512_cmp_pd_mask(raw(a), raw(b), _CMP_GE_OQ); }
inline Mask8 above(const V8d& a, const V8d& b) { return _mm512_cmp_pd_mask(raw(a), raw(b), _CMP_GT_OQ); }
inline bool any(Mask8 mask) { return mask != 0; }
inline bool lane_of(Mask8 mask, int k) { return (mask >> k) & 1; }
#else
using Mask8 = V8i;
inline Mask8 at_least(const V8d& a, const V8d& b) { return a >= b; }
inline Mask8 above(const V8d& a, const V8d& b) { return a > b; }
inline bool any(const Mask8& m) { return ((m[0] | m[1]) | (m[2] | m[3]) | (m[4] | m[5]) | (m[6] | m[7])) != 0; }
inline bool lane_of(const Mask8& mask, int k) { return mask[k] != 0; }
#endif

// Lanes are added pairwise in a fixed order.
inline double sum8(const V8d& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

inline double max_lane(const V8d& v) {
  double best = v[0];
  for (int i = 1; i < 8; ++i) best = v[i] > best ? v[i] : best;
  return best;
}

// 1.5 * 2^52: adding it leaves the nearest integer in the low mantissa bits.
constexpr double kRound = 6755399441055744.0;
constexpr int64_t kRoundBits = 0x4338000000000000;

inline V8i round_to_int(const V8d& x) {
  V8d shifted = x + kRound;
  V8i bits;
  memcpy(&bits, &shifted, sizeof(bits));
  return bits - kRoundBits;
}

// Relative error below 2e-16 in [-708, 708], clamped outside.
inline V8d exp8(V8d x) {
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
  V8u bits;
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 52) + (uint64_t{1023} << 52);
  V8d scale;
  memcpy(&scale, &bits, sizeof(scale));
  return e * scale;
}

// For finite x > 0 (normal numbers).
inline V8d log8(const V8d& value) {
  V8u bits;
  memcpy(&bits, &value, sizeof(bits));
  // Exponent as a double without an integer conversion: put it into the mantissa of 2^52.
  V8u exponent_bits = (bits >> 52) | uint64_t{0x4330000000000000};
  V8d exponent;
  memcpy(&exponent, &exponent_bits, sizeof(exponent));
  exponent = exponent - 4503599627370496.0 - 1022.0;
  V8u mantissa_bits = (bits & uint64_t{0x000fffffffffffff}) | uint64_t{0x3fe0000000000000};
  V8d m;
  memcpy(&m, &mantissa_bits, sizeof(m));
  const auto small = m < 0.70710678118654752440;
  exponent = small ? exponent - 1.0 : exponent;
  const V8d x = small ? m + m - 1.0 : m - 1.0;
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
  for (int k = 0; k < 8; ++k) root[k] = __builtin_sqrt(x[k]);  // IEEE: the same everywhere
  return root;
}

// log(1 + x) for finite x > -1, accurate near 0 too: the rounding of 1 + x is made good.
inline V8d log1p8(const V8d& x) {
  const V8d u = 1.0 + x;
  return log8(u) - ((u - 1.0) - x) / u;
}

// exp(x) - 1, accurate near 0 too (Kahan: the errors of exp and log cancel).
inline V8d expm1_8(const V8d& x) {
  const V8d u = exp8(x);
  const V8d plain = u - 1.0;
  const auto is_near = abs8(x) < 1.0;
  const V8d logarithm = log8(is_near && u != 1.0 ? u : fill8(2.0));
  const V8d corrected = u == 1.0 ? x : plain * x / logarithm;
  return is_near ? corrected : plain;
}

// log(1 + exp(x)) without overflow.
inline V8d softplus8(const V8d& x) { return max8(x, fill8(0.0)) + log1p8(exp8(-abs8(x))); }

// 1 / (1 + exp(-x)) and 1 / (1 + exp(x)), both accurate, by one exp.
struct Sigmoids {
  V8d of_plus;
  V8d of_minus;
};

inline Sigmoids sigmoids8(const V8d& x) {
  const V8d e = exp8(-abs8(x));
  const V8d large = 1.0 / (1.0 + e);
  const V8d small = e * large;
  const auto positive = x > 0.0;
  return {positive ? large : small, positive ? small : large};
}

inline V8d tanh8(const V8d& x) {
  const V8d t = expm1_8(-2.0 * abs8(x));
  const V8d magnitude = -t / (t + 2.0);
  return x < 0.0 ? -magnitude : magnitude;
}

// log(gamma(x)) for x >= 1: Stirling's series from 8 on, the recurrence below.
inline V8d lgamma8(const V8d& x) {
  const auto is_small = x < 8.0;
  const V8d base = is_small ? x : fill8(1.0);
  V8d product = base;
  for (int k = 1; k < 8; ++k) product = product * (base + static_cast<double>(k));
  const V8d z = is_small ? x + 8.0 : x;
  const V8d r = 1.0 / z;
  const V8d rr = r * r;
  const V8d series =
      r * (8.333333333333333e-2 +
           rr * (-2.777777777777778e-3 +
                 rr * (7.936507936507937e-4 +
                       rr * (-5.952380952380953e-4 + rr * (8.417508417508417e-4 + rr * -1.917526917526918e-3)))));
  const V8d stirling = (z - 0.5) * log8(z) - z + 9.1893853320467274178e-1 + series;
  return is_small ? stirling - log8(product) : stirling;
}

// Relative error about 1e-7 in [-87, 87], clamped outside.
inline V16f exp16(V16f x) {
  const V16f top = {87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f,
                    87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f, 87.0f};
  x = x > top ? top : x;
  x = x < -top ? -top : x;
  const V16f shifted = x * 1.44269504088896341f + 12582912.0f;
  const V16f n = shifted - 12582912.0f;
  x = x - n * 0.693359375f;
  x = x + n * 2.12194440e-4f;
  const V16f p = ((((1.9875691500e-4f * x + 1.3981999507e-3f) * x + 8.3334519073e-3f) * x + 4.1665795894e-2f) * x +
                  1.6666665459e-1f) *
                     x +
                 5.0000001201e-1f;
  const V16f e = p * x * x + x + 1.0f;
  V16i bits;
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4b400000 + 127) << 23;
  V16f scale;
  memcpy(&scale, &bits, sizeof(scale));
  return e * scale;
}
