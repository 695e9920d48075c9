#include "core/grower.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/histogram_evaluator.h"
#include "core/prune.h"
#include "core/random.h"
#include "core/sorted_evaluator.h"
#include "core/timer.h"
#include "core/vector_evaluator.h"

namespace gossamer {

Grower::Grower(GrowData data, bool vector_leaves) : data_(std::move(data)), vector_leaves_(vector_leaves) {
  if (data_.pages == nullptr) data_.pages = data_.matrix->pages();
  if (data_.pages == nullptr) return;
  if (vector_leaves) throw std::invalid_argument("trees with several values per leaf cannot be grown on pages");
  pages_ = std::make_unique<SplittingPages>(*data_.pages);
  data_.pages = pages_.get();
}

Grower::Grower(GrowData data, std::unique_ptr<LeafEvaluator> evaluator)
    : data_(std::move(data)), own_evaluator_(true), evaluator_(std::move(evaluator)) {}

Grower::~Grower() = default;

void Grower::choose_evaluator(std::span<const GrowParams> params) {
  if (params[0].shape.symmetric && (own_evaluator_ || vector_leaves_ || params[0].by_value.sorted != nullptr)) {
    throw std::invalid_argument("symmetric trees are grown on histograms of one output, and on the CPU");
  }
  if (own_evaluator_) return;
  const bool sorted = params[0].by_value.sorted != nullptr;
  if (evaluator_ && (vector_leaves_ || sorted == evaluator_->has_values())) return;
  if (vector_leaves_) {
    evaluator_ = std::make_unique<VectorEvaluator>(data_);
  } else if (sorted) {
    if (data_.pages != nullptr) throw std::invalid_argument("columns on pages cannot be sorted");
    evaluator_ = std::make_unique<SortedEvaluator>(data_);
  } else {
    evaluator_ = std::make_unique<HistogramEvaluator>(data_);
  }
}

Tree Grower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
                  std::span<const GrowParams> params, double* score, const TreeLabels& labels, const RawTable* raw,
                  bool adds_to_others, SharedRoot* root, const GradientSource* source) {
  choose_evaluator(params);
  params_ = &params.front();
  n_outputs_ = params.size();
  limits_ = params_->search.limits.get();
  const std::int64_t n = rows != nullptr ? n_rows : data_.matrix->n_rows();
  const TreeTask task{gradient, hessian,          rows,        n,      params, &rows_, &monotone_,
                      &stats_,  rounds_in_place_, row_values_, source, root};
  if (pages_ && raw != nullptr) throw std::invalid_argument("linear leaves cannot be fitted on pages");
  stats_.is_timed = n >= GrowStats::kTimedRows;
  try {
    if (!evaluator_->has_no_rows() && !pages_) data_.matrix->make_columns(team);
    start(team, task);
    grow_nodes(team);
    note_growth();
    const Timer timer(stats_.scores, stats_.is_timed);
    const bool pruned = params_->shape.prune_below > 0.0 && prune_tree(nodes_, params_->shape.prune_below, committed_);
    const GrownTree grown{data_,  task,    *evaluator_, monotone_, rows_,
                          nodes_, values_, committed_,  pruned,    adds_to_others};
    Tree tree = finish_tree(team, grown, labels, raw, score);
    if (pages_) rows_.release();
    return tree;
  } catch (...) {
    evaluator_->clear();
    throw;
  }
}

