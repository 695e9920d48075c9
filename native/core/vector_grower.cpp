#include "core/vector_grower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/leaf_refit.h"
#include "core/leaf_value.h"
#include "core/prune.h"
#include "core/random.h"
#include "core/timer.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;  // floating-point sums over rows keep their order
constexpr std::int32_t kBlockLanes = 8;   // x 256 cells x 24 integers: a core's own cache

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

int round_up8(int n) { return (n + 7) / 8 * 8; }

}  // namespace

VectorGrower::VectorGrower(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) {}

Tree VectorGrower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                        std::int64_t n_rows, std::span<const GrowParams> params, double* score, const float* label,
                        bool one_label) {
  all_params_ = params;
  params_ = &params.front();
  user_rows_ = rows;
  n_rows_ = rows != nullptr ? n_rows : matrix_->n_rows();
  n_outputs_ = static_cast<int>(params.size());
  n_chunks_ = round_up8(n_outputs_ + 1) / 8;
  matrix_->make_columns(team);
  if (!matrix_->storage().loose.empty()) {
    sparse_ = matrix_->sparse_rows(team, static_cast<std::int64_t>(std::max(params_->rules.min_data, 1.0)));
  }
  quantize(team, gradient, hessian);
  plan(team);
  start_root(team);
  for (std::int64_t n_leaves = 1; n_leaves < params_->num_leaves && !frontier_.empty(); ++n_leaves) {
    if (params_->interrupt != nullptr) params_->interrupt->check();
    expand(team, take_best(), n_leaves + 1 == params_->num_leaves);
  }
  if (params_->prune_below > 0.0) prune_tree(leaves_, params_->prune_below, committed_);
  return finish(team, hessian, label, one_label, score);
}

void VectorGrower::plan(Team& team) {
  for (Leaf& leaf : leaves_) release(std::move(leaf.cells));
  leaves_.clear();
  allowed_.clear();
  const auto n_features = static_cast<std::int64_t>(matrix_->features().size());
  const FeatureLimits* const limits = params_->limits.get();
  columns_ = std::make_unique<ColumnSampler>(n_features, params_->fractions, params_->column_key,
                                             limits != nullptr ? limits->sampling_weights : std::vector<double>{});
  groups_ = limits != nullptr && !limits->groups.empty() ? &limits->groups : nullptr;
  sample_nodes_ = params_->fractions.by_level < 1.0 || params_->fractions.by_node < 1.0 || groups_ != nullptr;
  feature_used_.assign(at(n_features), 0);
  group_used_.assign(matrix_->groups().size(), 0);
  for (const std::int32_t f : columns_->tree_features()) {
    feature_used_[at(f)] = 1;
    if (!matrix_->features()[at(f)].loose()) group_used_[at(matrix_->features()[at(f)].group)] = 1;
  }
  const std::int64_t n_cells = matrix_->n_cells() + (sparse_ ? sparse_->n_cells : 0);
  if (n_cells * width_ != histogram_size_) {
    free_cells_.clear();
    n_histograms_ = 0;
  }
  n_cells_ = n_cells;
  histogram_size_ = n_cells * width_;
  blocks_.clear();
  lane_first_.assign(matrix_->groups().size(), {});
  std::int64_t largest_digit = 1;
  for (std::size_t g = 0; g < matrix_->groups().size(); ++g) {
    const Group& group = matrix_->groups()[g];
    for (std::int64_t lane = 0; lane < group.n_lanes; ++lane) {
      lane_first_[g].push_back(static_cast<std::int32_t>(group.first_cell + group.lane_begin(lane)));
      for (const Digit& digit : group.lanes[at(lane)].digits) {
        largest_digit = std::max<std::int64_t>(largest_digit, digit.radix);
      }
    }
    if (!group_used_[g]) continue;
    // As many blocks as serve the threads evenly, of about the same size.
    const std::int32_t least = (group.n_lanes + kBlockLanes - 1) / kBlockLanes;
    const std::int32_t n_blocks =
        std::min((least + team.n_threads() - 1) / team.n_threads() * team.n_threads(), group.n_lanes);
    for (std::int32_t b = 0; b < n_blocks; ++b) {
      const std::int32_t first = group.n_lanes * b / n_blocks;
      const std::int32_t n = group.n_lanes * (b + 1) / n_blocks - first;
      blocks_.push_back({static_cast<std::int32_t>(g), first, n, group.first_cell + group.lane_begin(first),
                         group.lane_begin(first + n) - group.lane_begin(first)});
    }
  }
  if (sparse_) blocks_.push_back({-1, 0, 0, matrix_->n_cells(), sparse_->n_cells});
  std::int64_t max_bins = 1;
  for (const Feature& f : matrix_->features()) max_bins = std::max<std::int64_t>(max_bins, f.n_value_bins + 1);
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

// ---- gradients ----

// Per output: the smallest power of two such that the steps of all rows, rounded, add up to less than 2^31;
// 0 where all values are 0. Returns whether all values are the same.
bool VectorGrower::find_units(Team& team, const float* values, std::vector<float>& units) {
  const std::int64_t n_blocks = (n_rows_ + kRowBlock - 1) / kRowBlock;
  std::vector<ValueRange> parts(at(n_blocks * n_outputs_));
  team.for_each(n_blocks * n_outputs_, [&](std::int64_t task, int) {
    const float* const own = values + task / n_blocks * matrix_->n_rows();
    const std::int64_t begin = task % n_blocks * kRowBlock;
    const std::int64_t n = std::min(kRowBlock, n_rows_ - begin);
    parts[at(task)] = user_rows_ != nullptr ? kernels().value_range(own, user_rows_ + begin, n)
                                            : kernels().value_range(own + begin, nullptr, n);
  });
  units.assign(at(n_chunks_) * 8, 0.0f);
  if (parts.empty()) return true;
  const double room = 0x1.0p31 - 1.0 - static_cast<double>(n_rows_);
  ValueRange all = parts.front();
  for (int k = 0; k < n_outputs_; ++k) {
    double total = 0.0;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      const ValueRange& part = parts[at(k * n_blocks + b)];
      total += part.sum;
      all.lowest = std::min(all.lowest, part.lowest);
      all.highest = std::max(all.highest, part.highest);
    }
    if (!(total > 0.0)) continue;
    int exponent = 0;
    std::frexp(total / room, &exponent);
    units[at(k)] = static_cast<float>(std::ldexp(1.0, std::clamp(exponent, -126, 126)));
  }
  return all.lowest == all.highest;
}

