#include "core/grower.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "core/layout.h"
#include "core/random.h"

namespace gossamer {
namespace {

// Blocks of a fixed size, whatever the number of threads: floating-point sums keep their order.
constexpr std::int64_t kRowBlock = 8192;
constexpr std::int64_t kPartitionRows = 8192;  // least rows per partition task
constexpr std::int64_t kBuildRows = 4096;      // least rows per histogram task
constexpr std::int64_t kBatchRows = 8192;      // rows per thread that make a batch worth its join

class Timer {
 public:
  explicit Timer(double& total) : total_(total), start_(Clock::now()) {}
  ~Timer() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  Clock::time_point start_;
};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Grower::Grower(std::shared_ptr<BinMatrix> matrix) : matrix_(std::move(matrix)) {}

Tree Grower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
                  const GrowParams& params, double* score) {
  params_ = &params;
  user_rows_ = rows;
  n_rows_ = rows != nullptr ? n_rows : matrix_->n_rows();
  matrix_->make_columns(team);
  plan_blocks(team.n_threads());
  quantize(team, gradient, hessian);
  start_root(team);

  std::int64_t n_leaves = 1;
  while (n_leaves < params.num_leaves && !frontier_.empty()) {
    const auto best = std::min_element(frontier_.begin(), frontier_.end(), [&](std::int32_t a, std::int32_t b) {
      return comes_before(leaves_[at(a)], leaves_[at(b)]);
    });
    if (!leaves_[at(*best)].expanded) {
      expand(team, choose_batch(team, n_leaves), n_leaves + 1 == params.num_leaves);
      continue;
    }
    const std::int32_t node = *best;
    frontier_.erase(best);
    committed_.push_back(node);
    const std::int32_t* const children = leaves_[at(node)].children;
    for (int side = 0; side < 2; ++side) {
      Leaf& child = leaves_[at(children[side])];
      child.order = 2 * static_cast<std::int64_t>(committed_.size()) + side;
      child.slot = side == 0 ? leaves_[at(node)].slot : static_cast<std::int32_t>(n_leaves);
      if (child.split.feature >= 0) frontier_.push_back(children[side]);
    }
    ++n_leaves;
  }
  return finish(team, score);
}

bool Grower::comes_before(const Leaf& a, const Leaf& b) const {
  if (params_->depthwise && a.depth != b.depth) return a.depth < b.depth;
  if (!params_->depthwise && a.split.gain != b.split.gain) return a.split.gain > b.split.gain;
  return a.order < b.order;
}

// ---- gradients ----

void Grower::quantize(Team& team, const float* gradient, const float* hessian) {
  const Timer timer(stats_.quantize);
  const std::int64_t n = matrix_->n_rows();
  const std::int64_t n_blocks = (n + kRowBlock - 1) / kRowBlock;
  std::vector<GradientStats> blocks(at(n_blocks));
  for_blocks(team, n, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    kernels().gradient_stats(gradient + begin, hessian != nullptr ? hessian + begin : nullptr, end - begin,
                             blocks[at(b)]);
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
  layout_ = choose_layout(total, n, hessian != nullptr);
  stats_.rounds += 1;
  stats_.wide_rounds += layout_.wide;

  const std::int64_t words = layout_.wide ? 4 : 1;  // 32-bit words per row
  row_values_.grow_to(n * words);
  std::vector<Sums> sums(at(n_blocks));
  for_blocks(team, n, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    sums[at(b)] = kernels().quantize(gradient + begin, hessian != nullptr ? hessian + begin : nullptr, end - begin,
                                     layout_, row_values_.data() + begin * words);
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
  rules_.max_delta_step = given.max_delta_step * layout_.hessian_unit / layout_.gradient_unit;
  rules_.min_data = std::max(given.min_data, 1.0);
}

void Grower::start_root(Team& team) {
  for (Leaf& leaf : leaves_) pool_.release(std::move(leaf.histogram));
  leaves_.clear();
  frontier_.clear();
  committed_.clear();
  leaves_.reserve(at(4 * params_->num_leaves + 8));
  pool_.configure(matrix_->n_cells(), layout_.wide, params_->max_histogram_bytes);

  identity_root_ = user_rows_ == nullptr;
  const std::int64_t n_all = matrix_->n_rows();
  row_index_.grow_to(n_all);
  left_rows_.grow_to(n_all);
  right_rows_.grow_to(n_all);
  Leaf root;
  root.end = n_rows_;
  root.sums = root_sums_;
  if (!identity_root_) {
    std::memcpy(row_index_.data(), user_rows_, at(n_rows_) * sizeof(RowIdx));
    // The sums of a sample are not those of all rows.
    const std::int64_t n_blocks = (n_rows_ + kRowBlock - 1) / kRowBlock;
    std::vector<Sums> sums(at(n_blocks));
    for_blocks(team, n_rows_, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
      sums[at(b)] = kernels().sum_rows(row_values_.data(), user_rows_ + begin, end - begin, layout_);
    });
    root.sums = {};
    for (const Sums& s : sums) root.sums += s;
  }
  root.output = output_of(root.sums, nullptr);  // nothing above it to be smoothed towards
  leaves_.push_back(std::move(root));
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

// The best unexpanded leaf, and while the threads would otherwise idle the next best ones. At most
// half of the leaves still wanted: those are all but certain to be committed.
std::vector<std::int32_t> Grower::choose_batch(Team& team, std::int64_t n_leaves) const {
  std::vector<std::int32_t> waiting;
  for (const std::int32_t leaf : frontier_) {
    if (!leaves_[at(leaf)].expanded) waiting.push_back(leaf);
  }
  std::sort(waiting.begin(), waiting.end(),
            [&](std::int32_t a, std::int32_t b) { return comes_before(leaves_[at(a)], leaves_[at(b)]); });
  const std::int64_t wanted = params_->num_leaves - n_leaves;
  const std::int64_t enough_rows = team.n_threads() > 1 ? kBatchRows * team.n_threads() : 1;
  std::size_t n = 0;
  for (std::int64_t rows = 0; n < waiting.size() && rows < enough_rows; ++n) {
    if (n > 0 && static_cast<std::int64_t>(n) >= wanted / 2) break;
    rows += leaves_[at(waiting[n])].n_rows();
  }
  waiting.resize(n);
  return waiting;
}

void Grower::expand(Team& team, const std::vector<std::int32_t>& batch, bool last) {
  stats_.batches += 1;
  stats_.expanded += static_cast<std::int64_t>(batch.size());
  partition(team, batch);
  std::vector<Family> families;
  for (const std::int32_t node : batch) {
    make_children(node);
    const Leaf& parent = leaves_[at(node)];
    const Leaf& left = leaves_[at(parent.children[0])];
    const Leaf& right = leaves_[at(parent.children[1])];
    if (last || (!may_split(left) && !may_split(right))) {
      pool_.release(std::move(leaves_[at(node)].histogram));
      continue;
    }
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
  if (!families.empty()) evaluate(team, families);
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
      child.output = output_of(child.sums, &parent.output);
    }
    parent.expanded = true;
  }
  for (int side = 0; side < 2; ++side) {
    leaves_[at(node)].children[side] = static_cast<std::int32_t>(leaves_.size());
    leaves_.push_back(std::move(children[side]));
  }
}

// ---- partition ----

void Grower::partition(Team& team, const std::vector<std::int32_t>& batch) {
  const Timer timer(stats_.partition);
  std::vector<PartitionTask> tasks;
  bool any_split = false;
  for (const std::int32_t node : batch) {
    const Leaf& leaf = leaves_[at(node)];
    stats_.partitioned_rows += leaf.n_rows();
    const std::int64_t n_tasks =
        team.n_threads() == 1 && !(identity_root_ && node == 0)
            ? 1
            : std::clamp<std::int64_t>(leaf.n_rows() / kPartitionRows, 1, 4 * team.n_threads());
    for (std::int64_t t = 0; t < n_tasks; ++t) {
      PartitionTask task{};
      task.leaf = node;
      task.begin = leaf.begin + leaf.n_rows() * t / n_tasks;
      task.end = leaf.begin + leaf.n_rows() * (t + 1) / n_tasks;
      task.whole = n_tasks == 1;
      any_split |= !task.whole;
      tasks.push_back(task);
    }
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int) {
    PartitionTask& task = tasks[at(t)];
    const Split& split = leaves_[at(task.leaf)].split;
    const Feature& feature = matrix_->features()[at(split.feature)];
    PartitionArgs args;
    args.column = matrix_->column(split.feature);
    args.rows = identity_root_ && task.leaf == 0 ? nullptr : row_index_.data() + task.begin;
    args.first_row = task.begin;
    args.n_rows = task.end - task.begin;
    args.threshold = static_cast<std::uint32_t>(split.threshold);
    args.missing_bin = static_cast<std::uint32_t>(feature.n_value_bins);
    args.missing_left = split.missing_left;
    args.left = (task.whole ? row_index_.data() : left_rows_.data()) + task.begin;
    args.right = right_rows_.data() + task.begin;
    const bool two_bytes = matrix_->groups()[at(feature.group)].two_bytes;
    task.n_left = two_bytes ? kernels().partition_u16(args) : kernels().partition_u8(args);
    if (task.whole) {
      std::memcpy(row_index_.data() + task.begin + task.n_left, right_rows_.data() + task.begin,
                  at(task.end - task.begin - task.n_left) * sizeof(RowIdx));
    }
  });
  if (!any_split) return;

  // Where each piece of a leaf goes: left parts first, in order, then the right parts.
  for (std::size_t t = 0; t < tasks.size();) {
    const Leaf& leaf = leaves_[at(tasks[t].leaf)];
    std::int64_t left_to = leaf.begin;
    std::int64_t right_to = leaf.begin + leaf.split.left.count;
    for (; t < tasks.size() && tasks[t].leaf == static_cast<std::int32_t>(&leaf - leaves_.data()); ++t) {
      tasks[t].left_to = left_to;
      tasks[t].right_to = right_to;
      left_to += tasks[t].n_left;
      right_to += tasks[t].end - tasks[t].begin - tasks[t].n_left;
    }
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int) {
    const PartitionTask& task = tasks[at(t)];
    if (task.whole) return;
    std::memcpy(row_index_.data() + task.left_to, left_rows_.data() + task.begin, at(task.n_left) * sizeof(RowIdx));
    std::memcpy(row_index_.data() + task.right_to, right_rows_.data() + task.begin,
                at(task.end - task.begin - task.n_left) * sizeof(RowIdx));
  });
}

