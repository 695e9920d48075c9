// Prediction from a dense matrix: tiles of rows go through all trees, small trees by one-byte
// operands (compact_forest.h), others by walking.
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>

#include "core/feature.h"
#include "core/predict.h"
#include "core/walk.h"

namespace gossamer {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

constexpr std::int64_t kFewRows = 6;  // fewer rows are walked: they would not fill the registers

// nullptr: there are too few rows to be worth making it.
const CompactForest* compact_for(const Forest& forest, const MatrixView& matrix) {
  return matrix.n_rows < kFewRows ? nullptr : &forest.compact();
}

// Filling operands costs about as much per column as walking down an eighth of a tree.
bool is_worth_it(const CompactBlock& block, std::int64_t n_trees, std::int64_t n_rows) {
  const auto n_columns = static_cast<std::int64_t>(block.columns.size() + block.categories.size());
  return n_rows >= kFewRows && n_columns <= 8 * n_trees;
}

// The type in which values are compared with bounds: exact for every value of the matrix's type.
template <class T>
using OperandValue = std::conditional_t<std::is_same_v<T, float>, float, double>;

// Operands of a tile of rows, and the leaves of these rows. Each thread has its own.
template <class Value>
class Tile {
 public:
  // The operands no longer belong to the current rows.
  void forget() { filled_ = nullptr; }

  // Fills the operands unless they are filled already.
  template <class View>
  void fill(const CompactBlock& block, const View& view, std::int64_t begin, std::int64_t end) {
    if (filled_ == &block) return;
    filled_ = &block;
    if (operands_.size() < block.n_operands * kOperandRows) {
      operands_.reset(block.n_operands * kOperandRows);
      std::fill(operands_.begin(), operands_.end(), std::int8_t{0});
    }
    // A few rows at a time, whose values stay in the first-level cache while one column after another is read.
    constexpr std::int64_t kAtOnce = 64;
    for (std::int64_t first = begin; first < end; first += kAtOnce) {
      fill_bins(block, view, first, std::min(first + kAtOnce, end), first - begin);
    }
    for (const CompactCategories& column : block.categories) fill_categories(column, view, begin, end);
  }

  // Leaf numbers from left to right, by row of the tile; for trees of one piece, then of several.
  const std::uint8_t* find_leaves(const CompactForest& compact, const CompactTree& tree, std::int64_t n_rows) {
    find_piece_leaves(compact, tree, tree.first_piece, n_rows, leaf_);
    return leaf_;
  }
  const std::uint16_t* find_large_leaves(const CompactForest& compact, const CompactTree& tree, std::int64_t n_rows) {
    find_piece_leaves(compact, tree, tree.first_piece, n_rows, leaf_);
    below_.grow_to(tree.n_exits * kOperandRows);
    for (std::int64_t exit = 0; exit < tree.n_exits; ++exit) {
      find_piece_leaves(compact, tree, tree.first_piece + 1 + exit, n_rows, below_.data() + exit * kOperandRows);
    }
    const CompactPiece* const pieces = compact.pieces.data() + tree.first_piece + 1;
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::int64_t exit = leaf_[i];
      large_leaf_[i] = static_cast<std::uint16_t>(pieces[exit].first_leaf + below_[exit * kOperandRows + i]);
    }
    return large_leaf_;
  }

  // Row i becomes what row rows[i] was; rows increase.
  void keep(const std::vector<std::int64_t>& rows) {
    for (std::int64_t operand = 0; filled_ != nullptr && operand < filled_->n_operands; ++operand) {
      std::int8_t* const bins = operands_.data() + operand * kOperandRows;
      for (std::size_t i = 0; i < rows.size(); ++i) bins[i] = bins[rows[i]];
    }
  }

 private:
  void find_piece_leaves(const CompactForest& compact, const CompactTree& tree, std::int64_t piece, std::int64_t n_rows,
                         std::uint8_t* leaf) const {
    const CompactPiece& p = compact.pieces[size(piece)];
    const CategoryBits* const sets = tree.has_categories ? compact.sets.data() : nullptr;
    kernels().find_leaves(compact.nodes.data() + p.first_node, p.n_nodes, sets, operands_.data(), n_rows, leaf);
  }

  // Rows [begin, end) of the matrix start at `place` in the tile.
  template <class View>
  void fill_bins(const CompactBlock& block, const View& view, std::int64_t begin, std::int64_t end,
                 std::int64_t place) {
    FillOperandsArgs<Value> args;
    args.values = values_;
    args.n_rows = end - begin;
    for (std::size_t i = 0; i < block.columns.size(); ++i) {
      const CompactColumn& column = block.columns[i];
      read_column(view, column.column, begin, end, values_);
      args.pivots = block.bounds(i, Value{});
      args.bounds = args.pivots + CompactBlock::kPivots;
      args.n_bounds = column.n_bounds;
      for (int k = 0; k < kOperandKinds; ++k) {
        args.operands[k] =
            column.operand[k] < 0 ? nullptr : operands_.data() + column.operand[k] * kOperandRows + place;
      }
      if constexpr (std::is_same_v<Value, float>) {
        kernels().fill_operands_f32(args);
      } else {
        kernels().fill_operands_f64(args);
      }
    }
  }

