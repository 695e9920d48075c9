/* How raw scores become predictions: the same IEEE operations in the same order as Gossamer's own. */
#if MODEL_NEEDS_EXP
/* Clamped to [-708, 708]. */
static double MODEL_exp(double x) {
  double shifted, n, xx, p, q, e, scale;
  uint64_t bits;
  x = x < 708.0 ? x : 708.0;
  x = x > -708.0 ? x : -708.0;
  shifted = x * 1.4426950408889634074 + 6755399441055744.0; /* rounds to a whole number */
  n = shifted - 6755399441055744.0;
  x = x - n * 6.93145751953125e-1;
  x = x - n * 1.42860682030941723212e-6;
  xx = x * x;
  p = x * ((1.26177193074810590878e-4 * xx + 3.02994407707441961300e-2) * xx + 9.99999999999999999910e-1);
  q = ((3.00198505138664455042e-6 * xx + 2.52448340349684104192e-3) * xx + 2.27265548208155028766e-1) * xx +
      2.00000000000000000005;
  e = 1.0 + 2.0 * (p / (q - p));
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 52) + ((uint64_t)1023 << 52);
  memcpy(&scale, &bits, sizeof(scale));
  return e * scale;
}
#endif

#if MODEL_NEEDS_SIGMOID
static double MODEL_sigmoid(double score, double steepness) { return 1.0 / (1.0 + MODEL_exp(score * -steepness)); }
#endif

#if MODEL_NEEDS_EXPM1
static double MODEL_expm1(double x) {
  const double xx = x * x;
  const double p = x * ((1.26177193074810590878e-4 * xx + 3.02994407707441961300e-2) * xx + 9.99999999999999999910e-1);
  const double q =
      ((3.00198505138664455042e-6 * xx + 2.52448340349684104192e-3) * xx + 2.27265548208155028766e-1) * xx +
      2.00000000000000000005;
  return fabs(x) < 0.34 ? 2.0 * (p / (q - p)) : MODEL_exp(x) - 1.0;
}
#endif

#if MODEL_NEEDS_SOFTPLUS
/* Of finite normal numbers above 0. */
static double MODEL_log(double value) {
  double exponent, m, x, z, p, q, y;
  uint64_t bits, part;
  memcpy(&bits, &value, sizeof(bits));
  part = (bits >> 52) | UINT64_C(0x4330000000000000);
  memcpy(&exponent, &part, sizeof(exponent));
  exponent = exponent - 4503599627370496.0 - 1022.0;
  part = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
  memcpy(&m, &part, sizeof(m));
  x = m < 0.70710678118654752440 ? m + m - 1.0 : m - 1.0;
  exponent = m < 0.70710678118654752440 ? exponent - 1.0 : exponent;
  z = x * x;
  p = ((((1.01875663804580931796e-4 * x + 4.97494994976747001425e-1) * x + 4.70579119878881725854) * x +
        1.44989225341610930846e1) *
           x +
       1.79368678507819816313e1) *
          x +
      7.70838733755885391666;
  q = ((((x + 1.12873587189167450590e1) * x + 4.52279145837532221105e1) * x + 8.29875266912776603211e1) * x +
       7.11544750618563894466e1) *
          x +
      2.31251620126765340583e1;
  y = x * (z * p / q);
  y = y - exponent * 2.121944400546905827679e-4;
  y = y - 0.5 * z;
  return x + y + exponent * 0.693359375;
}

static double MODEL_softplus(double x) {
  const double e = MODEL_exp(x < 0.0 ? x : -x);
  const double u = 1.0 + e;
  return (x > 0.0 ? x : 0.0) + (MODEL_log(u) - ((u - 1.0) - e) / u);
}
#endif
