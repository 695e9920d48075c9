#include "core/survival.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

AftArgs block_of(const AftTargets& t, std::int64_t begin, std::int64_t end) {
  AftArgs args;
  args.lower = t.rows.label + begin;
  args.upper = t.upper != nullptr ? t.upper + begin : nullptr;
  args.weight = t.rows.weight != nullptr ? t.rows.weight + begin : nullptr;
  args.n = end - begin;
  args.distribution = t.distribution;
  args.sigma = t.sigma;
  return args;
}

// Adds sums(begin, end, out) over all blocks, in order.
template <class Sums>
std::array<double, 3> sum_blocks(Team& team, std::int64_t n, const Sums& sums) {
  std::vector<std::array<double, 3>> found(static_cast<std::size_t>((n + kBlock - 1) / kBlock));
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    sums(begin, end, found[static_cast<std::size_t>(b)].data());
  });
  std::array<double, 3> total{};
  for (const auto& block : found) {
    for (std::size_t k = 0; k < 3; ++k) total[k] += block[k];
  }
  return total;
}

// Weights by rank of risk, with sums over all lower ranks in O(log n).
class RankedWeights {
 public:
  explicit RankedWeights(std::size_t n_ranks) : sums_(n_ranks + 1) {}

  void add(std::size_t rank, double weight) {
    for (std::size_t i = rank + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += weight;
  }
  double below(std::size_t rank) const {
    double sum = 0.0;
    for (std::size_t i = rank; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<double> sums_;
};

}  // namespace

void gradients_aft(Team& team, const AftTargets& t, const double* score, float* gradient, float* hessian) {
  for_blocks(team, t.rows.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    AftArgs args = block_of(t, begin, end);
    args.score = score + begin;
    kernels().gradients_aft(args, gradient + begin, hessian + begin);
  });
}

double sum_aft_loss(Team& team, const AftTargets& t, const double* score, double most) {
  const auto sums = sum_blocks(team, t.rows.n_rows, [&](std::int64_t begin, std::int64_t end, double* out) {
    AftArgs args = block_of(t, begin, end);
    args.score = score + begin;
    kernels().sum_aft(args, most, out);
  });
  return sums[0];
}

std::array<double, 2> aft_slopes(Team& team, const AftTargets& t, double score) {
  const std::vector<double> scores(static_cast<std::size_t>(std::min(kBlock, t.rows.n_rows)), score);
  const auto sums = sum_blocks(team, t.rows.n_rows, [&](std::int64_t begin, std::int64_t end, double* out) {
    AftArgs args = block_of(t, begin, end);
    args.score = scores.data();
    kernels().sum_aft(args, INFINITY, out);
  });
  return {sums[1], sums[2]};
}

double concordance(const float* lower, const float* upper, const double* risk, const float* weight, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> levels(risk, risk + n);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  // From the last time backwards. At each time: rows censored then join the later rows, events are
  // compared with the later rows, events join them, and intervals that end then are compared.
  struct Step {
    float time;
    int stage;
    std::uint32_t row;
  };
  std::vector<Step> steps;
  steps.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    const bool exact = lower[i] == upper[i];
    steps.push_back({lower[i], exact ? 2 : 0, static_cast<std::uint32_t>(i)});
    if (std::isfinite(upper[i])) steps.push_back({upper[i], exact ? 1 : 3, static_cast<std::uint32_t>(i)});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    if (a.time != b.time) return a.time > b.time;
    return a.stage != b.stage ? a.stage < b.stage : a.row < b.row;
  });
  RankedWeights later(levels.size());
  double all = 0.0, won = 0.0, total_later = 0.0;
  for (const Step& step : steps) {
    const double w = weight != nullptr ? static_cast<double>(weight[step.row]) : 1.0;
    const auto rank =
        static_cast<std::size_t>(std::lower_bound(levels.begin(), levels.end(), risk[step.row]) - levels.begin());
    if (step.stage == 0 || step.stage == 2) {
      later.add(rank, w);
      total_later += w;
      continue;
    }
    const double below = later.below(rank);
    won += w * (below + 0.5 * (later.below(rank + 1) - below));
    all += w * total_later;
  }
  return all > 0.0 ? won / all : 0.5;
}

}  // namespace gossamer
