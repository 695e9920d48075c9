#include "core/vector_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/index.h"
#include "core/split_math.h"
#include "core/timer.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;  // floating-point sums over rows keep their order
constexpr std::int32_t kBlockLanes = 8;   // x 256 cells x 24 integers: a core's own cache
constexpr std::int64_t kBatchRows =
    16384;  // rows per thread that make a batch worth its join; four times that with many threads
// A count must fit 32 bits, and so must the sums of all rows: each row adds half a step of rounding.
constexpr std::int64_t kMaxRows = std::int64_t{1} << 30;

int round_up8(int n) { return (n + 7) / 8 * 8; }

}  // namespace

void VectorEvaluator::start(Team& team, const TreeTask& task) {
  task_ = task;
  search_ = &task.params[0].search;
  n_outputs_ = static_cast<int>(task.params.size());
  n_chunks_ = round_up8(n_outputs_ + 1) / 8;
  n_rows_ = data_.exchange != nullptr ? data_.exchange->sum(task.n_rows) : task.n_rows;
  if (n_rows_ > kMaxRows) {
    throw std::invalid_argument("trees with several values per leaf take at most " + std::to_string(kMaxRows) +
                                " rows, got " + std::to_string(n_rows_) + ": grow a tree per output instead");
  }
  if (!data_.matrix->storage().loose.empty()) {
    sparse_ = data_.matrix->sparse_rows(team, static_cast<std::int64_t>(std::max(search_->rules.min_data, 1.0)));
  }
  for (NodeState& node : nodes_) release(std::move(node.cells));
  nodes_.clear();
  nodes_.resize(1);
  quantize(team);
  plan(team);
}

void VectorEvaluator::clear() {
  nodes_.clear();
  free_cells_.clear();
  n_histograms_ = 0;
}

void VectorEvaluator::plan(Team& team) {
  const auto& groups = data_.matrix->groups();
  std::vector<Searched> places;
  for (const Feature& f : data_.matrix->features()) {
    places.push_back(f.hidden ? Searched::nowhere : Searched::histogram);
  }
  allowed_.start(*search_, places);
  group_used_.assign(groups.size(), 0);
  for (const std::int32_t f : allowed_.tree_features()) {
    if (!feature(f).loose()) group_used_[at(feature(f).group)] = 1;
  }
  const std::int64_t n_cells = data_.matrix->n_cells() + (sparse_ ? sparse_->n_cells : 0);
  if (n_cells * width_ != histogram_size_) {
    free_cells_.clear();
    n_histograms_ = 0;
  }
  histogram_size_ = n_cells * width_;
  plan_blocks(team.n_threads());
  std::int64_t largest_digit = 1;
  for (const Group& group : groups) {
    for (const Lane& lane : group.lanes) {
      for (const Digit& digit : lane.digits) largest_digit = std::max<std::int64_t>(largest_digit, digit.radix);
    }
  }
  std::int64_t max_bins = 1;
  for (const Feature& f : data_.matrix->features()) max_bins = std::max<std::int64_t>(max_bins, f.n_value_bins + 1);
  const std::size_t n_threads = std::max(at(team.n_threads()), digit_scratch_.size());
  digit_scratch_.resize(n_threads);
  zero_scratch_.resize(n_threads);
  search_scratch_.resize(n_threads);
  for (std::size_t t = 0; t < n_threads; ++t) {
    digit_scratch_[t].grow_to(largest_digit * width_);
    zero_scratch_[t].grow_to(max_bins * width_);
    search_scratch_[t].assign(at(width_), 0);
  }
}

