#include "core/finish_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/index.h"
#include "core/leaf_refit.h"
#include "core/linear_leaves.h"
#include "core/row_sampler.h"

namespace gossamer {
namespace {

// The amount a leaf adds to a score: its value times the learning rate, as a multiple of `unit` (0: any number).
double shrink_value(double value, double learning_rate, double unit) {
  const double shrunk = value * learning_rate;
  return unit > 0.0 ? std::nearbyint(shrunk / unit) * unit : shrunk;
}

class Finisher {
 public:
  Finisher(Team& team, const GrownTree& grown, const TreeLabels& labels, const RawTable* raw, double* score)
      : team_(team),
        grown_(grown),
        params_(grown.task.params),
        labels_(labels),
        raw_(raw),
        score_(score),
        n_outputs_(static_cast<std::int64_t>(params_.size())) {}

  Tree run() {
    number_nodes();
    const bool has_splits = !grown_.committed.empty();
    // Sums over the rows of a leaf must not depend on nodes that were expanded but not used. And scores may be in a
    // file, of which a task may touch only a small part.
    is_sorted_ = has_splits && (refits() || raw_ != nullptr || grown_.data.pages != nullptr);
    if (is_sorted_) grown_.rows.sort(team_, ranges_);
    if (has_splits && grown_.pruned && grown_.monotone.changes_others()) reconcile();
    if (has_splits && refits()) refit();
    Tree tree;
    tree.n_values = n_outputs_;
    tree.by_value = grown_.evaluator.has_values() || params_[0].by_value.proposals != nullptr;
    add_nodes(tree);
    add_leaves(tree);
    if (!has_splits) return tree;
    if (raw_ != nullptr) {
      fit_linear(tree);
    } else if (score_ != nullptr) {
      add_to_scores(tree);
    }
    return tree;
  }

 private:
  const GrowNode& node(std::int32_t i) const { return grown_.nodes[at(i)]; }
  double* values(std::int32_t i) const { return grown_.values.data() + i * n_outputs_; }
  bool refits() const {
    return labels_.label != nullptr &&
           std::any_of(params_.begin(), params_.end(), [](const GrowParams& p) { return p.values.refit; });
  }

  // Nodes are numbered in the order of commits; leaves in the order in which their parents were split.
  void number_nodes() {
    number_.assign(grown_.nodes.size(), -1);
    for (std::size_t i = 0; i < grown_.committed.size(); ++i) {
      number_[at(grown_.committed[i])] = static_cast<std::int32_t>(i);
    }
    leaves_.reserve(grown_.committed.size() + 1);
    if (grown_.committed.empty()) leaves_.push_back(0);
    for (const std::int32_t i : grown_.committed) {
      for (const std::int32_t child : node(i).children) {
        if (number_[at(child)] < 0) leaves_.push_back(child);
      }
    }
    ranges_.reserve(leaves_.size());
    for (const std::int32_t i : leaves_) ranges_.push_back(node(i).rows);
  }

  // ---- leaf values ----

  LeafRefit refit_of(std::int64_t k) const {
    const std::int64_t first = k * grown_.data.matrix->n_rows();
    const LeafValues& v = params_[at(k)].values;
    const float* const weight = grown_.task.hessian != nullptr ? grown_.task.hessian + first : nullptr;
    if (labels_.label == nullptr || !v.refit) return {nullptr, weight, score_ + first, v.refit_alpha, v.refit_delta};
    return {labels_.label + (labels_.one_label ? 0 : first), weight, score_ + first, v.refit_alpha, v.refit_delta};
  }

  // Limits of leaf values and monotone constraints hold for refitted values, too.
  void refit() {
    const auto n_leaves = static_cast<std::int64_t>(leaves_.size());
    std::vector<std::vector<Residual>> scratch(at(team_.n_threads()));
    const std::vector<std::vector<Residual>> shared = gather_residuals();
    team_.for_each(n_leaves * n_outputs_, [&](std::int64_t task, int thread) {
      const std::int64_t k = task / n_leaves;
      if (!params_[at(k)].values.refit) return;
      const std::int32_t leaf = leaves_[at(task % n_leaves)];
      const RowRange range = node(leaf).rows;
      double value = shared.empty() ? refit_leaf(refit_of(k), grown_.rows.from(range.begin), range.end - range.begin,
                                                 scratch[at(thread)])
                                    : refit_residuals(refit_of(k), shared[at(task)], scratch[at(thread)]);
      const double limit = params_[0].search.rules.max_delta_step;
      if (limit > 0.0) value = std::clamp(value, -limit, limit);
      values(leaf)[k] = value;
    });
    if (grown_.monotone.is_on()) reconcile();
  }

