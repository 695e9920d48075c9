// Growing one tree.
//
//   quantise gradients; build and search the root
//   while leaves may be added:
//     the best leaf is committed if it has been expanded already; otherwise expand a batch:
//       partition   rows of each leaf go left or right
//       build       histogram of the smaller child
//       search      larger child = parent - smaller; best split of both
//
// Expanding several promising leaves at once costs fewer joins and keeps many threads busy. Trees
// do not depend on the batch: histograms are exact integers, and leaves are committed best first.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/column_sampler.h"
#include "core/feature_limits.h"
#include "core/histogram.h"
#include "core/interrupt.h"
#include "core/leaf_refit.h"
#include "core/leaf_rows.h"
#include "core/memory.h"
#include "core/monotone.h"
#include "core/parallel.h"
#include "core/proposals.h"
#include "core/sorted_lists.h"
#include "core/sorted_table.h"
#include "core/sparse_rows.h"
#include "core/tree.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

struct GrowParams {
  SplitRules rules;
  std::int64_t num_leaves = 31;
  std::int64_t max_depth = 0;  // 0: no limit
  bool depthwise = false;
  bool extra_trees = false;
  std::uint64_t extra_key = 0;   // of this tree
  std::uint64_t column_key = 0;  // of this tree
  ColumnFractions fractions;
  double prune_below = 0.0;  // splits of a grown tree with a smaller gain are taken back, see prune.h
  double learning_rate = 0.1;
  double value_unit = 0.0;  // leaf values are multiples of it, a power of two; 0: any numbers
  bool refit = false;       // find leaf values again, see LeafRefit; needs labels
  double refit_alpha = 0.5;
  double refit_delta = 0.0;
  MonotoneParams monotone;
  double linear_lambda = 0.0;         // ridge of linear leaves, see LinearFit
  double linear_extrapolation = 0.0;  // likewise
  double damp_from = 0.0;             // leaf values beyond this are damped, see leaf_output; 0: none
  std::int64_t max_histogram_bytes = std::int64_t{1} << 30;
  std::shared_ptr<const FeatureLimits> limits;  // nullptr: none
  // With it, features whose bins hold several values are searched value by value, and thresholds lie halfway between
  // the values of the leaf. Trees then ask for values, not for bins.
  std::shared_ptr<SortedTable> sorted;
  std::shared_ptr<Proposals> proposals;  // bins are proposed for every tree; see RoundGrower
  double global_eps = 0.0;               // with `sorted`: least share of a tree's hessian between two thresholds
  double local_eps = 0.0;  // with `sorted`: least share of a leaf's hessian between two thresholds; 0: every value
  Interrupt* interrupt = nullptr;  // asked between batches of leaves; nullptr: never
};

// Where the time went, in seconds; and how much was done.
struct GrowStats {
  double quantize = 0, partition = 0, build = 0, search = 0, scores = 0;
  std::int64_t built_rows = 0, partitioned_rows = 0, expanded = 0, committed = 0, batches = 0;
  std::int64_t wide_rounds = 0, rounds = 0;

  GrowStats& operator+=(const GrowStats& other);
};

class Grower {
 public:
  explicit Grower(std::shared_ptr<BinMatrix> matrix);
  Grower(const Grower&) = delete;
  Grower& operator=(const Grower&) = delete;

