#include "core/histogram_evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/category_search.h"
#include "core/index.h"
#include "core/layout.h"
#include "core/random.h"
#include "core/shared_roots.h"
#include "core/timer.h"

namespace gossamer {
namespace {

// Rows per thread that make a batch worth its joins: the first is always enough for two threads, the second is better
// if the histograms of a batch stay in cache.
constexpr std::int64_t kFewBatchRows = 16384;
constexpr std::int64_t kBatchRows = 16 * kFewBatchRows;
constexpr std::int64_t kCacheBytes = std::int64_t{1} << 20;
// Trees of fewer rows change so much from round to round that many nodes would be expanded in vain.
constexpr std::int64_t kFewRows = 16384;

}  // namespace

HistogramEvaluator::HistogramEvaluator(GrowData data) : data_(std::move(data)) {}

// ---- a new tree ----

void HistogramEvaluator::start(Team& team, const TreeTask& task) {
  task_ = task;
  task_.is_sample = data_.is_sample || task.rows != nullptr;
  search_ = &task.params[0].search;
  if (task.params[0].by_value.proposals != nullptr) all_counts_.reset(0);  // every tree has its own bins
  const SplitRules& given = search_->rules;
  for (NodeState& node : nodes_) pool_.release(std::move(node.histogram));
  nodes_.clear();
  for (auto& holders : holders_) holders.clear();
  if (!data_.matrix->storage().loose.empty()) {
    sparse_ = data_.matrix->sparse_rows(team, static_cast<std::int64_t>(std::max(given.min_data, 1.0)));
  }
  {
    const Timer timer(task.stats->quantize, task.stats->is_timed);
    if (task.root == nullptr) {
      own_rows_.start(team, task_, data_.matrix->n_rows(), wants_fine_gradients(), data_.exchange);
    }
    quantised_ = task.root != nullptr ? &task.root->rows : &own_rows_;
    task.stats->rounds += 1;
    task.stats->wide_rounds += quantised_->layout().wide;
  }
  rules_ = scale_rules(given, quantised_->layout());
  costs_.start(task, quantised_->layout(), data_.exchange);
  plan_features();
  plan_plain_features();
  resident_ = std::make_unique<ResidentRows>(*data_.matrix, sparse_.get());
  pool_.configure(shape_.n_cells, shape_.n_light(), layout().wide, search_->max_histogram_bytes);
  make_scratch(team.n_threads());
  nodes_.resize(1);
  nodes_[0].sums = quantised_->total();
  if (task.root != nullptr && task.root->is_built && shape_.n_cells > 0) {
    nodes_[0].histogram = acquire(task.root->histogram.large);
    std::swap(nodes_[0].histogram->words, task.root->histogram.words);
  }
  start_sources(team);
}

void HistogramEvaluator::clear() {
  nodes_.clear();
  pool_.clear();
  families_.clear();
  built_.clear();
  builder_.clear();
  for (auto& holders : holders_) holders.clear();
}

Searched HistogramEvaluator::where(std::int32_t f) const {
  return feature(f).hidden ? Searched::nowhere : Searched::histogram;
}

// One pass: with a hundred thousand features, reading all of them takes as long as growing a small tree.
void HistogramEvaluator::list_features() {
  const auto& features = data_.matrix->features();
  places_.resize(features.size());
  group_of_.resize(features.size());
  searched_groups_.assign(data_.matrix->groups().size(), 0);
  most_bins_ = 0;
  for (std::size_t f = 0; f < features.size(); ++f) {
    places_[f] = where(static_cast<std::int32_t>(f));
    group_of_[f] = features[f].group;
    most_bins_ = std::max(most_bins_, features[f].n_value_bins);
    if (places_[f] == Searched::histogram && group_of_[f] >= 0) searched_groups_[at(group_of_[f])] = 1;
  }
}

void HistogramEvaluator::plan_features() {
  if (!knows_features_) list_features();
  // Sorted columns and proposed bins may differ from tree to tree.
  knows_features_ = !has_values() && task_.params[0].by_value.proposals == nullptr;
  allowed_.start(*search_, places_);
  shape_ = {data_.matrix.get(), sparse_.get(), searched_groups_, 0, quantised_->layout()};
  if (!allowed_.takes_all()) {
    std::fill(shape_.group_used.begin(), shape_.group_used.end(), char{0});
    for (const std::int32_t f : allowed_.tree_features()) {
      if (allowed_.where(f) == Searched::histogram && group_of_[at(f)] >= 0) {
        shape_.group_used[at(group_of_[at(f)])] = 1;
      }
    }
  }
  // The cells of forced splits are needed even where the tree's sample of features leaves them out.
  if (search_->limits) {
    for (const ForcedSplit& forced : search_->limits->forced) {
      if (!feature(forced.feature).loose()) shape_.group_used[at(feature(forced.feature).group)] = 1;
    }
  }
  const bool any_lane = std::any_of(shape_.group_used.begin(), shape_.group_used.end(), [](char used) { return used; });
  // If every feature has a sorted column, there are no histograms.
  if (sparse_) shape_.n_heavy = sparse_->n_heavy(shape_.layout.max_rows);
  if (any_lane || sparse_) shape_.n_cells = data_.matrix->n_cells() + shape_.n_heavy;
  const auto& direction = task_.params[0].monotone.direction;
  const bool monotone = std::any_of(direction.begin(), direction.end(), [](std::int8_t d) { return d != 0; });
  one_by_one_ = search_->extra_trees || monotone || costs_.adjusts_gains();
  own_blocks_.resize(sparse_ ? sparse_->blocks.size() : 0);
  std::iota(own_blocks_.begin(), own_blocks_.end(), 0);
  if (data_.exchange == nullptr) return;
  shares_ = share_cells(shape_, data_.exchange->n_shards(), data_.exchange->has_all_rows());
  // A shard's own sums are read from a lane. If every shard would propose all features, there is no vote.
  const auto n_searched = std::count_if(allowed_.tree_features().begin(), allowed_.tree_features().end(),
                                        [&](std::int32_t f) { return allowed_.where(f) == Searched::histogram; });
  votes_ = data_.exchange->top_k() > 0 && any_lane && n_searched > data_.exchange->top_k();
  one_by_one_ = one_by_one_ || votes_;
  if (votes_) return;
  const CellShare& own = shares_[at(data_.exchange->shard())];
  if (data_.exchange->has_all_rows()) {  // the other groups are searched by other workers
    std::fill(shape_.group_used.begin(), shape_.group_used.end(), char{0});
    for (const CellShare::Lanes& lanes : own.lanes) shape_.group_used[at(lanes.group)] = 1;
  }
  own_blocks_ = own.blocks;
}

void HistogramEvaluator::make_scratch(int n_threads) {
  const int max_bins = std::max(static_cast<int>(kSortedChunk), most_bins_);
  builder_.start(shape_, n_threads);
  const std::size_t n = std::max(at(n_threads), search_scratch_.size());
  search_scratch_.resize(n);
  marginal_scratch_.resize(n);
  zero_scratch_.resize(n);
  const std::int64_t block_cells = sparse_ ? sparse_->max_block_cells : 0;
  for (std::size_t t = 0; t < n; ++t) {
    search_scratch_[t].grow_to(search_scratch_size(max_bins));
    marginal_scratch_[t].grow_to(kFeatureScratchWords);
    zero_scratch_[t].grow_to(zero_scratch_words(std::max<std::int64_t>(max_bins + 1, block_cells)));
  }
}

// On one thread a join costs nothing: leaves are expanded one by one, and none is wasted.
std::int64_t HistogramEvaluator::preferred_rows(int n_threads) const {
  if (n_threads == 1 || (n_threads == 2 && task_.n_rows < kFewRows)) return 1;
  if (n_threads > 2) return kBatchRows * n_threads;
  return std::clamp(kFewBatchRows * (kCacheBytes / pool_.largest_bytes()), kFewBatchRows, kBatchRows) * n_threads;
}

// The parent's histogram becomes a child's, or is given back for a smaller one.
std::int64_t HistogramEvaluator::most_nodes() const {
  return std::max<std::int64_t>(search_->max_histogram_bytes / (2 * pool_.largest_bytes()), 1);
}

// ---- nodes ----

double HistogramEvaluator::weight(std::int32_t node) const {
  return hessian_of(state(node).sums) * layout().hessian_unit;
}

void HistogramEvaluator::values(std::int32_t node, double l2, const double* parent, double* out) const {
  const Sums& sums = state(node).sums;
  *out = leaf_output(static_cast<double>(sums.gradient) * layout().gradient_unit, weight(node),
                     static_cast<double>(sums.count), with_l2(search_->rules, l2), task_.params[0].values.damp_from,
                     parent);
}

void HistogramEvaluator::add_children(std::int32_t node, const BestSplit& split, std::int32_t first_child) {
  nodes_.resize(at(first_child) + 2);
  const NodeState& parent = state(node);
  state(first_child).sums = parent.left;
  state(first_child + 1).sums = parent.sums - parent.left;
  costs_.split_on(node, split.feature);
}

RowSplitter HistogramEvaluator::splitter(std::int32_t, RowRange, const BestSplit& split) {
  return splitter_of(*data_.matrix, split);
}

void HistogramEvaluator::forget(std::int32_t node) {
  pool_.release(std::move(state(node).histogram));
  state(node).alive = {};
}

std::vector<std::pair<std::int32_t, BestSplit>> HistogramEvaluator::refund(std::int32_t feature) {
  std::vector<std::pair<std::int32_t, BestSplit>> better;
  for (auto& [node, offer] : costs_.take_offers(feature)) {
    NodeState& own = state(node);
    if (own.feature >= 0 && !beats(offer.split.gain, feature, own.gain, own.feature)) continue;
    own.left = offer.left;
    own.gain = offer.split.gain;
    own.feature = feature;
    better.emplace_back(node, std::move(offer.split));
  }
  return better;
}

// ---- a batch of leaves ----

void HistogramEvaluator::evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) {
  mark_in_use(jobs, true);
  make_families(jobs);
  // Where nothing comes between searching a family and settling it, one task does both.
  const bool in_one_go = have_one_block(team.n_threads(), families_.size()) && !has_values() && !is_symmetric();
  split_late_rows(!in_one_go);
  build(team, jobs);
  if (costs_.has_costs()) {
    std::vector<char> counted(jobs.size(), 0);
    for (const Family& family : families_) counted[family.jobs[0]] = 1;
    costs_.prepare(team, jobs, counted);
  }
  {
    const Timer timer(task_.stats->search, task_.stats->is_timed);
    allowed_.draw(jobs);
    list_leaves(jobs);
    if (in_one_go) {
      search_whole(team, splits);
    } else {
      best_.assign(jobs.size(), Found{});
      std::vector<std::unique_ptr<Histogram>> elected;
      if (votes_) {
        elected = search_elected(team, jobs, families_, leaves_, best_);
      } else {
        search(team, leaves_, families_, shares_.empty() ? nullptr : &shares_[at(data_.exchange->shard())], best_);
      }
      if (is_symmetric()) search_level(team, best_);
      search_sources(team, leaves_, best_);
      const auto n_jobs = static_cast<std::int64_t>(jobs.size());
      const std::int64_t per_task = std::max<std::int64_t>(8, n_jobs / (2 * team.n_threads()));
      for_blocks(team, n_jobs, per_task, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
        for (std::size_t i = at(begin); i < at(end); ++i) settle(leaves_[i], thread, best_[i], splits[i]);
      });
      if (data_.exchange != nullptr) agree(jobs, best_, splits);
      for (auto& histogram : elected) pool_.release(std::move(histogram));
    }
  }
  builder_.give_back(built_);
  if (jobs[0].node == 0) keep_counts();
  for (Family& family : families_) {
    if (!family.subtracts) continue;
    NodeState& rest = state(jobs[family.jobs[1]].node);
    rest.histogram = std::move(family.packed_rest ? family.packed_rest : state(family.parent).histogram);
  }
  for (const LeafJob& job : jobs) {
    const NodeState& node = state(job.node);
    if (!node.histogram || node.feature < 0) continue;
    auto& holders = holders_[node.histogram->large];
    holders.push_back({node.gain, job.node});
    std::push_heap(holders.begin(), holders.end(), std::greater<>());
  }
  mark_in_use(jobs, false);
}