  // By output and leaf: the residuals of all shards, in the order of their rows. Without shards: nothing.
  std::vector<std::vector<Residual>> gather_residuals() const {
    if (grown_.data.exchange == nullptr) return {};
    const std::size_t n_tasks = leaves_.size() * at(n_outputs_);
    // How many residuals each task has, then values and weights.
    std::vector<double> own(n_tasks, 0.0);
    for (std::size_t task = 0; task < n_tasks; ++task) {
      const auto k = static_cast<std::int64_t>(task / leaves_.size());
      if (!params_[at(k)].values.refit) continue;
      const RowRange range = node(leaves_[task % leaves_.size()]).rows;
      const RowIdx* const rows = grown_.rows.from(range.begin);
      own[task] = static_cast<double>(range.end - range.begin);
      for (std::int64_t i = 0; i < range.end - range.begin; ++i) {
        const Residual r = residual_of(refit_of(k), rows[i]);
        own.insert(own.end(), {r.value, r.weight});
      }
    }
    const std::vector<double> all = grown_.data.exchange->gather(own);
    std::vector<std::vector<Residual>> shared(n_tasks);
    for (std::size_t begin = 0; begin < all.size();) {
      const double* next = all.data() + begin + n_tasks;
      for (std::size_t task = 0; task < n_tasks; ++task) {
        for (auto left = static_cast<std::int64_t>(all[begin + task]); left > 0; --left, next += 2) {
          shared[task].push_back({next[0], next[1]});
        }
      }
      begin = static_cast<std::size_t>(next - all.data());
    }
    return shared;
  }

  void reconcile() {
    std::vector<double> wanted;
    std::vector<double> weights;
    for (const std::int32_t i : leaves_) {
      wanted.push_back(*values(i));
      weights.push_back(grown_.evaluator.weight(i));
    }
    grown_.monotone.reconcile(leaves_, weights, wanted);
    for (std::size_t i = 0; i < leaves_.size(); ++i) *values(leaves_[i]) = wanted[i];
  }

  // ---- arrays ----

  void add_nodes(Tree& tree) const {
    const auto child_number = [&](std::int32_t i) {
      return number_[at(i)] >= 0 ? number_[at(i)] : ~node(i).leaf_number;
    };
    const bool has_values = grown_.evaluator.has_values();
    tree.reserve(grown_.committed.size());
    for (const std::int32_t i : grown_.committed) {
      const GrowNode& n = node(i);
      const BestSplit& split = n.split;
      const Feature& feature = grown_.data.matrix->features()[at(split.feature)];
      double threshold = 0.0;
      if (!feature.is_categorical()) threshold = has_values ? split.value : feature.upper[at(split.threshold)];
      tree.add_split(feature, split.feature, split.threshold, threshold, split.missing_left,
                     child_number(n.children[0]), child_number(n.children[1]), split.gain);
      if (!split.goes_left.empty()) tree.set_categories(feature, split.goes_left);
      for (std::int64_t k = 0; k < n_outputs_; ++k) {
        tree.node_value.push_back(values(i)[k] * params_[0].values.learning_rate);
      }
      tree.node_weight.push_back(grown_.evaluator.weight(i));
      tree.node_count.push_back(grown_.evaluator.count(i));
    }
  }

  void add_leaves(Tree& tree) const {
    tree.leaf_value.resize(leaves_.size() * at(n_outputs_));
    tree.leaf_weight.resize(leaves_.size());
    tree.leaf_count.resize(leaves_.size());
    const LeafValues& v = params_[0].values;
    for (const std::int32_t i : leaves_) {
      const std::size_t number = at(node(i).leaf_number);
      for (std::size_t k = 0; k < at(n_outputs_); ++k) {
        tree.leaf_value[number * at(n_outputs_) + k] = shrink_value(values(i)[k], v.learning_rate, v.value_unit);
      }
      tree.leaf_weight[number] = grown_.evaluator.weight(i);
      tree.leaf_count[number] = grown_.evaluator.count(i);
    }
  }

  // Rows outside the sample go down the tree. Where these are many, and tiles of rows can be evaluated as a whole, all
  // rows of the table are taken in order: that is faster than adding to the rows of each leaf.
  void add_to_scores(const Tree& tree) const {
    constexpr std::int64_t kRowsPerOther = 4;
    const BinMatrix& matrix = *grown_.data.matrix;
    const TreeTask& task = grown_.task;
    if (grown_.adds_to_others && task.rows != nullptr) {
      const bool are_many = kRowsPerOther * (matrix.n_rows() - task.n_rows) >= matrix.n_rows();
      if (are_many && add_tiles(team_, matrix, tree, score_)) return;
      const Buffer<RowIdx> others = rows_outside(team_, task.rows, task.n_rows, matrix.n_rows());
      if (others.size() > 0) add_tree_to_scores(team_, matrix, tree, others.data(), others.size(), score_);
    }
    if (task.rows == nullptr && add_in_order(tree)) return;
    grown_.rows.for_pieces(team_, ranges_, [&](std::size_t leaf, const RowIdx* rows, std::int64_t n) {
      const double* const value = tree.leaf_value.data() + node(leaves_[leaf]).leaf_number * n_outputs_;
      for (std::int64_t k = 0; k < n_outputs_; ++k) {
        double* const output = score_ + k * grown_.data.matrix->n_rows();
        for (std::int64_t i = 0; i < n; ++i) output[rows[i]] += value[k];
      }
    });
  }

