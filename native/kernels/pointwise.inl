// The loops over losses of one score and one label: the loss is chosen outside, eight rows inside.

// Calls body(loss) with the struct of `args`.
template <class Body>
inline auto with_loss(const LossArgs& args, const Body& body) {
  const double a = args.a;
  const double b = args.b;
  const double c = args.c;
  switch (args.kind) {
    case Loss::huber: return body(HuberLoss{a});
    case Loss::fair: return body(FairLoss{a});
    case Loss::quantile: return body(QuantileLoss{a});
    case Loss::mape: return body(MapeLoss{});
    case Loss::pseudo_huber: return body(PseudoHuberLoss{a});
    case Loss::log_cosh: return body(LogCoshLoss{});
    case Loss::expectile: return body(ExpectileLoss{a});
    case Loss::poisson: return body(PoissonLoss{a});
    case Loss::gamma: return body(GammaLoss{});
    case Loss::tweedie: return body(TweedieLoss{a});
    case Loss::hinge: return body(HingeLoss{});
    case Loss::focal: return body(FocalLoss{a, b, c});
    case Loss::cross_entropy: return body(CrossEntropyLoss{});
    case Loss::cross_entropy_lambda: return body(CrossEntropyLambdaLoss{});
    case Loss::poisson_deviance: return body(PoissonDeviance{b, c});
    case Loss::gamma_likelihood: return body(GammaLikelihood{});
    case Loss::gamma_deviance: return body(GammaDeviance{});
    case Loss::tweedie_likelihood: return body(TweedieLikelihood{a});
    case Loss::squared_log: return body(SquaredLogError{});
    case Loss::probability: return body(ProbabilityLoss{a});
    case Loss::intensity: return body(IntensityLoss{a});
    case Loss::l1: break;
  }
  return body(L1Loss{});
}

// Up to eight rows of double scores and float labels and weights; rows past the end are 0, missing weights are 1.
struct EightRows {
  V8d score = fill8(0.0);
  V8d label = fill8(0.0);
  V8d weight = fill8(1.0);

  EightRows(const double* s, const float* y, const float* w, int64_t i, int n_used) {
    if (n_used == 8) {
      score = load<V8d>(s + i);
      label = to_double(load<V8f>(y + i));
      if (w != nullptr) weight = to_double(load<V8f>(w + i));
      return;
    }
    for (int k = 0; k < n_used; ++k) {
      score[k] = s[i + k];
      label[k] = static_cast<double>(y[i + k]);
      if (w != nullptr) weight[k] = static_cast<double>(w[i + k]);
    }
  }
};

inline void store_slots(float* out, const V8d& v, int n_used) {
  const V8f narrow = convert<V8f>(v);
  if (n_used == 8) {
    store(out, narrow);
    return;
  }
  for (int k = 0; k < n_used; ++k) out[k] = narrow[k];
}

// Results are clamped to the range of float32.
template <class LossType>
inline void gradients_loop(const LossType& loss, const double* score, const float* label, const float* weight,
                           int64_t n, float* gradient, float* hessian) {
  constexpr double kLargest = 1e38;
  for (int64_t i = 0; i < n; i += 8) {
    const int n_used = n - i < 8 ? static_cast<int>(n - i) : 8;
    const EightRows rows(score, label, weight, i, n_used);
    Derivatives d;
    if constexpr (requires { LossType::kUsesWeight; }) {
      d = loss.derivatives(rows.score, rows.label, rows.weight);
    } else {
      d = loss.derivatives(rows.score, rows.label);
      if (weight != nullptr) d = {d.gradient * rows.weight, d.hessian * rows.weight};
    }
    store_slots(gradient + i, max8(min8(d.gradient, fill8(kLargest)), fill8(-kLargest)), n_used);
    if (hessian != nullptr) store_slots(hessian + i, max8(min8(d.hessian, fill8(kLargest)), fill8(0.0)), n_used);
  }
}

void gradients_of(const LossArgs& args, const double* score, const float* label, const float* weight, int64_t n,
                  float* gradient, float* hessian) {
  with_loss(args, [&](const auto& loss) {
    if constexpr (requires { loss.derivatives(V8d{}, V8d{}); } || requires { loss.derivatives(V8d{}, V8d{}, V8d{}); }) {
      gradients_loop(loss, score, label, weight, n, gradient, hessian);
    }
  });
}

// Eight partial sums are added in a fixed order, then the rows of the tail one by one.
double sum_loss(const LossArgs& args, const double* score, const float* label, const float* weight, int64_t n) {
  return with_loss(args, [&](const auto& loss) {
    const auto value = [&](const EightRows& rows) {
      if constexpr (requires { loss.kUsesWeight; }) {
        return loss.value(rows.score, rows.label, rows.weight);
      } else {
        const V8d v = loss.value(rows.score, rows.label);
        return weight != nullptr ? v * rows.weight : v;
      }
    };
    V8d total = fill8(0.0);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) total += value(EightRows(score, label, weight, i, 8));
    double sum = sum8(total);
    if (i < n) {
      const int n_used = static_cast<int>(n - i);
      const V8d last = value(EightRows(score, label, weight, i, n_used));
      for (int k = 0; k < n_used; ++k) sum += last[k];
    }
    return sum;
  });
}

template <class Function>
inline void link_loop(const double* score, int64_t n, double* out, const Function& function) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) store(out + i, function(load<V8d>(score + i)));
  for (; i < n; ++i) out[i] = function(fill8(score[i]))[0];
}

void apply_link(Link link, const double* score, int64_t n, double* out) {
  switch (link) {
    case Link::exp: return link_loop(score, n, out, [](const V8d& s) { return exp8(s); });
    case Link::expm1: return link_loop(score, n, out, [](const V8d& s) { return expm1_8(s); });
    case Link::signed_square: return link_loop(score, n, out, [](const V8d& s) { return s * abs8(s); });
    case Link::log1p_exp: return link_loop(score, n, out, [](const V8d& s) { return softplus8(s); });
  }
}
