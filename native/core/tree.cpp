#include "core/tree.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/row_pages.h"
#include "core/row_splitter.h"
#include "core/tile_tree.h"

namespace gossamer {
namespace {

// Rows split down the tree together: few enough to stay in the second-level cache.
constexpr std::int64_t kBlockRows = 8192;

// Calls reach(node or ~leaf, rows). Several times faster than walking row by row: one node is evaluated on many rows at
// a time.
template <class Reach>
void split_down(const std::vector<TreeStep>& nodes, std::span<RowIdx> rows, RowIdx* buffer, const RowPage* page,
                const Reach& reach) {
  struct Piece {
    std::int32_t node;
    std::span<RowIdx> rows;
  };
  std::vector<Piece> waiting{{nodes.empty() ? ~0 : 0, rows}};
  while (!waiting.empty()) {
    const Piece piece = waiting.back();
    waiting.pop_back();
    if (piece.rows.empty()) continue;
    reach(piece.node, piece.rows);
    if (piece.node < 0) continue;
    const TreeStep& node = nodes[static_cast<std::size_t>(piece.node)];
    RowIdx* const first = piece.rows.data();
    const auto n = static_cast<std::int64_t>(piece.rows.size());
    const std::int64_t n_left = node.splitter.split(first, 0, n, first, buffer, page);
    std::copy_n(buffer, n - n_left, first + n_left);
    waiting.push_back({node.left, piece.rows.first(static_cast<std::size_t>(n_left))});
    waiting.push_back({node.right, piece.rows.subspan(static_cast<std::size_t>(n_left))});
  }
}

std::vector<TreeStep> nodes_of(const BinMatrix& matrix, const Tree& tree, const RawTable* raw) {
  if (tree.by_value && raw == nullptr) throw std::invalid_argument("the tree compares values: it needs the raw table");
  std::vector<TreeStep> nodes;
  const std::size_t n_nodes = tree.by_value ? tree.column.size() : tree.feature.size();
  nodes.reserve(n_nodes);
  for (std::size_t i = 0; i < n_nodes; ++i) {
    if (tree.by_value) {
      const auto first = static_cast<std::size_t>(tree.category_begin[i]);
      const auto last = static_cast<std::size_t>(tree.category_begin[i + 1]);
      nodes.push_back(
          {RowSplitter(*raw, tree.column[i], tree.threshold[i], static_cast<MissingKind>(tree.missing_kind[i]),
                       tree.default_left[i] != 0, std::span(tree.category).subspan(first, last - first)),
           tree.left[i], tree.right[i]});
      continue;
    }
    const std::span<const std::uint8_t> by_bin = tree.left_bins(i);
    nodes.push_back({by_bin.empty()
                         ? RowSplitter(matrix, tree.feature[i], tree.threshold_bin[i], tree.default_left[i] != 0)
                         : RowSplitter(matrix, tree.feature[i], by_bin),
                     tree.left[i], tree.right[i]});
  }
  return nodes;
}

// Splits rows [begin, end) of a list (nullptr: of the table) down the tree, in blocks. take_whole(begin, end) is true
// if a block was dealt with as a whole.
template <class TakeWhole, class Reach>
void split_blocks(Team& team, const std::vector<TreeStep>& nodes, const RowIdx* rows, RowRange range,
                  const RowPage* page, const TakeWhole& take_whole, const Reach& reach) {
  for_blocks(team, range.end - range.begin, kBlockRows, [&](std::int64_t first, std::int64_t last, std::int64_t, int) {
    const std::int64_t begin = range.begin + first;
    if (take_whole(begin, range.begin + last)) return;
    std::vector<RowIdx> own(static_cast<std::size_t>(last - first));
    std::vector<RowIdx> buffer(own.size());
    if (rows != nullptr) {
      std::copy_n(rows + begin, own.size(), own.begin());
      // Sparse columns are read in the order of rows.
      if (!std::is_sorted(own.begin(), own.end())) std::sort(own.begin(), own.end());
    } else {
      std::iota(own.begin(), own.end(), static_cast<RowIdx>(begin));
    }
    split_down(nodes, own, buffer.data(), page, reach);
  });
}

// Calls reach(node or ~leaf, rows) for blocks of rows of each node and leaf. Pages take one pass.
template <class Reach>
void for_nodes(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
               const RawTable* raw, const Reach& reach) {
  const std::vector<TreeStep> nodes = nodes_of(matrix, tree, raw);
  const auto none = [](std::int64_t, std::int64_t) { return false; };
  if (matrix.pages() == nullptr || tree.by_value) {
    split_blocks(team, nodes, rows, {0, n_rows}, nullptr, none, reach);
    return;
  }
  std::vector<RowIdx> sorted;
  if (rows != nullptr && !std::is_sorted(rows, rows + n_rows)) {
    sorted.assign(rows, rows + n_rows);
    std::sort(sorted.begin(), sorted.end());
    rows = sorted.data();
  }
  matrix.pages()->for_each([&](const RowPage& page) {
    RowRange range = page.rows;
    if (rows != nullptr) {
      const auto place_of = [&](std::int64_t row) {
        return std::lower_bound(rows, rows + n_rows, row,
                                [](RowIdx a, std::int64_t b) { return static_cast<std::int64_t>(a) < b; }) -
               rows;
      };
      range = {place_of(page.rows.begin), place_of(page.rows.end)};
    }
    split_blocks(team, nodes, rows, range, &page, none, reach);
  });
}

// Calls body(leaf, rows) for blocks of rows of each leaf.
template <class Body>
void for_leaves(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                const RawTable* raw, const Body& body) {
  for_nodes(team, matrix, tree, rows, n_rows, raw, [&](std::int32_t node, std::span<const RowIdx> reached) {
    if (node < 0) body(static_cast<std::size_t>(~node), reached);
  });
}

}  // namespace

bool Tree::find_categories(const Feature& f, std::size_t i) {
  std::vector<std::uint8_t>& by_bin = goes_left[i];
  by_bin.assign(static_cast<std::size_t>(f.n_value_bins) + 1, default_left[i] != 0);
  for (std::int64_t c = category_begin[i]; c < category_begin[i + 1]; ++c) {
    const auto bin = std::find(f.category.begin(), f.category.end(), category[static_cast<std::size_t>(c)]);
    if (bin == f.category.end()) return false;
    by_bin[static_cast<std::size_t>(bin - f.category.begin())] = default_left[i] == 0;
  }
  return f.is_categorical() && category_begin[i] < category_begin[i + 1];
}

std::int64_t Tree::find_bins(const std::vector<Feature>& features) {
  feature.resize(column.size());
  threshold_bin.resize(column.size());
  category_begin.resize(column.size() + 1, static_cast<std::int64_t>(category.size()));
  goes_left.assign(column.size(), {});
  for (std::size_t i = 0; i < column.size(); ++i) {
    const auto f = std::lower_bound(features.begin(), features.end(), column[i],
                                    [](const Feature& a, std::int32_t wanted) { return a.column < wanted; });
    const bool is_there = f != features.end() && f->column == column[i];
    if (!is_there || static_cast<std::int8_t>(f->missing_kind) != missing_kind[i]) return static_cast<std::int64_t>(i);
    feature[i] = static_cast<std::int32_t>(f - features.begin());
    if (f->is_categorical() || category_begin[i] < category_begin[i + 1]) {
      if (!find_categories(*f, i)) return static_cast<std::int64_t>(i);
      continue;
    }
    const auto bound = std::lower_bound(f->upper.begin(), f->upper.end(), threshold[i]);
    if (bound == f->upper.end() || *bound != threshold[i]) return static_cast<std::int64_t>(i);
    threshold_bin[i] = static_cast<std::int32_t>(bound - f->upper.begin());
  }
  return -1;
}

void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                        double* score, const RawTable* raw) {
  if (tree.linear.empty()) {
    add_tree_to_scores(team, matrix, tree, tree.leaf_value.data(), tree.n_values, rows, n_rows, score, raw);
    return;
  }
  if (raw == nullptr) throw std::invalid_argument("linear leaves need the raw table");
  for_leaves(team, matrix, tree, rows, n_rows, raw, [&](std::size_t leaf, std::span<const RowIdx> reached) {
    add_linear_leaf(tree.linear, leaf, tree.leaf_value[leaf], *raw, reached.data(),
                    static_cast<std::int64_t>(reached.size()), score);
  });
}

