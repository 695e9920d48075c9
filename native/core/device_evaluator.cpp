#include "core/device_evaluator.h"

#include <stdexcept>

#include "core/index.h"
#include "core/split_math.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlockRows = 4096;

template <class Bin>
void copy_group(const Group& group, const Feature& feature, RowRange rows, std::int64_t stride, Bin* out) {
  const auto copy = [&](const auto* bins) {
    const auto* from = bins + rows.begin * group.row_stride + feature.lane;
    for (std::int64_t r = rows.begin; r < rows.end; ++r, from += group.row_stride, out += stride) {
      *out = static_cast<Bin>(feature.bin_of_lane(*from));
    }
  };
  group.two_bytes ? copy(group.bins16.data()) : copy(group.bins8.data());
}

template <class Bin>
void copy_all(Team& team, const BinMatrix& matrix, std::span<const std::int32_t> features, RowRange rows,
              std::int64_t stride, Bin* out) {
  const std::int64_t n_rows = rows.end - rows.begin;
  for_blocks(team, n_rows, kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      const Feature& feature = matrix.features()[at(features[k])];
      if (feature.loose() || feature.entries >= 0) continue;
      copy_group(matrix.groups()[at(feature.group)], feature, {rows.begin + begin, rows.begin + end}, stride,
                 out + begin * stride + static_cast<std::int64_t>(k));
    }
  });
  // Sparse columns, and features some of whose values did not fit their bundle.
  std::vector<std::uint16_t> column;
  for (std::size_t k = 0; k < features.size(); ++k) {
    const Feature& feature = matrix.features()[at(features[k])];
    if (!feature.loose() && feature.entries < 0) continue;
    column.resize(at(matrix.n_rows()));
    matrix.copy_column(features[k], column.data());
    for (std::int64_t r = 0; r < n_rows; ++r) {
      out[r * stride + static_cast<std::int64_t>(k)] = static_cast<Bin>(column[at(rows.begin + r)]);
    }
  }
}

}  // namespace

void DeviceEvaluator::start(Team&, const TreeTask& task) {
  task_ = task;
  if (found_.nodes.empty()) throw std::logic_error("internal error: the device has found no nodes");
  number_.assign(1, 0);
}

double DeviceEvaluator::weight(std::int32_t node) const {
  const Sums& sums = at(node).sums;
  return static_cast<double>(found_.layout.constant_hessian() ? sums.count : sums.hessian) * found_.layout.hessian_unit;
}

void DeviceEvaluator::values(std::int32_t node, double l2, const double* parent, double* out) const {
  *out = leaf_output(static_cast<double>(at(node).sums.gradient) * found_.layout.gradient_unit, weight(node),
                     static_cast<double>(at(node).sums.count), with_l2(task_.params[0].search.rules, l2),
                     task_.params[0].values.damp_from, parent);
}

void DeviceEvaluator::evaluate(Team&, std::span<const LeafJob> jobs, std::span<BestSplit> splits) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const cuda::Node& node = at(jobs[i].node);
    if (!jobs[i].may_split || node.feature < 0) continue;
    const Feature& feature = matrix_->features()[gossamer::at(node.feature)];
    BestSplit& split = splits[i];
    split.gain = node.gain;
    split.feature = node.feature;
    split.threshold = node.threshold;
    split.missing_left = node.missing_left != 0;
    split.l2 = node.l2;
    split.left_count = node.left.count;
    if (!feature.is_categorical()) continue;
    const auto number = gossamer::at(number_[gossamer::at(jobs[i].node)] * found_.set_words);
    split.goes_left.resize(gossamer::at(feature.n_value_bins) + 1);
    for (std::size_t bin = 0; bin < split.goes_left.size(); ++bin) {
      split.goes_left[bin] = found_.sets[number + bin / 32] >> (bin % 32) & 1;
    }
  }
}

void DeviceEvaluator::add_children(std::int32_t node, const BestSplit&, std::int32_t first_child) {
  const std::int32_t left = at(node).left_child;
  if (left < 0) throw std::logic_error("internal error: the device has not expanded a node of the tree");
  number_.resize(gossamer::at(first_child) + 2);
  number_[gossamer::at(first_child)] = left;
  number_[gossamer::at(first_child) + 1] = left + 1;
}

void copy_rows(Team& team, const BinMatrix& matrix, std::span<const std::int32_t> features, RowRange rows,
               std::int64_t stride, std::uint8_t* out) {
  copy_all(team, matrix, features, rows, stride, out);
}

void copy_rows(Team& team, const BinMatrix& matrix, std::span<const std::int32_t> features, RowRange rows,
               std::int64_t stride, std::uint16_t* out) {
  copy_all(team, matrix, features, rows, stride, out);
}

}  // namespace gossamer
