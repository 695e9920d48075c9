// A leaf of the growing tree, or a node once it has been split.
#pragma once

#include <cstdint>

#include "core/leaf_evaluator.h"

namespace gossamer {

struct GrowNode {
  RowRange rows{0, 0};  // rows of this shard
  int depth = 0;
  std::uint64_t key = 1;         // the path from the root: random choices depend on it
  double free_value = 0.0;       // with one output: its value without monotone constraints
  std::int64_t order = 0;        // order of creation: breaks ties
  std::int32_t leaf_number = 0;  // leaf number in the finished tree
  std::int32_t forced = -1;      // the split it must start with
  bool expanded = false;
  bool stale = false;  // `split` was found with other limits, see monotone.h
  std::int32_t children[2] = {-1, -1};
  BestSplit split;
  InteractionGroups::Open open;  // feature groups that its path allows

  std::int64_t n_rows() const { return rows.end - rows.begin; }
};

}  // namespace gossamer
