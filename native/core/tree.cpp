#include "core/tree.h"

namespace gossamer {
namespace {

struct Node {
  const std::uint8_t* bins8;  // lane of the split feature; row r at bins[r * stride]
  const std::uint16_t* bins16;
  std::int64_t stride;
  std::uint64_t goes_left[4];  // one byte: bit v tells where a row with lane value v goes
  std::uint32_t threshold;     // two bytes
  std::uint32_t missing_bin;
  std::int32_t child[2];  // [0] right, [1] left
  bool missing_left;

  bool left_of(std::uint32_t bin) const { return bin == missing_bin ? missing_left : bin <= threshold; }
};

std::vector<Node> make_nodes(const BinMatrix& matrix, const Tree& tree) {
  std::vector<Node> nodes(tree.feature.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Feature& feature = matrix.features()[static_cast<std::size_t>(tree.feature[i])];
    const Group& group = matrix.groups()[static_cast<std::size_t>(feature.group)];
    Node& node = nodes[i];
    node.bins8 = group.two_bytes ? nullptr : group.bins8.data() + feature.lane;
    node.bins16 = group.two_bytes ? group.bins16.data() + feature.lane : nullptr;
    node.stride = group.row_stride;
    node.threshold = static_cast<std::uint32_t>(tree.threshold_bin[i]);
    node.missing_bin = static_cast<std::uint32_t>(feature.n_value_bins);
    node.missing_left = tree.default_left[i] != 0;
    node.child[0] = tree.right[i];
    node.child[1] = tree.left[i];
    for (std::uint32_t v = 0; v < 256; ++v) {
      const auto bin = v / static_cast<std::uint32_t>(feature.stride) % static_cast<std::uint32_t>(feature.radix);
      node.goes_left[v / 64] |= static_cast<std::uint64_t>(node.left_of(bin)) << (v % 64);
    }
  }
  return nodes;
}

inline std::int32_t step(const Node& node, std::int64_t row) {
  const std::int64_t at = row * node.stride;
  if (node.bins8 == nullptr) return node.child[node.left_of(node.bins16[at])];
  const std::uint8_t value = node.bins8[at];
  return node.child[(node.goes_left[value / 64] >> (value % 64)) & 1];
}

}  // namespace

void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                        double* score) {
  const std::vector<Node> nodes = make_nodes(matrix, tree);
  const double* const values = tree.leaf_value.data();
  for_blocks(team, n_rows, 4096, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    // Several rows walk in step: their cache misses overlap.
    constexpr int kLanes = 8;
    for (std::int64_t i = begin; i < end; i += kLanes) {
      const int lanes = static_cast<int>(end - i < kLanes ? end - i : kLanes);
      std::int64_t row[kLanes];
      std::int32_t at[kLanes];
      for (int k = 0; k < lanes; ++k) {
        row[k] = rows != nullptr ? static_cast<std::int64_t>(rows[i + k]) : i + k;
        at[k] = nodes.empty() ? ~0 : 0;
      }
      for (bool walking = !nodes.empty(); walking;) {
        walking = false;
        for (int k = 0; k < lanes; ++k) {
          if (at[k] < 0) continue;
          at[k] = step(nodes[static_cast<std::size_t>(at[k])], row[k]);
          walking |= at[k] >= 0;
        }
      }
      for (int k = 0; k < lanes; ++k) score[row[k]] += values[~at[k]];
    }
  });
}

}  // namespace gossamer