  template <class View>
  void fill_categories(const CompactCategories& column, const View& view, std::int64_t begin, std::int64_t end) {
    for (const MissingKind kind : {MissingKind::nan, MissingKind::zero, MissingKind::nan_is_zero}) {
      const std::int32_t operand = column.operand[static_cast<std::size_t>(kind)];
      if (operand < 0) continue;
      std::int8_t* const byte = operands_.data() + operand * kOperandRows;
      std::int8_t* const bit = byte + kOperandRows;
      for (std::int64_t row = begin; row < end; ++row) {
        const int number = column.number_of(static_cast<double>(view(row, column.column)),
                                            kind == MissingKind::nan_is_zero, kind == MissingKind::zero);
        byte[row - begin] = static_cast<std::int8_t>((number / 8 & 15) | (number & 128));
        bit[row - begin] = static_cast<std::int8_t>(1 << (number % 8));
      }
    }
  }

  const CompactBlock* filled_ = nullptr;
  Buffer<std::int8_t> operands_;
  alignas(64) Value values_[kOperandRows];
  alignas(64) std::uint8_t leaf_[kOperandRows];
  Buffer<std::uint8_t> below_;  // leaves of the pieces of a large tree
  std::uint16_t large_leaf_[kOperandRows];
};

// Consumes leaves: one(row, tree, leaf) takes one leaf as the forest numbers it, many() the leaves of a tile.
template <class One>
struct EachLeaf {
  const CompactForest* compact;
  One one;

  template <class Leaf>
  void many(std::int64_t begin, std::int64_t n_rows, std::int64_t tree, const Leaf* leaf) const {
    const std::int32_t* const number = compact->leaf.data() + compact->trees[size(tree)].first_leaf;
    for (std::int64_t i = 0; i < n_rows; ++i) one(begin + i, tree, number[leaf[i]]);
  }
};
template <class One>
EachLeaf(const CompactForest*, One) -> EachLeaf<One>;

// Adds leaves of one value to scores.
template <class One>
struct AddScores {
  const Forest& forest;
  const CompactForest* compact;
  double* out;
  One one;

  template <class Leaf>
  void many(std::int64_t begin, std::int64_t n_rows, std::int64_t tree, const Leaf* leaf) const {
    const CompactTree& t = compact->trees[size(tree)];
    const double* const values = compact->values.data() + t.first_value;
    const std::int64_t k = forest.n_outputs;
    if constexpr (std::is_same_v<Leaf, std::uint8_t>) {
      if (k == 1) {
        kernels().add_leaf_values(values, t.n_leaves, leaf, n_rows, out + begin);
        return;
      }
    }
    double* const score = out + begin * k + tree % k;
    for (std::int64_t i = 0; i < n_rows; ++i) score[i * k] += values[leaf[i]];
  }
};

// Takes rows [begin, end) through trees [first, last).
template <class View, class Value, class Sink>
void run_tile(const Forest& forest, const View& view, std::int64_t begin, std::int64_t end, std::int64_t first,
              std::int64_t last, Tile<Value>& tile, const Sink& sink) {
  const auto walk_trees = [&](std::int64_t from, std::int64_t to) {
    walk(
        forest, begin, end, from, to, [&](std::int64_t, std::int64_t tree) { return root_of(forest, tree); },
        [&](const ForestNode& node, std::int64_t row) { return static_cast<double>(view(row, node.column)); },
        sink.one);
  };
  if (sink.compact == nullptr) {
    walk_trees(first, last);
    return;
  }
  const CompactForest& compact = *sink.compact;
  for (const CompactBlock& block : compact.blocks) {
    const std::int64_t from = std::max(first, block.first_tree);
    const std::int64_t to = std::min(last, block.last_tree);
    if (from >= to) continue;
    if (!is_worth_it(block, to - from, end - begin)) {
      walk_trees(from, to);
      continue;
    }
    tile.fill(block, view, begin, end);
    for (std::int64_t tree = from; tree < to; ++tree) {
      const CompactTree& t = compact.trees[size(tree)];
      if (!t.is_compact) {
        walk_trees(tree, tree + 1);
      } else if (t.n_exits > 0) {
        sink.many(begin, end - begin, tree, tile.find_large_leaves(compact, t, end - begin));
      } else {
        sink.many(begin, end - begin, tree, tile.find_leaves(compact, t, end - begin));
      }
    }
  }
}

