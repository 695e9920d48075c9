// Splits that a GPU has found: the grower commits them best first, as if it had found them itself.
//
// The device holds all rows. The grower has none, unless leaf values are refitted on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/leaf_evaluator.h"
#include "cuda/device.h"

namespace gossamer {

// What the device has written: its nodes, the sets of those that split categories, and the layout of their sums.
struct DeviceNodes {
  std::span<const cuda::Node> nodes;
  std::span<const std::uint32_t> sets;
  std::int64_t set_words = 0;  // of a set
  CellLayout layout;
  bool splits_rows = false;  // the grower splits rows, too
};

class DeviceEvaluator : public LeafEvaluator {
 public:
  explicit DeviceEvaluator(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) {}

  // The nodes of the tree that is grown next.
  void use(const DeviceNodes& found) { found_ = found; }

  void start(Team& team, const TreeTask& task) override;
  void evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) override;
  void clear() override { number_.clear(); }
  std::int64_t count(std::int32_t node) const override { return at(node).sums.count; }
  double weight(std::int32_t node) const override;
  void values(std::int32_t node, double l2, const double* parent, double* out) const override;
  void add_children(std::int32_t node, const BestSplit& split, std::int32_t first_child) override;
  RowSplitter splitter(std::int32_t, RowRange, const BestSplit& split) override { return splitter_of(*matrix_, split); }
  bool has_no_rows() const override { return !found_.splits_rows; }
  void forget(std::int32_t) override {}
  // The device expands no more nodes than the tree needs.
  bool can_expand_ahead() const override { return false; }
  const std::vector<Feature>& box_features() const override { return matrix_->features(); }
  std::int64_t preferred_rows(int) const override { return 1; }

 private:
  const cuda::Node& at(std::int32_t node) const {
    return found_.nodes[static_cast<std::size_t>(number_[static_cast<std::size_t>(node)])];
  }

  std::shared_ptr<BinMatrix> matrix_;
  DeviceNodes found_;
  TreeTask task_;
  std::vector<std::int32_t> number_;  // by node of the grower: the device's
};

// Bins of some features, row by row, as the device reads them: feature features[k] of row r is at
// out[(r - rows.begin) * stride + k].
void copy_rows(Team& team, const BinMatrix& matrix, std::span<const std::int32_t> features, RowRange rows,
               std::int64_t stride, std::uint8_t* out);
void copy_rows(Team& team, const BinMatrix& matrix, std::span<const std::int32_t> features, RowRange rows,
               std::int64_t stride, std::uint16_t* out);

}  // namespace gossamer