// Rows that are split late must be few, so that their histogram waits, too.
std::int64_t HistogramEvaluator::late_rows(int n_threads, std::size_t n_nodes) const {
  const bool reads_rows_first = data_.pages != nullptr || data_.exchange != nullptr || costs_.has_costs();
  if (has_values() || reads_rows_first || is_symmetric() || !have_one_block(n_threads, n_nodes)) return 0;
  static_assert(2 * HistogramBuilder::kTaskRows <= LeafRows::kLateRows);
  return 2 * HistogramBuilder::kTaskRows;
}

// Of a family without its parent's histogram, a child with too many rows to wait may have to be built.
void HistogramEvaluator::split_late_rows(bool now) {
  for (Family& family : families_) {
    if (family.late_split == nullptr || (family.subtracts && !now)) continue;
    task_.leaf_rows->split_late(*family.late_split, 0);
    family.late_split = nullptr;
  }
}

void HistogramEvaluator::make_families(std::span<const LeafJob> jobs) {
  families_.clear();
  const bool all_blocks = votes_ || is_symmetric();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Family& family = families_.emplace_back();
    family.parent = jobs[i].parent;
    family.late_split = jobs[i].late_split;
    family.jobs[0] = i;
    const NodeState& own = state(jobs[i].node);
    if (family.parent < 0) {
      family.alive = own.histogram && !all_blocks ? own.alive : own_blocks_;
    } else {
      // Which child is built depends on the rows of all shards, so that all of them choose the same.
      const bool left_is_smaller = own.sums.count <= state(jobs[i + 1].node).sums.count;
      family.jobs[0] = left_is_smaller ? i : i + 1;
      family.jobs[1] = left_is_smaller ? i + 1 : i;
      family.subtracts = state(family.parent).histogram != nullptr;
      family.alive = family.subtracts && !all_blocks ? std::move(state(family.parent).alive) : own_blocks_;
      ++i;
    }
  }
}