void VectorGrower::quantize(Team& team, const float* gradient, const float* hessian) {
  const Timer timer(stats_.quantize);
  stats_.rounds += 1;
  find_units(team, gradient, gradient_unit_);
  constant_hessian_ = hessian == nullptr || find_units(team, hessian, hessian_unit_);
  count_hessian_ = hessian == nullptr || n_rows_ == 0 ? 1.0f : hessian[user_rows_ != nullptr ? user_rows_[0] : 0];
  scale_for_search();
  width_ = n_chunks_ * 8 * (constant_hessian_ ? 1 : 2);
  const std::int64_t n_all = matrix_->n_rows();
  values_.grow_to(n_all * width_);
  const auto inverse = [](std::vector<float> units) {
    for (float& unit : units) unit = unit > 0.0f ? 1.0f / unit : 0.0f;
    return units;
  };
  const std::vector<float> inverse_gradient = inverse(gradient_unit_);
  const std::vector<float> inverse_hessian = inverse(hessian_unit_);
  const std::int64_t n_blocks = (n_rows_ + kRowBlock - 1) / kRowBlock;
  std::vector<Vector> sums(at(n_blocks), Vector(at(width_)));
  for_blocks(team, n_rows_, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    VectorQuantizeArgs args;
    args.value_stride = n_all;
    args.n_outputs = n_outputs_;
    args.rows = user_rows_ != nullptr ? user_rows_ + begin : nullptr;
    args.first_row = begin;
    args.n_rows = end - begin;
    args.width = width_;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<std::int64_t>(user_rows_ != nullptr ? user_rows_[i] : static_cast<RowIdx>(i));
      std::memset(values_.data() + row * width_, 0, at(width_) * sizeof(std::int32_t));
      values_[row * width_ + n_outputs_] = 1;
    }
    Vector& total = sums[at(b)];
    total[at(n_outputs_)] = static_cast<std::int32_t>(end - begin);
    args.values = gradient;
    args.inverse_unit = inverse_gradient.data();
    args.out = values_.data();
    kernels().quantize_vector(args, total.data());
    if (constant_hessian_) return;
    args.values = hessian;
    args.inverse_unit = inverse_hessian.data();
    args.out += n_chunks_ * 8;
    kernels().quantize_vector(args, total.data() + n_chunks_ * 8);
  });
  root_sums_.assign(at(width_), 0);
  for (const Vector& part : sums) kernels().add_ints(part.data(), width_, root_sums_.data());
}

