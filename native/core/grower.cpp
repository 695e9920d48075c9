#include "core/grower.h"

#include <algorithm>
#include <cmath>

#include "core/layout.h"
#include "core/leaf_value.h"
#include "core/prune.h"
#include "core/random.h"
#include "core/timer.h"

namespace gossamer {
namespace {

// Blocks of a fixed size, whatever the number of threads: floating-point sums keep their order.
constexpr std::int64_t kRowBlock = 8192;
constexpr std::int64_t kBatchRows = 16384;  // rows per thread that make a batch worth its join

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

GrowStats& GrowStats::operator+=(const GrowStats& other) {
  quantize += other.quantize;
  partition += other.partition;
  build += other.build;
  search += other.search;
  scores += other.scores;
  built_rows += other.built_rows;
  partitioned_rows += other.partitioned_rows;
  expanded += other.expanded;
  committed += other.committed;
  batches += other.batches;
  wide_rounds += other.wide_rounds;
  rounds += other.rounds;
  return *this;
}

Grower::Grower(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) {}

Tree Grower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
                  const GrowParams& params, double* score, const float* label, const RawTable* raw) {
  params_ = &params;
  user_rows_ = rows;
  n_rows_ = rows != nullptr ? n_rows : matrix_->n_rows();
  matrix_->make_columns(team);
  if (!matrix_->storage().loose.empty()) {
    sparse_ = matrix_->sparse_rows(team, static_cast<std::int64_t>(std::max(params.rules.min_data, 1.0)));
  }
  plan_blocks(team.n_threads());
  quantize(team, gradient, hessian);
  start_root(team);

  std::int64_t n_leaves = 1;
  while (n_leaves < params.num_leaves && !frontier_.empty()) {
    const auto best = std::min_element(frontier_.begin(), frontier_.end(), [&](std::int32_t a, std::int32_t b) {
      return comes_before(leaves_[at(a)], leaves_[at(b)]);
    });
    const std::int32_t node = *best;
    if (leaves_[at(node)].stale) {
      std::vector<Family> families;
      search_again({node}, families);
      evaluate(team, families);
      return_to_frontier({node});
      continue;
    }
    if (!leaves_[at(node)].expanded) {
      if (params.interrupt != nullptr) params.interrupt->check();
      if (refunds_) paid_[at(leaves_[at(node)].split.feature)] = 1;  // its children need not pay
      expand(team, choose_batch(team, n_leaves), n_leaves + 1 == params.num_leaves);
      if (!monotone_.changes_others()) continue;  // otherwise `node` alone, which counts as split now
    }
    std::erase(frontier_, node);
    committed_.push_back(node);
    const std::int32_t* const children = leaves_[at(node)].children;
    for (int side = 0; side < 2; ++side) {
      Leaf& child = leaves_[at(children[side])];
      child.order = 2 * static_cast<std::int64_t>(committed_.size()) + side;
      child.slot = side == 0 ? leaves_[at(node)].slot : static_cast<std::int32_t>(n_leaves);
      if (child.split.feature >= 0) frontier_.push_back(children[side]);
    }
    ++n_leaves;
    if (refunds_) {
      refund(leaves_[at(node)].split.feature);
    } else {
      drop_hopeless(params.num_leaves - n_leaves);
    }
  }
  if (params.prune_below > 0.0) prune();
  const LeafRefit refit{label, hessian, score, params.refit_alpha, params.refit_delta};
  return finish(team, refit,
                {raw, gradient, hessian, refit, params.rules, params.damp_from, params.linear_lambda,
                 params.linear_extrapolation, params.learning_rate},
                score);
}

// Leaves behind the best `wanted` will not be split: what comes in can only push them further back.
// Their histograms are free for others, which halves the memory of large trees.
void Grower::drop_hopeless(std::int64_t wanted) {
  if (static_cast<std::int64_t>(frontier_.size()) <= wanted || monotone_.changes_others()) return;
  std::nth_element(frontier_.begin(), frontier_.begin() + wanted, frontier_.end(),
                   [&](std::int32_t a, std::int32_t b) { return comes_before(leaves_[at(a)], leaves_[at(b)]); });
  for (std::size_t i = at(wanted); i < frontier_.size(); ++i) {
    Leaf& leaf = leaves_[at(frontier_[i])];
    pool_.release(std::move(leaf.histogram));
    for (const std::int32_t child : leaf.children) {
      if (child >= 0) pool_.release(std::move(leaves_[at(child)].histogram));
    }
  }
  frontier_.resize(at(wanted));
}

// Basic limits of a node hold for all that is under it, so that its own value can take the place of theirs.
// By the other methods leaves around it were limited by its children only, and must come to terms with it.
void Grower::prune() {
  if (!prune_tree(leaves_, params_->prune_below, committed_)) return;
  if (monotone_.changes_others() && !committed_.empty()) reconcile_leaves(final_leaves());
}

bool Grower::comes_before(const Leaf& a, const Leaf& b) const {
  // Forced splits come first, in their order; -1 becomes the largest number.
  const auto forced_a = static_cast<std::uint32_t>(a.limits.forced);
  const auto forced_b = static_cast<std::uint32_t>(b.limits.forced);
  if (forced_a != forced_b) return forced_a < forced_b;
  if (params_->depthwise && a.depth != b.depth) return a.depth < b.depth;
  if (!params_->depthwise && a.split.gain != b.split.gain) return a.split.gain > b.split.gain;
  return a.order < b.order;
}

// ---- gradients ----

// A block of rows that stands together: as it is, or gathered into room of its own.
struct Grower::RowBlock {
  const float* gradient;
  const float* hessian;  // nullptr: all 1
  std::vector<float> gathered;