// Makes blocks of lanes of about the same size, enough to keep the threads evenly busy.
void VectorEvaluator::plan_blocks(int n_threads) {
  const auto& groups = data_.matrix->groups();
  blocks_.clear();
  lane_first_.assign(groups.size(), {});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    for (std::int64_t lane = 0; lane < group.n_lanes; ++lane) {
      lane_first_[g].push_back(static_cast<std::int32_t>(group.first_cell + group.lane_begin(lane)));
    }
    if (!group_used_[g]) continue;
    const std::int32_t least = (group.n_lanes + kBlockLanes - 1) / kBlockLanes;
    const std::int32_t n_blocks = std::min((least + n_threads - 1) / n_threads * n_threads, group.n_lanes);
    for (std::int32_t b = 0; b < n_blocks; ++b) {
      const std::int32_t first = group.n_lanes * b / n_blocks;
      const std::int32_t n = group.n_lanes * (b + 1) / n_blocks - first;
      blocks_.push_back({static_cast<std::int32_t>(g), first, n, group.first_cell + group.lane_begin(first),
                         group.lane_begin(first + n) - group.lane_begin(first)});
    }
  }
  if (sparse_) blocks_.push_back({-1, 0, 0, data_.matrix->n_cells(), sparse_->n_cells});
}

std::int64_t VectorEvaluator::preferred_rows(int n_threads) const {
  return n_threads > 1 ? kBatchRows * (n_threads <= 4 ? 1 : 4) * n_threads : 1;
}

// ---- gradients ----

// Per output: the smallest power of two such that the steps of all rows, rounded, add up to less than 2^31;
// 0 where all values are 0. Returns whether all values are the same. Sums go by blocks of rows of the table, and
// blocks are added in order: threads and shards change nothing.
bool VectorEvaluator::find_units(Team& team, const float* values, std::vector<float>& units) {
  const std::int64_t n_all = data_.matrix->n_rows();
  const std::int64_t n_blocks = (n_all + kRowBlock - 1) / kRowBlock;
  const auto place = [&](std::int64_t row) {  // index of the first row of the tree that is not before `row`
    if (task_.rows == nullptr) return std::min(row, n_all);
    return static_cast<std::int64_t>(
        std::lower_bound(task_.rows, task_.rows + task_.n_rows, static_cast<RowIdx>(std::min(row, n_all))) -
        task_.rows);
  };
  std::vector<double> sums(at(n_blocks * n_outputs_), 0.0);
  std::vector<double> extremes(at(2 * team.n_threads()), -std::numeric_limits<double>::infinity());
  team.for_each(n_blocks * n_outputs_, [&](std::int64_t task, int thread) {
    const float* const own = values + task / n_blocks * n_all;
    const std::int64_t begin = place(task % n_blocks * kRowBlock);
    const std::int64_t n = place((task % n_blocks + 1) * kRowBlock) - begin;
    if (n == 0) return;
    const ValueRange range = task_.rows != nullptr ? kernels().value_range(own, task_.rows + begin, n)
                                                   : kernels().value_range(own + begin, nullptr, n);
    sums[at(task)] = range.sum;
    double* const extreme = extremes.data() + 2 * thread;
    extreme[0] = std::max(extreme[0], static_cast<double>(range.highest));
    extreme[1] = std::max(extreme[1], -static_cast<double>(range.lowest));
  });
  for (std::size_t i = 2; i < extremes.size(); ++i) extremes[i % 2] = std::max(extremes[i % 2], extremes[i]);
  extremes.resize(2);
  if (data_.exchange != nullptr) data_.exchange->keep_largest(extremes);
  units.assign(at(n_chunks_) * 8, 0.0f);
  const double most = 0x1.0p31 - 1.0 - static_cast<double>(n_rows_);
  for (std::int64_t k = 0; k < n_outputs_; ++k) {
    std::span<const double> parts(sums.data() + k * n_blocks, at(n_blocks));
    std::vector<double> gathered;
    if (data_.exchange != nullptr) parts = gathered = data_.exchange->gather(parts);
    double total = 0.0;
    for (const double part : parts) total += part;
    if (!(total > 0.0)) continue;
    int exponent = 0;
    std::frexp(total / most, &exponent);
    units[at(k)] = static_cast<float>(std::ldexp(1.0, std::clamp(exponent, -126, 126)));
  }
  return extremes[0] == -extremes[1] || n_rows_ == 0;
}

