#include "core/cox.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "core/memory.h"
#include "core/radix_sort.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;
// Hazards this many powers of e below the largest one count as if they were not lower: their squares, times
// the smallest weights, must not underflow.
constexpr double kLowest = -200.0;

std::int64_t n_blocks(std::int64_t n) { return (n + kBlock - 1) / kBlock; }

double largest_score(Team& team, const double* score, std::int64_t n) {
  std::vector<double> tops(at(n_blocks(n)));
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    tops[at(b)] = *std::max_element(score + begin, score + end);
  });
  return *std::max_element(tops.begin(), tops.end());
}

}  // namespace

// Hazards by position in the order, and sums of the hazards at risk by moment. All are relative to exp(top).
struct CoxOrder::AtRisk {
  double top = 0.0;
  Buffer<double> hazard;
  std::vector<double> total;
};

CoxOrder::CoxOrder(const RowTargets& t) {
  struct Item {
    std::uint32_t key;
    RowIdx row;
  };
  std::vector<Item> items(at(t.n_rows));
  for (std::int64_t i = 0; i < t.n_rows; ++i) {
    items[at(i)] = {ordered_key(std::abs(t.label[i])), static_cast<RowIdx>(i)};
  }
  radix_sort(items, [](const Item& item) { return item.key; });
  rows_.resize(items.size());
  is_event_.resize(items.size());
  moment_.resize(items.size());
  if (t.weight != nullptr) weight_.resize(items.size());
  for (std::size_t place = 0; place < items.size(); ++place) {
    const RowIdx row = items[place].row;
    if (place == 0 || items[place].key != items[place - 1].key) {
      begin_.push_back(static_cast<std::uint32_t>(place));
      moment_weight_.push_back(0.0);
    }
    rows_[place] = row;
    moment_[place] = static_cast<std::uint32_t>(begin_.size() - 1);
    is_event_[place] = t.label[row] > 0.0f;
    if (t.weight != nullptr) weight_[place] = t.weight[row];
    if (is_event_[place]) moment_weight_.back() += t.weight != nullptr ? static_cast<double>(t.weight[row]) : 1.0;
  }
  begin_.push_back(static_cast<std::uint32_t>(items.size()));
  for (const double w : moment_weight_) event_weight_ += w;
}

// Sums from the last time backwards: within blocks, then over blocks, always in the same order.
void CoxOrder::sum_at_risk(Team& team, const double* score, AtRisk& out) const {
  const std::int64_t n = n_rows();
  out.top = largest_score(team, score, n);
  out.hazard.reset(n);
  Buffer<double> sums(n);  // sums of the block from this position on
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    double scores[kBlock];
    for (std::int64_t i = begin; i < end; ++i) scores[i - begin] = score[rows_[at(i)]];
    kernels().exp_shifted(scores, end - begin, out.top, kLowest, out.hazard.data() + begin);
    if (!weight_.empty()) {
      for (std::int64_t i = begin; i < end; ++i) out.hazard[i] *= static_cast<double>(weight_[at(i)]);
    }
    double sum = 0.0;
    for (std::int64_t i = end - 1; i >= begin; --i) sums[i] = sum += out.hazard[i];
  });
  std::vector<double> later(at(n_blocks(n)) + 1, 0.0);  // sums of all blocks from this one on
  for (std::int64_t b = n_blocks(n) - 1; b >= 0; --b) later[at(b)] = sums[b * kBlock] + later[at(b) + 1];
  out.total.resize(moment_weight_.size());
  for_blocks(team, static_cast<std::int64_t>(out.total.size()), kBlock,
             [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
               for (std::int64_t m = begin; m < end; ++m) {
                 const std::int64_t place = begin_[at(m)];
                 out.total[at(m)] = sums[place] + later[at(place / kBlock) + 1];
               }
             });
}

void CoxOrder::gradients(Team& team, const double* score, float* gradient, float* hessian) const {
  const std::int64_t n = n_rows();
  if (n == 0) return;
  AtRisk risk;
  sum_at_risk(team, score, risk);
  // Sums of w / total and of w / total^2 over the events so far: within blocks of moments, then over blocks.
  const auto n_moments = static_cast<std::int64_t>(moment_weight_.size());
  Buffer<double> first(n_moments), second(n_moments);
  for_blocks(team, n_moments, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    double f = 0.0, s = 0.0;
    for (std::int64_t m = begin; m < end; ++m) {
      if (moment_weight_[at(m)] > 0.0) {
        const double share = moment_weight_[at(m)] / risk.total[at(m)];
        f += share;
        s += share / risk.total[at(m)];
      }
      first[m] = f;
      second[m] = s;
    }
  });
  std::vector<double> first_before(at(n_blocks(n_moments)) + 1, 0.0), second_before(first_before);
  for (std::int64_t b = 0; b < n_blocks(n_moments); ++b) {
    const std::int64_t last = std::min((b + 1) * kBlock, n_moments) - 1;
    first_before[at(b) + 1] = first_before[at(b)] + first[last];
    second_before[at(b) + 1] = second_before[at(b)] + second[last];
  }
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t m = moment_[at(i)];
      const double h = risk.hazard[i];
      const double expected = h * (first_before[at(m / kBlock)] + first[m]);
      const double less = h * (h * (second_before[at(m / kBlock)] + second[m]));
      const double w = weight_.empty() ? 1.0 : static_cast<double>(weight_[at(i)]);
      gradient[rows_[at(i)]] = static_cast<float>(expected - (is_event_[at(i)] ? w : 0.0));
      hessian[rows_[at(i)]] = static_cast<float>(std::max(expected - less, 0.0));
    }
  });
}

double CoxOrder::loss(Team& team, const double* score) const {
  const std::int64_t n = n_rows();
  if (n == 0 || event_weight_ == 0.0) return 0.0;
  AtRisk risk;
  sum_at_risk(team, score, risk);
  const auto n_moments = static_cast<std::int64_t>(moment_weight_.size());
  std::vector<double> sums(at(n_blocks(n_moments)));
  for_blocks(team, n_moments, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    double logs[kBlock];
    for (std::int64_t m = begin; m < end; ++m) {
      logs[m - begin] = moment_weight_[at(m)] > 0.0 ? risk.total[at(m)] : 1.0;
    }
    kernels().log_values(logs, end - begin, logs);
    double sum = 0.0;
    for (std::int64_t m = begin; m < end; ++m) {
      if (!(moment_weight_[at(m)] > 0.0)) continue;
      double own = 0.0;
      for (std::uint32_t i = begin_[at(m)]; i < begin_[at(m) + 1]; ++i) {
        const double w = weight_.empty() ? 1.0 : static_cast<double>(weight_[i]);
        if (is_event_[i]) own += w * (score[rows_[i]] - risk.top);
      }
      sum += moment_weight_[at(m)] * logs[m - begin] - own;
    }
    sums[at(b)] = sum;
  });
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace gossamer
