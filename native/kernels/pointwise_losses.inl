// One struct per loss of one score and one label: `value`, and for losses of raw scores the
// `derivatives`. The loops are in pointwise.inl.
//
// The second derivative of a loss that is about linear far away vanishes there, and Newton's steps
// overshoot. The hessian of such losses is 1, the largest that the second derivative gets: splits are
// found with it, leaf values from the residuals (core/leaf_refit.h).

struct Derivatives {
  V8d gradient;
  V8d hessian;
};

inline V8d sign8(const V8d& x) { return pick(x > 0.0, fill8(1.0), pick(x < 0.0, fill8(-1.0), fill8(0.0))); }

struct L1Loss {
  V8d value(const V8d& s, const V8d& y) const { return abs8(s - y); }
  Derivatives derivatives(const V8d& s, const V8d& y) const { return {sign8(s - y), fill8(1.0)}; }
};

// a: the loss is linear from this residual on.
struct HuberLoss {
  double a;
  V8d value(const V8d& s, const V8d& y) const {
    const V8d x = abs8(s - y);
    return pick(x <= a, 0.5 * x * x, a * (x - 0.5 * a));
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    return {max8(min8(s - y, fill8(a)), fill8(-a)), fill8(1.0)};
  }
};

// a: scale.
struct FairLoss {
  double a;
  V8d value(const V8d& s, const V8d& y) const {
    const V8d x = abs8(s - y);
    return a * x - a * a * log1p8(x / a);
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d x = s - y;
    return {x * (a / (abs8(x) + a)), fill8(1.0)};
  }
};

// a: the quantile.
struct QuantileLoss {
  double a;
  V8d value(const V8d& s, const V8d& y) const {
    const V8d x = y - s;
    return pick(x < 0.0, (a - 1.0) * x, a * x);
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    return {pick(s >= y, fill8(1.0 - a), fill8(-a)), fill8(1.0)};
  }
};

// The hessian is the weight of the row's absolute error.
struct MapeLoss {
  V8d value(const V8d& s, const V8d& y) const { return abs8(s - y) / max8(abs8(y), fill8(1.0)); }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d factor = 1.0 / max8(abs8(y), fill8(1.0));
    return {sign8(s - y) * factor, factor};
  }
};

// a: slope.
struct PseudoHuberLoss {
  double a;
  V8d scaled(const V8d& x) const { return max8(min8(x / a, fill8(1e150)), fill8(-1e150)); }
  V8d value(const V8d& s, const V8d& y) const {
    const V8d u = scaled(s - y);
    return a * a * u * (u / (1.0 + sqrt8(1.0 + u * u)));
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d u = scaled(s - y);
    return {a * u / sqrt8(1.0 + u * u), fill8(1.0)};
  }
};

struct LogCoshLoss {
  V8d value(const V8d& s, const V8d& y) const {
    const V8d x = abs8(s - y);
    return x + log1p8(exp8(-2.0 * x)) - 6.93147180559945309417e-1;
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const { return {tanh8(s - y), fill8(1.0)}; }
};

// a: the expectile; 0.5 is half the squared error.
struct ExpectileLoss {
  double a;
  V8d factor(const V8d& s, const V8d& y) const { return pick(y > s, fill8(a), fill8(1.0 - a)); }
  V8d value(const V8d& s, const V8d& y) const { return factor(s, y) * (s - y) * (s - y); }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d h = 2.0 * factor(s, y);
    return {h * (s - y), h};
  }
};

// Prediction exp(s). a: the hessian is exp(s) times this, so that steps stay short.
struct PoissonLoss {
  double a;
  V8d value(const V8d& s, const V8d& y) const { return exp8(s) - y * s; }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d p = exp8(s);
    return {p - y, a * p};
  }
};

// Prediction exp(s).
struct GammaLoss {
  V8d value(const V8d& s, const V8d& y) const { return y * exp8(-s) + s; }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d ratio = y * exp8(-s);
    return {1.0 - ratio, ratio};
  }
};

// Prediction exp(s). a: power of the variance, between 1 and 2.
struct TweedieLoss {
  double a;
  V8d value(const V8d& s, const V8d& y) const {
    return y * exp8((1.0 - a) * s) / (a - 1.0) + exp8((2.0 - a) * s) / (2.0 - a);
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const V8d pull = y * exp8((1.0 - a) * s);
    const V8d push = exp8((2.0 - a) * s);
    return {push - pull, (a - 1.0) * pull + (2.0 - a) * push};
  }
};

// Labels 0 and 1. There is no curvature: the hessian only says which rows count.
struct HingeLoss {
  V8d value(const V8d& s, const V8d& y) const { return max8(1.0 + pick(y > 0.0, -s, s), fill8(0.0)); }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const auto positive = y > 0.0;
    const auto is_wrong = pick(positive, s, -s) < 1.0;
    const V8d slope = pick(positive, fill8(-1.0), fill8(1.0));
    return {pick(is_wrong, slope, fill8(0.0)), pick(is_wrong, fill8(1.0), fill8(1e-6))};
  }
};