void Grower::start(Team& team, const TreeTask& task) {
  const TreeShape& shape = params_->shape;
  nodes_.clear();
  values_.clear();
  committed_.clear();
  staying_.clear();
  nodes_.reserve(static_cast<std::size_t>(std::min<std::int64_t>(4 * shape.num_leaves + 8, 1 << 20)));
  const bool takes_bits = shape.prune_below <= 0.0 && n_outputs_ == 1 && evaluator_->takes_bits(*params_);
  const auto use = takes_bits ? LeafRows::Use::bits_too : LeafRows::Use::lists;
  GrowNode root;
  root.rows = rows_.start(team, task.rows, task.n_rows, pages_ ? LeafRows::Use::pages : use);
  if (pages_) pages_->start(team, rows_);
  evaluator_->start(team, task);

  if (limits_ != nullptr) {
    root.open = limits_->groups.all();
    if (!limits_->forced.empty()) root.forced = 0;
  }
  values_.resize(n_outputs_);
  evaluator_->values(0, 0.0, nullptr, values_.data());
  root.free_value = values_[0];
  monotone_.start(params_->monotone, evaluator_->box_features(), values_[0], team.n_threads());
  frontier_.start(shape, !monotone_.changes_others() && evaluator_->can_expand_ahead());
  nodes_.push_back(std::move(root));
  if (shape.num_leaves < 2 || !may_split(nodes_[0])) return;
  const LeafJob job = job_of(0, -1);
  evaluate(team, std::span(&job, 1));
  if (nodes_[0].split.feature >= 0) push(0);
}

void Grower::grow_nodes(Team& team) {
  const std::int64_t num_leaves = params_->shape.num_leaves;
  for (std::int64_t n_leaves = 1; n_leaves < num_leaves && !frontier_.empty();) {
    const std::int32_t node = frontier_.next().node;
    if (at(node).stale) {
      search_again(team, node);
      continue;
    }
    if (!at(node).expanded) {
      if (params_->interrupt != nullptr) params_->interrupt->check();
      evaluator_->pay(at(node).split.feature);
      expand(team, frontier_.batch(n_leaves, batch_limits(team)), n_leaves + 1 == num_leaves);
    }
    commit(node);
    ++n_leaves;
  }
}

bool Grower::may_split(int depth, std::int64_t n_rows) const {
  const std::int64_t max_depth = params_->shape.max_depth;
  if (max_depth > 0 && depth >= max_depth) return false;
  return static_cast<double>(n_rows) >= 2.0 * std::max(params_->search.rules.min_data, 1.0);
}

bool Grower::has_grandchildren(const GrowNode& node) const {
  const std::int64_t n_left = node.split.left_count;
  return may_split(node.depth + 1, std::max(n_left, evaluator_->count(number_of(node)) - n_left));
}

void Grower::push(std::int32_t node) {
  const GrowNode& n = at(node);
  frontier_.push({node, n.split.forced ? n.forced : -1, n.depth, n.split.gain, n.order, evaluator_->count(node)});
}

// All shards must expand the same nodes, whatever their rows and threads; and every batch costs a message, or a pass
// over the pages.
Frontier::Limits Grower::batch_limits(Team& team) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const TreeShape& shape = params_->shape;
  if (shape.symmetric) return {kNoLimit, kNoLimit};
  // Below the last level no leaf is searched: there are no histograms to be limited.
  const bool is_last = shape.depthwise && shape.max_depth > 0 && frontier_.next().depth + 1 >= shape.max_depth;
  const std::int64_t most_nodes = is_last ? kNoLimit : evaluator_->most_nodes();
  if (data_.pages != nullptr) return {kNoLimit, most_nodes};
  if (data_.exchange != nullptr) return {kNoLimit, kNoLimit};
  return {evaluator_->preferred_rows(team.n_threads()), most_nodes};
}

// The leaf's turn has come: it becomes a node of the tree.
void Grower::commit(std::int32_t node) {
  frontier_.commit(node);
  committed_.push_back(node);
  rows_.forget(at(node).rows);
  const auto n_leaves = static_cast<std::int32_t>(committed_.size());
  for (int side = 0; side < 2; ++side) {
    GrowNode& child = at(at(node).children[side]);
    child.order = 2 * static_cast<std::int64_t>(n_leaves) + side;
    child.leaf_number = side == 0 ? at(node).leaf_number : n_leaves;
    if (child.split.feature >= 0) push(at(node).children[side]);
  }
  for (auto& [other, split] : evaluator_->refund(at(node).split.feature)) {
    if (at(other).expanded || at(other).split.forced) continue;
    at(other).split = std::move(split);
    push(other);
  }
}

// ---- a batch of leaves ----