// If memory runs short, the histogram of the leaf with the smallest gain is dropped: its children are then both built
// from rows.
std::unique_ptr<Histogram> HistogramEvaluator::acquire(bool large, int thread) {
  if (!pool_.exhausted(large)) return pool_.acquire(large, thread);
  std::vector<Holder> in_use;
  std::unique_ptr<Histogram> taken;
  auto& holders = holders_[large];
  while (!holders.empty() && !taken) {
    std::pop_heap(holders.begin(), holders.end(), std::greater<>());
    const Holder worst = holders.back();
    holders.pop_back();
    NodeState& node = state(worst.node);
    if (node.in_use) {
      in_use.push_back(worst);
    } else if (node.histogram && node.histogram->large == large && node.gain == worst.gain) {
      taken = std::move(node.histogram);
    }
  }
  for (const Holder& holder : in_use) {
    holders.push_back(holder);
    std::push_heap(holders.begin(), holders.end(), std::greater<>());
  }
  return taken ? std::move(taken) : pool_.acquire(large, thread);
}

int HistogramEvaluator::thread_of(const Family& family) const {
  const Histogram* const parent = family.parent >= 0 ? state(family.parent).histogram.get() : nullptr;
  return parent != nullptr ? parent->thread : 0;
}

void HistogramEvaluator::mark_in_use(std::span<const LeafJob> jobs, bool in_use) {
  for (const LeafJob& job : jobs) {
    if (job.parent >= 0) state(job.parent).in_use = in_use;
    state(job.node).in_use = in_use;
  }
}