void VectorEvaluator::quantize(Team& team) {
  const Timer timer(task_.stats->quantize, task_.stats->is_timed);
  task_.stats->rounds += 1;
  find_units(team, task_.gradient, gradient_unit_);
  constant_hessian_ = task_.hessian == nullptr || find_units(team, task_.hessian, hessian_unit_);
  double first[1] = {-std::numeric_limits<double>::infinity()};
  if (task_.hessian != nullptr && task_.n_rows > 0) first[0] = task_.hessian[task_.rows != nullptr ? task_.rows[0] : 0];
  if (data_.exchange != nullptr) data_.exchange->keep_largest(first);
  count_hessian_ = task_.hessian == nullptr || n_rows_ == 0 ? 1.0f : static_cast<float>(first[0]);
  scale_for_search();
  width_ = n_chunks_ * 8 * (constant_hessian_ ? 1 : 2);
  const std::int64_t n_all = data_.matrix->n_rows();
  values_.grow_to(n_all * width_);
  const auto inverse = [](std::vector<float> units) {
    for (float& unit : units) unit = unit > 0.0f ? 1.0f / unit : 0.0f;
    return units;
  };
  const std::vector<float> inverse_gradient = inverse(gradient_unit_);
  const std::vector<float> inverse_hessian = inverse(hessian_unit_);
  std::vector<Vector> sums(at(team.n_threads()), Vector(at(width_)));
  for_blocks(team, task_.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    VectorQuantizeArgs args;
    args.value_stride = n_all;
    args.n_outputs = n_outputs_;
    args.rows = task_.rows != nullptr ? task_.rows + begin : nullptr;
    args.first_row = begin;
    args.n_rows = end - begin;
    args.width = width_;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = task_.rows != nullptr ? task_.rows[i] : i;
      std::memset(values_.data() + row * width_, 0, at(width_) * sizeof(std::int32_t));
      values_[row * width_ + n_outputs_] = 1;
    }
    Vector& total = sums[at(thread)];
    total[at(n_outputs_)] += static_cast<std::int32_t>(end - begin);
    args.values = task_.gradient;
    args.inverse_unit = inverse_gradient.data();
    args.out = values_.data();
    kernels().quantize_vector(args, total.data());
    if (constant_hessian_) return;
    args.values = task_.hessian;
    args.inverse_unit = inverse_hessian.data();
    args.out += n_chunks_ * 8;
    kernels().quantize_vector(args, total.data() + n_chunks_ * 8);
  });
  Vector& root = nodes_[0].sums;
  root.assign(at(width_), 0);
  for (const Vector& part : sums) kernels().add_ints(part.data(), width_, root.data());
  if (data_.exchange == nullptr) return;
  const std::span<std::int32_t> part(root);
  data_.exchange->add(std::span(&part, 1));
}

// The search multiplies in floats: gradients and hessians are scaled by powers of two, the same for all
// outputs, so that squares and quotients stay in range. No comparison depends on that.
void VectorEvaluator::scale_for_search() {
  const auto scale_of = [](double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, largest > 0.0 ? -exponent : 0);
  };
  const auto largest_total = [](const std::vector<float>& units) {
    return units.empty() ? 0.0 : 0x1.0p31 * static_cast<double>(*std::max_element(units.begin(), units.end()));
  };
  const auto scaled = [](std::vector<float> units, double scale) {
    for (float& unit : units) unit = static_cast<float>(static_cast<double>(unit) * scale);
    return units;
  };
  gradient_scale_ = scale_of(largest_total(gradient_unit_));
  hessian_scale_ = scale_of(constant_hessian_ ? static_cast<double>(n_rows_) * static_cast<double>(count_hessian_)
                                              : largest_total(hessian_unit_));
  search_gradient_unit_ = scaled(gradient_unit_, gradient_scale_);
  search_hessian_unit_ = constant_hessian_ ? std::vector<float>{} : scaled(hessian_unit_, hessian_scale_);
}

// ---- nodes ----

double VectorEvaluator::gradient_of(const Vector& sums, std::size_t k) const {
  return static_cast<double>(sums[k]) * static_cast<double>(gradient_unit_[k]);
}

double VectorEvaluator::hessian_of(const Vector& sums, std::size_t k) const {
  if (constant_hessian_) return static_cast<double>(count_of(sums)) * static_cast<double>(count_hessian_);
  return static_cast<double>(sums[at(n_chunks_) * 8 + k]) * static_cast<double>(hessian_unit_[k]);
}

