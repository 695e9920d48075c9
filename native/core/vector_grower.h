// Growing one tree for several outputs: every leaf has a value for each of them, and the gain of a split
// is the sum over the outputs.
//
// Much as in grower.h, but cells are vectors of 32-bit integers (see kernels/vector_leaf.inl): one pass
// over the rows serves all outputs. Gradients are counted in units so coarse that no sum over the table
// can overflow, and so fine that the typical gradient keeps all the steps this leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/bin_matrix.h"
#include "core/column_sampler.h"
#include "core/grower.h"
#include "core/leaf_rows.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/sparse_rows.h"
#include "core/tree.h"
#include "kernels/kernels.h"

namespace gossamer {

class VectorGrower {
 public:
  explicit VectorGrower(std::shared_ptr<BinMatrix> matrix);
  VectorGrower(const VectorGrower&) = delete;
  VectorGrower& operator=(const VectorGrower&) = delete;

  // The arguments are those of RoundGrower::grow. `params` has one entry per output: the first one says
  // how to grow, each how its output's leaf values are found. Limits of leaf values and path smoothing
  // shape the values, not the gains. Of the limits of features, only groups and sampling weights are known here.
  Tree grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows, std::int64_t n_rows,
            std::span<const GrowParams> params, double* score, const float* label = nullptr, bool one_label = false);

  const GrowStats& stats() const { return stats_; }

 private:
  using Cells = Buffer<std::int32_t>;
  using Vector = std::vector<std::int32_t>;  // one cell

  struct Split {
    double gain = 0.0;
    std::int32_t feature = -1;  // -1: no admissible split
    std::int32_t threshold = 0;
    bool missing_left = false;
    Vector left;
  };
  struct Leaf {
    std::int64_t begin = 0;  // its range of rows_
    std::int64_t end = 0;
    Vector sums;
    int depth = 0;
    std::uint64_t key = 1;        // its path from the root: random choices hang on it
    std::vector<double> outputs;  // leaf values before shrinkage
    std::unique_ptr<Cells> cells;
    Split split;
    std::int32_t parent = -1;
    std::int32_t children[2] = {-1, -1};
    std::int64_t order = 0;  // of being split off: breaks ties
    std::int32_t slot = 0;   // leaf number in the finished tree
    InteractionGroups::Open open;

    std::int64_t n_rows() const { return end - begin; }
  };
  // Lanes of a group that are filled together, so that their cells stay in cache; group -1: the sparse columns.
  struct Block {
    std::int32_t group;
    std::int32_t first, n;  // lanes
    std::int64_t first_cell, n_cells;
  };
  struct BuildTask {
    std::int32_t leaf;
    std::int32_t block;
    std::int64_t begin, end;
    Cells partial;  // of all but the first task of a leaf and block
  };
  struct Found {
    float gain = -1.0f;
    std::int32_t feature = -1;
    std::int32_t threshold = 0;
    bool missing_left = false;
  };
  // Leaves that are looked at together: `built` from rows; `rest` is what the first of them leaves of the parent.
  struct Family {
    std::vector<std::int32_t> built;
    std::int32_t parent = -1;
    std::int32_t rest = -1;
  };
  // Cells that are subtracted and searched by one thread: one lane, or one block of sparse columns.
  struct SearchTask {
    std::int32_t group;  // -1: sparse columns
    std::int32_t index;  // lane, or block of the sparse columns
    Found found[2];
  };

