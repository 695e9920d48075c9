// The records with which a GPU predicts; host and kernels share them.
//
// Small trees are walked in shared memory. A node compares an operand: how many of the thresholds that the trees have
// on a column are below its value, as a byte. Operands are filled once for a tile of rows and serve all trees. A node
// that splits categories has an operand for itself: 0 goes left, 1 goes right. All decisions are the CPU's, and values
// of leaves are added in the order of the trees, so that scores have the CPU's bits.
#pragma once

#include <cstdint>

namespace gossamer::cuda {

// The types of the numbers of a matrix.
enum ValueKind : std::int32_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint8 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kUint64 = 9,
  kFloat16 = 10,
};

// The user's matrix as it is. Columns from n_columns on are missing in every row.
struct DeviceMatrix {
  const void* values;
  std::int64_t n_rows;
  std::int64_t row_stride;  // elements
  std::int64_t column_stride;
  std::int32_t n_columns;
  std::int32_t kind;  // see ValueKind
};

// A node as the model has it.
struct PlainNode {
  double threshold;
  std::int64_t first_category;
  std::int32_t n_categories;  // 0: it compares with the threshold
  std::int32_t column;
  std::int32_t left;  // in the tree; < 0: leaf ~left
  std::int32_t right;
  std::int32_t missing_kind;  // see MissingKind in core/feature.h
  std::int32_t default_left;
};

struct PlainTree {
  std::int64_t first_node;
  std::int64_t first_leaf;
  std::int32_t output;
  std::int32_t number;  // among the trees of the prediction
  std::int32_t has_nodes;
  std::int32_t unused;
};

// A column that small trees compare with thresholds.
struct PackedColumn {
  std::int32_t column;
  std::int32_t first_bound;
  std::int32_t n_bounds;
  std::int32_t operand[5];  // by OperandKind in kernels/kernels.h; -1: no node needs it
};

// A small tree is a list of entries, which are nodes and leaves: bits 0-7 are 255 minus the threshold, 8-23 the left
// child (the right one follows it), 24-31 the operand. A row goes right if its operand is above the threshold: added to
// the entry, such an operand carries one over to the child. A leaf leads to itself, with a threshold of 255; thresholds
// of nodes are smaller.
struct PackedTree {
  std::int32_t first_entry;
  std::int32_t depth;
  std::int32_t output;
  std::int32_t number;  // among the trees of the prediction
};

struct PredictArgs {
  DeviceMatrix matrix;
  double* score;         // row by row; nullptr: leaves are asked for
  std::int32_t* leaves;  // row by row
  std::int64_t n_trees;  // of the prediction: the length of a row of leaves
  std::int32_t n_outputs;
  std::int32_t n_values;  // of a leaf: 1, or one for each output
  // Small trees.
  const std::uint32_t* entries;
  const double* entry_values;         // by entry; of leaves
  const std::int32_t* entry_leaves;   // by entry: the number of the leaf
  const PackedTree* packed_trees;     // by output, then in order; one more marks the end
  const std::int32_t* stage_begin;    // first tree of those that are in shared memory at the same time
  const PackedColumn* columns;        // one more marks the end
  const std::int32_t* columns_begin;  // first column of those whose bounds are in shared memory at the same time
  const void* bounds;                 // float or double, by the kind of the matrix
  const PlainNode* sets;              // nodes that split categories
  std::int32_t n_stages;
  std::int32_t n_column_parts;
  std::int32_t n_sets;
  std::int32_t first_set_operand;
  std::int32_t n_operands;
  std::int32_t is_double;  // how values are compared
  // Other trees.
  const PlainTree* trees;
  const PlainNode* nodes;
  const double* leaf_values;
  const std::int32_t* categories;  // by node, increasing; of small trees too
  std::int32_t n_plain_trees;
  std::int32_t unused;
};

// From sums of leaf values to predictions.
enum LinkKind : std::int32_t { kNoLink = 0, kSigmoid = 1, kSoftmaxLink = 2, kExp = 3 };

struct FinishArgs {
  std::int64_t n_rows;
  double* score;  // row by row
  const double* start;
  double divisor;  // 0: scores are sums, else means to which `start` is added
  double steepness;
  std::int32_t n_outputs;
  std::int32_t link;      // see LinkKind
  std::int32_t is_first;  // 1: scores become `start`, nothing else
  std::int32_t unused;
};

constexpr int kRowsOfThread = 4;  // one byte of an operand each, in one word

}  // namespace gossamer::cuda
