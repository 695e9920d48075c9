// Sums of losses over a block of rows: eight partial sums, then a fixed order.

template <class Loss>
inline double sum_rows(const double* score, const float* label, const float* weight, int64_t n, const Loss& loss) {
  V8d total = fill8(0.0);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    V8d value = loss(load<V8d>(score + i), to_double(load<V8f>(label + i)));
    if (weight != nullptr) value = value * to_double(load<V8f>(weight + i));
    total += value;
  }
  double sum = sum8(total);
  for (; i < n; ++i) {
    const double w = weight != nullptr ? static_cast<double>(weight[i]) : 1.0;
    sum += loss(fill8(score[i]), fill8(label[i]))[0] * w;
  }
  return sum;
}

double sum_squared_error(const double* score, const float* label, const float* weight, int64_t n) {
  return sum_rows(score, label, weight, n, [](const V8d& s, const V8d& y) { return (s - y) * (s - y); });
}

double sum_absolute_error(const double* score, const float* label, const float* weight, int64_t n) {
  return sum_rows(score, label, weight, n, [](const V8d& s, const V8d& y) { return abs8(s - y); });
}

// log(1 + exp(z)), z = the score towards the wrong side, without overflow.
double sum_logloss(const double* score, const float* label, const float* weight, int64_t n, double sigmoid) {
  return sum_rows(score, label, weight, n, [sigmoid](const V8d& s, const V8d& y) {
    const V8d z = pick(y > 0.0, s * -sigmoid, s * sigmoid);
    return max8(z, fill8(0.0)) + log8(1.0 + exp8(-abs8(z)));
  });
}
