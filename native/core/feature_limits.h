// What features may do in a tree, and at which price: by the trainer's features, and all of it optional.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_costs.h"
#include "core/interaction.h"

namespace gossamer {

// A split that a tree starts with. Children are other forced splits further on in the list, or -1.
struct ForcedSplit {
  std::int32_t feature = 0;
  std::int32_t threshold = 0;  // bin
  std::int32_t children[2] = {-1, -1};
};

struct FeatureLimits {
  InteractionGroups groups;
  std::vector<double> gain_factors;      // on what a split gains above `min_gain_to_split`; empty: 1
  std::vector<double> sampling_weights;  // empty: all the same
  std::vector<ForcedSplit> forced;       // level by level, the root first
  std::shared_ptr<FeatureCosts> costs;   // nullptr: none

  bool adjust_gains() const { return !gain_factors.empty() || costs != nullptr; }
};

}  // namespace gossamer
