// Metrics of learning to rank: a value per query, then their mean, weighted by the mean weight of the
// rows of a query. Queries are added block by block in a fixed order.
#pragma once

#include <cstdint>

#include "core/objectives.h"
#include "core/ranking.h"

namespace gossamer {

struct RankMetricRules {
  enum class Kind : std::uint8_t { ndcg, map, precision };
  Kind kind = Kind::ndcg;
  std::int64_t n_top = 1;         // ranks that count
  double without_relevant = 1.0;  // value of a query whose rows all have gain 0
  GainRule gain;
};

double ranking_metric(Team& team, const QueryBegin& begin, const RowTargets& targets, const double* score,
                      const RankMetricRules& rules);

}  // namespace gossamer
