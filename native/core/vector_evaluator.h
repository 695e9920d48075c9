// Best splits of trees with a value for every output in each leaf: the gain of a split is the sum over the outputs.
//
// Cells are vectors of 32-bit integers (see kernels/vector_leaf.inl): one pass over the rows serves all outputs.
// Gradients are counted in units so coarse that no sum over the table can overflow, and otherwise as fine as possible.
// Limits of leaf values and path smoothing shape the values, not the gains; of the limits of features, only interaction
// groups and sampling weights are supported here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/allowed_features.h"
#include "core/leaf_evaluator.h"
#include "core/memory.h"
#include "core/sparse_rows.h"

namespace gossamer {

class VectorEvaluator : public LeafEvaluator {
 public:
  explicit VectorEvaluator(GrowData data) : data_(std::move(data)) {}

  void start(Team& team, const TreeTask& task) override;
  void evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) override;
  void clear() override;

  std::int64_t count(std::int32_t node) const override { return count_of(state(node).sums); }
  double weight(std::int32_t node) const override { return weight_of(state(node).sums); }
  void values(std::int32_t node, double l2, const double* parent, double* out) const override;

  void add_children(std::int32_t node, const BestSplit& split, std::int32_t first_child) override;
  RowSplitter splitter(std::int32_t node, RowRange rows, const BestSplit& split) override;
  void forget(std::int32_t node) override { release(std::move(state(node).cells)); }

  const std::vector<Feature>& box_features() const override { return data_.matrix->features(); }
  std::int64_t preferred_rows(int n_threads) const override;

 private:
  using Cells = Buffer<std::int32_t>;
  using Vector = std::vector<std::int32_t>;  // one cell

  struct NodeState {
    Vector sums;
    Vector left;  // sums of the left side of its split
    std::unique_ptr<Cells> cells;
  };
  // Lanes of a group that are filled together, so that their cells stay in cache; group -1: the sparse columns.
  struct Block {
    std::int32_t group;
    std::int32_t first, n;  // lanes
    std::int64_t first_cell, n_cells;
  };
  struct BuildTask {
    const LeafJob* job;
    const Block* block;
    RowRange rows;
    Cells partial;  // cells of all but the first task of a leaf and block
  };
  struct Found {
    float gain = -1.0f;
    std::int32_t feature = -1;
    std::int32_t threshold = 0;
    bool missing_left = false;
  };
  // Leaves that are evaluated together: `rest` is the parent minus built[0].
  struct Family {
    std::vector<std::size_t> built;  // jobs
    std::int32_t parent = -1;
    std::size_t rest = kNone;  // job
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  // Cells that are subtracted and searched by one thread: one lane, or one block of sparse columns.
  struct SearchTask {
    std::size_t family;
    std::int32_t group;  // -1: sparse columns
    std::int32_t index;  // lane, or block of the sparse columns
    Found found[2];
  };

  NodeState& state(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  const NodeState& state(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  const Feature& feature(std::int32_t f) const { return data_.matrix->features()[static_cast<std::size_t>(f)]; }

  void plan(Team& team);
  void plan_blocks(int n_threads);
  void quantize(Team& team);
  bool find_units(Team& team, const float* values, std::vector<float>& units);
  void scale_for_search();
  std::vector<Family> make_families(std::span<const LeafJob> jobs) const;
  void build(Team& team, std::span<const LeafJob> jobs, const std::vector<Family>& families);
  void fill(const BuildTask& task);
  void search(Team& team, std::span<const LeafJob> jobs, const std::vector<Family>& families, std::span<Found> best);
  void search_task(std::span<const LeafJob> jobs, const Family& family, SearchTask& task, int thread);
  void search_lane(const LeafJob& job, const Lane& lane, const std::int32_t* cells, int thread, Found& best);
  void search_sparse(const LeafJob& job, const SparseRows::Block& block, const std::int32_t* cells, int thread,
                     Found& best);
  void search_others(const LeafJob& job, std::int32_t f, const std::int32_t* others, int thread, Found& best);
  void search_feature(const LeafJob& job, std::int32_t f, const std::int32_t* cells, int thread, Found& best);
  const std::int32_t* with_zero_bin(const Vector& sums, const Feature& feature, const std::int32_t* others, int thread);
  const std::int32_t* digit_cells(const Lane& lane, const Digit& digit, const std::int32_t* cells, int thread);
  void settle(NodeState& node, const Found& found, BestSplit& split);
  Vector sums_left(const NodeState& node, const BestSplit& split);

  double gradient_of(const Vector& sums, std::size_t k) const;
  double hessian_of(const Vector& sums, std::size_t k) const;
  double weight_of(const Vector& sums) const;
  double gain_of(const Vector& sums) const;
  std::int64_t count_of(const Vector& sums) const { return sums[static_cast<std::size_t>(n_outputs_)]; }
  std::unique_ptr<Cells> acquire();
  void release(std::unique_ptr<Cells> cells);

  GrowData data_;
  TreeTask task_;
  const SplitSearch* search_ = nullptr;
  std::shared_ptr<const SparseRows> sparse_;  // nullptr: no sparse columns
  AllowedFeatures allowed_;
  std::vector<char> group_used_;
  std::int64_t n_rows_ = 0;  // rows of all shards
  int n_outputs_ = 0;
  int n_chunks_ = 0;              // chunks of eight gradients, the count among them
  int width_ = 0;                 // integers per cell
  bool constant_hessian_ = true;  // every row and output has count_hessian_
  float count_hessian_ = 1.0f;
  std::vector<float> gradient_unit_;  // by output
  std::vector<float> hessian_unit_;
  double gradient_scale_ = 1.0;  // see scale_for_search
  double hessian_scale_ = 1.0;
  std::vector<float> search_gradient_unit_;
  std::vector<float> search_hessian_unit_;
  std::int64_t histogram_size_ = 0;  // integers
  std::vector<Block> blocks_;
  std::vector<std::vector<std::int32_t>> lane_first_;  // by group: first cell of each lane
  Buffer<std::int32_t> values_;                        // by row, width_ each
  std::vector<NodeState> nodes_;
  std::vector<std::unique_ptr<Cells>> free_cells_;
  std::int64_t n_histograms_ = 0;
  std::vector<Buffer<std::int32_t>> digit_scratch_;  // by thread
  std::vector<Buffer<std::int32_t>> zero_scratch_;
  std::vector<Vector> search_scratch_;
};

}  // namespace gossamer
