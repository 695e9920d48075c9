#include "core/tile_tree.h"

#include <algorithm>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::uint32_t kFourTimes = 0x01010101;
constexpr std::size_t kMostLeaves = 256;  // their numbers are bytes
constexpr std::size_t kLeastValues = 32;  // see add_leaf_values
// Rows of a tile that are not on the list are evaluated in vain.
constexpr std::int64_t kRowsPerListed = 4;

}  // namespace

TileTree::TileTree(std::span<const TreeStep> steps, const double* values, std::int64_t n_values) {
  const auto is_one_byte = [](const TreeStep& step) { return step.splitter.lane_test().column != nullptr; };
  is_usable_ = !steps.empty() && steps.size() < kMostLeaves && std::ssize(steps) <= kernels().most_tile_nodes &&
               std::all_of(steps.begin(), steps.end(), is_one_byte);
  if (!is_usable_) return;
  nodes_.resize(steps.size());
  sets_.resize(steps.size());
  add_node(steps, 0, 0);
  for (std::int64_t k = 0; k < n_values; ++k) {
    std::vector<double>& own = values_.emplace_back(std::max(leaves_.size(), kLeastValues));
    for (std::size_t i = 0; i < leaves_.size(); ++i) own[i] = values[leaves_[i] * n_values + k];
  }
}

// Numbers the leaves below a node from left to right.
void TileTree::add_node(std::span<const TreeStep> steps, std::int32_t node, std::int32_t first_leaf) {
  if (node < 0) {
    leaves_.push_back(~node);
    return;
  }
  const TreeStep& step = steps[at(node)];
  const LaneTest test = step.splitter.lane_test();
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (!test.goes_left(v)) sets_[at(node)].byte[v / 8] |= static_cast<std::uint8_t>(1u << (v % 8));
  }
  add_node(steps, step.left, first_leaf);
  const auto right_leaf = static_cast<std::int32_t>(leaves_.size());
  CompactNode& own = nodes_[at(node)];
  own.operand = static_cast<std::uint32_t>(operand_of(test)) | kCategoryOperand;
  own.threshold = static_cast<std::uint32_t>(node);
  own.leaf = static_cast<std::uint32_t>(first_leaf) * kFourTimes;
  own.right_leaf = static_cast<std::uint32_t>(right_leaf) * kFourTimes;
  add_node(steps, step.right, right_leaf);
}

std::int32_t TileTree::operand_of(const LaneTest& test) {
  const auto same = [&](const LaneTest& other) { return other.column == test.column; };
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), same);
  const auto number = static_cast<std::int32_t>(found - lanes_.begin());
  if (found == lanes_.end()) lanes_.push_back(test);
  return 2 * number;
}

void TileTree::find_leaves(std::int64_t first_row, std::int64_t n_rows, std::int8_t* operands,
                           std::uint8_t* leaf) const {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    std::int8_t* const byte = operands + at(2 * kOperandRows) * lane;
    const std::uint8_t* const from = lanes_[lane].column + (first_row << lanes_[lane].row_shift);
    kernels().fill_set_operands(from, lanes_[lane].row_shift, n_rows, byte, byte + kOperandRows);
  }
  kernels().find_leaves(nodes_.data(), std::ssize(nodes_), sets_.data(), operands, n_rows, leaf);
}

bool TileTree::add(const RowIdx* rows, std::int64_t begin, std::int64_t end, std::int64_t n_all, double* score) const {
  if (begin == end) return true;
  if (rows != nullptr) {
    const std::int64_t span = static_cast<std::int64_t>(rows[end - 1]) - rows[begin];
    if (span < 0 || span > kRowsPerListed * (end - begin)) return false;
    std::uint32_t n_steps_back = 0;  // no branch, so that many are compared at once
    for (std::int64_t i = begin + 1; i < end; ++i) n_steps_back += rows[i] <= rows[i - 1];
    if (n_steps_back > 0) return false;
  }
  std::vector<std::int8_t> operands(lanes_.size() * at(2 * kOperandRows));
  alignas(64) std::uint8_t leaf[kOperandRows];
  const auto n_leaves = std::ssize(leaves_);
  for (std::int64_t i = begin; i < end;) {
    const std::int64_t first = rows != nullptr ? rows[i] : i;
    const std::int64_t last = rows != nullptr ? rows[end - 1] + std::int64_t{1} : end;
    const std::int64_t n = std::min(kOperandRows, last - first);
    find_leaves(first, n, operands.data(), leaf);
    std::int64_t next = i + n;
    if (rows != nullptr) next = std::lower_bound(rows + i, rows + end, static_cast<RowIdx>(first + n)) - rows;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      double* const output = score + static_cast<std::int64_t>(k) * n_all;
      if (rows == nullptr) {
        kernels().add_leaf_values(values_[k].data(), n_leaves, leaf, n, output + first);
        continue;
      }
      const double* const values = values_[k].data();
      for (std::int64_t j = i; j < next; ++j) output[rows[j]] += values[leaf[rows[j] - first]];
    }
    i = next;
  }
  return true;
}

}  // namespace gossamer
