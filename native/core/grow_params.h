// The settings of one tree, by the stage that reads them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/column_sampler.h"
#include "core/feature_limits.h"
#include "core/interrupt.h"
#include "core/monotone.h"
#include "core/proposals.h"
#include "core/sorted_table.h"
#include "core/types.h"

namespace gossamer {

// Read by the grower: when a tree is complete, and which leaf is split next.
struct TreeShape {
  std::int64_t num_leaves = 31;
  std::int64_t max_depth = 0;  // 0: no limit
  bool depthwise = false;
  bool symmetric = false;    // depthwise, and all leaves of a level have the same split
  double prune_below = 0.0;  // splits of a grown tree with a smaller gain are undone, see prune.h
};

// Read by the evaluators: which splits are admissible, and which features are searched.
struct SplitSearch {
  SplitRules rules;
  bool extra_trees = false;
  std::uint64_t extra_key = 0;   // of this tree
  std::uint64_t column_key = 0;  // of this tree
  ColumnFractions fractions;
  std::shared_ptr<const FeatureLimits> limits;  // nullptr: none
  std::int64_t max_histogram_bytes = std::int64_t{1} << 30;
  bool copies_samples = true;  // samples of rows may be copied: faster, but it takes memory
};

// Read by the sorted evaluator (`exact`, `approx`). Trees then compare values, not bins.
struct ValueSearch {
  // Features whose bins hold several values are searched value by value; thresholds lie halfway between the values of
  // the leaf.
  std::shared_ptr<SortedTable> sorted;
  std::shared_ptr<Proposals> proposals;  // bins are proposed for every tree; see RoundGrower
  double global_eps = 0.0;               // with `sorted`: least share of a tree's hessian between two thresholds
  double local_eps = 0.0;                // the same for a leaf's hessian; 0: every value is a threshold
};

// Read when the tree is finished: what its leaves add to the scores.
struct LeafValues {
  double learning_rate = 0.1;
  double value_unit = 0.0;  // leaf values are multiples of this power of two; 0: any numbers
  double damp_from = 0.0;   // leaf values beyond this are damped, see leaf_output; 0: none
  bool refit = false;       // values come from the residuals, see LeafRefit; needs labels
  double refit_alpha = 0.5;
  double refit_delta = 0.0;
  double linear_lambda = 0.0;         // ridge of linear leaves, see LinearFit
  double linear_extrapolation = 0.0;  // likewise
  bool linear_check = false;          // likewise
  double linear_noise = 0.0;          // likewise: least_noise
};

struct GrowParams {
  TreeShape shape;
  SplitSearch search;
  ValueSearch by_value;
  LeafValues values;
  MonotoneParams monotone;
  Interrupt* interrupt = nullptr;  // checked between batches of leaves; nullptr: never
};

// Seconds per stage, and amounts of work.
struct GrowStats {
  double quantize = 0, partition = 0, build = 0, search = 0, scores = 0;
  // Trees of fewer rows are not timed: their stages take hardly longer than reading the clock.
  static constexpr std::int64_t kTimedRows = 5000;
  bool is_timed = true;          // whether the tree that is grown now is timed
  std::int64_t built_rows = 0;   // rows added to histograms
  std::int64_t wasted_rows = 0;  // rows of nodes that were expanded ahead but never committed
  std::int64_t partitioned_rows = 0, expanded = 0, committed = 0, batches = 0;
  std::int64_t wide_rounds = 0, rounds = 0;
  std::int64_t passes = 0;  // over the pages of the table

  GrowStats& operator+=(const GrowStats& other) {
    quantize += other.quantize;
    partition += other.partition;
    build += other.build;
    search += other.search;
    scores += other.scores;
    built_rows += other.built_rows;
    wasted_rows += other.wasted_rows;
    partitioned_rows += other.partitioned_rows;
    expanded += other.expanded;
    committed += other.committed;
    batches += other.batches;
    passes += other.passes;
    wide_rounds += other.wide_rounds;
    rounds += other.rounds;
    return *this;
  }
};

}  // namespace gossamer
