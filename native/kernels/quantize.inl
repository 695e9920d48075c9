// Converts real gradients to integer fields.

// Counts eight rows in every 8 * step. A count that was just written has to be waited for: both kinds of values, and
// the parts, take turns.
inline void count_exponents(const float* gradient, const float* hessian, int64_t n, int step, GradientStats* parts,
                            int n_parts) {
  const auto exponent = [](const float* value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    return bits >> 23 & 255;
  };
  for (int64_t begin = 0; begin < n; begin += 8 * step) {
    const int64_t end = n - begin < 8 ? n : begin + 8;
    for (int64_t i = begin; i < end; ++i) {
      GradientStats& out = parts[i & (n_parts - 1)];
      ++out.gradient_exponents[exponent(gradient + i)];
      if (hessian != nullptr) ++out.hessian_exponents[exponent(hessian + i)];
    }
  }
}

constexpr float kLargestFloat = 0x1.fffffep127f;

// NaN is not looked at.
inline float highest_of(const V16f& x) {
  float highest = -kLargestFloat;
  for (int k = 0; k < 16; ++k) highest = x[k] > highest ? x[k] : highest;
  return highest;
}

// Four times sixteen values side by side: an extreme has to wait for the one before.
inline void find_range(const float* values, int64_t n, V16f& low, V16f& high) {
  V16f lows[4], highs[4];
  for_parts<4>(GOSSAMER_EACH {
    lows[i] = kLargestFloat;
    highs[i] = -kLargestFloat;
  });
  const auto widen = [&](int k, const V16f& v) __attribute__((always_inline)) {
    lows[k] = smaller(v, lows[k]);
    highs[k] = larger(v, highs[k]);
  };
  int64_t first = 0;
  for (; first + 64 <= n; first += 64) for_parts<4>(GOSSAMER_EACH { widen(i, load<V16f>(values + first + 16 * i)); });
  for (; first < n; ++first) widen(0, V16f(values[first]));
  low = smaller(smaller(lows[0], lows[1]), smaller(lows[2], lows[3]));
  high = larger(larger(highs[0], highs[1]), larger(highs[2], highs[3]));
}

void gradient_stats(const float* gradient, const float* hessian, int64_t n, int step, GradientStats* parts,
                    int n_parts) {
  GradientStats& out = *parts;
  const auto raise = [](float x, double& highest) { highest = x > highest ? x : highest; };
  V16f low, high;
  find_range(gradient, n, low, high);
  raise(highest_of(pick(high > -low, high, -low)), out.max_abs_gradient);
  if (hessian != nullptr) {
    find_range(hessian, n, low, high);
    raise(highest_of(high), out.max_hessian);
    const float lowest = -highest_of(-low);
    out.min_hessian = lowest < out.min_hessian ? lowest : out.min_hessian;
  }
  count_exponents(gradient, hessian, n, step, parts, n_parts);
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

// Whether single precision rounds as double precision does: units are powers of two, so that a product is exact or so
// small that it becomes 0.
inline bool is_exact_in_single(const CellLayout& layout) {
  const auto fits = [](int64_t limit, double unit) {
    return limit < (int64_t{1} << 22) && unit > 0x1.0p-120 && unit < 0x1.0p120;
  };
  return !layout.wide && !layout.constant_hessian() && fits(layout.gradient_limit, layout.gradient_unit) &&
         fits(layout.hessian_limit, layout.hessian_unit);
}

// The same as quantize_rows, sixteen rows at a time. `n` is a multiple of 16, and at most 2^13, so that sums of slots
// stay below 2^31.
Sums quantize_sixteen(const float* gradient, const float* hessian, int64_t n, const CellLayout& layout,
                      PackedRow* row_values) {
  const auto gradient_scale = static_cast<float>(1.0 / layout.gradient_unit);
  const auto hessian_scale = static_cast<float>(1.0 / layout.hessian_unit);
  const V16f gradient_limit = static_cast<float>(layout.gradient_limit);
  const V16f hessian_limit = static_cast<float>(layout.hessian_limit);
  V16i sum_g = {}, sum_h = {};
  for (int64_t i = 0; i < n; i += 16) {
    const V16f g = load<V16f>(gradient + i) * gradient_scale;
    const V16i qg = round_to_int(larger(smaller(g, gradient_limit), -gradient_limit));
    const V16i qh = round_to_int(smaller(load<V16f>(hessian + i) * hessian_scale, hessian_limit));
    sum_g += qg;
    sum_h += qh;
    store(row_values + i, (qg << layout.row_hessian_bits) + qh);
  }
  Sums sums{0, 0, n};
  for (int k = 0; k < 16; ++k) {
    sums.gradient += sum_g[k];
    sums.hessian += sum_h[k];
  }
  return sums;
}

Sums quantize(const float* gradient, const float* hessian, int64_t n, const CellLayout& layout, void* row_values) {
  if (is_exact_in_single(layout)) {
    constexpr int64_t kMost = 8192;
    auto* const out = static_cast<PackedRow*>(row_values);
    Sums sums{0, 0, 0};
    int64_t i = 0;
    for (; n - i >= 16;) {
      const int64_t part = n - i < kMost ? (n - i) / 16 * 16 : kMost;
      sums += quantize_sixteen(gradient + i, hessian + i, part, layout, out + i);
      i += part;
    }
    if (i < n) sums += quantize_rows<false, false>(gradient + i, hessian + i, n - i, layout, out + i);
    return sums;
  }
  if (layout.constant_hessian()) {
    return layout.wide ? quantize_rows<true, true>(gradient, hessian, n, layout, row_values)
                       : quantize_rows<false, true>(gradient, hessian, n, layout, row_values);
  }
  return layout.wide ? quantize_rows<true, false>(gradient, hessian, n, layout, row_values)
                     : quantize_rows<false, false>(gradient, hessian, n, layout, row_values);
}