// ---- histograms ----

void Grower::evaluate(Team& team, std::vector<Family>& families) {
  build(team, families);
  search(team, families);
  for (Partial& partial : partials_) pool_.release(std::move(partial.histogram));
  partials_.clear();
  for (Family& family : families) {
    for (const std::int32_t leaf : {family.built[0], family.built[1], family.rest}) {
      if (leaf >= 0) settle(leaves_[at(leaf)]);
    }
  }
}

// The histogram of a leaf that will be split late is given up when memory runs short; its children
// are then both built from rows.
std::unique_ptr<Histogram> Grower::acquire(bool large) {
  if (pool_.exhausted(large)) {
    Leaf* worst = nullptr;
    for (const std::int32_t i : frontier_) {
      Leaf& leaf = leaves_[at(i)];
      if (leaf.expanded || !leaf.histogram || leaf.histogram->large != large) continue;
      if (worst == nullptr || comes_before(*worst, leaf)) worst = &leaf;
    }
    if (worst != nullptr) return std::move(worst->histogram);
  }
  return pool_.acquire(large);
}

void Grower::build(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.build);
  std::int64_t total_rows = 0;
  for (const Family& family : families) {
    for (const std::int32_t i : family.built) {
      if (i >= 0) total_rows += leaves_[at(i)].n_rows();
    }
  }
  stats_.built_rows += total_rows;
  const auto n_groups = static_cast<std::int64_t>(matrix_->groups().size());
  const std::int64_t rows_per_task =
      team.n_threads() == 1 ? n_rows_ : std::max(kBuildRows, total_rows * n_groups / (2 * team.n_threads()) + 1);
  std::vector<BuildTask> tasks;
  for (Family& family : families) {
    for (const std::int32_t i : family.built) {
      if (i < 0) continue;
      Leaf& leaf = leaves_[at(i)];
      leaf.histogram = acquire(leaf.n_rows() > layout_.max_rows);
      const std::int64_t n_parts = std::max<std::int64_t>(1, (leaf.n_rows() + rows_per_task / 2) / rows_per_task);
      for (std::int64_t g = 0; g < n_groups; ++g) {
        if (!group_used_[at(g)]) continue;
        for (std::int64_t part = 0; part < n_parts; ++part) {
          BuildTask task{i, static_cast<std::int32_t>(g), leaf.begin + leaf.n_rows() * part / n_parts,
                         leaf.begin + leaf.n_rows() * (part + 1) / n_parts, leaf.histogram.get()};
          if (part > 0) {
            partials_.push_back({i, task.group, pool_.acquire(leaf.histogram->large)});
            task.target = partials_.back().histogram.get();
          }
          tasks.push_back(task);
        }
      }
    }
  }
  // Longest first: the last task to start should be a short one.
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const BuildTask& a, const BuildTask& b) { return a.end - a.begin > b.end - b.begin; });
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    const BuildTask& task = tasks[at(t)];
    const Group& group = matrix_->groups()[at(task.group)];
    Buffer<std::uint64_t>& scratch = build_scratch_[at(thread)];
    if (task.target->large) scratch.grow_to(group.n_cells * 2);
    const RowIdx* const rows = identity_root_ && task.leaf == 0 ? nullptr : row_index_.data() + task.begin;
    build_group(group, rows, task.begin, task.end - task.begin, row_values_.data(), matrix_->n_cells(), layout_,
                scratch.data(), *task.target);
  });
}

