// Gradients and hessians of the built-in objectives. Scores are double, results float.

void gradients_l2(const double* score, const float* label, const float* weight, int64_t n, float* gradient,
                  float* hessian) {
  if (weight == nullptr) {
    for (int64_t i = 0; i < n; ++i) gradient[i] = static_cast<float>(score[i] - static_cast<double>(label[i]));
    return;  // the hessian is 1: the caller passes no array
  }
  for (int64_t i = 0; i < n; ++i) {
    gradient[i] = static_cast<float>(score[i] - static_cast<double>(label[i])) * weight[i];
    hessian[i] = weight[i];
  }
}

// With z = the score towards the wrong side, |g| = 1 / (1 + exp(-z)): full relative accuracy at
// both ends, where p - y would cancel.
inline void binary_block(const double* score, const float* label, const float* weight, float steepness,
                         float weight_negative, float weight_positive, float* gradient, float* hessian) {
  const V16f s = convert<V16f>(load<Slots<double, 16>>(score)) * steepness;
  const V16f y = load<V16f>(label);
  const auto positive = y > 0.0f;
  const V16f z = pick(positive, -s, s);
  const V16f magnitude = 1.0f / (1.0f + exp16(-z));
  V16f w = pick(positive, V16f(weight_positive), V16f(weight_negative));
  if (weight != nullptr) w = w * load<V16f>(weight);
  const V16f g = magnitude * steepness * w;
  store(gradient, pick(positive, -g, g));
  store(hessian, magnitude * (1.0f - magnitude) * (steepness * steepness) * w);
}

void gradients_binary(const double* score, const float* label, const float* weight, int64_t n, double sigmoid,
                      double weight_negative, double weight_positive, float* gradient, float* hessian) {
  const auto k = static_cast<float>(sigmoid);
  const auto wn = static_cast<float>(weight_negative);
  const auto wp = static_cast<float>(weight_positive);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    binary_block(score + i, label + i, weight != nullptr ? weight + i : nullptr, k, wn, wp, gradient + i, hessian + i);
  }
  if (i == n) return;
  double s[16] = {};
  float y[16] = {}, w[16] = {}, g[16], h[16];
  const int64_t rest = n - i;
  for (int64_t j = 0; j < rest; ++j) {
    s[j] = score[i + j];
    y[j] = label[i + j];
    if (weight != nullptr) w[j] = weight[i + j];
  }
  binary_block(s, y, weight != nullptr ? w : nullptr, k, wn, wp, g, h);
  for (int64_t j = 0; j < rest; ++j) {
    gradient[i + j] = g[j];
    hessian[i + j] = h[j];
  }
}

// Probabilities of 8 rows at a time; scores and results are class-major.
template <class Emit>
inline void softmax_block(const double* score, int64_t stride, int n_used, int n_classes, Emit&& emit) {
  const auto read = [&](int c) {
    V8d v = fill8(0.0);
    const double* const p = score + c * stride;
    if (n_used == 8) {
      v = load<V8d>(p);
    } else {
      for (int k = 0; k < n_used; ++k) v[k] = p[k];
    }
    return v;
  };
  V8d top = read(0);
  for (int c = 1; c < n_classes; ++c) top = max8(read(c), top);
  V8d sum = fill8(0.0);
  for (int c = 0; c < n_classes; ++c) sum += exp8(read(c) - top);
  for (int c = 0; c < n_classes; ++c) emit(c, exp8(read(c) - top) / sum);
}

// Up to sixteen rows; slots past `n_used` read as zero and are not written.
template <bool kFull, class V, class T>
inline V load_rows(const T* p, int n_used) {
  if constexpr (kFull) return load<V>(p);
  T buffer[sizeof(V) / sizeof(T)] = {};
  for (int k = 0; k < n_used && k < static_cast<int>(sizeof(V) / sizeof(T)); ++k) buffer[k] = p[k];
  return load<V>(buffer);
}