void HistogramEvaluator::build(Team& team, std::span<const LeafJob> jobs) {
  const Timer timer(task_.stats->build, task_.stats->is_timed);
  built_.clear();
  built_.reserve(jobs.size());
  const bool lists_rows = shape_.reads_rows_again();
  for (Family& family : families_) {
    family.takes_rows_out = may_take_rows_out(jobs, family);
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.jobs[side] == kNone || (side == 1 && family.subtracts)) continue;
      const LeafJob& job = jobs[family.jobs[side]];
      NodeState& node = state(job.node);
      if (node.histogram) continue;  // the leaf is searched again
      task_.stats->built_rows += job.rows.end - job.rows.begin;
      if (lists_rows && !task_.leaf_rows->is_listed(job.rows)) task_.leaf_rows->make_list(team, job.rows);
      if (!family.takes_rows_out) node.histogram = acquire(node.sums.count > layout().max_rows, thread_of(family));
      Histogram* const target = (family.takes_rows_out ? state(family.parent) : node).histogram.get();
      built_.push_back({target, job.rows, {}, family.takes_rows_out, most_in_cells(family)});
      family.built[side] = &built_.back();
    }
  }
  RowPages& pages = data_.pages != nullptr ? *data_.pages : *resident_;
  const bool may_wait = data_.pages == nullptr && data_.exchange == nullptr && !sparse_;
  builder_.build(team, shape_, *quantised_, *task_.leaf_rows, pages, built_, may_wait);
  if (data_.exchange != nullptr && !data_.exchange->has_all_rows()) {
    builder_.merge(team, shape_, built_);
    if (!votes_) exchange_cells(team, shape_, shares_, built_, *data_.exchange);
  }
}