void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const double* values,
                        std::int64_t n_values, const RowIdx* rows, std::int64_t n_rows, double* score,
                        const RawTable* raw) {
  const auto add_leaf = [&](std::int32_t node, std::span<const RowIdx> reached) {
    if (node >= 0) return;
    const double* const own_values = values + static_cast<std::int64_t>(~node) * n_values;
    for (std::int64_t k = 0; k < n_values; ++k) {
      double* const output = score + k * matrix.n_rows();
      for (const RowIdx row : reached) output[row] += own_values[k];
    }
  };
  if (matrix.pages() == nullptr && !tree.by_value) {
    const std::vector<TreeStep> nodes = nodes_of(matrix, tree, raw);
    const TileTree tiles(nodes, values, n_values);
    const auto add_whole = [&](std::int64_t begin, std::int64_t end) {
      return tiles.is_usable() && tiles.add(rows, begin, end, matrix.n_rows(), score);
    };
    split_blocks(team, nodes, rows, {0, n_rows}, nullptr, add_whole, add_leaf);
    return;
  }
  for_nodes(team, matrix, tree, rows, n_rows, raw, add_leaf);
}

bool add_tiles(Team& team, const BinMatrix& matrix, const Tree& tree, double* score) {
  if (matrix.pages() != nullptr || tree.by_value) return false;
  const std::vector<TreeStep> nodes = nodes_of(matrix, tree, nullptr);
  const TileTree tiles(nodes, tree.leaf_value.data(), tree.n_values);
  if (!tiles.is_usable()) return false;
  for_blocks(team, matrix.n_rows(), kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    tiles.add(nullptr, begin, end, matrix.n_rows(), score);
  });
  return true;
}

void visit_nodes(Team& team, const BinMatrix& matrix, const Tree& tree,
                 const std::function<void(std::int32_t, std::span<const RowIdx>)>& visit) {
  for_nodes(team, matrix, tree, nullptr, matrix.n_rows(), nullptr,
            [&](std::int32_t node, std::span<const RowIdx> reached) {
              if (node >= 0) visit(node, reached);
            });
}

std::vector<std::vector<std::int32_t>> path_columns(const Tree& tree) {
  std::vector<std::vector<std::int32_t>> by_node(tree.column.size());
  std::vector<std::vector<std::int32_t>> by_leaf(tree.leaf_count.size());
  for (std::size_t i = 0; i < tree.column.size(); ++i) {  // parents come before their children
    std::vector<std::int32_t> columns = std::move(by_node[i]);
    if (tree.left_bins(i).empty()) {  // categories are not numbers
      const auto place = std::lower_bound(columns.begin(), columns.end(), tree.column[i]);
      if (place == columns.end() || *place != tree.column[i]) columns.insert(place, tree.column[i]);
    }
    for (const std::int32_t child : {tree.left[i], tree.right[i]}) {
      (child >= 0 ? by_node[static_cast<std::size_t>(child)] : by_leaf[static_cast<std::size_t>(~child)]) = columns;
    }
  }
  return by_leaf;
}

}  // namespace gossamer