// Mean hessian of the outputs, to be compared with min_sum_hessian.
double VectorEvaluator::weight_of(const Vector& sums) const {
  double total = 0.0;
  for (std::size_t k = 0; k < at(n_outputs_); ++k) total += hessian_of(sums, k);
  return total / n_outputs_;
}

double VectorEvaluator::gain_of(const Vector& sums) const {
  SplitRules plain;
  plain.lambda_l2 = search_->rules.lambda_l2;
  double gain = 0.0;
  for (std::size_t k = 0; k < at(n_outputs_); ++k) {
    const double hessian = hessian_of(sums, k);
    const double gradient = shrink(gradient_of(sums, k), search_->rules.lambda_l1);
    // Without a denominator the leaf value is 0.
    if (hessian + plain.lambda_l2 > 0.0) gain += leaf_gain(gradient, hessian, 0.0, plain, 0.0);
  }
  return gain;
}

void VectorEvaluator::values(std::int32_t node, double, const double* parent, double* out) const {
  const Vector& sums = state(node).sums;
  for (std::size_t k = 0; k < at(n_outputs_); ++k) {
    out[k] = leaf_output(gradient_of(sums, k), hessian_of(sums, k), static_cast<double>(count_of(sums)), search_->rules,
                         task_.params[k].values.damp_from, parent != nullptr ? parent + k : nullptr);
  }
}

void VectorEvaluator::add_children(std::int32_t node, const BestSplit&, std::int32_t first_child) {
  nodes_.resize(at(first_child) + 2);
  const NodeState& parent = state(node);
  state(first_child).sums = parent.left;
  Vector right = parent.sums;
  kernels().subtract_ints(parent.left.data(), width_, right.data());
  state(first_child + 1).sums = std::move(right);
}

RowSplitter VectorEvaluator::splitter(std::int32_t, RowRange, const BestSplit& split) {
  return RowSplitter(*data_.matrix, split.feature, split.threshold, split.missing_left);
}

std::unique_ptr<VectorEvaluator::Cells> VectorEvaluator::acquire() {
  if (!free_cells_.empty()) {
    auto cells = std::move(free_cells_.back());
    free_cells_.pop_back();
    return cells;
  }
  auto cells = std::make_unique<Cells>(histogram_size_);
  ++n_histograms_;
  return cells;
}

void VectorEvaluator::release(std::unique_ptr<Cells> cells) {
  if (cells) free_cells_.push_back(std::move(cells));
}

// ---- a batch of leaves ----

void VectorEvaluator::evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) {
  if (blocks_.empty()) return;  // every column is constant
  allowed_.draw(jobs);
  const std::vector<Family> families = make_families(jobs);
  build(team, jobs, families);
  const Timer timer(task_.stats->search, task_.stats->is_timed);
  std::vector<Found> best(jobs.size());
  search(team, jobs, families, best);
  // A leaf beyond the budget does not keep its histogram: its children are both built from rows.
  const std::int64_t budget = std::max<std::int64_t>(search_->max_histogram_bytes / (4 * histogram_size_ + 1), 2);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    NodeState& node = state(jobs[i].node);
    settle(node, best[i], splits[i]);
    if (n_histograms_ - static_cast<std::int64_t>(free_cells_.size()) > budget) release(std::move(node.cells));
  }
}

std::vector<VectorEvaluator::Family> VectorEvaluator::make_families(std::span<const LeafJob> jobs) const {
  std::vector<Family> families;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].parent < 0) {
      families.push_back({{i}, -1, kNone});
      continue;
    }
    const bool left_is_smaller = count(jobs[i].node) <= count(jobs[i + 1].node);
    const std::size_t smaller = left_is_smaller ? i : i + 1;
    const std::size_t larger = left_is_smaller ? i + 1 : i;
    if (state(jobs[i].parent).cells) {
      families.push_back({{smaller}, jobs[i].parent, larger});
    } else {
      families.push_back({{smaller, larger}, -1, kNone});
    }
    ++i;
  }
  return families;
}

}  // namespace gossamer
