#include "core/shap_paths.h"

#include <limits>

namespace gossamer::shap {

std::int64_t count_parts(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree) {
  std::size_t most = 0;
  for (std::int64_t t = first_tree; t < last_tree; ++t) {
    for_paths(forest, nullptr, t, [&](std::int32_t, const Path& path) { most = std::max(most, path.parts.size()); });
  }
  return static_cast<std::int64_t>(most);
}

void read_tile(const Forest& forest, const MatrixView& matrix, std::int64_t begin, std::int64_t end, Tile& tile) {
  tile.n_rows = end - begin;
  tile.value.resize(forest.used_columns.size() * kShapRows);
  visit_few(matrix, [&]<class T>(TypedView<T> view) {
    for (std::size_t p = 0; p < forest.used_columns.size(); ++p) {
      double* const out = tile.value.data() + p * kShapRows;
      for (std::int64_t r = begin; r < end; ++r) out[r - begin] = static_cast<double>(view(r, forest.used_columns[p]));
    }
  });
}

void read_tile(const Forest& forest, const SparseView& matrix, std::int64_t begin, std::int64_t end, Tile& tile) {
  tile.n_rows = end - begin;
  tile.value.assign(forest.used_columns.size() * kShapRows, 0.0);
  // Columns that the table lacks are missing.
  for (std::size_t p = 0; p < forest.used_columns.size(); ++p) {
    if (forest.used_columns[p] < matrix.n_columns) continue;
    std::fill_n(tile.value.data() + p * kShapRows, kShapRows, std::numeric_limits<double>::quiet_NaN());
  }
  const auto n_known = static_cast<std::int64_t>(forest.place_of.size());
  const auto n_used = static_cast<std::int32_t>(forest.used_columns.size());
  visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> view) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::int64_t column = -1;
      for (std::int64_t e = view.begin[r]; e < view.begin[r + 1]; ++e) {
        column = view.index(e, column);
        if (column >= n_known) break;
        const std::int32_t place = forest.place_of[at(column)];
        if (place < n_used) tile.value[at(place) * kShapRows + at(r - begin)] = static_cast<double>(view.values[e]);
      }
    }
  });
}

void answer(const Forest& forest, std::int64_t tree, const Tile& tile, std::vector<std::uint64_t>& left) {
  const std::int64_t first = forest.node_begin[at(tree)];
  const std::int64_t n_nodes = forest.node_begin[at(tree) + 1] - first;
  left.resize(at(n_nodes));
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    const ForestNode& node = forest.nodes[at(first + i)];
    const std::int32_t left_child = forest.left[at(first + i)];
    const double* const values = tile.value.data() + at(node.place) * kShapRows;
    std::uint64_t bits = 0;
    for (std::int64_t r = 0; r < tile.n_rows; ++r) {
      bits |= static_cast<std::uint64_t>(step(node, values[r]) == left_child) << r;
    }
    left[at(i)] = bits;
  }
}

std::uint64_t known_rows(const std::vector<Step>& steps, const Part& part, const std::vector<std::uint64_t>& left) {
  std::uint64_t known = ~std::uint64_t{0};
  for (std::int32_t s = part.first_step; s < part.last_step; ++s) {
    const std::uint64_t bits = left[at(steps[at(s)].node)];
    known &= steps[at(s)].left ? bits : ~bits;
  }
  return known;
}

}  // namespace gossamer::shap
