// Best splits from histograms of integers.
//
// The histogram of the smaller child of a node is built from its rows; the larger child's is the parent's minus the
// smaller child's. Cells are merged, subtracted and searched lane by lane, while they are in cache.
//
// With an exchange, every shard owns some of the features: it adds up the cells that all shards have built of these,
// subtracts and searches them. The shards then tell each other their best splits, and all take the best of them. Where
// shards vote, each keeps the histograms of its own rows, and only the cells of the features with the most votes are
// added up (histogram_voting.cpp).
//
// In symmetric trees, the jobs are all leaves of a level, and get the same split (level_search.cpp).
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/allowed_features.h"
#include "core/cell_exchange.h"
#include "core/histogram.h"
#include "core/histogram_builder.h"
#include "core/leaf_evaluator.h"
#include "core/quantised_rows.h"
#include "core/split_costs.h"
#include "core/split_math.h"

namespace gossamer {

class HistogramEvaluator : public LeafEvaluator {
 public:
  explicit HistogramEvaluator(GrowData data);

  void start(Team& team, const TreeTask& task) override;
  void evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) override;
  void clear() override;

  std::int64_t count(std::int32_t node) const override { return state(node).sums.count; }
  double weight(std::int32_t node) const override;
  void values(std::int32_t node, double l2, const double* parent, double* out) const override;

  void add_children(std::int32_t node, const BestSplit& split, std::int32_t first_child) override;
  RowSplitter splitter(std::int32_t node, RowRange rows, const BestSplit& split) override;
  void forget(std::int32_t node) override;

  void pay(std::int32_t feature) override { costs_.pay(feature); }
  bool has_refunds() const override { return costs_.has_refunds(); }
  std::vector<std::pair<std::int32_t, BestSplit>> refund(std::int32_t feature) override;

  // Costs of features read lists.
  bool takes_bits(const GrowParams& params) const override {
    return params.search.limits == nullptr || !params.search.limits->costs;
  }
  const std::vector<Feature>& box_features() const override { return data_.matrix->features(); }
  std::int64_t preferred_rows(int n_threads) const override;
  std::int64_t most_nodes() const override;
  std::int64_t late_rows(int n_threads, std::size_t n_nodes) const override;

 protected:
  // The sums and the histogram of a node.
  struct NodeState {
    Sums sums;
    Sums left;                  // sums of the left side of its split
    Sums own;                   // where shards vote: sums of this shard's rows
    double gain = 0.0;          // likewise
    std::int32_t feature = -1;  // likewise; -1: it has none
    bool in_use = false;        // in the batch that is evaluated
    std::unique_ptr<Histogram> histogram;
    std::vector<std::int32_t> alive;  // blocks of sparse columns in which some feature may still split
  };
  // The best candidate so far. Until it is settled, its gain is the sum over both children in units of the layout.
  struct Found {
    double gain = -1.0e300;
    BestSplit split;

    bool loses_to(double other, std::int32_t feature) const { return beats(other, feature, gain, split.feature); }
  };
  // A leaf as the search sees it.
  struct SearchedLeaf {
    const LeafJob* job = nullptr;
    Histogram* histogram = nullptr;
    Sums sums;
    double own_gain = 0.0;  // gain of the unsplit leaf
    double output = 0.0;    // its value in units of the layout
    // Where shards vote: the best gain of each feature is written down, and nothing is compared; or only some features
    // are searched. nullptr: otherwise.
    double* gains = nullptr;
    const char* elected = nullptr;

    bool in_level = false;  // its split is its level's

    bool may_split() const { return job != nullptr && job->may_split && sums.count > 0; }
    bool is_searched() const { return may_split() && !in_level; }
  };

  // Features with a source of splits other than histograms.
  virtual void start_sources(Team&) {}
  virtual Searched where(std::int32_t feature) const;
  virtual bool wants_fine_gradients() const { return false; }
  virtual void search_sources(Team&, std::span<const SearchedLeaf>, std::span<Found>) {}
  // Computes exact sums of the left side of a candidate whose gain is large enough.
  virtual void finish_split(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left);

