// The records that the host and the kernels of a GPU share. All of them are plain, with the same layout on both sides.
//
// A tree grows on the device without the host:
//   layout       how gradients become integers, from their statistics
//   quantise     gradients become integers
//   start        the root
//   then batch by batch, until the tree is complete:
//     choose       which nodes are expanded: their children, the jobs of the batch
//     split_rows   rows of these nodes go left or right
//     histograms   of the smaller child of each node
//     search       the larger child is the parent minus the smaller one; the best split of each feature, then of each
//                  child
//   list_tree    the nodes of the finished tree
//   add_scores   its values are added to the scores
// The host reads the nodes and commits them best first (see core/device_evaluator.h). Meanwhile the device adds the
// tree to the scores, and starts the next one.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "kernels/loss.h"

namespace gossamer::cuda {

// A feature of the table. Every feature has a lane for itself: bytes where it has at most 256 bins, else two bytes.
struct DeviceFeature {
  std::int64_t first_cell;
  double l2;  // see Feature
  std::int32_t n_value_bins;
  std::int32_t has_missing;  // 1: bin n_value_bins holds the missing rows
  std::int32_t lane;
  std::int32_t two_bytes;
  std::int32_t searched;      // 0: never to be split on
  std::int32_t n_categories;  // -1: numbers. Else the bins that stand for a known category
  std::int64_t known;         // categories: offset in `known_bins`, a byte for each value bin
};

// One-byte lanes whose histograms are built together.
struct LaneGroup {
  std::int32_t first_lane;
  std::int32_t n_lanes;
  std::int32_t stride;   // cells from lane to lane in shared memory
  std::int32_t is_even;  // 1: all bins of a lane are about equally frequent
};

struct Node {
  Sums sums;
  Sums left;          // of the left side of its best split
  double gain;        // of its best split, above the gain of the leaf
  double reach;       // see core/frontier.h
  double value;       // before shrinkage
  double l2;          // of its best split: added to lambda_l2 for the values of both children
  std::uint64_t key;  // the path from the root: random choices depend on it
  std::int64_t first_row;
  std::int32_t parent;
  std::int32_t left_child;  // -1: not expanded. The right one is next to it
  std::int32_t depth;
  std::int32_t feature;  // -1: it cannot be split
  std::int32_t threshold;
  std::int32_t missing_left;
  std::int32_t slot;          // of its histogram; -1: none
  std::int32_t buffer;        // of its rows: 0 or 1; -1: rows first_row, first_row + 1, ...
  std::int32_t is_committed;  // 1: it has been committed, see commit_nodes
  std::int32_t unused;
};

// The values that monotone constraints allow below a node, and its value without them.
struct NodeLimits {
  double low;
  double high;
  double free_value;
};

// A leaf of the tree that may be split, while nodes are committed.
struct Waiting {
  double gain;
  std::int64_t order;  // of creation: breaks ties
  std::int32_t node;
  std::int32_t unused;
};

// A node that is expanded in this batch; or, in the first one, the root.
struct Job {
  std::int32_t node;        // -1: the root is searched, there is no parent
  std::int32_t left_child;  // the root itself if there is no parent
  std::int32_t built;       // the child whose histogram is built
  std::int32_t is_searched;
  std::int64_t split_tile;  // the first tile of rows to be split
  std::int64_t build_tile;  // the first tile of rows of the built child
  std::uint32_t n_left;     // rows that went there so far
  std::uint32_t n_right;
  std::uint32_t n_searched[2];  // features of each child
};

// The best split of one feature of one leaf; the gain is the sum over both children in units of the layout.
struct Best {
  double gain;
  Sums left;
  std::int32_t threshold;  // categories: 0; -1: no admissible split
  std::int32_t missing_left;
  double l2;  // added to lambda_l2 for the values of both children
};

struct Statistics {
  std::uint64_t gradient_exponents[256];
  std::uint64_t hessian_exponents[256];
  std::uint32_t max_abs_gradient;  // bits of floats, see ordered_bits
  std::uint32_t max_hessian;
  std::uint32_t min_hessian;
  std::uint32_t unused;
};

enum TreeError : std::int32_t {
  kRowsDisagree = 1,  // rows and histograms
  kOtherWidth = 2,    // the tree needs wide cells, and these kernels build narrow ones; or the other way round
  kNoSlot = 3,        // all slots hold histograms that may be needed: the tree goes on when there are more
};

// What the kernels of a tree tell each other and the host.
struct State {
  Statistics statistics;
  CellLayout layout;
  SplitRules rules;  // in units of the layout
  Sums total;
  double last_cut;  // the smallest reach in the tree before; 0: not known
  double last_root_gain;
  std::int64_t n_split_tiles;
  std::int64_t n_build_tiles;
  std::int64_t build_rows;  // of a tile
  std::int32_t n_nodes;
  std::int32_t n_jobs;
  std::int32_t n_slots;  // that have been taken at least once
  std::int32_t is_complete;
  std::int32_t error;  // see TreeError
  std::int32_t n_batches;
  std::int64_t built_rows;
  // Commits of the batch before, see choose.inl.
  std::int64_t n_before;
  std::int64_t n_committed;
  std::int32_t first_committed;  // -1: none
  std::int32_t n_waiting;
  // The nodes of the finished tree are those with a larger reach than this (as bits), and those that are committed.
  std::uint64_t reach_below;
  std::int32_t n_listed;  // how many they are; 0: only the host can tell which nodes they are
  std::int32_t unused;
};

// What differs from tree to tree.
struct Task {
  std::int64_t n_rows;       // of the tree
  std::uint64_t extra_key;   // extra_trees: of this tree
  std::uint64_t column_key;  // of the features that levels and nodes draw
  std::int32_t output;       // whose gradients it is grown on
  std::int32_t is_sampled;   // 0: all rows
  std::int32_t n_allowed;    // features that it may use
  std::int32_t unused;
  double learning_rate;
};

// A node of a finished tree, as scores are found with it.
struct TreeNode {
  std::int32_t lane;  // of one byte; ~lane: of two bytes
  std::int32_t threshold;
  std::int32_t missing_bin;
  std::int32_t missing_left;
  std::int32_t left;  // < 0: leaf ~left
  std::int32_t right;
  std::int32_t set;  // categories: first word of its set; -1: numbers
};

// Everything that a kernel reads and writes. Pointers are addresses of the device.
struct Args {
  // The table.
  std::int64_t n_rows;
  std::int64_t n_cells;
  const std::uint8_t* rows8;  // row by row
  std::uint8_t* lanes8;       // the same lane by lane
  const std::uint16_t* rows16;
  const DeviceFeature* features;
  const LaneGroup* groups;
  const std::int32_t* lane_features;  // by lane of one byte, then by lane of two
  const std::uint8_t* known_bins;
  std::int32_t stride8;
  std::int32_t stride16;
  std::int32_t n_features;
  std::int32_t n_lanes8;
  std::int32_t n_lanes16;
  std::int32_t n_groups;
  std::int32_t category_words;  // of a set of bins, the largest there is
  std::int32_t wide;            // 1: these kernels build wide cells
  // The rows of a tree.
  const Task* task;
  const std::uint32_t* sample;
  const float* gradient;      // output by output
  const float* hessian;       // nullptr: all 1
  std::uint32_t* row_values;  // by row: one word, or four where cells are wide
  std::uint32_t* row_lists[2];
  // The tree.
  State* state;
  Node* nodes;
  Job* jobs;
  Waiting* waiting;
  Best* bests;                          // by job, side and feature
  std::uint32_t* category_sets;         // by node: bins that go left
  std::int64_t* histograms;             // by slot: gradients, hessians, then counts of 32 bits
  const std::uint8_t* allowed;          // by feature: whether this tree may use it; nullptr: all
  const double* feature_weights;        // by feature: how likely it is drawn; nullptr: all the same
  std::uint32_t* node_features;         // by node: a bit for each feature that it may use; nullptr: all of the tree
  std::uint64_t* open_groups;           // by node: a bit for each group of interaction constraints that its path allows
  const std::uint64_t* feature_groups;  // by feature: the groups that it is in
  const std::int8_t* directions;        // by feature: 1 rises, -1 falls, 0 either; nullptr: no monotone constraints
  NodeLimits* node_limits;              // by node
  TreeNode* tree_nodes;                 // of the finished tree
  double* tree_values;                  // by node
  std::int64_t slot_words;
  std::int64_t max_slots;
  std::int32_t max_nodes;
  std::int32_t build_blocks;  // that run at the same time
  // Settings.
  std::int32_t max_depth;  // 0: no limit
  std::int32_t depthwise;
  std::int32_t extra_trees;
  std::int32_t group_words;  // of the groups of a node or feature; 0: no constraints
  double fraction_by_level;
  double fraction_by_node;
  std::uint8_t* category_scratch;
  std::int64_t category_scratch_bytes;  // of a warp
  std::int64_t num_leaves;
  double damp_from;
  double min_gain_to_split;
  SplitRules given_rules;  // in real units
};

// Adding a tree to the scores of all rows of a table.
struct ScoreArgs {
  std::int64_t n_rows;
  const std::uint8_t* rows8;
  const std::uint16_t* rows16;
  std::int32_t stride8;
  std::int32_t stride16;
  const TreeNode* nodes;
  const double* values;
  const std::uint32_t* sets;
  double* score;
  const State* state;  // of the tree that was listed last; nullptr: `n_nodes` counts
  std::int32_t n_nodes;
  std::int32_t is_shared;  // 1: the nodes are copied to shared memory
};

// Gradients of all rows of a loss.
struct GradientArgs {
  std::int64_t n_rows;
  const double* score;  // output by output
  const float* label;
  const float* weight;  // nullptr: all 1
  float* gradient;      // output by output
  float* hessian;       // nullptr: all 1
  LossArgs loss;
  std::int32_t kind;  // see LossKind
  std::int32_t n_classes;
  double sigmoid;
  double weight_negative;
  double weight_positive;
  State* state;  // whose statistics are found as well; nullptr: no statistics
};

enum LossKind : std::int32_t { kSquared = 0, kLogistic = 1, kSoftmax = 2, kPointwise = 3 };

constexpr std::int64_t kSplitRows = 4096;  // rows of a tile that are split together

}  // namespace gossamer::cuda