// Calls body(view, begin, end, tile) for tiles of rows.
template <class Body>
void for_tiles(Team& team, const MatrixView& matrix, const Body& body) {
  visit_few(matrix, [&]<class T>(TypedView<T> view) {
    using OwnTile = Tile<OperandValue<T>>;
    std::vector<std::unique_ptr<OwnTile>> tiles(size(team.n_threads()));
    for_blocks(team, matrix.n_rows, kOperandRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
      auto& tile = tiles[size(thread)];
      if (!tile) tile = std::make_unique<OwnTile>();
      tile->forget();
      body(view, begin, end, *tile);
    });
  });
}

// Calls body(sink) with a sink that adds leaves to scores; read is as for add_linear_scores.
template <class Read, class Body>
void with_score_sink(const Forest& forest, const CompactForest* compact, double* out, const Read& read,
                     const Body& body) {
  if (!forest.linear.empty()) {
    body(EachLeaf{compact, add_linear_scores(forest, out, read)});
  } else if (forest.n_values == 1) {
    const auto one = add_scores(forest, out);
    body(AddScores<std::remove_const_t<decltype(one)>>{forest, compact, out, one});
  } else {
    body(EachLeaf{compact, add_scores(forest, out)});
  }
}

template <class View>
auto reader(const View& view) {
  return
      [&view](std::int64_t row, std::int32_t column, std::int32_t) { return static_cast<double>(view(row, column)); };
}

// Rows of a tile that continue, by their index in it.
template <class T>
struct GoingOn {
  TypedView<T> view;
  std::vector<std::int64_t> row;

  T operator()(std::int64_t i, std::int64_t column) const { return view(row[size(i)], column); }
  std::int64_t n_rows() const { return static_cast<std::int64_t>(row.size()); }
};

}  // namespace

bool EarlyStop::is_clear(const double* scores, std::int64_t n_outputs) const {
  if (n_outputs == 1) return 2.0 * std::abs(scores[0]) > margin;
  double highest = -std::numeric_limits<double>::infinity();
  double second = highest;
  for (std::int64_t k = 0; k < n_outputs; ++k) {
    second = std::max(second, std::min(highest, scores[k]));
    highest = std::max(highest, scores[k]);
  }
  return highest - second > margin;
}

void predict_scores(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, double* out) {
  const CompactForest* const compact = compact_for(forest, matrix);
  for_tiles(team, matrix, [&](const auto& view, std::int64_t begin, std::int64_t end, auto& tile) {
    const auto read = reader(view);
    with_score_sink(forest, compact, out, read,
                    [&](const auto& sink) { run_tile(forest, view, begin, end, first_tree, last_tree, tile, sink); });
  });
}

void predict_scores_until_clear(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                                std::int64_t last_tree, const EarlyStop& stop, double* out) {
  const std::int64_t k = forest.n_outputs;
  const CompactForest* const compact = compact_for(forest, matrix);
  for_tiles(team, matrix, [&]<class T>(const TypedView<T>& view, std::int64_t begin, std::int64_t end, auto& tile) {
    GoingOn<T> rows{view, std::vector<std::int64_t>(size(end - begin))};
    std::iota(rows.row.begin(), rows.row.end(), begin);
    std::vector<double> score(out + begin * k, out + end * k);
    std::vector<std::int64_t> kept;
    const auto read = reader(rows);
    for (std::int64_t tree = first_tree; tree < last_tree && rows.n_rows() > 0; tree += stop.every) {
      const std::int64_t last = std::min(tree + stop.every, last_tree);
      with_score_sink(forest, compact, score.data(), read,
                      [&](const auto& sink) { run_tile(forest, rows, 0, rows.n_rows(), tree, last, tile, sink); });
      kept.clear();
      for (std::int64_t i = 0; i < rows.n_rows(); ++i) {
        const double* const from = score.data() + i * k;
        if (last == last_tree || stop.is_clear(from, k)) {
          std::copy(from, from + k, out + rows.row[size(i)] * k);
        } else {
          std::copy(from, from + k, score.data() + static_cast<std::int64_t>(kept.size()) * k);
          rows.row[kept.size()] = rows.row[size(i)];
          kept.push_back(i);
        }
      }
      if (kept.size() < rows.row.size()) tile.keep(kept);
      rows.row.resize(kept.size());
    }
  });
}

void predict_leaves(Team& team, const Forest& forest, const MatrixView& matrix, std::int64_t first_tree,
                    std::int64_t last_tree, std::int32_t* out) {
  const EachLeaf sink{compact_for(forest, matrix), note_leaves(first_tree, last_tree, out)};
  for_tiles(team, matrix, [&](const auto& view, std::int64_t begin, std::int64_t end, auto& tile) {
    run_tile(forest, view, begin, end, first_tree, last_tree, tile, sink);
  });
}

}  // namespace gossamer