// ---- split search ----

void Grower::plan_blocks(int n_threads) {
  const auto& p = *params_;
  const auto n_features = static_cast<std::int64_t>(matrix_->features().size());
  columns_ = std::make_unique<ColumnSampler>(n_features, p.fractions, p.column_key);
  sample_nodes_ = p.fractions.by_level < 1.0 || p.fractions.by_node < 1.0;
  feature_used_.assign(at(n_features), 0);
  group_used_.assign(matrix_->groups().size(), 0);
  for (const std::int32_t f : columns_->tree_features()) {
    feature_used_[at(f)] = 1;
    group_used_[at(matrix_->features()[at(f)].group)] = 1;
  }
  blocks_.clear();
  const std::int64_t block = n_threads == 1 ? 32 : std::clamp<std::int64_t>(n_features / (2 * n_threads), 4, 32);
  for (std::size_t g = 0; g < matrix_->groups().size(); ++g) {
    if (!group_used_[g]) continue;
    const std::int64_t n = matrix_->groups()[g].n_lanes;
    for (std::int64_t first = 0; first < n; first += block) {
      blocks_.push_back({static_cast<std::int32_t>(g), static_cast<std::int32_t>(first),
                         static_cast<std::int32_t>(std::min(block, n - first))});
    }
  }
  int max_bins = 1;
  for (const Feature& f : matrix_->features()) max_bins = std::max(max_bins, f.n_value_bins);
  build_scratch_.resize(at(std::max<std::int64_t>(n_threads, static_cast<std::int64_t>(build_scratch_.size()))));
  search_scratch_.resize(build_scratch_.size());
  for (auto& scratch : search_scratch_) scratch.grow_to(search_scratch_size(max_bins));
  marginal_scratch_.resize(build_scratch_.size());
  for (auto& scratch : marginal_scratch_) scratch.grow_to(kFeatureScratchWords);
}

