// Losses of one score and one label per row, and links from scores to predictions, by name.
#pragma once

#include <cstdint>

namespace gossamer {

// pointwise_losses.inl says next to each loss what a, b and c mean.
enum class Loss : std::int32_t {
  // Losses of raw scores: these have derivatives.
  l1,
  huber,
  fair,
  quantile,
  mape,
  pseudo_huber,
  log_cosh,
  expectile,
  poisson,
  gamma,
  tweedie,
  hinge,
  focal,
  cross_entropy,
  cross_entropy_lambda,
  // Losses of predictions, for metrics: values only.
  poisson_deviance,
  gamma_likelihood,
  gamma_deviance,
  tweedie_likelihood,
  squared_log,
  probability,
  intensity,
};

constexpr bool has_derivatives(Loss loss) { return loss < Loss::poisson_deviance; }

struct LossArgs {
  Loss kind = Loss::l1;
  double a = 0.0;
  double b = 0.0;
  double c = 0.0;
};

enum class Link : std::int32_t { exp, expm1, signed_square, log1p_exp };

}  // namespace gossamer
