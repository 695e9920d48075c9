// Gains after the costs of features, preferences between features and the monotone penalty.
//
// With coupled costs, the first split on a feature carries its cost, and makes it free for all others: leaves keep
// their best split on each such feature as an *offer*, made as if the feature had been paid for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/leaf_evaluator.h"
#include "core/types.h"

namespace gossamer {

class SplitCosts {
 public:
  // A split with the sums of its left side.
  struct Offer {
    BestSplit split;
    Sums left;
  };

  void start(const TreeTask& task, const CellLayout& layout, Exchange* exchange);
  bool adjusts_gains() const { return adjusts_gains_; }
  bool has_refunds() const { return refunds_; }

  // Before leaves are searched: the rows of each that would pay for a feature, and empty offers. The rows of one of two
  // siblings are counted (`counted` by job); the other one has the parent's rows minus these.
  bool has_costs() const { return costs_ != nullptr; }
  void prepare(Team& team, std::span<const LeafJob> jobs, const std::vector<char>& counted);
  // The gain of both children, in units of the layout. `own` is the gain of the unsplit leaf.
  double adjusted(const LeafJob& job, std::int64_t n_rows, double own, std::int32_t feature, double gain) const;

  // Offers; many threads may note them, each for features of its own.
  void note(std::int32_t node, const BestSplit& split);
  std::span<Offer> offers(std::int32_t node);
  // The cost that an offer will not have to pay, in units of the layout.
  double refund_of(std::int32_t feature) const { return coupled_cost(feature) / gain_unit_; }

  void split_on(std::int32_t node, std::int32_t feature);
  void pay(std::int32_t feature) {
    if (refunds_) paid_[static_cast<std::size_t>(feature)] = 1;
  }
  // Takes the offers on a feature that has been paid for.
  std::vector<std::pair<std::int32_t, Offer>> take_offers(std::int32_t feature);

 private:
  struct NodeCosts {
    std::vector<std::int64_t> unpaid;  // by feature with a lazy cost: rows that would pay
    std::unique_ptr<Offer[]> offers;   // by feature
    std::int32_t split_feature = -1;
  };
  NodeCosts& at(std::int32_t node);
  double coupled_cost(std::int32_t feature) const;
  void count_unpaid(Team& team, const LeafJob& job, const LeafJob* sibling);

  TreeTask task_;
  Exchange* exchange_ = nullptr;
  const FeatureLimits* limits_ = nullptr;
  const FeatureCosts* costs_ = nullptr;
  bool adjusts_gains_ = false;
  bool refunds_ = false;
  double gain_unit_ = 1.0;  // real gain of one unit of the layout
  std::int64_t n_rows_ = 0;
  std::vector<char> paid_;  // by feature: its coupled cost, if there are any
  std::vector<NodeCosts> nodes_;
};

}  // namespace gossamer