// The search multiplies in floats: gradients and hessians are scaled by powers of two, the same for all
// outputs, so that squares and quotients stay in range. No comparison depends on that.
void VectorGrower::scale_for_search() {
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

double VectorGrower::gradient_of(const Vector& sums, std::size_t k) const {
  return static_cast<double>(sums[k]) * static_cast<double>(gradient_unit_[k]);
}

double VectorGrower::hessian_of(const Vector& sums, std::size_t k) const {
  if (constant_hessian_) return static_cast<double>(count_of(sums)) * static_cast<double>(count_hessian_);
  return static_cast<double>(sums[at(n_chunks_) * 8 + k]) * static_cast<double>(hessian_unit_[k]);
}

// Mean hessian of the outputs: what min_sum_hessian is asked of.
double VectorGrower::weight_of(const Vector& sums) const {
  double total = 0.0;
  for (std::size_t k = 0; k < at(n_outputs_); ++k) total += hessian_of(sums, k);
  return total / n_outputs_;
}

double VectorGrower::gain_of(const Vector& sums) const {
  double gain = 0.0;
  for (std::size_t k = 0; k < at(n_outputs_); ++k) {
    const double shrunk = std::max(std::abs(gradient_of(sums, k)) - params_->rules.lambda_l1, 0.0);
    const double denominator = hessian_of(sums, k) + params_->rules.lambda_l2;
    if (denominator > 0.0) gain += shrunk * shrunk / denominator;  // otherwise its leaf value is 0
  }
  return gain;
}

std::vector<double> VectorGrower::outputs_of(const Vector& sums, const std::vector<double>* parent) const {
  std::vector<double> outputs(at(n_outputs_));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    outputs[k] =
        leaf_output(gradient_of(sums, k), hessian_of(sums, k), static_cast<double>(count_of(sums)), params_->rules,
                    all_params_[k].damp_from, parent != nullptr ? parent->data() + k : nullptr);
  }
  return outputs;
}

// ---- growing ----

void VectorGrower::start_root(Team& team) {
  frontier_.clear();
  committed_.clear();
  leaves_.reserve(at(2 * params_->num_leaves));
  rows_.start(user_rows_, n_rows_);
  Leaf root;
  root.end = n_rows_;
  root.sums = root_sums_;
  root.outputs = outputs_of(root.sums, nullptr);
  if (groups_ != nullptr) root.open = groups_->all();
  leaves_.push_back(std::move(root));
  // Without blocks every column is constant.
  if (params_->num_leaves >= 2 && may_split(leaves_[0]) && !blocks_.empty()) evaluate(team, {{0}, -1, -1});
}

bool VectorGrower::may_split(const Leaf& leaf) const {
  if (params_->max_depth > 0 && leaf.depth >= params_->max_depth) return false;
  return static_cast<double>(leaf.n_rows()) >= 2.0 * std::max(params_->rules.min_data, 1.0);
}

std::int32_t VectorGrower::take_best() {
  const auto best = std::min_element(frontier_.begin(), frontier_.end(), [&](std::int32_t i, std::int32_t j) {
    const Leaf& a = leaves_[at(i)];
    const Leaf& b = leaves_[at(j)];
    if (params_->depthwise && a.depth != b.depth) return a.depth < b.depth;
    if (!params_->depthwise && a.split.gain != b.split.gain) return a.split.gain > b.split.gain;
    return a.order < b.order;
  });
  const std::int32_t node = *best;
  frontier_.erase(best);
  return node;
}