  // Grows a tree on `rows` (nullptr: all rows) and adds its values to score[row] of those rows. A
  // tree that could not split has one leaf and adds nothing.
  // `hessian` nullptr: every hessian is 1. With `label`, leaf values are refitted, see leaf_refit.h. With `raw`,
  // leaves get linear models, see linear_leaves.h.
  Tree grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
            const GrowParams& params, double* score, const float* label = nullptr, const RawTable* raw = nullptr);

  const GrowStats& stats() const { return stats_; }

 private:
  struct Split {
    double gain = 0.0;
    std::int32_t feature = -1;  // -1: no admissible split
    std::int32_t threshold = 0;
    bool missing_left = false;
    double value = 0.0;                   // with sorted columns: the threshold itself
    std::int64_t place = 0;               // and where it lies among the values of all rows
    std::vector<std::uint8_t> goes_left;  // of categories: by bin, the last is that of missing values
    double l2 = 0.0;                      // added to lambda_l2 for the values of both children
    Sums left;
  };

  // What the path to a leaf leaves to it, see FeatureLimits.
  struct LeafLimits {
    InteractionGroups::Open open;
    std::int32_t forced = -1;          // the split it must start with
    std::vector<std::int64_t> unpaid;  // by feature with a lazy cost: rows that would pay
    std::unique_ptr<Split[]> offers;   // by feature: the best split, were the coupled cost paid
  };

  // A leaf of the growing tree, or a node once it has been split.
  struct Leaf {
    std::int64_t begin = 0;  // its range of rows_
    std::int64_t end = 0;
    Sums sums;
    int depth = 0;
    std::uint64_t key = 1;  // its path from the root: random choices hang on it
    double l2 = 0.0;        // added to lambda_l2 for its value
    double output = 0.0;    // leaf value before shrinkage
    double wish = 0.0;      // what it would be without monotone constraints
    std::unique_ptr<Histogram> histogram;
    std::vector<std::int32_t> alive;  // blocks of sparse columns in which some feature may still split
    Split split;
    bool expanded = false;
    bool stale = false;  // `split` was found within other limits, see monotone.h
    std::int32_t children[2] = {-1, -1};
    std::int64_t order = 0;  // of being committed: breaks ties
    std::int32_t slot = 0;   // leaf number in the finished tree
    LeafLimits limits;
    std::vector<SortedLists::Stretch> stretches;  // its entries in each sorted column

    std::int64_t n_rows() const { return end - begin; }
  };

  // Leaves whose histograms are made together: built[0] (and built[1]) from rows, `rest` by
  // subtracting built[0] from the parent's.
  struct Family {
    std::int32_t parent = -1;
    std::int32_t built[2] = {-1, -1};
    std::int32_t rest = -1;
    std::unique_ptr<Histogram> packed_rest;
    bool again = false;               // built[0] has a histogram and is searched again
    std::vector<std::int32_t> alive;  // its, then

    std::int32_t searched(std::size_t side) const { return side == 0 ? built[0] : rest >= 0 ? rest : built[1]; }
  };

  // One piece of histogram building. Pieces of one leaf beyond the first go to partial histograms.
  struct BuildTask {
    std::int32_t leaf;
    std::int32_t group;
    std::int64_t begin, end;
    Histogram* target;
  };
  struct Partial {
    std::int32_t leaf;
    std::int32_t group;
    std::unique_ptr<Histogram> histogram;
  };
  // The rows of one category, or of all that are not known, in one leaf.
  struct Category {
    std::int32_t bin;  // -1: missing and not known
    Sums sums;
    double order = 0.0;
  };
  struct Found {
    Split split;
    double gain = -1.0e300;  // of the two children together, in units of the layout

    // Equal gains: the smaller feature, whatever the order of groups and blocks.
    bool loses_to(double other, std::int32_t feature) const {
      return other > gain || (other == gain && feature < split.feature);
    }
  };
  struct LaneBlock {
    std::int32_t group;
    std::int32_t first, n;  // lanes
  };
  // One piece of the search: a block of lanes, or some blocks of sparse columns, of one family.
  struct SearchTask {
    std::int32_t family;
    std::int32_t lane_block;            // -1: sparse columns
    std::int32_t first_alive, n_alive;  // of the parent's alive blocks
    std::int32_t sorted = -1;           // or a sorted column
    Found found[2] = {};
    std::vector<std::int32_t> alive[2] = {};
  };

  // Rows of a leaf without an entry in a sorted column, and missing ones.
  struct Unlisted {
    Sums rest;
    Sums missing;
  };

  struct RowBlock;
  void quantize(Team& team, const float* gradient, const float* hessian);
  void start_root(Team& team);
  std::vector<std::int32_t> choose_batch(Team& team, std::int64_t n_leaves) const;
  void drop_hopeless(std::int64_t wanted);
  void expand(Team& team, const std::vector<std::int32_t>& batch, bool last);
  void partition(Team& team, const std::vector<std::int32_t>& batch);
  void make_children(std::int32_t leaf);
  std::vector<std::int32_t> note_changes();
  void search_again(const std::vector<std::int32_t>& again, std::vector<Family>& families);
  void return_to_frontier(const std::vector<std::int32_t>& searched);
  void evaluate(Team& team, std::vector<Family>& families);
  void build(Team& team, std::vector<Family>& families);
  void search(Team& team, std::vector<Family>& families);
  void allow_columns(const std::vector<Family>& families);
  void search_lanes(Family& family, const LaneBlock& block, int thread, Found* found);
  void search_digit(std::int32_t leaf, Histogram& histogram, const Digit& digit, int thread, Found& best);
  void search_sparse(Family& family, SearchTask& task, int thread);
  bool search_sparse_block(std::int32_t leaf, Histogram& histogram, const SparseRows::Block& block, int thread,
                           Found& best);
  void merge_sparse_block(Family& family, const SparseRows::Block& block);
  void search_cells(const Leaf& leaf, const FeatureCells& cells, std::int32_t feature, int thread, Found& best);
  void search_categories(const Leaf& leaf, const FeatureCells& cells, std::int32_t feature, int thread, Found& best);
  std::vector<Category> categories_of(const FeatureCells& cells, const Feature& feature) const;
  double side_gain(const Sums& sums, double l2, double parent_output, const ValueLimits* limits) const;
  Sums sum_left(const FeatureCells& cells, const Split& split) const;
  bool search_right(std::int32_t leaf, const FeatureCells& cells, const std::int32_t* features, int n, Found& best,
                    FeatureCandidate* found = nullptr);
  bool can_split(const FeatureCells& others, std::int64_t n) const;
  void search_other_bins(std::int32_t leaf, const FeatureCells& others, std::int32_t feature, int thread, Found& best);
  FeatureCells sparse_cells(Histogram& histogram, std::int64_t first_cell, bool heavy);
  FeatureCells cells_of(const Leaf& leaf, Histogram& histogram, const Feature& feature, std::int32_t f, int thread);
  bool is_allowed(std::int32_t leaf, std::int32_t feature) const;
  const char* allowed_features(std::int32_t leaf) const;
  std::span<const std::int32_t> alive_before(const Family& family) const;
  SearchArgs search_args(const Leaf& leaf, const FeatureCells& cells, const Feature& feature, int thread);
  void settle(Leaf& leaf);
  void finish_split(Leaf& leaf, Split& split);

  void plan_sorted();
  void start_sorted(Team& team);
  void keep_proposals(Team& team);
  SortedSearchArgs sorted_args(std::size_t place, const SortedLists::Stretch& stretch, std::int64_t first,
                               std::int64_t n) const;
  Unlisted unlisted(const Leaf& leaf, std::size_t place) const;
  void search_sorted(Family& family, std::int32_t place, int thread, Found* found);
  void finish_sorted(const Leaf& leaf, Split& split) const;
  void set_value(const FeatureCells& cells, Split& split) const;
  RowSplitter mark_sides(const Leaf& leaf);
  void mark_rows(const Leaf& leaf);
  void split_lists(Team& team, const std::vector<std::int32_t>& nodes);
  bool is_listed(std::int32_t feature) const {
    return sorted_ != nullptr && sorted_->place_of[static_cast<std::size_t>(feature)] >= 0;
  }

  void start_limits();
  void start_root_limits(Leaf& root) const;
  void inherit_limits(const Leaf& parent, int side, Leaf& child) const;
  double adjusted_gain(const Leaf& leaf, std::int32_t feature, double gain) const;
  double coupled_cost(std::int32_t feature) const;
  void count_unpaid(Team& team, const std::vector<Family>& families);
  void make_room_for_offers(const std::vector<Family>& families);
  void note_offer(const Leaf& leaf, const Split& split) const;
  void settle_offers(Leaf& leaf);
  void refund(std::int32_t feature);
  bool has_cells(const Leaf& leaf, std::int32_t feature) const;
  void force(Leaf& leaf);
  std::unique_ptr<Histogram> acquire(bool large);
  bool may_split(const Leaf& leaf) const;
  bool comes_before(const Leaf& a, const Leaf& b) const;
  void prune();
  double output_of(const Sums& sums, double l2, const double* parent_output) const;
  double gain_of(const Sums& sums, double own_output) const;
  double own_gain(const Leaf& leaf) const;
  Tree finish(Team& team, const LeafRefit& refit, const LinearFit& linear, double* score);
  LinearLeaves fit_linear(Team& team, const LinearFit& fit, const Tree& tree, double* score);
  std::vector<std::int32_t> final_leaves() const;
  void refit_leaves(Team& team, const LeafRefit& refit, const std::vector<std::int32_t>& final_leaves);
  void reconcile_leaves(const std::vector<std::int32_t>& final_leaves);
  void plan_blocks(int n_threads);
  void build_sparse(const BuildTask& task, const RowIdx* rows, std::uint64_t* scratch);

  std::shared_ptr<BinMatrix> matrix_;
  std::shared_ptr<const SparseRows> sparse_;  // nullptr: no sparse columns
  std::vector<std::int32_t> all_blocks_;      // of sparse_
  std::int64_t n_cells_ = 0;                  // of lanes and of heavy sparse columns
  const GrowParams* params_ = nullptr;
  CellLayout layout_;
  SplitRules rules_;  // in units of the layout
  std::unique_ptr<ColumnSampler> columns_;
  bool sample_nodes_ = false;  // leaves have features of their own
  const FeatureLimits* limits_ = nullptr;
  const FeatureCosts* costs_ = nullptr;
  bool refunds_ = false;        // a split may lower the price of others: leaves are expanded one by one
  std::vector<char> paid_;      // by feature: its coupled cost, if there are any
  bool adjusts_gains_ = false;  // some features' gains are changed, see adjusted_gain
  bool one_by_one_ = false;     // every feature must be searched on its own
  Monotone monotone_;
  std::vector<char> group_used_;
  std::vector<char> feature_used_;
  std::vector<LaneBlock> blocks_;
  std::vector<std::vector<char>> allowed_;  // by leaf: features of its own

  const SortedTable* sorted_ = nullptr;
  SortedLists lists_;
  std::vector<char> list_used_;                  // by feature: searched in a sorted column
  std::vector<std::vector<char>> list_allowed_;  // the same by leaf, as allowed_
  Buffer<std::uint64_t> half_values_;            // by row, see SortedSearchArgs; empty: values are too wide
  std::vector<Feature> box_features_;            // what monotone constraints see: places instead of bins
  const SortedTable* boxes_of_ = nullptr;

  const RowIdx* user_rows_ = nullptr;
  std::int64_t n_rows_ = 0;
  Buffer<std::uint32_t> row_values_;  // PackedRow, or WideCell in a wide layout
  LeafRows rows_;
  Sums root_sums_;

  std::vector<Leaf> leaves_;             // arena: leaves, nodes and what was expanded in vain
  std::vector<std::int32_t> frontier_;   // leaves that may still split
  std::vector<std::int32_t> committed_;  // nodes in the order in which they were split
  HistogramPool pool_;
  std::vector<Partial> partials_;
  std::vector<Buffer<std::uint64_t>> build_scratch_;  // by thread
  std::vector<Buffer<double>> search_scratch_;
  std::vector<Buffer<std::uint64_t>> marginal_scratch_;
  std::vector<Buffer<std::uint64_t>> zero_scratch_;
  GrowStats stats_;
};

}  // namespace gossamer