template <bool kFull>
inline void store_rows(float* p, const V16f& v, int n_used) {
  if constexpr (kFull) {
    store(p, v);
  } else {
    for (int k = 0; k < n_used; ++k) p[k] = v[k];
  }
}

// Computed in floats, as the results are. The one exponential per score is kept in the gradient
// array until the sum is known. The own class's gradient is -(sum of the others) / sum: nothing
// cancels where its probability is close to 1. Nor does it for another class close to 1: that must
// be the top one, whose exponential is 1.
template <bool kFull>
inline void softmax_gradients_block(const double* score, int64_t score_stride, const float* label, const float* weight,
                                    int n_used, int n_classes, float* gradient, float* hessian, int64_t out_stride) {
  using V16d = Slots<double, 16>;
  const auto score_of = [&](int c) { return load_rows<kFull, V16d>(score + c * score_stride, n_used); };
  const V16f y = load_rows<kFull, V16f>(label, n_used);
  V16d top = score_of(0);
  for (int c = 1; c < n_classes; ++c) {
    const V16d own = score_of(c);
    top = pick(own > top, own, top);
  }
  V16f others = 0.0f;
  V16f own = others;
  V16f below_top = others;
  for (int c = 0; c < n_classes; ++c) {
    const V16f e = exp16(convert<V16f>(score_of(c) - top));
    store_rows<kFull>(gradient + c * out_stride, e, n_used);
    const auto is_own = y == static_cast<float>(c);
    others += pick(is_own, V16f(0.0f), e);
    own = pick(is_own, e, own);
    below_top += pick(e < 1.0f, e, V16f(0.0f));
  }
  const V16f inverse = 1.0f / (others + own);
  const float factor = static_cast<float>(n_classes) / (static_cast<float>(n_classes) - 1.0f);
  V16f w = 1.0f;
  if (weight != nullptr) w = load_rows<kFull, V16f>(weight, n_used);
  for (int c = 0; c < n_classes; ++c) {
    const auto is_own = y == static_cast<float>(c);
    const V16f p = load_rows<kFull, V16f>(gradient + c * out_stride, n_used) * inverse;
    const V16f rest = pick(is_own, others * inverse, pick(p > 0.5f, below_top * inverse, 1.0f - p));
    store_rows<kFull>(gradient + c * out_stride, pick(is_own, -rest, p) * w, n_used);
    store_rows<kFull>(hessian + c * out_stride, factor * p * rest * w, n_used);
  }
}

void gradients_softmax(const double* score, int64_t score_stride, const float* label, const float* weight,
                       int64_t begin, int64_t end, int n_classes, float* gradient, float* hessian, int64_t out_stride) {
  for (int64_t i = begin; i < end; i += 16) {
    const int n_used = end - i < 16 ? static_cast<int>(end - i) : 16;
    const float* const w = weight != nullptr ? weight + i : nullptr;
    const auto block = n_used == 16 ? softmax_gradients_block<true> : softmax_gradients_block<false>;
    block(score + i, score_stride, label + i, w, n_used, n_classes, gradient + i, hessian + i, out_stride);
  }
}

void sigmoid(const double* score, int64_t n, double steepness, double* out) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(out + i, 1.0 / (1.0 + exp8(load<V8d>(score + i) * -steepness)));
  for (; i < n; ++i) out[i] = (1.0 / (1.0 + exp8(fill8(score[i] * -steepness))))[0];
}

void softmax(const double* score, int64_t score_stride, int64_t begin, int64_t end, int n_classes, double* out) {
  for (int64_t i = begin; i < end; i += 8) {
    const int n_used = end - i < 8 ? static_cast<int>(end - i) : 8;
    softmax_block(score + i, score_stride, n_used, n_classes, [&](int c, const V8d& p) {
      for (int k = 0; k < n_used; ++k) out[(i + k) * n_classes + c] = p[k];  // row-major result
    });
  }
}