  RowBlock(const float* g, const float* h, const RowIdx* rows, std::int64_t begin, std::int64_t end) {
    if (rows == nullptr) {
      gradient = g + begin;
      hessian = h != nullptr ? h + begin : nullptr;
      return;
    }
    const std::int64_t n = end - begin;
    gathered.resize(at(h != nullptr ? 2 * n : n));
    for (std::int64_t i = 0; i < n; ++i) gathered[at(i)] = g[rows[begin + i]];
    gradient = gathered.data();
    hessian = nullptr;
    if (h == nullptr) return;
    for (std::int64_t i = 0; i < n; ++i) gathered[at(n + i)] = h[rows[begin + i]];
    hessian = gathered.data() + n;
  }
};

// Only rows of the sample are looked at: the others cost nothing.
void Grower::quantize(Team& team, const float* gradient, const float* hessian) {
  const Timer timer(stats_.quantize);
  const std::int64_t n_blocks = (n_rows_ + kRowBlock - 1) / kRowBlock;
  std::vector<GradientStats> blocks(at(n_blocks));
  for_blocks(team, n_rows_, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const RowBlock block(gradient, hessian, user_rows_, begin, end);
    kernels().gradient_stats(block.gradient, block.hessian, end - begin, blocks[at(b)]);
  });
  GradientStats total = blocks.empty() ? GradientStats{} : blocks[0];
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    total.n_sampled += blocks[b].n_sampled;
    total.sum_root_gradient += blocks[b].sum_root_gradient;
    total.sum_root_hessian += blocks[b].sum_root_hessian;
    total.max_abs_gradient = std::max(total.max_abs_gradient, blocks[b].max_abs_gradient);
    total.max_hessian = std::max(total.max_hessian, blocks[b].max_hessian);
    total.min_hessian = std::min(total.min_hessian, blocks[b].min_hessian);
  }
  layout_ = choose_layout(total, n_rows_, hessian != nullptr, sorted_ != nullptr);
  stats_.rounds += 1;
  stats_.wide_rounds += layout_.wide;

  const std::int64_t words = layout_.wide ? 4 : 1;  // 32-bit words per row
  row_values_.grow_to(matrix_->n_rows() * words);
  std::vector<Sums> sums(at(n_blocks));
  for_blocks(team, n_rows_, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const RowBlock block(gradient, hessian, user_rows_, begin, end);
    if (user_rows_ == nullptr) {
      sums[at(b)] =
          kernels().quantize(block.gradient, block.hessian, end - begin, layout_, row_values_.data() + begin * words);
      return;
    }
    std::vector<std::uint32_t> values(at((end - begin) * words));
    sums[at(b)] = kernels().quantize(block.gradient, block.hessian, end - begin, layout_, values.data());
    for (std::int64_t i = 0; i < end - begin; ++i) {
      std::copy_n(values.data() + i * words, words, row_values_.data() + user_rows_[begin + i] * words);
    }
  });
  root_sums_ = {};
  for (const Sums& s : sums) root_sums_ += s;
  if (layout_.constant_hessian()) root_sums_.hessian = 0;

  // Rules in units of the layout: gradients count in gradient_unit, hessians in hessian_unit, leaf
  // values in their ratio.
  const SplitRules& given = params_->rules;
  rules_ = given;
  rules_.lambda_l1 = given.lambda_l1 / layout_.gradient_unit;
  rules_.lambda_l2 = given.lambda_l2 / layout_.hessian_unit;
  rules_.min_sum_hessian = given.min_sum_hessian / layout_.hessian_unit;
  rules_.cat_l2 = given.cat_l2 / layout_.hessian_unit;
  rules_.cat_smooth = given.cat_smooth / layout_.hessian_unit;
  rules_.max_delta_step = given.max_delta_step * layout_.hessian_unit / layout_.gradient_unit;
  rules_.min_data = std::max(given.min_data, 1.0);
}