void Grower::search(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.search);
  struct Found {
    Split split;
    double gain = -1.0e300;
  };
  const std::size_t n_blocks = blocks_.size();
  std::vector<Found> found(families.size() * n_blocks * 2);
  // Node-level column samples, by leaf.
  std::vector<std::vector<char>> allowed(sample_nodes_ ? leaves_.size() : 0);
  for (Family& family : families) {
    if (family.rest >= 0) {
      Leaf& parent = leaves_[at(family.parent)];
      Leaf& rest = leaves_[at(family.rest)];
      if (parent.histogram->large && rest.n_rows() <= layout_.max_rows) family.packed_rest = acquire(false);
    }
    if (!sample_nodes_) continue;
    for (const std::int32_t i : {family.built[0], family.built[1], family.rest}) {
      if (i < 0) continue;
      allowed[at(i)].assign(matrix_->features().size(), 0);
      for (const std::int32_t f : columns_->node_features(leaves_[at(i)].depth, leaves_[at(i)].key)) {
        allowed[at(i)][at(f)] = 1;
      }
    }
  }

  const std::int64_t n_cells = matrix_->n_cells();
  team.for_each(static_cast<std::int64_t>(families.size() * n_blocks), [&](std::int64_t t, int thread) {
    Family& family = families[at(t) / n_blocks];
    const LaneBlock block = blocks_[at(t) % n_blocks];
    const Group& group = matrix_->groups()[at(block.group)];
    const std::int64_t first = group.lane_begin(block.first);
    const CellRange range{group.first_cell + first, group.lane_begin(block.first + block.n) - first};
    for (Partial& partial : partials_) {
      if (partial.group != block.group) continue;
      if (partial.leaf != family.built[0] && partial.leaf != family.built[1]) continue;
      add_range(*partial.histogram, range, n_cells, layout_, *leaves_[at(partial.leaf)].histogram);
    }
    std::int32_t searched[2] = {family.built[0], family.built[1]};
    if (family.rest >= 0) {
      Histogram& parent = *leaves_[at(family.parent)].histogram;
      subtract_range(*leaves_[at(family.built[0])].histogram, range, n_cells, layout_, parent,
                     family.packed_rest.get());
      searched[1] = family.rest;
    }
    for (int side = 0; side < 2; ++side) {
      if (searched[side] < 0) continue;
      Leaf& leaf = leaves_[at(searched[side])];
      if (!may_split(leaf)) continue;
      Found& out = found[at(t) * 2 + static_cast<std::size_t>(side)];
      Histogram* histogram = leaf.histogram.get();
      if (searched[side] == family.rest) {
        histogram = family.packed_rest ? family.packed_rest.get() : leaves_[at(family.parent)].histogram.get();
      }
      for (std::int32_t lane = block.first; lane < block.first + block.n; ++lane) {
        for (const std::int32_t f : group.lanes[at(lane)]) {
          if (!feature_used_[at(f)]) continue;
          if (sample_nodes_ && !allowed[at(searched[side])][at(f)]) continue;
          search_feature(leaf, *histogram, f, thread, out.split, out.gain);
        }
      }
    }
  });

  for (std::size_t i = 0; i < families.size(); ++i) {
    Family& family = families[i];
    if (family.rest >= 0) {
      Leaf& parent = leaves_[at(family.parent)];
      Leaf& rest = leaves_[at(family.rest)];
      if (family.packed_rest) {
        pool_.release(std::move(parent.histogram));
        rest.histogram = std::move(family.packed_rest);
      } else {
        rest.histogram = std::move(parent.histogram);
      }
    }
    const std::int32_t second = family.rest >= 0 ? family.rest : family.built[1];
    const std::int32_t searched[2] = {family.built[0], second};
    for (std::size_t side = 0; side < 2; ++side) {
      if (searched[side] < 0) continue;
      Leaf& leaf = leaves_[at(searched[side])];
      double best_gain = -1.0e300;
      for (std::size_t b = 0; b < n_blocks; ++b) {
        const Found& f = found[(i * n_blocks + b) * 2 + side];
        // Equal gains: the smaller feature, whatever the order of groups and blocks.
        if (f.split.feature >= 0 &&
            (f.gain > best_gain || (f.gain == best_gain && f.split.feature < leaf.split.feature))) {
          best_gain = f.gain;
          leaf.split = f.split;
        }
      }
      leaf.split.gain = leaf.split.feature >= 0 ? best_gain : 0.0;
    }
  }
}

