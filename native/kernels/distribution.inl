// A normal distribution per row (mean, logarithm of the standard deviation), and simple maps of many values.

// exp(x - shift), where x - shift is at least `low`.
void exp_shifted(const double* x, int64_t n, double shift, double low, double* out) {
  const auto one = [&](const V8d& v) { return exp8(max8(v - shift, fill8(low))); };
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(out + i, one(load<V8d>(x + i)));
  for (; i < n; ++i) out[i] = one(fill8(x[i]))[0];
}

// For finite x > 0.
void log_values(const double* x, int64_t n, double* out) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(out + i, log8(load<V8d>(x + i)));
  for (; i < n; ++i) out[i] = log8(fill8(x[i]))[0];
}

// Calls body(first row, n_used, mean, log_sigma, label) for eight rows at a time.
template <class Body>
inline void for_normal_rows(const NormalArgs& a, const Body& body) {
  for (int64_t i = 0; i < a.n; i += 8) {
    const int n_used = a.n - i < 8 ? static_cast<int>(a.n - i) : 8;
    V8d mean, log_sigma, label;
    for (int k = 0; k < 8; ++k) {
      const int64_t row = i + (k < n_used ? k : n_used - 1);
      mean[k] = a.mean[row];
      log_sigma[k] = a.log_sigma[row];
      label[k] = static_cast<double>(a.label[row]);
    }
    body(i, n_used, mean, log_sigma, label);
  }
}

// Derivatives by the mean, times scale^2: (mean - y) r and r, with r = (scale / sigma)^2. By log(sigma): 1 - z^2, and
// the Fisher information 2, or 1 + z^2 if that is larger: a leaf's step then stays below 1.
void gradients_normal(const NormalArgs& a, double scale, const NormalOut& out) {
  for_normal_rows(a, [&](int64_t first, int n_used, const V8d& mean, const V8d& log_sigma, const V8d& label) {
    const V8d s = max8(log_sigma, fill8(a.floor));
    const V8d inverse = exp8(-s);
    const V8d z = (mean - label) * inverse;
    const V8d ratio = (scale * inverse) * (scale * inverse);
    const V8d g_mean = (mean - label) * ratio;
    V8d g_sigma = 1.0 - z * z;
    g_sigma = pick(log_sigma <= a.floor, min8(g_sigma, fill8(0.0)), g_sigma);  // at the floor: must not fall further
    // z is bounded, because its square could overflow a float.
    const V8d h_sigma = min8(max8(1.0 + z * z, fill8(2.0)), fill8(1e24));
    g_sigma = max8(g_sigma, fill8(-1e24));
    for (int k = 0; k < n_used; ++k) {
      const int64_t row = first + k;
      const double w = weight_at(a.weight, row);
      out.mean_gradient[row] = static_cast<float>(g_mean[k] * w);
      out.mean_hessian[row] = static_cast<float>(ratio[k] * w);
      out.sigma_gradient[row] = static_cast<float>(g_sigma[k] * w);
      out.sigma_hessian[row] = static_cast<float>(h_sigma[k] * w);
    }
  });
}

double sum_normal_loss(const NormalArgs& a) {
  double sum = 0.0;
  for_normal_rows(a, [&](int64_t first, int n_used, const V8d& mean, const V8d& log_sigma, const V8d& label) {
    const V8d s = max8(log_sigma, fill8(a.floor));
    const V8d z = (mean - label) * exp8(-s);
    const V8d loss = s + 0.5 * z * z + kLogRootTwoPi;
    for (int k = 0; k < n_used; ++k) sum += loss[k] * weight_at(a.weight, first + k);
  });
  return sum;
}

// sigma * (z (2 cdf(z) - 1) + 2 density(z) - 1 / sqrt(pi))
double sum_normal_crps(const NormalArgs& a) {
  double sum = 0.0;
  for_normal_rows(a, [&](int64_t first, int n_used, const V8d& mean, const V8d& log_sigma, const V8d& label) {
    const V8d s = max8(log_sigma, fill8(a.floor));
    const V8d z = min8(abs8(mean - label) * exp8(-s), fill8(1e300));
    const V8d density = normal_density8(min8(z, fill8(1e4)));
    const V8d tail = density * mills8(min8(z, fill8(1e4)));
    const V8d score = exp8(s) * (z * (1.0 - 2.0 * tail) + 2.0 * density - 0.56418958354775628695);
    for (int k = 0; k < n_used; ++k) sum += score[k] * weight_at(a.weight, first + k);
  });
  return sum;
}