void Grower::start_root(Team& team) {
  for (Leaf& leaf : leaves_) pool_.release(std::move(leaf.histogram));
  leaves_.clear();
  frontier_.clear();
  committed_.clear();
  leaves_.reserve(at(4 * params_->num_leaves + 8));
  pool_.configure(n_cells_, sparse_ ? sparse_->n_cells - sparse_->n_heavy : 0, layout_.wide,
                  params_->max_histogram_bytes);

  rows_.start(user_rows_, n_rows_);
  Leaf root;
  root.end = n_rows_;
  root.sums = root_sums_;
  root.output = root.wish = output_of(root.sums, 0.0, nullptr);  // nothing above it to be smoothed towards
  monotone_.start(params_->monotone, sorted_ != nullptr ? box_features_ : matrix_->features(), root.output,
                  team.n_threads());
  if (limits_ != nullptr) start_root_limits(root);
  leaves_.push_back(std::move(root));
  start_sorted(team);
  if (params_->num_leaves < 2 || !may_split(leaves_[0])) return;
  std::vector<Family> families(1);
  families[0].built[0] = 0;
  evaluate(team, families);
  if (leaves_[0].split.feature >= 0) frontier_.push_back(0);
}

// ---- batches ----

bool Grower::may_split(const Leaf& leaf) const {
  if (params_->max_depth > 0 && leaf.depth >= params_->max_depth) return false;
  return static_cast<double>(leaf.sums.count) >= 2.0 * rules_.min_data;
}

// The best unexpanded leaf, and while the threads would otherwise idle the next best ones. What has
// been expanded but not committed stays below half of the leaves still wanted: that much is all but
// certain to be used. Only one where a split changes what others may do.
std::vector<std::int32_t> Grower::choose_batch(Team& team, std::int64_t n_leaves) const {
  std::vector<std::int32_t> waiting;
  for (const std::int32_t leaf : frontier_) {
    if (!leaves_[at(leaf)].expanded) waiting.push_back(leaf);
  }
  const auto n_ahead = static_cast<std::int64_t>(frontier_.size() - waiting.size());
  const std::int64_t most = monotone_.changes_others() ? 1 : (params_->num_leaves - n_leaves) / 2 - n_ahead;
  const std::int64_t limit = std::max<std::int64_t>(most, 1);
  const std::int64_t enough_rows = team.n_threads() > 1 && !refunds_ ? kBatchRows * team.n_threads() : 1;
  std::sort(waiting.begin(), waiting.end(),
            [&](std::int32_t a, std::int32_t b) { return comes_before(leaves_[at(a)], leaves_[at(b)]); });
  std::int64_t n = 0;
  std::int64_t rows = 0;
  for (; n < static_cast<std::int64_t>(waiting.size()) && n < limit && rows < enough_rows; ++n) {
    rows += leaves_[at(waiting[at(n)])].n_rows();
  }
  waiting.resize(at(n));
  return waiting;
}