void VectorGrower::expand(Team& team, std::int32_t node, bool last) {
  stats_.expanded += 1;
  stats_.batches += 1;
  {
    const Timer timer(stats_.partition);
    const Leaf& leaf = leaves_[at(node)];
    stats_.partitioned_rows += leaf.n_rows();
    const LeafSplit split{leaf.begin, leaf.end, count_of(leaf.split.left),
                          RowSplitter(*matrix_, leaf.split.feature, leaf.split.threshold, leaf.split.missing_left)};
    rows_.split(team, {&split, 1});
  }
  committed_.push_back(node);
  const auto n_committed = static_cast<std::int64_t>(committed_.size());
  for (int side = 0; side < 2; ++side) {
    const Leaf& parent = leaves_[at(node)];
    const std::int64_t middle = parent.begin + count_of(parent.split.left);
    Leaf child;
    child.begin = side == 0 ? parent.begin : middle;
    child.end = side == 0 ? middle : parent.end;
    child.sums = side == 0 ? parent.split.left : parent.sums;
    if (side == 1) kernels().subtract_ints(parent.split.left.data(), width_, child.sums.data());
    child.parent = node;
    child.depth = parent.depth + 1;
    child.key = mix_bits(parent.key * 2 + static_cast<std::uint64_t>(side));
    child.outputs = outputs_of(child.sums, &parent.outputs);
    if (groups_ != nullptr) child.open = groups_->below(parent.open, parent.split.feature);
    child.order = 2 * n_committed + side;
    child.slot = side == 0 ? parent.slot : static_cast<std::int32_t>(n_committed);
    leaves_[at(node)].children[side] = static_cast<std::int32_t>(leaves_.size());
    leaves_.push_back(std::move(child));
  }
  const std::int32_t* const children = leaves_[at(node)].children;
  const Leaf& left = leaves_[at(children[0])];
  const Leaf& right = leaves_[at(children[1])];
  if (last || (!may_split(left) && !may_split(right))) {
    release(std::move(leaves_[at(node)].cells));
    return;
  }
  const int smaller = left.n_rows() <= right.n_rows() ? 0 : 1;
  Family family{{children[smaller]}, node, children[1 - smaller]};
  if (!leaves_[at(node)].cells) family = {{children[smaller], children[1 - smaller]}, -1, -1};
  evaluate(team, family);
}

// A leaf without room for its histogram can still be split: its children are both built from rows.
std::unique_ptr<VectorGrower::Cells> VectorGrower::acquire() {
  if (!free_cells_.empty()) {
    auto cells = std::move(free_cells_.back());
    free_cells_.pop_back();
    return cells;
  }
  ++n_histograms_;
  return std::make_unique<Cells>(histogram_size_);
}

void VectorGrower::release(std::unique_ptr<Cells> cells) {
  if (cells) free_cells_.push_back(std::move(cells));
}

void VectorGrower::evaluate(Team& team, const Family& family) {
  if (sample_nodes_) {
    allowed_.resize(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (!allowed_[i].empty()) continue;
      allowed_[i].assign(feature_used_.size(), 0);
      const Leaf& leaf = leaves_[i];
      std::function<bool(std::int32_t)> may_meet;
      if (groups_ != nullptr) may_meet = [&](std::int32_t f) { return groups_->allows(leaf.open, f); };
      for (const std::int32_t f : columns_->node_features(leaf.depth, leaf.key, may_meet)) allowed_[i][at(f)] = 1;
    }
  }
  build(team, family.built);
  search(team, family);
  // What is beyond the budget lives on without its histogram.
  const std::int64_t budget = std::max<std::int64_t>(params_->max_histogram_bytes / (4 * histogram_size_ + 1), 2);
  std::vector<std::int32_t> searched = family.built;
  if (family.rest >= 0) searched.push_back(family.rest);
  for (const std::int32_t i : searched) {
    Leaf& leaf = leaves_[at(i)];
    if (leaf.split.feature >= 0) frontier_.push_back(i);
    if (leaf.split.feature < 0) release(std::move(leaf.cells));
    if (n_histograms_ - static_cast<std::int64_t>(free_cells_.size()) > budget) release(std::move(leaf.cells));
  }
}

// ---- the finished tree ----

