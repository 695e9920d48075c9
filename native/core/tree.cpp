#include "core/tree.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/row_splitter.h"

namespace gossamer {
namespace {

// Rows split down the tree together: few enough to stay in the second-level cache.
constexpr std::int64_t kBlockRows = 8192;

struct Node {
  RowSplitter splitter;
  std::int32_t left, right;
};

// Several times faster than walking row by row: the questions of one node are asked together.
void split_down(const std::vector<Node>& nodes, const Tree& tree, std::span<RowIdx> rows, RowIdx* room,
                std::int64_t score_stride, double* score, const RawTable* raw) {
  struct Piece {
    std::int32_t node;
    std::span<RowIdx> rows;
  };
  std::vector<Piece> waiting{{nodes.empty() ? ~0 : 0, rows}};
  while (!waiting.empty()) {
    const Piece piece = waiting.back();
    waiting.pop_back();
    if (piece.rows.empty()) continue;
    if (piece.node < 0 && !tree.linear.empty()) {
      const auto leaf = static_cast<std::size_t>(~piece.node);
      add_linear_leaf(tree.linear, leaf, tree.leaf_value[leaf], *raw, piece.rows.data(),
                      static_cast<std::int64_t>(piece.rows.size()), score);
      continue;
    }
    if (piece.node < 0) {
      const double* const values = tree.leaf_value.data() + ~piece.node * tree.n_values;
      for (std::int64_t k = 0; k < tree.n_values; ++k) {
        double* const output = score + k * score_stride;
        for (const RowIdx row : piece.rows) output[row] += values[k];
      }
      continue;
    }
    const Node& node = nodes[static_cast<std::size_t>(piece.node)];
    RowIdx* const first = piece.rows.data();
    const auto n = static_cast<std::int64_t>(piece.rows.size());
    const std::int64_t n_left = node.splitter.split(first, 0, n, first, room);
    std::copy_n(room, n - n_left, first + n_left);
    waiting.push_back({node.left, piece.rows.first(static_cast<std::size_t>(n_left))});
    waiting.push_back({node.right, piece.rows.subspan(static_cast<std::size_t>(n_left))});
  }
}

}  // namespace

void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                        double* score, const RawTable* raw) {
  if (!tree.linear.empty() && raw == nullptr) throw std::invalid_argument("linear leaves need the raw table");
  std::vector<Node> nodes;
  nodes.reserve(tree.feature.size());
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    nodes.push_back({RowSplitter(matrix, tree.feature[i], tree.threshold_bin[i], tree.default_left[i] != 0),
                     tree.left[i], tree.right[i]});
  }
  for_blocks(team, n_rows, kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    std::vector<RowIdx> own(static_cast<std::size_t>(end - begin));
    std::vector<RowIdx> room(own.size());
    if (rows != nullptr) {
      std::copy(rows + begin, rows + end, own.begin());
      // Sparse columns are met in the order of rows.
      if (!std::is_sorted(own.begin(), own.end())) std::sort(own.begin(), own.end());
    } else {
      std::iota(own.begin(), own.end(), static_cast<RowIdx>(begin));
    }
    split_down(nodes, tree, own, room.data(), matrix.n_rows(), score, raw);
  });
}

std::vector<std::vector<std::int32_t>> path_columns(const Tree& tree) {
  std::vector<std::vector<std::int32_t>> by_node(tree.column.size());
  std::vector<std::vector<std::int32_t>> by_leaf(tree.leaf_count.size());
  for (std::size_t i = 0; i < tree.column.size(); ++i) {  // parents come before their children
    std::vector<std::int32_t> columns = std::move(by_node[i]);
    const auto place = std::lower_bound(columns.begin(), columns.end(), tree.column[i]);
    if (place == columns.end() || *place != tree.column[i]) columns.insert(place, tree.column[i]);
    for (const std::int32_t child : {tree.left[i], tree.right[i]}) {
      (child >= 0 ? by_node[static_cast<std::size_t>(child)] : by_leaf[static_cast<std::size_t>(~child)]) = columns;
    }
  }
  return by_leaf;
}

}  // namespace gossamer
