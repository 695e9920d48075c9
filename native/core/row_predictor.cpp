#include "core/row_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/feature.h"
#include "core/walk.h"

namespace gossamer {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace

RowPredictor::RowPredictor(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree)
    : forest_(&forest),
      first_tree_(first_tree),
      last_tree_(last_tree),
      n_columns_(forest.n_columns),
      n_outputs_(forest.n_outputs),
      n_values_(forest.n_values),
      is_small_(make_nodes()) {}

bool RowPredictor::make_nodes() {
  const Forest& f = *forest_;
  if (!f.linear.empty() || !f.sets.empty() || n_columns_ == 0) return false;
  std::unordered_map<std::int64_t, std::uint16_t> operand_of;
  for (std::int64_t t = first_tree_; t < last_tree_; ++t) {
    const std::int64_t first = f.node_begin[size(t)];
    const std::int64_t n_nodes = f.node_begin[size(t) + 1] - first;
    if (n_nodes > std::numeric_limits<std::int16_t>::max()) return false;
    trees_.push_back({static_cast<std::int64_t>(nodes_.size()), static_cast<std::int64_t>(leaf_value_.size())});
    for (std::size_t n = size(first); n < size(first + n_nodes); ++n) {
      const OperandKind kind = operand_kind(f, n);
      const std::int64_t key = static_cast<std::int64_t>(f.column[n]) * kOperandKinds + static_cast<std::int64_t>(kind);
      const auto [operand, is_new] = operand_of.try_emplace(key, static_cast<std::uint16_t>(operands_.size()));
      if (is_new) {
        if (operands_.size() > std::numeric_limits<std::uint16_t>::max()) return false;
        operands_.push_back({f.column[n], kind});
      }
      nodes_.push_back({f.threshold[n],
                        operand->second,
                        {static_cast<std::int16_t>(f.right[n]), static_cast<std::int16_t>(f.left[n])}});
    }
    if (n_nodes == 0) {  // a node that always leads to the leaf
      nodes_.push_back({0.0, 0, {-1, -1}});
      if (operands_.empty()) operands_.push_back({0, OperandKind::nan_left});
    }
    const auto* const values = f.leaf_value.data();
    leaf_value_.insert(leaf_value_.end(), values + f.leaf_begin[size(t)] * n_values_,
                       values + f.leaf_begin[size(t) + 1] * n_values_);
  }
  return true;
}

void RowPredictor::fill_operands(const double* row, double* operands) const {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const Operand& operand : operands_) {
    const double x = row[operand.column];
    switch (operand.kind) {
      case OperandKind::nan_left: *operands++ = x != x ? -kInf : x; break;
      case OperandKind::nan_right: *operands++ = x; break;
      case OperandKind::zero_left: *operands++ = std::abs(x) > kZero ? x : -kInf; break;
      case OperandKind::zero_right: *operands++ = std::abs(x) > kZero ? x : kNan; break;
      case OperandKind::nan_is_zero: *operands++ = x != x ? 0.0 : x; break;
    }
  }
}

void RowPredictor::walk_small(const double* operands, double* score) const {
  constexpr std::size_t kTogether = 8;
  const std::size_t n_trees = trees_.size();
  std::int64_t output = first_tree_ % n_outputs_;
  for (std::size_t t = 0; t < n_trees; t += kTogether) {
    const std::size_t n = std::min(n_trees - t, kTogether);
    const Node* nodes[kTogether];
    std::int32_t at[kTogether];
    for (std::size_t k = 0; k < kTogether; ++k) {
      nodes[k] = nodes_.data() + trees_[t + std::min(k, n - 1)].first_node;
      at[k] = 0;
    }
    for (std::int32_t walking = 1; walking > 0;) {
      std::int32_t arrived = -1;
      for (std::size_t k = 0; k < kTogether; ++k) {
        const std::int32_t before = at[k];
        const Node& node = nodes[k][std::max(before, 0)];
        const std::int32_t next = node.child[operands[node.operand] <= node.threshold];
        at[k] = before < 0 ? before : next;
        arrived &= at[k];
      }
      walking = arrived < 0 ? 0 : 1;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double* const values = leaf_value_.data() + trees_[t + k].first_leaf + ~at[k] * n_values_;
      if (n_values_ == 1) {
        score[output] += values[0];
        if (++output == n_outputs_) output = 0;
      } else {
        for (std::int64_t v = 0; v < n_values_; ++v) score[v] += values[v];
      }
    }
  }
}

void RowPredictor::add_scores(const double* row, double* score) const {
  if (is_small_) {
    // The buffer is kept from row to row: a call does not allocate.
    thread_local std::vector<double> operands;
    if (operands.size() < operands_.size()) operands.resize(operands_.size());
    fill_operands(row, operands.data());
    walk_small(operands.data(), score);
    return;
  }
  const Forest& f = *forest_;
  const auto read = [&](std::int64_t, std::int32_t column, std::int32_t) { return row[column]; };
  const auto run = [&](const auto& emit) {
    walk(
        f, 0, 1, first_tree_, last_tree_, [&](std::int64_t, std::int64_t tree) { return root_of(f, tree); },
        [&](const ForestNode& node, std::int64_t) { return row[node.column]; }, emit);
  };
  if (f.linear.empty()) {
    run(gossamer::add_scores(f, score));
  } else {
    run(add_linear_scores(f, score, read));
  }
}

}  // namespace gossamer