// Labels 0 and 1; with z = the score towards the right side, q = 1 / (1 + exp(z)) the probability of
// being wrong: q^a * -log(1 - q). b, c: weights of class 0 and 1. The hessian leaves out the one term
// that can be negative, where a row is predicted with confidence and wrong.
struct FocalLoss {
  double a, b, c;
  V8d value(const V8d& s, const V8d& y) const {
    const V8d z = pick(y > 0.0, s, -s);
    const V8d w = pick(y > 0.0, fill8(c), fill8(b));
    const V8d loss = softplus8(-z);
    return w * exp8(-a * (z + loss)) * loss;
  }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const auto positive = y > 0.0;
    const V8d z = pick(positive, s, -s);
    const auto [right, wrong] = sigmoids8(z);
    const V8d loss = softplus8(-z);  // -log(right); -log(wrong) is z more
    const V8d w = pick(positive, fill8(c), fill8(b)) * exp8(-a * (z + loss));
    const V8d slope = w * (a * right * loss + wrong);
    const V8d hessian = w * right * (a * a * right * loss + (2.0 * a + 1.0) * wrong);
    return {pick(positive, -slope, slope), hessian};
  }
};

// Labels from 0 to 1, prediction 1 / (1 + exp(-s)).
struct CrossEntropyLoss {
  V8d value(const V8d& s, const V8d& y) const { return softplus8(s) - y * s; }
  Derivatives derivatives(const V8d& s, const V8d& y) const {
    const auto [p, q] = sigmoids8(s);
    return {p - y, p * q};
  }
};

// Labels from 0 to 1, prediction h = log(1 + exp(s)): a rate. A row of weight w has exposure w:
// the probability of its label is z = 1 - exp(-w h). The weight is part of the loss, not a factor.
struct CrossEntropyLambdaLoss {
  static constexpr bool kUsesWeight = true;
  // Below this value everything is linear, and exp(s) times a small weight would underflow.
  static V8d limited(const V8d& s) { return max8(s, fill8(-500.0)); }
  V8d value(const V8d& score, const V8d& y, const V8d& w) const {
    const V8d s = limited(score);
    const V8d exposure = w * softplus8(s);
    const V8d z = max8(-expm1_8(-exposure), fill8(1e-300));
    return (1.0 - y) * exposure - y * log8(z);
  }
  Derivatives derivatives(const V8d& score, const V8d& y, const V8d& w) const {
    const V8d s = limited(score);
    const auto [p, q] = sigmoids8(s);
    const V8d minus = expm1_8(-w * softplus8(s));  // -z
    const V8d ratio = w * p / max8(-minus, fill8(1e-300));
    const V8d gradient = w * p - y * ratio;
    const V8d hessian = y * ratio * ratio * (1.0 + minus) + gradient * q;
    return {gradient, max8(hessian, fill8(1e-16))};
  }
};

// ---- losses of predictions ----

// b above 0: with log(y!), which does not depend on the prediction. c: smallest prediction.
struct PoissonDeviance {
  double b, c;
  V8d value(const V8d& prediction, const V8d& y) const {
    const V8d p = max8(prediction, fill8(c));
    const V8d loss = p - y * log8(p);
    return b > 0.0 ? loss + lgamma8(max8(y, fill8(0.0)) + 1.0) : loss;
  }
};

struct GammaLikelihood {
  V8d value(const V8d& prediction, const V8d& y) const {
    const V8d p = max8(prediction, fill8(1e-10));
    return y / p + log8(p);
  }
};

// Half of the deviance.
struct GammaDeviance {
  V8d value(const V8d& prediction, const V8d& y) const {
    const V8d ratio = y / (max8(prediction, fill8(0.0)) + 1e-9);
    return ratio - log8(max8(ratio, fill8(1e-300))) - 1.0;
  }
};

// a: power of the variance.
struct TweedieLikelihood {
  double a;
  V8d value(const V8d& prediction, const V8d& y) const {
    const V8d logarithm = log8(max8(prediction, fill8(1e-10)));
    return y * exp8((1.0 - a) * logarithm) / (a - 1.0) + exp8((2.0 - a) * logarithm) / (2.0 - a);
  }
};

struct SquaredLogError {
  V8d value(const V8d& prediction, const V8d& y) const {
    const V8d p = max8(prediction, fill8(-1.0 + 1e-6));
    const V8d difference = log1p8(p) - log1p8(max8(y, fill8(-1.0 + 1e-6)));
    return difference * difference;
  }
};

// Cross entropy of a probability; both logarithms are cut off at a.
struct ProbabilityLoss {
  double a;
  V8d value(const V8d& p, const V8d& y) const {
    return -y * log8(max8(p, fill8(a))) - (1.0 - y) * log8(max8(1.0 - p, fill8(a)));
  }
};

// The same for a rate, see CrossEntropyLambdaLoss.
struct IntensityLoss {
  static constexpr bool kUsesWeight = true;
  double a;
  V8d value(const V8d& rate, const V8d& y, const V8d& w) const {
    return ProbabilityLoss{a}.value(-expm1_8(-w * rate), y);
  }
};