void Grower::expand(Team& team, const std::vector<std::int32_t>& batch, bool last) {
  stats_.batches += 1;
  stats_.expanded += static_cast<std::int64_t>(batch.size());
  partition(team, batch);
  std::vector<Family> families;
  std::vector<std::int32_t> searched;  // nodes whose children are
  for (const std::int32_t node : batch) {
    make_children(node);
    const Leaf& parent = leaves_[at(node)];
    const Leaf& left = leaves_[at(parent.children[0])];
    const Leaf& right = leaves_[at(parent.children[1])];
    if (last || (!may_split(left) && !may_split(right))) {
      pool_.release(std::move(leaves_[at(node)].histogram));
      continue;
    }
    searched.push_back(node);
    const int smaller = left.n_rows() <= right.n_rows() ? 0 : 1;
    Family family;
    family.parent = node;
    family.built[0] = parent.children[smaller];
    if (parent.histogram) {
      family.rest = parent.children[1 - smaller];
    } else {
      family.built[1] = parent.children[1 - smaller];
    }
    families.push_back(std::move(family));
  }
  if (sorted_ != nullptr) split_lists(team, searched);
  std::vector<std::int32_t> again;
  if (!last) again = note_changes();
  search_again(again, families);
  if (!families.empty()) evaluate(team, families);
  return_to_frontier(again);
}

// Leaves whose limits have changed are searched again when it is their turn, by the gain they had. Those
// that could not be split are returned: they may be able to if their limits are wider now.
std::vector<std::int32_t> Grower::note_changes() {
  std::vector<std::int32_t> again;
  for (const Monotone::Change& change : monotone_.changed()) {
    Leaf& leaf = leaves_[at(change.leaf)];
    leaf.stale = leaf.split.feature >= 0;
    if (!leaf.stale && change.widened && may_split(leaf)) again.push_back(change.leaf);
  }
  return again;
}

// Until they have been searched, leaves are not in the frontier, so that nobody takes their histograms.
void Grower::search_again(const std::vector<std::int32_t>& again, std::vector<Family>& families) {
  for (const std::int32_t i : again) {
    Leaf& leaf = leaves_[at(i)];
    std::erase(frontier_, i);
    leaf.stale = false;
    Family family;
    family.built[0] = i;
    family.again = leaf.histogram != nullptr;
    if (family.again) family.alive = std::move(leaf.alive);
    leaf.alive.clear();
    families.push_back(std::move(family));
  }
}

void Grower::return_to_frontier(const std::vector<std::int32_t>& searched) {
  for (const std::int32_t i : searched) {
    if (leaves_[at(i)].split.feature >= 0) frontier_.push_back(i);
  }
}

void Grower::make_children(std::int32_t node) {
  Leaf children[2];
  {
    Leaf& parent = leaves_[at(node)];
    const Sums right = parent.sums - parent.split.left;
    const std::int64_t middle = parent.begin + parent.split.left.count;
    for (int side = 0; side < 2; ++side) {
      Leaf& child = children[side];
      child.begin = side == 0 ? parent.begin : middle;
      child.end = side == 0 ? middle : parent.end;
      child.sums = side == 0 ? parent.split.left : right;
      child.depth = parent.depth + 1;
      child.key = mix_bits(parent.key * 2 + static_cast<std::uint64_t>(side));
      child.l2 = parent.split.l2;
      child.output = child.wish = output_of(child.sums, child.l2, &parent.output);
      if (limits_ != nullptr) inherit_limits(parent, side, child);
    }
    parent.expanded = true;
    if (monotone_.is_on()) {
      double values[2] = {children[0].wish, children[1].wish};
      const Split& split = parent.split;
      monotone_.split(node, static_cast<std::int32_t>(leaves_.size()),
                      {split.feature, sorted_ != nullptr ? static_cast<std::int32_t>(split.place) : split.threshold,
                       split.missing_left},
                      values);
      for (int side = 0; side < 2; ++side) children[side].output = values[side];
    }
  }
  for (int side = 0; side < 2; ++side) {
    leaves_[at(node)].children[side] = static_cast<std::int32_t>(leaves_.size());
    leaves_.push_back(std::move(children[side]));
  }
}

void Grower::partition(Team& team, const std::vector<std::int32_t>& batch) {
  const Timer timer(stats_.partition);
  std::vector<LeafSplit> splits;
  splits.reserve(batch.size());
  for (const std::int32_t node : batch) {
    const Leaf& leaf = leaves_[at(node)];
    const Split& split = leaf.split;
    stats_.partitioned_rows += leaf.n_rows();
    if (is_listed(split.feature)) {
      splits.push_back({leaf.begin, leaf.end, split.left.count, mark_sides(leaf)});
      continue;
    }
    splits.push_back({leaf.begin, leaf.end, split.left.count,
                      split.goes_left.empty()
                          ? RowSplitter(*matrix_, split.feature, split.threshold, split.missing_left)
                          : RowSplitter(*matrix_, split.feature, split.goes_left)});
  }
  rows_.split(team, splits);
  if (sorted_ == nullptr || lists_.used().empty()) return;
  for (const std::int32_t node : batch) {
    if (!is_listed(leaves_[at(node)].split.feature)) mark_rows(leaves_[at(node)]);
  }
}

