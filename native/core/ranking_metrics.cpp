#include "core/ranking_metrics.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"
#include "core/rank_order.h"

namespace gossamer {
namespace {

// As in LightGBM.
constexpr float kRelevantAbove = 0.5f;

struct Scratch {
  std::vector<RankItem> order;
  std::vector<double> labels;
};

double dcg(const std::vector<RankItem>& order, const std::vector<double>& labels, const GainRule& gain, int shift,
           const std::vector<double>& discount) {
  double sum = 0.0;
  for (std::size_t r = 0; r < order.size(); ++r) sum += gain.gain(labels[order[r].row], shift) * discount[r];
  return sum;
}

double ndcg(const double* score, const float* label, std::int64_t n, const RankMetricRules& rules,
            const std::vector<double>& discount, Scratch& s) {
  s.labels.assign(label, label + n);
  const int shift = rules.gain.shift(*std::max_element(s.labels.begin(), s.labels.end()));
  rank_top(s.labels.data(), n, rules.n_top, s.order);
  const double best = dcg(s.order, s.labels, rules.gain, shift, discount);
  if (!(best > 0.0)) return rules.without_relevant;
  rank_top(score, n, rules.n_top, s.order);
  return dcg(s.order, s.labels, rules.gain, shift, discount) / best;
}

double average_precision(const double* score, const float* label, std::int64_t n, const RankMetricRules& rules,
                         Scratch& s) {
  const auto is_relevant = [&](std::int64_t i) { return label[i] > kRelevantAbove; };
  std::int64_t n_relevant = 0;
  for (std::int64_t i = 0; i < n; ++i) n_relevant += is_relevant(i);
  if (n_relevant == 0) return rules.without_relevant;
  rank_top(score, n, rules.n_top, s.order);
  std::int64_t hits = 0;
  double sum = 0.0;
  for (std::size_t r = 0; r < s.order.size(); ++r) {
    if (is_relevant(s.order[r].row)) sum += static_cast<double>(++hits) / static_cast<double>(r + 1);
  }
  return sum / static_cast<double>(std::min(n_relevant, rules.n_top));
}

double precision(const double* score, const float* label, std::int64_t n, const RankMetricRules& rules, Scratch& s) {
  rank_top(score, n, rules.n_top, s.order);
  double hits = 0.0;
  for (const RankItem& item : s.order) hits += static_cast<double>(label[item.row]);
  return hits / static_cast<double>(s.order.size());
}

}  // namespace

double ranking_metric(Team& team, const QueryBegin& begin, const RowTargets& t, const double* score,
                      const RankMetricRules& rules) {
  const std::vector<std::int64_t> blocks = query_blocks(begin);
  const auto n_blocks = static_cast<std::int64_t>(blocks.size()) - 1;
  std::int64_t longest = 0;
  for (std::size_t q = 0; q + 1 < begin.size(); ++q) longest = std::max(longest, begin[q + 1] - begin[q]);
  std::vector<double> discount(at(std::min(longest, rules.n_top)));
  kernels().discounts(static_cast<std::int64_t>(discount.size()), discount.data());

  std::vector<Scratch> scratch(at(team.n_threads()));
  std::vector<double> sums(at(n_blocks));
  std::vector<double> weights(at(n_blocks));
  team.for_each(n_blocks, [&](std::int64_t b, int thread) {
    Scratch& s = scratch[at(thread)];
    for (std::int64_t q = blocks[at(b)]; q < blocks[at(b + 1)]; ++q) {
      const std::int64_t first = begin[at(q)];
      const std::int64_t n = begin[at(q + 1)] - first;
      double weight = 1.0;
      if (t.weight != nullptr) {
        weight = std::accumulate(t.weight + first, t.weight + first + n, 0.0) / static_cast<double>(n);
      }
      double value = 0.0;
      switch (rules.kind) {
        case RankMetricRules::Kind::ndcg: value = ndcg(score + first, t.label + first, n, rules, discount, s); break;
        case RankMetricRules::Kind::map: value = average_precision(score + first, t.label + first, n, rules, s); break;
        case RankMetricRules::Kind::precision: value = precision(score + first, t.label + first, n, rules, s); break;
      }
      sums[at(b)] += weight * value;
      weights[at(b)] += weight;
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace gossamer
