#include "core/round_grower.h"

#include <algorithm>

namespace gossamer {
namespace {

// With more rows a join costs little beside the work between two of them.
constexpr std::int64_t kMaxRowsSideBySide = 500000;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

RoundGrower::RoundGrower(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) { grower(0); }

Grower& RoundGrower::grower(std::size_t i) {
  while (growers_.size() <= i) growers_.push_back(std::make_unique<Grower>(matrix_));
  return *growers_[i];
}

std::vector<Tree> RoundGrower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                                    std::int64_t n_rows, std::span<const GrowParams> params, double* score,
                                    const float* label, bool one_label, const RawTable* raw) {
  const auto n_outputs = static_cast<std::int64_t>(params.size());
  const std::int64_t n_threads = team.n_threads();
  const std::int64_t n_all = matrix_->n_rows();
  std::vector<Tree> trees(params.size());
  // What one tree has paid for is free to the next one.
  const bool remembers = params[0].limits && params[0].limits->costs && params[0].limits->costs->remembers();
  const auto grow_one = [&](Grower& grower, Team& own, std::int64_t k, const GrowParams& p) {
    const std::int64_t first = k * n_all;
    if (p.proposals) p.proposals->propose(own, hessian != nullptr ? hessian + first : nullptr, rows, n_rows);
    Tree& tree = trees[at(k)];
    tree = grower.grow(own, gradient + first, hessian != nullptr ? hessian + first : nullptr, rows, n_rows, p,
                       score + first, p.refit ? label + (one_label ? 0 : first) : nullptr, raw);
    if (remembers) p.limits->costs->add_tree(own, *matrix_, tree);
  };
  const bool side_by_side = n_threads > 1 && n_rows <= kMaxRowsSideBySide && !remembers && !params[0].proposals;
  const std::int64_t n_over = n_outputs % n_threads;
  const bool over_too = 2 * n_over > n_threads;  // most threads are busy then
  const std::int64_t n_beside = !side_by_side ? 0 : over_too ? n_outputs : n_outputs - n_over;
  if (n_beside > 0) {
    grower(at(n_threads) - 1);
    team.for_each(n_beside, [&](std::int64_t k, int thread) {
      Team alone(1);
      GrowParams own = params[at(k)];
      own.max_histogram_bytes /= n_threads;
      grow_one(*growers_[at(thread)], alone, k, own);
    });
  }
  for (std::int64_t k = n_beside; k < n_outputs; ++k) grow_one(*growers_[0], team, k, params[at(k)]);
  return trees;
}

GrowStats RoundGrower::stats() const {
  GrowStats total;
  for (const auto& grower : growers_) total += grower->stats();
  return total;
}

}  // namespace gossamer