// ---- leaf values ----

double Grower::output_of(const Sums& sums, double l2, const double* parent_output) const {
  const std::int64_t hessian = layout_.constant_hessian() ? sums.count : sums.hessian;
  SplitRules rules = params_->rules;
  rules.lambda_l2 += l2;
  return leaf_output(static_cast<double>(sums.gradient) * layout_.gradient_unit,
                     static_cast<double>(hessian) * layout_.hessian_unit, static_cast<double>(sums.count), rules,
                     params_->damp_from, parent_output);
}

// Gain of the unsplit leaf, in units of the layout, by the rule that the search uses.
double Grower::gain_of(const Sums& sums, double own_output) const {
  const auto gradient = static_cast<double>(sums.gradient);
  const auto hessian = static_cast<double>(layout_.constant_hessian() ? sums.count : sums.hessian);
  const double denominator = hessian + rules_.lambda_l2;
  if (!(denominator > 0.0)) return 0.0;
  const double s = std::copysign(std::max(std::abs(gradient) - rules_.lambda_l1, 0.0), gradient);
  if (rules_.plain()) return s * s / denominator;
  double w = -s / denominator;
  if (rules_.max_delta_step > 0.0) w = std::clamp(w, -rules_.max_delta_step, rules_.max_delta_step);
  if (rules_.path_smooth > 0.0) {
    const double trust = static_cast<double>(sums.count) / rules_.path_smooth;
    const double own = own_output * layout_.hessian_unit / layout_.gradient_unit;
    w = w * trust / (trust + 1.0) + own / (trust + 1.0);
  }
  return -(2.0 * s * w + denominator * w * w);
}

// The same of a leaf as it is: monotone constraints may keep it from the value it would like to have.
double Grower::own_gain(const Leaf& leaf) const {
  if (leaf.output == leaf.wish) return gain_of(leaf.sums, leaf.output);
  const auto gradient = static_cast<double>(leaf.sums.gradient);
  const auto hessian = static_cast<double>(layout_.constant_hessian() ? leaf.sums.count : leaf.sums.hessian);
  const double s = std::copysign(std::max(std::abs(gradient) - rules_.lambda_l1, 0.0), gradient);
  const double w = leaf.output * layout_.hessian_unit / layout_.gradient_unit;
  return -(2.0 * s * w + (hessian + rules_.lambda_l2) * w * w);
}

// Limits of leaf values hold for refitted ones too, and monotone constraints.
void Grower::refit_leaves(Team& team, const LeafRefit& refit, const std::vector<std::int32_t>& final_leaves) {
  std::vector<std::vector<Residual>> scratch(at(team.n_threads()));
  team.for_each(static_cast<std::int64_t>(final_leaves.size()), [&](std::int64_t i, int thread) {
    Leaf& leaf = leaves_[at(final_leaves[at(i)])];
    leaf.output = refit_leaf(refit, rows_.from(leaf.begin), leaf.n_rows(), scratch[at(thread)]);
    const double limit = params_->rules.max_delta_step;
    if (limit > 0.0) leaf.output = std::clamp(leaf.output, -limit, limit);
  });
  if (monotone_.is_on()) reconcile_leaves(final_leaves);
}

void Grower::reconcile_leaves(const std::vector<std::int32_t>& final_leaves) {
  std::vector<double> values;
  std::vector<double> weights;
  for (const std::int32_t i : final_leaves) {
    const Leaf& leaf = leaves_[at(i)];
    values.push_back(leaf.output);
    weights.push_back(static_cast<double>(layout_.constant_hessian() ? leaf.sums.count : leaf.sums.hessian));
  }
  monotone_.reconcile(final_leaves, weights, values);
  for (std::size_t i = 0; i < values.size(); ++i) leaves_[at(final_leaves[i])].output = values[i];
}

