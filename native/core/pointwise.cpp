#include "core/pointwise.h"

#include <vector>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

template <class T>
T* from(T* p, std::int64_t offset) {
  return p != nullptr ? p + offset : nullptr;
}

}  // namespace

void gradients_of(Team& team, const RowTargets& t, const LossArgs& loss, const double* score, float* gradient,
                  float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().gradients_of(loss, score + begin, t.label + begin, from(t.weight, begin), end - begin, gradient + begin,
                           from(hessian, begin));
  });
}

double sum_loss(Team& team, const RowTargets& t, const LossArgs& loss, const double* score) {
  std::vector<double> sums(static_cast<std::size_t>((t.n_rows + kBlock - 1) / kBlock));
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    sums[static_cast<std::size_t>(b)] =
        kernels().sum_loss(loss, score + begin, t.label + begin, from(t.weight, begin), end - begin);
  });
  double total = 0.0;
  for (const double s : sums) total += s;
  return total;
}

void apply_link(Team& team, Link link, const double* score, std::int64_t n, double* out) {
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().apply_link(link, score + begin, end - begin, out + begin);
  });
}

}  // namespace gossamer