void VectorGrower::refit(Team& team, const std::vector<std::int32_t>& final_leaves, const float* hessian,
                         const float* label, bool one_label, const double* score) {
  const std::int64_t n_all = matrix_->n_rows();
  std::vector<std::vector<Residual>> scratch(at(team.n_threads()));
  const auto n_leaves = static_cast<std::int64_t>(final_leaves.size());
  team.for_each(n_leaves * n_outputs_, [&](std::int64_t task, int thread) {
    const std::int64_t k = task / n_leaves;
    const GrowParams& own = all_params_[at(k)];
    if (!own.refit) return;
    const LeafRefit refit{label + (one_label ? 0 : k * n_all), hessian != nullptr ? hessian + k * n_all : nullptr,
                          score + k * n_all, own.refit_alpha, own.refit_delta};
    Leaf& leaf = leaves_[at(final_leaves[at(task % n_leaves)])];
    double value = refit_leaf(refit, rows_.from(leaf.begin), leaf.n_rows(), scratch[at(thread)]);
    const double limit = params_->rules.max_delta_step;
    if (limit > 0.0) value = std::clamp(value, -limit, limit);
    leaf.outputs[at(k)] = value;
  });
}

Tree VectorGrower::finish(Team& team, const float* hessian, const float* label, bool one_label, double* score) {
  const Timer timer(stats_.scores);
  stats_.committed += static_cast<std::int64_t>(committed_.size());
  std::vector<std::int32_t> number(leaves_.size(), -1);  // node number of a committed leaf
  for (std::size_t i = 0; i < committed_.size(); ++i) number[at(committed_[i])] = static_cast<std::int32_t>(i);
  std::vector<std::int32_t> final_leaves;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (number[i] < 0 && (i == 0 || number[at(leaves_[i].parent)] >= 0)) {
      final_leaves.push_back(static_cast<std::int32_t>(i));
    }
  }
  if (!committed_.empty()) refit(team, final_leaves, hessian, label, one_label, score);

  Tree tree;
  tree.n_values = n_outputs_;
  const std::size_t n_leaves = final_leaves.size();
  tree.leaf_value.resize(n_leaves * at(n_outputs_));
  tree.leaf_weight.resize(n_leaves);
  tree.leaf_count.resize(n_leaves);
  const auto child_number = [&](std::int32_t i) { return number[at(i)] >= 0 ? number[at(i)] : ~leaves_[at(i)].slot; };
  for (const std::int32_t i : committed_) {
    const Leaf& node = leaves_[at(i)];
    tree.add_split(matrix_->features()[at(node.split.feature)], node.split.feature, node.split.threshold,
                   node.split.missing_left, child_number(node.children[0]), child_number(node.children[1]),
                   node.split.gain);
    tree.node_weight.push_back(weight_of(node.sums));
    tree.node_count.push_back(count_of(node.sums));
    for (const double output : node.outputs) tree.node_value.push_back(output * params_->learning_rate);
  }
  std::vector<RowRange> ranges;
  for (const std::int32_t i : final_leaves) {
    const Leaf& leaf = leaves_[at(i)];
    double* const values = tree.leaf_value.data() + leaf.slot * n_outputs_;
    for (std::size_t k = 0; k < leaf.outputs.size(); ++k) {
      values[k] = shrink_output(leaf.outputs[k], params_->learning_rate, params_->value_unit);
    }
    tree.leaf_weight[at(leaf.slot)] = weight_of(leaf.sums);
    tree.leaf_count[at(leaf.slot)] = count_of(leaf.sums);
    ranges.push_back({leaf.begin, leaf.end});
  }
  // A tree that could not split says nothing about the rows: it adds nothing.
  if (!committed_.empty()) {
    rows_.for_pieces(team, ranges, [&](std::size_t leaf, const RowIdx* rows, std::int64_t n) {
      const double* const values = tree.leaf_value.data() + leaves_[at(final_leaves[leaf])].slot * n_outputs_;
      for (int k = 0; k < n_outputs_; ++k) {
        double* const output = score + k * matrix_->n_rows();
        for (std::int64_t i = 0; i < n; ++i) output[rows[i]] += values[k];
      }
    });
  }
  for (Leaf& leaf : leaves_) release(std::move(leaf.cells));
  return tree;
}

}  // namespace gossamer
