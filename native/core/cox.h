// Cox's partial likelihood. A row is a time, and whether its event was seen then or is only known to come later.
#pragma once

#include <cstdint>
#include <vector>

#include "core/objectives.h"
#include "core/parallel.h"
#include "core/types.h"

namespace gossamer {

// Rows in the order of their times: made once per data set, since times do not change. Rows of the same
// time are one moment; all rows of a moment and of later ones are at risk when its events happen (Breslow).
class CoxOrder {
 public:
  // label > 0: time of an event; < 0: -time, no event was seen until then. A row of weight w counts as w rows.
  explicit CoxOrder(const RowTargets& targets);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(rows_.size()); }
  double event_weight() const { return event_weight_; }

  // Derivatives of the sum over events of w * (log(sum of w * exp(score) at risk) - score).
  void gradients(Team& team, const double* score, float* gradient, float* hessian) const;
  double loss(Team& team, const double* score) const;

 private:
  struct AtRisk;
  void sum_at_risk(Team& team, const double* score, AtRisk& out) const;

  std::vector<RowIdx> rows_;            // by time
  std::vector<float> weight_;           // by time; empty: all 1
  std::vector<std::uint8_t> is_event_;  // by time
  std::vector<std::uint32_t> moment_;   // by position in the order
  std::vector<std::uint32_t> begin_;    // first position of each moment, and the number of rows
  std::vector<double> moment_weight_;   // weight of its events
  double event_weight_ = 0.0;
};

}  // namespace gossamer
