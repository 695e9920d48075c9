// Limits, preferences and costs of features in a tree, by the trainer's features. All are optional.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_costs.h"
#include "core/interaction.h"

namespace gossamer {

// A split that a tree starts with. Children are forced splits later in the list, or -1.
struct ForcedSplit {
  std::int32_t feature = 0;
  std::int32_t threshold = 0;  // bin
  std::int32_t children[2] = {-1, -1};
};

struct FeatureLimits {
  InteractionGroups groups;
  std::vector<double> gain_factors;      // factors on the gain of a split above `min_gain_to_split`; empty: 1
  std::vector<double> sampling_weights;  // empty: all the same
  std::vector<ForcedSplit> forced;       // level by level, the root first
  std::shared_ptr<FeatureCosts> costs;   // nullptr: none

  bool adjust_gains() const { return !gain_factors.empty() || costs != nullptr; }
};

}  // namespace gossamer