void Grower::expand(Team& team, std::span<const std::int32_t> batch, bool last) {
  stats_.batches += 1;
  stats_.expanded += static_cast<std::int64_t>(batch.size());
  partition(team, batch, last);
  jobs_.clear();
  split_nodes_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const GrowNode& parent = at(batch[i]);
    const bool searched = !last && has_grandchildren(parent);
    split_nodes_.push_back(
        {batch[i], parent.rows, at(parent.children[0]).n_rows(), {parent.children[0], parent.children[1]}, searched});
    if (!searched) continue;
    for (const std::int32_t child : parent.children) {
      jobs_.push_back(job_of(child, batch[i]));
      if (!splits_.empty() && splits_[i].is_late) jobs_.back().late_split = &splits_[i];
    }
  }
  if (!evaluator_->has_no_rows()) evaluator_->rows_were_split(team, split_nodes_);
  std::vector<std::int32_t> again;
  if (params_->shape.symmetric) {
    again = stay();
  } else if (!last) {
    again = note_changes();
  }
  for (const std::int32_t leaf : again) jobs_.push_back(job_of(leaf, -1));
  evaluate(team, jobs_);
  // No histogram was built: the rows still have to be split.
  if (rows_.is_splitting()) pages_->for_each([](const RowPage&) {});
  finish_partition(batch);
  for (const SplitNode& split : split_nodes_) evaluator_->forget(split.node);
  for (const std::int32_t leaf : again) {
    if (at(leaf).split.feature >= 0) push(leaf);
  }
}

void Grower::partition(Team& team, std::span<const std::int32_t> batch, bool last) {
  if (evaluator_->has_no_rows()) {
    for (const std::int32_t node : batch) make_children(node);
    return;
  }
  {
    const Timer timer(stats_.partition, stats_.is_timed);
    splits_.clear();
    splits_.reserve(batch.size());
    for (const std::int32_t node : batch) {
      const GrowNode& leaf = at(node);
      stats_.partitioned_rows += leaf.n_rows();
      splits_.push_back({leaf.rows, evaluator_->splitter(node, leaf.rows, leaf.split), leaf.split.left_count});
      splits_.back().may_be_late = !last && has_grandchildren(leaf);
    }
    if (pages_) {
      rows_.start_split(splits_, pages_->ranges());
      // On shards, only the partition knows how many of these rows go left.
      if (data_.exchange != nullptr) pages_->for_each([](const RowPage&) {});
    } else {
      rows_.split(team, splits_, evaluator_->late_rows(team.n_threads(), batch.size()));
    }
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    make_children(batch[i]);
    const GrowNode& parent = at(batch[i]);
    at(parent.children[0]).rows = splits_[i].left();
    at(parent.children[1]).rows = splits_[i].right();
  }
  if (!pages_) finish_partition(batch);
}

// Without other shards, the partition must agree with the counts of the histogram.
void Grower::finish_partition(std::span<const std::int32_t> batch) {
  for (std::size_t i = 0; data_.exchange == nullptr && !evaluator_->has_no_rows() && i < batch.size(); ++i) {
    const std::int64_t counted = at(batch[i]).split.left_count;
    if (splits_[i].n_left != counted) {
      throw std::logic_error("internal error: a split counted " + std::to_string(counted) +
                             " rows on its left side, but " + std::to_string(splits_[i].n_left) + " rows went there");
    }
  }
}

// Makes the children of a node, without their rows.
void Grower::make_children(std::int32_t node) {
  const auto first = static_cast<std::int32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + 2);
  values_.resize(nodes_.size() * n_outputs_);
  evaluator_->add_children(node, at(node).split, first);
  GrowNode& parent = at(node);
  parent.expanded = true;
  for (int side = 0; side < 2; ++side) {
    const std::int32_t number = first + side;
    parent.children[side] = number;
    GrowNode& child = at(number);
    child.depth = parent.depth + 1;
    child.key = mix_bits(parent.key * 2 + (params_->shape.symmetric ? 0 : static_cast<std::uint64_t>(side)));
    evaluator_->values(number, parent.split.l2, values(node), values(number));
    child.free_value = *values(number);
    if (limits_ == nullptr) continue;
    if (!limits_->groups.empty()) child.open = limits_->groups.below(parent.open, parent.split.feature);
    if (parent.split.forced) {
      child.forced = limits_->forced[static_cast<std::size_t>(parent.forced)].children[side];
    }
  }
  if (!monotone_.is_on()) return;
  const BestSplit& split = parent.split;
  const std::int64_t place = evaluator_->has_values() ? split.place : split.threshold;
  monotone_.split(node, first, {split.feature, static_cast<std::int32_t>(place), split.missing_left}, values(first));
}