  NodeState& state(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  const NodeState& state(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  const CellLayout& layout() const { return shape_.layout; }
  const Feature& feature(std::int32_t f) const { return data_.matrix->features()[static_cast<std::size_t>(f)]; }
  double hessian_of(const Sums& sums) const {
    return static_cast<double>(layout().constant_hessian() ? sums.count : sums.hessian);
  }
  // One unit of leaf values: units of the layout over real units.
  double value_scale() const { return layout().hessian_unit / layout().gradient_unit; }
  double real_gain(double gain) const {
    return gain * layout().gradient_unit * layout().gradient_unit / layout().hessian_unit;
  }
  SplitRules rules_of(const Feature& feature) const;
  SearchArgs search_args(const SearchedLeaf& leaf, const FeatureCells& cells, const Feature& feature, int thread);
  const ValueLimits* limits_of(const SearchedLeaf& leaf, std::int32_t f, int thread, ValueLimits& limits);
  // Takes a candidate of one feature: applies costs and preferences, notes offers, and keeps the candidate if it is the
  // best.
  void offer(const SearchedLeaf& leaf, double gain, BestSplit split, Found& best);
  FeatureCells cells_of(const SearchedLeaf& leaf, std::int32_t f, int thread);

  GrowData data_;
  TreeTask task_;
  const SplitSearch* search_ = nullptr;
  QuantisedRows own_rows_;
  const QuantisedRows* quantised_ = &own_rows_;
  SplitRules rules_;  // in units of the layout
  AllowedFeatures allowed_;
  bool knows_features_ = false;         // list_features need not be called again
  std::vector<Searched> places_;        // by feature
  std::vector<std::int32_t> group_of_;  // by feature; -1: a sparse column
  std::vector<char> searched_groups_;   // groups in which some feature is searched, if the tree takes all features
  std::int32_t most_bins_ = 0;          // value bins of a feature
  SplitCosts costs_;
  HistogramShape shape_;

 private:
  // Leaves whose histograms are made together: the children of a node, or one leaf.
  struct Family {
    std::int32_t parent = -1;
    std::size_t jobs[2] = {kNone, kNone};  // jobs[0] is built from rows
    bool subtracts = false;                // jobs[1] is the parent minus jobs[0]
    bool takes_rows_out = false;           // by the rows of jobs[0], which has no histogram of its own
    BuiltHistogram* built[2] = {nullptr, nullptr};
    std::unique_ptr<Histogram> packed_rest;
    std::vector<std::int32_t> alive;  // blocks of sparse columns to be searched
    LeafSplit* late_split = nullptr;  // the parent's rows are split before the lanes are built

    // Rows that are added to histograms while these are searched.
    std::int64_t waiting_rows() const {
      std::int64_t n = 0;
      for (const BuiltHistogram* const b : built) n += b != nullptr && b->waits ? b->rows.end - b->rows.begin : 0;
      return n;
    }
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  // A leaf that keeps its histogram until it is expanded.
  struct Holder {
    double gain;
    std::int32_t node;

    auto operator<=>(const Holder&) const = default;
  };
  struct LaneBlock {
    std::int32_t group;
    std::int32_t first, n;  // lanes
  };
  // One piece of the search: a block of lanes, or some blocks of sparse columns, of one family.
  struct SearchTask {
    std::size_t family;
    std::int32_t lane_block;            // -1: sparse columns
    std::int32_t first_alive, n_alive;  // range in the family's blocks
    std::int64_t n_rows;                // that are added to histograms meanwhile
    int thread = 0;                     // that should take it
  };
  struct Findings {
    Found found[2] = {};
    std::vector<std::int32_t> alive[2] = {};
  };
  // A feature in all leaves of a level.
  struct LevelScratch {
    std::vector<double> gains;  // by candidate, summed over the leaves
    std::int64_t n_missing = 0;
    std::vector<std::int64_t> cells;  // of one leaf
  };

  void list_features();
  void plan_features();
  void plan_plain_features();
  void make_scratch(int n_threads);
  void make_families(std::span<const LeafJob> jobs);
  void build(Team& team, std::span<const LeafJob> jobs);
  bool may_take_rows_out(std::span<const LeafJob> jobs, const Family& family) const;
  const std::uint32_t* most_in_cells(const Family& family) const;
  void keep_counts();
  // Whether this shard has the sums of a feature's cells.
  bool owns(std::int32_t f) const;
  void agree(std::span<const LeafJob> jobs, std::span<const Found> best, std::span<BestSplit> splits);
  Bytes write_splits(std::span<const LeafJob> jobs, std::span<const Found> best, std::span<const BestSplit> splits);
  std::unique_ptr<Histogram> acquire(bool large, int thread = 0);
  // The thread that has the parent's histogram in its cache.
  int thread_of(const Family& family) const;
  void mark_in_use(std::span<const LeafJob> jobs, bool in_use);
  void prepare_rest(std::span<const LeafJob> jobs, Family& family);
  void list_leaves(std::span<const LeafJob> jobs);
  // `share`: the lanes to be searched; nullptr: all that are used.
  void search(Team& team, std::span<const SearchedLeaf> leaves, std::vector<Family>& families, const CellShare* share,
              std::span<Found> best);
  // Searches and settles families whose lanes are one block each.
  void search_whole(Team& team, std::span<BestSplit> splits);
  bool have_one_block(int n_threads, std::size_t n_families) const;
  void split_late_rows(bool now);
  void list_lane_blocks(int n_threads, std::size_t n_families, const CellShare* share);
  void cut_smallest_block(int n_threads);
  void list_tasks(const std::vector<Family>& families);
  void deal_tasks(int n_threads);
  // Searches the features that the shards elect; `leaves` then have the histograms that are returned.
  std::vector<std::unique_ptr<Histogram>> search_elected(Team& team, std::span<const LeafJob> jobs,
                                                         std::vector<Family>& families, std::span<SearchedLeaf> leaves,
                                                         std::span<Found> best);
  std::vector<std::vector<double>> own_gains(Team& team, std::span<const LeafJob> jobs, std::vector<Family>& families,
                                             std::span<const SearchedLeaf> leaves);
  std::vector<std::vector<char>> elect(std::span<const LeafJob> jobs, const std::vector<std::vector<double>>& gains);
  std::vector<CellShare> elected_cells(const std::vector<char>& elected) const;
  std::unique_ptr<Histogram> copy_cells(Histogram& from, std::span<const CellShare> shares);
  Sums lane_sums(Histogram& histogram) const;
  bool may_search(const SearchedLeaf& leaf, std::int32_t f) const {
    return allowed_.in_histogram(leaf.job->node, f) &&
           (leaf.elected == nullptr || leaf.elected[static_cast<std::size_t>(f)]);
  }
  std::optional<LanesToBuild> next_lanes(const std::vector<Family>& families, std::int64_t t) const;
  void search_lanes(std::span<const SearchedLeaf> leaves, Family& family, const LaneBlock& block,
                    const std::optional<LanesToBuild>& next_task, int thread, Found* found);
  void search_side(const SearchedLeaf& leaf, std::int32_t group, std::int32_t lane, std::int32_t end, int thread,
                   Found& best);
  void search_plain(const SearchedLeaf& leaf, std::span<const SearchedFeature> features, std::int64_t lane_cells,
                    int thread, Found& best);
  void search_digit(const SearchedLeaf& leaf, const Digit& digit, int thread, Found& best);
  void search_sparse(std::span<const SearchedLeaf> leaves, Family& family, const SearchTask& task, int thread,
                     Findings& findings);
  bool search_sparse_block(const SearchedLeaf& leaf, const SparseRows::Block& block, int thread, Found& best);
  void merge_sparse_block(Family& family, const SparseRows::Block& block);
  bool search_right(const SearchedLeaf& leaf, const FeatureCells& cells, const std::int32_t* features, int n,
                    Found& best, FeatureCandidate* found = nullptr);
  bool can_split(const FeatureCells& others, std::int64_t n) const;
  void search_other_bins(const SearchedLeaf& leaf, const FeatureCells& others, std::int32_t f, int thread, Found& best);
  void search_cells(const SearchedLeaf& leaf, const FeatureCells& cells, std::int32_t f, int thread, Found& best);
  FeatureCells sparse_cells(Histogram& histogram, std::int64_t first_cell);
  double own_gain(const LeafJob& job, const Sums& sums) const;
  void settle(const SearchedLeaf& leaf, int thread, const Found& found, BestSplit& split);
  bool complete(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left);
  void force(const SearchedLeaf& leaf, int thread, BestSplit& split);
  bool has_cells(const SearchedLeaf& leaf, std::int32_t f) const;

  // One split for all leaves of a level (level_search.cpp).
  bool is_symmetric() const { return task_.params[0].shape.symmetric; }
  double level_gain(const SearchedLeaf& leaf, const Sums& left, const SplitRules& rules) const;
  void add_level_gains(const SearchedLeaf& leaf, std::int32_t f, int thread);
  std::pair<std::int64_t, std::int64_t> level_candidates(const Feature& own, std::int32_t f, const double* gains) const;
  Found search_level_on(std::int32_t f, int thread);
  bool is_majority_left(const BestSplit& split, int thread);
  void search_level(Team& team, std::span<Found> best);
  void settle_in_level(const SearchedLeaf& leaf, int thread, const Found& found, BestSplit& split);

  std::shared_ptr<const SparseRows> sparse_;  // nullptr: no sparse columns
  std::unique_ptr<ResidentRows> resident_;
  std::vector<CellShare> shares_;         // by shard; empty: there are no other shards
  std::vector<std::int32_t> own_blocks_;  // blocks of sparse_ that are searched here
  bool votes_ = false;                    // shards elect the features whose cells are exchanged
  bool one_by_one_ = false;               // every feature must be searched on its own
  // Features that are searched many at a time, by lane. Empty: every feature is searched on its own.
  std::vector<SearchedFeature> plain_;
  std::vector<std::int32_t> plain_begin_;  // by lane of all groups: the first of its features, or of lanes after it
  std::vector<std::int32_t> first_lane_;   // by group
  std::vector<NodeState> nodes_;
  HistogramPool pool_;
  std::vector<Holder> holders_[2];  // small and large; heaps, the smallest gain first. Entries may be outdated
  HistogramBuilder builder_;
  // Of the batch.
  std::vector<Family> families_;
  std::vector<BuiltHistogram> built_;  // families point to its elements
  std::vector<SearchedLeaf> leaves_;
  std::vector<Found> best_;
  std::vector<LaneBlock> lane_blocks_;
  std::vector<SearchTask> tasks_;
  std::vector<Findings> findings_;              // by task
  std::vector<std::int64_t> share_begin_;       // by thread: the first of its tasks
  Buffer<std::uint32_t> all_counts_;            // of the lanes' cells, over all rows of the table; empty: not known
  std::vector<Buffer<double>> search_scratch_;  // by thread
  std::vector<Buffer<std::uint64_t>> marginal_scratch_;
  std::vector<Buffer<std::uint64_t>> zero_scratch_;
  std::vector<LevelScratch> level_scratch_;
};

}  // namespace gossamer
