// Which leaf of a growing tree is split next, and which nodes are expanded ahead of their turn.
//
//   turn     the order in which leaves are committed: the largest gain first (or the upper level first). Only this
//            order determines the tree.
//   ahead    nodes that are expanded together with the next one, children of nodes that have not been committed yet
//            included. Many at once cost few joins; a node that is never committed was wasted work.
//
// A node can be committed only after the nodes above it, so its *reach* decides about it: the smallest gain on its path
// from the last node that has been committed. Best first, the nodes that follow are those with the largest reach. So
// every node whose reach is at least theta is expanded, where theta is the larger of
//   - the n-th largest reach known so far, if the tree can take n more nodes: nodes below it will not get into it;
//   - the smallest gain in the second half of the last tree, scaled to this tree's root: nodes below it probably will
//     not. (In the first half small gains are committed for want of others.)
// A poor theta costs work, never correctness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/grow_params.h"

namespace gossamer {

class Frontier {
 public:
  struct Turn {
    std::int32_t node = -1;
    std::int32_t forced = -1;  // forced splits come first, in their order
    int depth = 0;
    double gain = 0.0;
    std::int64_t order = 0;  // order of creation: breaks ties
    std::int64_t n_rows = 0;
  };

  // `expand_ahead` false: leaves are expanded one at a time.
  void start(const TreeShape& shape, bool expand_ahead);

  // Adds a leaf of the tree that may be split, or the same leaf with another split.
  void push(const Turn& turn);
  void remove(std::int32_t node);
  // Drops outdated leaves.
  bool empty();
  // The leaf whose turn it is. Nothing may have changed since empty() was false.
  const Turn& next() const { return queue_.front().turn; }

  // A node whose split has been found. Nodes have larger numbers than their parents; the root's parent is -1. Nodes
  // that can no longer get into the tree are added to `hopeless`.
  void note(std::int32_t node, std::int32_t parent, double gain, std::int64_t n_rows,
            std::vector<std::int32_t>& hopeless);
  // A node of the tree.
  void commit(std::int32_t node);
  // How much is expanded at once.
  struct Limits {
    std::int64_t enough_rows;  // no more nodes are added to a batch with so many rows
    std::int64_t most_nodes;
  };
  // The next leaf and the nodes to be expanded with it. The tree has `n_leaves`.
  // Valid until the next call.
  std::span<const std::int32_t> batch(std::int64_t n_leaves, const Limits& limits);

  // The tree is complete: notes what the next one can expect.
  void finish();

 private:
  struct Entry {
    Turn turn;
    std::int32_t version;
  };
  struct Known {
    double gain = 0.0;
    double from_root = 0.0;  // the smallest gain on the path from the root
    double reach = 0.0;
    std::int32_t parent = -1;
    std::int64_t n_rows = 0;
    bool is_hopeful = false;  // it may still be committed
    bool is_expanded = false;
    bool is_committed = false;
  };

  bool comes_before(const Turn& a, const Turn& b) const;
  std::int32_t& version_of(std::int32_t node);
  void look_at_open();
  double theta(std::int64_t n_wanted, double most);
  void add_level(std::int64_t n_wanted, const Limits& limits);
  void add_ahead(std::int64_t n_wanted, const Limits& limits);

  TreeShape shape_;
  bool expand_ahead_ = true;
  std::vector<Entry> queue_;           // heap: the next turn first; outdated entries are skipped
  std::vector<std::int32_t> version_;  // by node: entries of another version are outdated
  std::vector<Known> known_;           // by node
  std::vector<std::int32_t> open_;     // hopeful nodes, and some that were
  std::vector<std::int32_t> best_;     // heap: the L - 1 nodes with the largest `from_root`, the smallest first
  std::vector<std::int32_t> batch_;
  std::vector<double> reaches_;  // of the open nodes
  std::int64_t n_committed_ = 0;
  double least_gain_ = 0.0;  // in the second half of this tree
  double last_cut_ = 0.0;    // of the last tree; 0: not known
  double last_root_gain_ = 0.0;
};

}  // namespace gossamer