void Grower::search_feature(const Leaf& leaf, Histogram& histogram, std::int32_t f, int thread, Split& best,
                            double& best_gain) {
  const Feature& feature = matrix_->features()[at(f)];
  const FeatureCells cells =
      feature_cells(histogram, feature, matrix_->n_cells(), layout_, marginal_scratch_[at(thread)].data());
  SearchArgs args;
  args.cells = cells.cells;
  args.large = cells.large;
  args.n_value_bins = feature.n_value_bins;
  args.has_missing = feature.has_missing;
  args.gradient = static_cast<double>(leaf.sums.gradient);
  args.hessian = static_cast<double>(layout_.constant_hessian() ? leaf.sums.count : leaf.sums.hessian);
  args.count = static_cast<double>(leaf.sums.count);
  args.parent_output = leaf.output * layout_.hessian_unit / layout_.gradient_unit;
  args.scratch = search_scratch_[at(thread)].data();
  if (params_->extra_trees) {
    const int n_thresholds = std::max(feature.n_value_bins - (feature.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random_bits(params_->extra_key ^ leaf.key, static_cast<std::uint64_t>(f)) %
                                           static_cast<std::uint64_t>(n_thresholds));
  }
  Candidate candidate;
  // A feature seen later in this block but numbered lower must win ties: search it on its own.
  const bool strict = f > best.feature;
  if (strict) candidate.gain = best_gain;
  if (!kernels().search(args, layout_, rules_, candidate)) return;
  if (!strict && (candidate.gain < best_gain)) return;
  best_gain = candidate.gain;
  best.feature = f;
  best.threshold = candidate.threshold;
  best.missing_left = candidate.missing_left;
}

// Turns the winning candidate into a split: exact sums of the left side, gain above the leaf's own.
void Grower::settle(Leaf& leaf) {
  Split& split = leaf.split;
  if (split.feature >= 0) {
    // What rounding leaves of a gain of zero must not pass for a gain.
    const double gain = split.gain - gain_of(leaf.sums, leaf.output);
    const bool is_noise = gain <= 1e-12 * std::abs(split.gain);
    split.gain = gain * layout_.gradient_unit * layout_.gradient_unit / layout_.hessian_unit;
    if (is_noise || split.gain <= params_->rules.min_gain_to_split) split = Split{};
  }
  if (split.feature < 0) {
    pool_.release(std::move(leaf.histogram));
    return;
  }
  const Feature& feature = matrix_->features()[at(split.feature)];
  const FeatureCells cells =
      feature_cells(*leaf.histogram, feature, matrix_->n_cells(), layout_, marginal_scratch_[0].data());
  split.left = sum_bins(cells, 0, split.threshold + 1, layout_);
  const Sums missing = feature.has_missing ? sum_bins(cells, feature.n_value_bins, 1, layout_) : Sums{};
  if (split.missing_left) split.left += missing;
  // Nothing to learn a direction from: missing values will follow the majority.
  if (missing.count == 0) split.missing_left = 2 * split.left.count >= leaf.sums.count;
}

// ---- leaf values ----

double Grower::output_of(const Sums& sums, const double* parent_output) const {
  const SplitRules& r = params_->rules;
  const double gradient = static_cast<double>(sums.gradient) * layout_.gradient_unit;
  const double hessian =
      static_cast<double>(layout_.constant_hessian() ? sums.count : sums.hessian) * layout_.hessian_unit;
  const double shrunk = std::max(std::abs(gradient) - r.lambda_l1, 0.0);
  const double denominator = hessian + r.lambda_l2;
  double output = denominator > 0.0 ? -std::copysign(shrunk, gradient) / denominator : 0.0;
  if (r.max_delta_step > 0.0) output = std::clamp(output, -r.max_delta_step, r.max_delta_step);
  if (r.path_smooth > 0.0 && parent_output != nullptr) {
    const double trust = static_cast<double>(sums.count) / r.path_smooth;
    output = output * trust / (trust + 1.0) + *parent_output / (trust + 1.0);
  }
  return output;
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

Tree Grower::finish(Team& team, double* score) {
  const Timer timer(stats_.scores);
  stats_.committed += static_cast<std::int64_t>(committed_.size());
  const auto n_leaves = committed_.size() + 1;
  Tree tree;
  tree.leaf_value.resize(n_leaves);
  tree.leaf_weight.resize(n_leaves);
  tree.leaf_count.resize(n_leaves);
  const auto weight = [&](const Sums& s) {
    return static_cast<double>(layout_.constant_hessian() ? s.count : s.hessian) * layout_.hessian_unit;
  };

  std::vector<std::int32_t> number(leaves_.size(), -1);  // node number of a committed leaf
  for (std::size_t i = 0; i < committed_.size(); ++i) number[at(committed_[i])] = static_cast<std::int32_t>(i);
  const auto child_number = [&](std::int32_t i) { return number[at(i)] >= 0 ? number[at(i)] : ~leaves_[at(i)].slot; };
  std::vector<std::int32_t> final_leaves;
  if (committed_.empty()) final_leaves.push_back(0);
  for (const std::int32_t i : committed_) {
    const Leaf& node = leaves_[at(i)];
    const Feature& feature = matrix_->features()[at(node.split.feature)];
    tree.feature.push_back(node.split.feature);
    tree.column.push_back(feature.column);
    tree.threshold_bin.push_back(node.split.threshold);
    tree.threshold.push_back(feature.upper[at(node.split.threshold)]);
    tree.missing_kind.push_back(static_cast<std::int8_t>(feature.missing_kind));
    tree.default_left.push_back(node.split.missing_left);
    tree.left.push_back(child_number(node.children[0]));
    tree.right.push_back(child_number(node.children[1]));
    tree.gain.push_back(node.split.gain);
    tree.node_value.push_back(node.output * params_->learning_rate);
    tree.node_weight.push_back(weight(node.sums));
    tree.node_count.push_back(node.sums.count);
    for (const std::int32_t child : node.children) {
      if (number[at(child)] < 0) final_leaves.push_back(child);
    }
  }
  struct Piece {
    std::int64_t begin, end;
    double value;
  };
  std::vector<Piece> pieces;
  for (const std::int32_t i : final_leaves) {
    const Leaf& leaf = leaves_[at(i)];
    const double value = leaf.output * params_->learning_rate;
    tree.leaf_value[at(leaf.slot)] = value;
    tree.leaf_weight[at(leaf.slot)] = weight(leaf.sums);
    tree.leaf_count[at(leaf.slot)] = leaf.sums.count;
    for (std::int64_t begin = leaf.begin; begin < leaf.end; begin += kRowBlock) {
      pieces.push_back({begin, std::min(begin + kRowBlock, leaf.end), value});
    }
  }
  const bool identity = identity_root_ && committed_.empty();
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t p, int) {
    const Piece& piece = pieces[at(p)];
    if (identity) {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) score[i] += piece.value;
      return;
    }
    for (std::int64_t i = piece.begin; i < piece.end; ++i) score[row_index_[i]] += piece.value;
  });
  for (Leaf& leaf : leaves_) pool_.release(std::move(leaf.histogram));
  return tree;
}

}  // namespace gossamer
