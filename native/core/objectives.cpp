#include "core/objectives.h"

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

const float* from(const float* p, std::int64_t offset) { return p != nullptr ? p + offset : nullptr; }

}  // namespace

void gradients_l2(Team& team, const RowTargets& t, const double* score, float* gradient, float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().gradients_l2(score + begin, t.label + begin, from(t.weight, begin), end - begin, gradient + begin,
                           hessian != nullptr ? hessian + begin : nullptr);
  });
}

void gradients_binary(Team& team, const RowTargets& t, const double* score, double sigmoid, double weight_negative,
                      double weight_positive, float* gradient, float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().gradients_binary(score + begin, t.label + begin, from(t.weight, begin), end - begin, sigmoid,
                               weight_negative, weight_positive, gradient + begin, hessian + begin);
  });
}

void gradients_softmax(Team& team, const RowTargets& t, const double* score, int n_classes, float* gradient,
                       float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().gradients_softmax(score, t.n_rows, t.label, t.weight, begin, end, n_classes, gradient, hessian, t.n_rows);
  });
}

void RowLoss::fill(Team& team, const RowTargets& targets, const double* score, float* gradient, float* hessian) const {
  switch (kind) {
    case Kind::squared: return gradients_l2(team, targets, score, gradient, hessian);
    case Kind::logistic:
      return gradients_binary(team, targets, score, sigmoid, weight_negative, weight_positive, gradient, hessian);
    case Kind::softmax: return gradients_softmax(team, targets, score, n_outputs, gradient, hessian);
  }
}

void RowLoss::fill_rows(const RowTargets& t, const double* score, std::int64_t begin, std::int64_t end, float* gradient,
                        float* hessian) const {
  const float* const weight = from(t.weight, begin);
  if (kind == Kind::squared) {
    kernels().gradients_l2(score + begin, t.label + begin, weight, end - begin, gradient, hessian);
  } else {
    kernels().gradients_binary(score + begin, t.label + begin, weight, end - begin, sigmoid, weight_negative,
                               weight_positive, gradient, hessian);
  }
}

void sigmoid(Team& team, const double* score, std::int64_t n, double steepness, double* out) {
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().sigmoid(score + begin, end - begin, steepness, out + begin);
  });
}

void softmax(Team& team, const double* score, std::int64_t n_rows, int n_classes, double* out) {
  for_blocks(team, n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().softmax(score, n_rows, begin, end, n_classes, out);
  });
}

}  // namespace gossamer