LinearLeaves Grower::fit_linear(Team& team, const LinearFit& fit, const Tree& tree, double* score) {
  std::vector<std::vector<std::int32_t>> columns = path_columns(tree);
  std::vector<LinearLeaf> linear(columns.size());
  std::vector<char> is_node(leaves_.size());
  for (const std::int32_t i : committed_) is_node[at(i)] = 1;
  for (const std::int32_t i : committed_) {
    for (const std::int32_t child : leaves_[at(i)].children) {
      if (is_node[at(child)]) continue;
      const Leaf& leaf = leaves_[at(child)];
      linear[at(leaf.slot)] = {rows_.from(leaf.begin), leaf.n_rows(), std::move(columns[at(leaf.slot)]),
                               tree.leaf_value[at(leaf.slot)], leaves_[at(i)].output};
    }
  }
  return fit_linear_leaves(team, fit, linear, score);
}

// In the order in which their parents were split.
std::vector<std::int32_t> Grower::final_leaves() const {
  if (committed_.empty()) return {0};
  std::vector<char> is_node(leaves_.size(), 0);
  for (const std::int32_t i : committed_) is_node[at(i)] = 1;
  std::vector<std::int32_t> found;
  for (const std::int32_t i : committed_) {
    for (const std::int32_t child : leaves_[at(i)].children) {
      if (!is_node[at(child)]) found.push_back(child);
    }
  }
  return found;
}

Tree Grower::finish(Team& team, const LeafRefit& refit, const LinearFit& linear, double* score) {
  const Timer timer(stats_.scores);
  stats_.committed += static_cast<std::int64_t>(committed_.size());
  const auto n_leaves = committed_.size() + 1;
  Tree tree;
  tree.by_value = sorted_ != nullptr || params_->proposals != nullptr;
  tree.leaf_value.resize(n_leaves);
  tree.leaf_weight.resize(n_leaves);
  tree.leaf_count.resize(n_leaves);
  const auto weight = [&](const Sums& s) {
    return static_cast<double>(layout_.constant_hessian() ? s.count : s.hessian) * layout_.hessian_unit;
  };

  std::vector<std::int32_t> number(leaves_.size(), -1);  // node number of a committed leaf
  for (std::size_t i = 0; i < committed_.size(); ++i) number[at(committed_[i])] = static_cast<std::int32_t>(i);
  const auto child_number = [&](std::int32_t i) { return number[at(i)] >= 0 ? number[at(i)] : ~leaves_[at(i)].slot; };
  for (const std::int32_t i : committed_) {
    const Leaf& node = leaves_[at(i)];
    tree.add_split(matrix_->features()[at(node.split.feature)], node.split.feature, node.split.threshold,
                   node.split.missing_left, child_number(node.children[0]), child_number(node.children[1]),
                   node.split.gain);
    if (sorted_ != nullptr) tree.threshold.back() = node.split.value;
    if (!node.split.goes_left.empty()) {
      tree.set_categories(matrix_->features()[at(node.split.feature)], node.split.goes_left);
    }
    tree.node_value.push_back(node.output * params_->learning_rate);
    tree.node_weight.push_back(weight(node.sums));
    tree.node_count.push_back(node.sums.count);
  }
  const std::vector<std::int32_t> final_leaves = this->final_leaves();
  std::vector<RowRange> ranges;
  for (const std::int32_t i : final_leaves) ranges.push_back({leaves_[at(i)].begin, leaves_[at(i)].end});
  const bool sums_rows = refit.label != nullptr || linear.raw != nullptr;
  if (sums_rows && !committed_.empty()) rows_.sort(team, ranges);
  if (refit.label != nullptr && !committed_.empty()) refit_leaves(team, refit, final_leaves);
  std::vector<double> values;
  for (const std::int32_t i : final_leaves) {
    const Leaf& leaf = leaves_[at(i)];
    values.push_back(shrink_output(leaf.output, params_->learning_rate, params_->value_unit));
    tree.leaf_value[at(leaf.slot)] = values.back();
    tree.leaf_weight[at(leaf.slot)] = weight(leaf.sums);
    tree.leaf_count[at(leaf.slot)] = leaf.sums.count;
  }
  // A tree that could not split says nothing about the rows: it adds nothing.
  if (!committed_.empty() && linear.raw != nullptr) {
    tree.linear = fit_linear(team, linear, tree, score);
  } else if (!committed_.empty()) {
    rows_.for_pieces(team, ranges, [&](std::size_t leaf, const RowIdx* rows, std::int64_t n) {
      const double value = values[leaf];
      for (std::int64_t i = 0; i < n; ++i) score[rows[i]] += value;
    });
  }
  for (Leaf& leaf : leaves_) pool_.release(std::move(leaf.histogram));
  return tree;
}

}  // namespace gossamer