  // To all rows of the table. False: there are too many leaves.
  bool add_in_order(const Tree& tree) const {
    if (leaves_.size() > LeafRows::kMostNumbered) return false;
    // Unless it was sorted, the list of a leaf whose split was not used is in order within its parts.
    std::vector<RowRange> parts;
    std::vector<std::int32_t> leaf_of_part;
    std::vector<std::int32_t> pending;
    parts.reserve(leaves_.size());
    leaf_of_part.reserve(leaves_.size());
    for (const std::int32_t leaf : leaves_) {
      for (pending.assign(1, leaf); !pending.empty();) {
        const GrowNode& part = node(pending.back());
        pending.pop_back();
        if (part.expanded && !is_sorted_ && grown_.rows.is_listed(part.rows)) {
          pending.insert(pending.end(), part.children, part.children + 2);
        } else {
          parts.push_back(part.rows);
          leaf_of_part.push_back(node(leaf).leaf_number);
        }
      }
    }
    if (parts.size() > LeafRows::kMostNumbered) return false;
    const std::int64_t n_rows = grown_.data.matrix->n_rows();
    std::vector<double> value(parts.size() * at(n_outputs_));  // by output and part
    for (std::size_t p = 0; p < value.size(); ++p) {
      value[p] = tree.leaf_value[at(leaf_of_part[p % parts.size()]) * at(n_outputs_) + p / parts.size()];
    }
    grown_.rows.for_numbered(team_, parts, [&](std::int64_t first, std::int64_t n, const std::uint16_t* part_of) {
      for (std::int64_t k = 0; k < n_outputs_; ++k) {
        double* const output = score_ + k * n_rows + first;
        const double* const values = value.data() + k * std::ssize(parts);
        for (std::int64_t i = 0; i < n; ++i) output[i] += values[part_of[i]];
      }
    });
    return true;
  }

  void fit_linear(Tree& tree) const {
    if (n_outputs_ > 1) throw std::invalid_argument("leaves with several values cannot be linear");
    if (grown_.data.exchange != nullptr)
      throw std::invalid_argument("linear leaves cannot be fitted on shards of rows");
    std::vector<std::vector<std::int32_t>> columns = path_columns(tree);
    // Derived columns follow the table's columns and have no values in it.
    for (auto& path : columns) std::erase_if(path, [&](std::int32_t c) { return c >= raw_->n_columns(); });
    std::vector<LinearLeaf> linear(columns.size());
    for (const std::int32_t i : grown_.committed) {
      for (const std::int32_t child : node(i).children) {
        if (number_[at(child)] >= 0) continue;
        const GrowNode& leaf = node(child);
        const std::size_t number = at(leaf.leaf_number);
        linear[number] = {grown_.rows.from(leaf.rows.begin), leaf.n_rows(), std::move(columns[number]),
                          tree.leaf_value[number], *values(i)};
      }
    }
    const LeafValues& v = params_[0].values;
    LinearFit fit{raw_,          grown_.task.gradient, grown_.task.hessian,    refit_of(0),     params_[0].search.rules,
                  v.damp_from,   v.linear_lambda,      v.linear_extrapolation, v.learning_rate, v.linear_check,
                  v.linear_noise};
    fit.gain = 0.5 * std::accumulate(tree.gain.begin(), tree.gain.end(), 0.0);
    tree.linear = fit_linear_leaves(team_, fit, linear, score_);
  }

  Team& team_;
  const GrownTree& grown_;
  std::span<const GrowParams> params_;
  const TreeLabels& labels_;
  const RawTable* raw_;
  double* score_;
  std::int64_t n_outputs_;
  std::vector<std::int32_t> number_;  // by node; -1: not a node of the tree
  std::vector<std::int32_t> leaves_;
  std::vector<RowRange> ranges_;  // by leaf
  bool is_sorted_ = false;        // every leaf has a list in the order of the table
};

}  // namespace

Tree finish_tree(Team& team, const GrownTree& grown, const TreeLabels& labels, const RawTable* raw, double* score) {
  return Finisher(team, grown, labels, raw, score).run();
}

}  // namespace gossamer
