// Real gradients to integer fields.

inline V8d root8(const V8d& x) {
  V8d root;
  for (int k = 0; k < 8; ++k) root[k] = __builtin_sqrt(x[k]);
  return root;
}

// Extremes come from every row, the typical size from one row in kSampled.
constexpr int64_t kSampled = 8;

void gradient_stats(const float* gradient, const float* hessian, int64_t n, GradientStats& out) {
  V8d root_g = fill8(0.0), max_g = fill8(0.0), root_h = fill8(0.0), max_h = fill8(0.0);
  V8d min_h = fill8(1.0e300);
  const auto add_roots = [&](const V8d& g, const V8d& h) {
    root_g += root8(abs8(g));
    root_h += root8(max8(h, fill8(0.0)));
    out.n_sampled += 8;
  };
  const auto add = [&](const V8d& g, const V8d& h) {
    max_g = max8(abs8(g), max_g);
    max_h = max8(h, max_h);
    min_h = min8(h, min_h);
  };
  out = GradientStats{};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const V8d g = to_double(load<V8f>(gradient + i));
    const V8d h = hessian != nullptr ? to_double(load<V8f>(hessian + i)) : fill8(0.0);
    add(g, h);
    if (i % (8 * kSampled) == 0) add_roots(g, h);
  }
  if (i < n) {
    // Lanes past the end repeat the first of the rest, which changes no extreme.
    V8d g = fill8(gradient[i]);
    V8d h = fill8(hessian != nullptr ? static_cast<double>(hessian[i]) : 0.0);
    for (int k = 0; k < n - i; ++k) {
      g[k] = gradient[i + k];
      if (hessian != nullptr) h[k] = hessian[i + k];
    }
    add(g, h);
    if (i % (8 * kSampled) == 0) add_roots(g, h);
  }
  out.sum_root_gradient = sum8(root_g);
  out.max_abs_gradient = max_lane(max_g);
  out.sum_root_hessian = sum8(root_h);
  out.max_hessian = max_lane(max_h);
  out.min_hessian = -max_lane(-min_h);
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
  // To the nearest, zero included: rounded up, rows of next to no weight would together pass
  // min_sum_hessian_in_leaf and be given huge leaf values.
  V8i hessian(const V8d& h) const { return round_to_int(min8(h * hessian_scale, fill8(hessian_limit))); }
};

template <bool kWide, bool kConstantHessian>
Sums quantize_rows(const float* gradient, const float* hessian, int64_t n, const CellLayout& layout, void* row_values) {
  const Quantizer quantizer(layout);
  V8i sum_g = {}, sum_h = {};
  const auto write = [&](int64_t i, int lanes, const V8i& qg, const V8i& qh) {
    sum_g += qg;
    sum_h += qh;
    if constexpr (kWide) {
      auto* const out = static_cast<WideCell*>(row_values) + i;
      for (int k = 0; k < lanes; ++k) {
        out[k] = {static_cast<uint64_t>(qg[k]), (static_cast<uint64_t>(qh[k]) << layout.count_bits) + 1};
      }
    } else {
      const V8i word = (qg << layout.row_hessian_bits) + qh;
      const auto row = __builtin_convertvector(word, V8i32);
      memcpy(static_cast<PackedRow*>(row_values) + i, &row, static_cast<size_t>(lanes) * sizeof(PackedRow));
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
    const int lanes = static_cast<int>(n - i);
    V8d g = fill8(0.0), h = fill8(0.0);
    for (int k = 0; k < lanes; ++k) {
      g[k] = gradient[i + k];
      if constexpr (!kConstantHessian) h[k] = hessian[i + k];
    }
    V8i qh = {};
    if constexpr (!kConstantHessian) qh = quantizer.hessian(h);
    write(i, lanes, quantizer.gradient(g), qh);
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