// Counts of the cells of a histogram that holds at least the rows of this family, where one is at hand.
const std::uint32_t* HistogramEvaluator::most_in_cells(const Family& family) const {
  if (data_.exchange != nullptr) return nullptr;  // a shard's histogram may have the sums of its own features only
  if (family.parent < 0) return all_counts_.size() > 0 ? all_counts_.data() : nullptr;
  Histogram* const parent = state(family.parent).histogram.get();
  return parent != nullptr && parent->large ? parent->sums(shape_.n_cells).count : nullptr;
}

// The next tree that begins with all rows of the table has the same counts.
void HistogramEvaluator::keep_counts() {
  Histogram* const root = nodes_[0].histogram.get();
  const auto is_used = [](char used) { return used != 0; };
  const bool has_all = std::all_of(shape_.group_used.begin(), shape_.group_used.end(), is_used);
  if (all_counts_.size() > 0 || task_.is_sample || root == nullptr || !root->large || !has_all) return;
  const std::uint32_t* const counts = root->sums(shape_.n_cells).count;
  all_counts_.reset(data_.matrix->n_cells());
  std::copy(counts, counts + all_counts_.size(), all_counts_.data());
}

// A small leaf that cannot be split needs no histogram. Taking its few rows out of the parent's costs less than
// clearing one and subtracting all cells.
bool HistogramEvaluator::may_take_rows_out(std::span<const LeafJob> jobs, const Family& family) const {
  if (!family.subtracts || sparse_ || data_.pages != nullptr || data_.exchange != nullptr) return false;
  const LeafJob& job = jobs[family.jobs[0]];
  return !job.may_split && job.forced < 0 && !state(job.node).histogram && !state(family.parent).histogram->large &&
         job.rows.end - job.rows.begin <= HistogramBuilder::kTaskRows / 2;
}

// ---- settling the winners ----

