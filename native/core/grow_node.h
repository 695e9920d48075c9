// A leaf of the growing tree, or a node once it has been split.
#pragma once

#include <cstdint>

#include "core/leaf_evaluator.h"

namespace gossamer {

struct GrowNode {
  RowRange rows{0, 0};  // of this shard
  int depth = 0;
  std::uint64_t key = 1;      // the path from the root: random choices depend on it
  double wish = 0.0;          // with one output: the value it would have without monotone constraints
  double reach = 0.0;         // see frontier.h
  std::int64_t order = 0;     // of being committed: breaks ties
  std::int32_t slot = 0;      // leaf number in the finished tree
  std::int32_t forced = -1;   // the split it must start with
  bool expanded = false;
  bool stale = false;  // `split` was found within other limits, see monotone.h
  std::int32_t children[2] = {-1, -1};
  BestSplit split;
  InteractionGroups::Open open;  // groups of features that its path allows

  std::int64_t n_rows() const { return rows.end - rows.begin; }
};

}  // namespace gossamer