LeafJob Grower::job_of(std::int32_t node, std::int32_t parent) const {
  const GrowNode& n = nodes_[static_cast<std::size_t>(node)];
  const double value = values_[static_cast<std::size_t>(node) * n_outputs_];
  return {node, parent, n.rows, n.depth, n.key, may_split(n), value, n.free_value, n.forced, n.open};
}

void Grower::evaluate(Team& team, std::span<const LeafJob> jobs) {
  if (jobs.empty()) return;
  found_.assign(jobs.size(), BestSplit{});
  evaluator_->evaluate(team, jobs, found_);
  std::vector<std::int32_t> hopeless;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const LeafJob& job = jobs[i];
    GrowNode& node = at(job.node);
    node.split = std::move(found_[i]);
    if (!node.split.forced) node.forced = -1;
    if (node.split.feature < 0) {
      // Wider limits may give the leaf a split later.
      if (params_->shape.symmetric && job.may_split) {
        staying_.push_back(job.node);
      } else if (!monotone_.changes_others()) {
        evaluator_->forget(job.node);
      }
      continue;
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    frontier_.note(job.node, job.parent, node.split.forced ? kInfinity : node.split.gain, evaluator_->count(job.node),
                   hopeless);
  }
  for (const std::int32_t node : hopeless) {
    if (!at(node).expanded) evaluator_->forget(node);
  }
}

// ---- symmetric trees ----

// The leaves that the last level has not split go on to the next one; those that may still be split are returned.
std::vector<std::int32_t> Grower::stay() {
  std::vector<std::int32_t> again;
  for (const std::int32_t leaf : staying_) {
    at(leaf).depth += 1;
    at(leaf).key = mix_bits(at(leaf).key * 2);
    if (may_split(at(leaf))) again.push_back(leaf);
  }
  staying_.clear();
  return again;
}

// ---- monotone constraints that change other leaves ----

// Leaves whose limits have changed keep their gain and are searched again when it is their turn. Leaves that could not
// be split are returned: wider limits may allow a split now.
std::vector<std::int32_t> Grower::note_changes() {
  std::vector<std::int32_t> again;
  for (const Monotone::Change& change : monotone_.changed()) {
    GrowNode& leaf = at(change.leaf);
    leaf.stale = leaf.split.feature >= 0;
    if (!leaf.stale && change.widened && may_split(leaf)) again.push_back(change.leaf);
  }
  return again;
}

void Grower::search_again(Team& team, std::int32_t node) {
  frontier_.remove(node);
  at(node).stale = false;
  const LeafJob job = job_of(node, -1);
  evaluate(team, std::span(&job, 1));
  if (at(node).split.feature >= 0) push(node);
}

// Notes what the next tree can expect, and how much work was wasted.
void Grower::note_growth() {
  if (pages_) stats_.passes = pages_->n_passes();
  stats_.committed += static_cast<std::int64_t>(committed_.size());
  frontier_.finish();
  if (nodes_.size() == 1 + 2 * committed_.size()) return;  // children of nodes of the tree, all of them
  std::vector<char> is_committed(nodes_.size(), 0);
  for (const std::int32_t node : committed_) is_committed[static_cast<std::size_t>(node)] = 1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].expanded || is_committed[i]) continue;
    stats_.wasted_rows += std::min(at(nodes_[i].children[0]).n_rows(), at(nodes_[i].children[1]).n_rows());
  }
}

}  // namespace gossamer
