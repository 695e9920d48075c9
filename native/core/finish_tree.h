// Turns the nodes of a grown tree into the finished tree: leaf values, scores, arrays.
#pragma once

#include <cstdint>
#include <vector>

#include "core/grow_node.h"
#include "core/leaf_evaluator.h"
#include "core/leaf_rows.h"
#include "core/monotone.h"
#include "core/raw_table.h"
#include "core/tree.h"

namespace gossamer {

// The labels that leaf values are refitted to, see leaf_refit.h.
struct TreeLabels {
  const float* label = nullptr;  // by output and row; nullptr: values stay as they are
  bool one_label = false;        // all outputs have the same labels
};

struct GrownTree {
  const GrowData& data;
  const TreeTask& task;
  const LeafEvaluator& evaluator;
  const Monotone& monotone;
  LeafRows& rows;
  const std::vector<GrowNode>& nodes;
  std::vector<double>& values;                 // by node and output, before shrinkage
  const std::vector<std::int32_t>& committed;  // in the order in which they were split
  bool pruned = false;                         // some splits have been undone
  bool adds_to_others = false;                 // the tree is added to rows outside the sample, too
};

// Adds the values of the leaves to the scores of their rows (nullptr: to none). A tree without a split adds nothing.
Tree finish_tree(Team& team, const GrownTree& grown, const TreeLabels& labels, const RawTable* raw, double* score);

}  // namespace gossamer