void HistogramEvaluator::list_leaves(std::span<const LeafJob> jobs) {
  for (Family& family : families_) {
    if (family.subtracts) prepare_rest(jobs, family);
  }
  leaves_.assign(jobs.size(), SearchedLeaf{});
  for (Family& family : families_) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.jobs[side] == kNone) continue;
      const LeafJob& job = jobs[family.jobs[side]];
      SearchedLeaf& leaf = leaves_[family.jobs[side]];
      leaf.job = &job;
      leaf.in_level = is_symmetric();
      leaf.sums = state(job.node).sums;
      leaf.histogram = state(job.node).histogram.get();
      if (side == 1 && family.subtracts) {
        leaf.histogram = family.packed_rest ? family.packed_rest.get() : state(family.parent).histogram.get();
      }
      leaf.output = job.value * value_scale();
      leaf.own_gain = own_gain(job, leaf.sums);
      task_.monotone->prepare_search(job.node);
    }
  }
}

// A large histogram whose larger child has few rows is packed on the way. Light cells move over as they are.
void HistogramEvaluator::prepare_rest(std::span<const LeafJob> jobs, Family& family) {
  Histogram& parent = *state(family.parent).histogram;
  const bool becomes_small = parent.large && state(jobs[family.jobs[1]].node).sums.count <= layout().max_rows;
  if (!becomes_small) return;
  family.packed_rest = acquire(false, thread_of(family));
  std::swap(family.packed_rest->light, parent.light);
}

// The gain of the unsplit leaf. Monotone constraints may keep it from its own best value.
double HistogramEvaluator::own_gain(const LeafJob& job, const Sums& sums) const {
  const auto gradient = static_cast<double>(sums.gradient);
  const double hessian = hessian_of(sums);
  const double output = job.value * value_scale();
  if (job.value != job.free_value) {
    const double shrunk = shrink(gradient, rules_.lambda_l1);
    return gain_at(gradient, shrunk, hessian + rules_.lambda_l2, output, rules_);
  }
  if (!(hessian + rules_.lambda_l2 > 0.0)) return 0.0;
  return leaf_gain(gradient, hessian, static_cast<double>(sums.count), rules_, output);
}

void HistogramEvaluator::settle(const SearchedLeaf& leaf, int thread, const Found& found, BestSplit& split) {
  if (leaf.in_level) return settle_in_level(leaf, thread, found, split);
  NodeState& node = state(leaf.job->node);
  split = found.split;
  split.gain = found.gain;
  if (!complete(leaf, thread, split, node.left)) split = BestSplit{};
  for (SplitCosts::Offer& offer : costs_.offers(leaf.job->node)) {
    if (offer.split.feature < 0) continue;
    // The split as it will be once its feature has been paid for; the histogram may be gone by then.
    offer.split.gain += costs_.refund_of(offer.split.feature);
    if (!complete(leaf, thread, offer.split, offer.left)) offer.split = BestSplit{};
  }
  if (leaf.job->forced >= 0) force(leaf, thread, split);
  node.gain = split.gain;
  node.feature = split.feature;
}

// Computes the gain above the leaf's own and the exact sums of the left side; false: the gain is too small.
bool HistogramEvaluator::complete(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left) {
  if (split.feature < 0) return false;
  // The rounding error of a zero gain must not count as a gain.
  const double gain = split.gain - leaf.own_gain;
  const bool is_noise = gain <= 1e-12 * std::abs(split.gain);
  split.gain = real_gain(gain);
  if (is_noise || split.gain <= search_->rules.min_gain_to_split) return false;
  finish_split(leaf, thread, split, left);
  split.left_count = left.count;
  return true;
}

void HistogramEvaluator::finish_split(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left) {
  const Feature& f = feature(split.feature);
  const FeatureCells cells = cells_of(leaf, split.feature, thread);
  if (f.is_categorical()) {
    left = sum_left_bins(cells, f, split, layout());
    return;
  }
  left = sum_bins(cells, 0, split.threshold + 1, layout());
  const Sums missing = f.has_missing ? sum_bins(cells, f.n_value_bins, 1, layout()) : Sums{};
  if (split.missing_left) left += missing;
  // No row is missing here, so missing values will follow the majority.
  if (missing.count == 0) split.missing_left = 2 * left.count >= leaf.sums.count;
}

}  // namespace gossamer