  void plan(Team& team);
  void quantize(Team& team, const float* gradient, const float* hessian);
  bool find_units(Team& team, const float* values, std::vector<float>& units);
  void scale_for_search();
  void start_root(Team& team);
  std::int32_t take_best();
  void expand(Team& team, std::int32_t node, bool last);
  void evaluate(Team& team, const Family& family);
  void build(Team& team, const std::vector<std::int32_t>& leaves);
  void search(Team& team, const Family& family);
  void search_lane(std::int32_t leaf, const Lane& lane, const std::int32_t* cells, int thread, Found& best);
  void search_sparse(std::int32_t leaf, const SparseRows::Block& block, const std::int32_t* cells, int thread,
                     Found& best);
  void search_others(std::int32_t leaf, std::int32_t feature, const std::int32_t* others, int thread, Found& best);
  void search_feature(std::int32_t leaf, std::int32_t feature, const std::int32_t* cells, int thread, Found& best);
  const std::int32_t* with_zero_bin(const Leaf& leaf, const Feature& feature, const std::int32_t* others, int thread);
  const std::int32_t* digit_cells(const Lane& lane, const Digit& digit, const std::int32_t* cells, int thread);
  void settle(Leaf& leaf, const Found& found);
  Vector sums_left(Leaf& leaf, const Split& split);
  bool may_split(const Leaf& leaf) const;
  bool is_allowed(std::int32_t leaf, std::int32_t feature) const;
  double weight_of(const Vector& sums) const;
  double gain_of(const Vector& sums) const;
  std::vector<double> outputs_of(const Vector& sums, const std::vector<double>* parent) const;
  std::unique_ptr<Cells> acquire();
  void release(std::unique_ptr<Cells> cells);
  void refit(Team& team, const std::vector<std::int32_t>& final_leaves, const float* hessian, const float* label,
             bool one_label, const double* score);
  Tree finish(Team& team, const float* hessian, const float* label, bool one_label, double* score);

  double gradient_of(const Vector& sums, std::size_t k) const;
  double hessian_of(const Vector& sums, std::size_t k) const;
  std::int64_t count_of(const Vector& sums) const { return sums[static_cast<std::size_t>(n_outputs_)]; }

  std::shared_ptr<BinMatrix> matrix_;
  std::shared_ptr<const SparseRows> sparse_;  // nullptr: no sparse columns
  std::span<const GrowParams> all_params_;
  const GrowParams* params_ = nullptr;
  int n_outputs_ = 0;
  int n_chunks_ = 0;              // of eight gradients, the count among them
  int width_ = 0;                 // integers per cell
  bool constant_hessian_ = true;  // every row and output has count_hessian_
  float count_hessian_ = 1.0f;
  std::vector<float> gradient_unit_;
  std::vector<float> hessian_unit_;
  double gradient_scale_ = 1.0;  // see scale_for_search
  double hessian_scale_ = 1.0;
  std::vector<float> search_gradient_unit_;
  std::vector<float> search_hessian_unit_;
  std::int64_t n_cells_ = 0;
  std::int64_t histogram_size_ = 0;  // integers
  std::vector<Block> blocks_;
  std::vector<std::vector<std::int32_t>> lane_first_;  // by group: first cell of each lane
  std::unique_ptr<ColumnSampler> columns_;
  std::vector<char> feature_used_;
  std::vector<char> group_used_;
  bool sample_nodes_ = false;                  // leaves have features of their own
  const InteractionGroups* groups_ = nullptr;  // nullptr: none
  std::vector<std::vector<char>> allowed_;     // by leaf: features of its own

  const RowIdx* user_rows_ = nullptr;
  std::int64_t n_rows_ = 0;
  Buffer<std::int32_t> values_;  // by row, width_ each
  Vector root_sums_;
  LeafRows rows_;
  std::vector<Leaf> leaves_;             // leaves, and nodes once they have been split
  std::vector<std::int32_t> frontier_;   // leaves that may still split
  std::vector<std::int32_t> committed_;  // nodes in the order in which they were split
  std::vector<std::unique_ptr<Cells>> free_cells_;
  std::int64_t n_histograms_ = 0;
  std::vector<Buffer<std::int32_t>> digit_scratch_;  // by thread
  std::vector<Buffer<std::int32_t>> zero_scratch_;
  std::vector<Vector> search_scratch_;
  GrowStats stats_;
};

}  // namespace gossamer
