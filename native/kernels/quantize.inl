// Converts real gradients to integer fields.

// Counts eight rows in every 8 * step. Both kinds of values in turns: a count that was just written has to be waited
// for.
inline void count_exponents(const float* gradient, const float* hessian, int64_t n, int step, GradientStats& out) {
  const auto exponent = [](const float* value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    return bits >> 23 & 255;
  };
  for (int64_t begin = 0; begin < n; begin += 8 * step) {
    const int64_t end = n - begin < 8 ? n : begin + 8;
    for (int64_t i = begin; i < end; ++i) {
      ++out.gradient_exponents[exponent(gradient + i)];
      if (hessian != nullptr) ++out.hessian_exponents[exponent(hessian + i)];
    }
  }
}

inline void widen_range(const float* values, int64_t n, double& lowest, double& highest) {
  const auto widen = [&](float low, float high) {
    if (low < lowest) lowest = low;
    if (high > highest) highest = high;
  };
  constexpr float kLargestFloat = 0x1.fffffep127f;
  V16f low = kLargestFloat, high = -kLargestFloat;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const V16f v = load<V16f>(values + i);
    low = pick(v < low, v, low);
    high = pick(v > high, v, high);
  }
  for (int k = 0; k < 16; ++k) widen(low[k], high[k]);
  for (; i < n; ++i) widen(values[i], values[i]);
}

void gradient_stats(const float* gradient, const float* hessian, int64_t n, int step, GradientStats& out) {
  double lowest = -out.max_abs_gradient;
  widen_range(gradient, n, lowest, out.max_abs_gradient);
  out.max_abs_gradient = out.max_abs_gradient > -lowest ? out.max_abs_gradient : -lowest;
  if (hessian != nullptr) widen_range(hessian, n, out.min_hessian, out.max_hessian);
  count_exponents(gradient, hessian, n, step, out);
}

struct Quantizer {
  double gradient_scale;
  double hessian_scale;
  double gradient_limit;
  double hessian_limit;

  explicit Quantizer(const CellLayout& l)
      : gradient_scale(1.0 / l.gradient_unit),
        hessian_scale(1.0 / l.hessian_unit),
        gradient_limit(static_cast<double>(l.gradient_limit)),
        hessian_limit(static_cast<double>(l.hessian_limit)) {}

  V8i gradient(const V8d& g) const {
    return round_to_int(max8(min8(g * gradient_scale, fill8(gradient_limit)), fill8(-gradient_limit)));
  }
  // Rounds to the nearest, zero included: rounded up, rows of almost no weight could together reach
  // min_sum_hessian_in_leaf and get huge leaf values.
  V8i hessian(const V8d& h) const { return round_to_int(min8(h * hessian_scale, fill8(hessian_limit))); }
};

template <bool kWide, bool kConstantHessian>
Sums quantize_rows(const float* gradient, const float* hessian, int64_t n, const CellLayout& layout, void* row_values) {
  const Quantizer quantizer(layout);
  V8i sum_g = {}, sum_h = {};
  const auto write = [&](int64_t i, int n_used, const V8i& qg, const V8i& qh) {
    sum_g += qg;
    sum_h += qh;
    if constexpr (kWide) {
      auto* const out = static_cast<WideCell*>(row_values) + i;
      for (int k = 0; k < n_used; ++k) {
        out[k] = {static_cast<uint64_t>(qg[k]), (static_cast<uint64_t>(qh[k]) << layout.count_bits) + 1};
      }
    } else {
      const V8i word = (qg << layout.row_hessian_bits) + qh;
      const auto row = convert<V8i32>(word);
      memcpy(static_cast<PackedRow*>(row_values) + i, &row, static_cast<size_t>(n_used) * sizeof(PackedRow));
    }
  };
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const V8i qg = quantizer.gradient(to_double(load<V8f>(gradient + i)));
    V8i qh = {};
    if constexpr (!kConstantHessian) qh = quantizer.hessian(to_double(load<V8f>(hessian + i)));
    write(i, 8, qg, qh);
  }
  if (i < n) {
    const int n_used = static_cast<int>(n - i);
    V8d g = fill8(0.0), h = fill8(0.0);
    for (int k = 0; k < n_used; ++k) {
      g[k] = gradient[i + k];
      if constexpr (!kConstantHessian) h[k] = hessian[i + k];
    }
    V8i qh = {};
    if constexpr (!kConstantHessian) qh = quantizer.hessian(h);
    write(i, n_used, quantizer.gradient(g), qh);
  }
  Sums sums{0, 0, n};
  for (int k = 0; k < 8; ++k) {
    sums.gradient += sum_g[k];
    sums.hessian += sum_h[k];
  }
  return sums;
}

Sums quantize(const float* gradient, const float* hessian, int64_t n, const CellLayout& layout, void* row_values) {
  if (layout.constant_hessian()) {
    return layout.wide ? quantize_rows<true, true>(gradient, hessian, n, layout, row_values)
                       : quantize_rows<false, true>(gradient, hessian, n, layout, row_values);
  }
  return layout.wide ? quantize_rows<true, false>(gradient, hessian, n, layout, row_values)
                     : quantize_rows<false, false>(gradient, hessian, n, layout, row_values);
}
