// Undoes splits of a grown tree that gain too little, from its leaves upwards.
#pragma once

#include <cstdint>
#include <vector>

namespace gossamer {

// `committed` lists the nodes of the tree, parents before children, by their index in `leaves`. A node whose
// children are both leaves becomes a leaf itself if its split gains less than `least_gain`; its children are dropped.
// Leaf numbers (`leaf_number`) are assigned again as if the undone splits had never been made. Returns whether there
// was such a node.
template <class Leaf>
bool prune_tree(std::vector<Leaf>& leaves, double least_gain, std::vector<std::int32_t>& committed) {
  const auto leaf = [&](std::int32_t i) -> Leaf& { return leaves[static_cast<std::size_t>(i)]; };
  std::vector<char> is_node(leaves.size(), 0);
  for (const std::int32_t i : committed) is_node[static_cast<std::size_t>(i)] = 1;
  for (auto i = committed.rbegin(); i != committed.rend(); ++i) {
    const std::int32_t* const children = leaf(*i).children;
    const bool has_nodes =
        is_node[static_cast<std::size_t>(children[0])] != 0 || is_node[static_cast<std::size_t>(children[1])] != 0;
    if (!has_nodes && leaf(*i).split.gain < least_gain) is_node[static_cast<std::size_t>(*i)] = 0;
  }
  const std::size_t n_before = committed.size();
  std::erase_if(committed, [&](std::int32_t i) { return is_node[static_cast<std::size_t>(i)] == 0; });
  for (std::size_t n = 0; n < committed.size(); ++n) {
    const Leaf& node = leaf(committed[n]);
    leaf(node.children[0]).leaf_number = node.leaf_number;
    leaf(node.children[1]).leaf_number = static_cast<std::int32_t>(n + 1);
  }
  return committed.size() != n_before;
}

}  // namespace gossamer
