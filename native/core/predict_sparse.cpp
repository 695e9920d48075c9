// Prediction from compressed rows. Such rows come from tables of text and of one-hot codes. The forest uses few of
// their columns, and few entries are in these. So a few rows at a time are spread out over the used columns alone,
// and a row starts down each tree where its entries first lead it off the path that a row of zeros takes.
#include <limits>
#include <memory>

#include "core/predict.h"
#include "core/walk.h"

namespace gossamer {
namespace {

constexpr std::int64_t kTileBytes = 128 * 1024;  // so that a tile stays in a core's own cache
constexpr std::int64_t kBlockRows = 64;

// What is to be done: rows of a matrix, a range of trees.
struct Task {
  const Forest& forest;
  const SparseView& matrix;
  std::int64_t first_tree;
  std::int64_t last_tree;

  std::int64_t n_trees() const { return last_tree - first_tree; }
  // The used columns, and one more place for all other columns.
  std::int64_t n_places() const { return static_cast<std::int64_t>(forest.used_columns.size()) + 1; }
  // Looking for the first entry that matters is worth it where entries are few. Columns that the matrix does
  // not have are missing values, not zeros.
  bool follows_zeros() const {
    return matrix.n_columns >= static_cast<std::int64_t>(forest.place_of.size()) &&
           2 * matrix.n_entries() <= matrix.n_rows * matrix.n_columns;
  }
  std::int64_t tile_rows() const {
    const std::int64_t fitting = kTileBytes / (8 * (n_places() + n_trees())) / kRowsAtOnce * kRowsAtOnce;
    return std::min(std::clamp<std::int64_t>(fitting, kRowsAtOnce, kBlockRows), matrix.n_rows);
  }
};

// A few rows: their values in the used columns, and where they start down each tree.
class Tile {
 public:
  explicit Tile(const Task& task)
      : task_(task),
        stride_(task.n_places()),
        follows_zeros_(task.follows_zeros()),
        values_(size(task.tile_rows() * stride_)),
        touched_(values_.size()),
        zero_starts_(size(task.n_trees())),
        starts_(size(task.tile_rows() * task.n_trees())) {
    for (std::int64_t p = 0; p + 1 < stride_; ++p) {
      if (task.forest.used_columns[size(p)] < task.matrix.n_columns) continue;
      for (std::int64_t r = 0; r < task.tile_rows(); ++r) values_[size(r * stride_ + p)] = kMissing;
    }
    for (std::int64_t t = 0; t < task.n_trees(); ++t) {
      const std::int64_t tree = task.first_tree + t;
      const std::int32_t at = follows_zeros_ ? ~task.forest.zero_paths.leaf[size(tree)] : root_of(task.forest, tree);
      zero_starts_[size(t)] = start_at(std::numeric_limits<std::int32_t>::max(), at);
    }
  }

  // Takes away the rows that were there, and puts in rows [begin, end) of the matrix.
  template <class T, class Index>
  void spread(const TypedSparse<T, Index>& matrix, std::int64_t begin, std::int64_t end) {
    for (std::size_t i = 0; i < n_touched_; ++i) values_[size(touched_[i])] = 0.0;
    n_touched_ = 0;
    const std::vector<std::int32_t>& place_of = task_.forest.place_of;
    for (std::int64_t row = begin; row < end; ++row) {
      double* const values = values_.data() + (row - begin) * stride_;
      Start* const starts = starts_.data() + (row - begin) * task_.n_trees();
      std::copy(zero_starts_.begin(), zero_starts_.end(), starts);
      std::int64_t column = -1;
      for (std::int64_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e) {
        column = matrix.index(e, column);
        if (size(column) >= place_of.size()) break;  // indices increase
        // No branch on whether the column is used, which a processor could not predict: the last place takes
        // the values of unused columns, and is not counted.
        const std::int64_t place = place_of[size(column)];
        const auto x = static_cast<double>(matrix.values[e]);
        values[place] = x;
        touched_[n_touched_] = values + place - values_.data();
        n_touched_ += place + 1 < stride_;
        if (follows_zeros_) leave_zeros(place, x, starts);
      }
    }
  }

  std::int32_t start(std::int64_t row, std::int64_t tree) const {
    return static_cast<std::int32_t>(starts_[size(row * task_.n_trees() + tree - task_.first_tree)]);
  }
  double value(std::int64_t row, std::int64_t place) const { return values_[size(row * stride_ + place)]; }

 private:
  // Where a row leaves the way of zeros: the depth above, the node or ~leaf below. So the first is the smallest.
  using Start = std::uint64_t;
  static Start start_at(std::int32_t depth, std::int32_t at) {
    return (static_cast<Start>(depth) << 32) | static_cast<std::uint32_t>(at);
  }
  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  void leave_zeros(std::int64_t place, double x, Start* starts) const {
    const ZeroPaths& paths = task_.forest.zero_paths;
    for (std::int64_t s = paths.begin[size(place)]; s < paths.begin[size(place) + 1]; ++s) {
      const ZeroPaths::Step& zero = paths.steps[size(s)];
      if (zero.tree < task_.first_tree || zero.tree >= task_.last_tree) continue;
      const std::int32_t next = step(task_.forest.nodes[size(zero.node)], x);
      const Start found = next == zero.next ? std::numeric_limits<Start>::max() : start_at(zero.depth, next);
      Start& first = starts[zero.tree - task_.first_tree];
      first = std::min(first, found);
    }
  }

  const Task& task_;
  const std::int64_t stride_;
  const bool follows_zeros_;
  std::vector<double> values_;
  std::vector<std::int64_t> touched_;  // which values are not what they were at first
  std::size_t n_touched_ = 0;
  std::vector<Start> zero_starts_;
  std::vector<Start> starts_;
};

// make_emit(read) says what becomes of leaves.
template <class MakeEmit>
void walk_sparse(Team& team, const Task& task, const MakeEmit& make_emit) {
  const std::int64_t tile_rows = task.tile_rows();
  std::vector<std::unique_ptr<Tile>> tiles(static_cast<std::size_t>(team.n_threads()));
  for_blocks(team, task.matrix.n_rows, kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    auto& own = tiles[static_cast<std::size_t>(thread)];
    if (!own) own = std::make_unique<Tile>(task);
    Tile& tile = *own;
    for (std::int64_t first = begin; first < end; first += tile_rows) {
      const std::int64_t last = std::min(first + tile_rows, end);
      visit(task.matrix, [&](const auto& matrix) { tile.spread(matrix, first, last); });
      const auto read = [&](std::int64_t row, std::int32_t, std::int32_t place) {
        return tile.value(row - first, place);
      };
      walk(
          task.forest, first, last, task.first_tree, task.last_tree,
          [&](std::int64_t row, std::int64_t tree) { return tile.start(row - first, tree); },
          [&](const ForestNode& node, std::int64_t row) { return tile.value(row - first, node.place); },
          make_emit(read));
    }
  });
}

}  // namespace

void predict_scores(Team& team, const Forest& forest, const SparseView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out) {
  const Task task{forest, matrix, first_tree, last_tree};
  if (forest.linear.empty()) {
    walk_sparse(team, task, [&](const auto&) { return add_scores(forest, out); });
  } else {
    walk_sparse(team, task, [&](const auto& read) { return add_linear_scores(forest, out, read); });
  }
}

void predict_leaves(Team& team, const Forest& forest, const SparseView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out) {
  walk_sparse(team, {forest, matrix, first_tree, last_tree},
              [&](const auto&) { return note_leaves(first_tree, last_tree, out); });
}

}  // namespace gossamer
