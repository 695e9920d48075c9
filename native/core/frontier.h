// Which leaf of a growing tree is split next, and which nodes are expanded ahead of their turn.
//
//   turn     the order in which leaves are committed: the largest gain first (or the upper level first). Only this
//            order determines the tree.
//   ahead    nodes that are expanded together with the next one, children of nodes that have not been committed yet
//            included. Many at once cost few joins; a node that is never committed was wasted work.
//
// A node can be committed only after the nodes above it, so its *reach* decides about it: the smallest gain
// on its path from the root. Best first, a tree of L leaves consists of the L - 1 nodes with the largest reach. So
// every node whose reach is at least theta is expanded, where theta is the larger of
//   - the (L - 1)-th largest reach known so far: nodes below it cannot get into the tree any more;
//   - the smallest reach in the last tree, scaled to this tree's root: nodes below it probably will not.
// A poor theta costs work, never correctness.
#pragma once

#include <cstdint>
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
  bool empty();
  // The leaf whose turn it is.
  const Turn& next();

  // Adds a node whose split has been found: returns its reach, given its parent's reach (the root: infinity). Nodes
  // that can no longer get into the tree are added to `hopeless`.
  double note(std::int32_t node, double gain, double parent_reach, std::int64_t n_rows,
              std::vector<std::int32_t>& hopeless);
  // How much is expanded at once.
  struct Limits {
    std::int64_t enough_rows;  // no more nodes are added to a batch with so many rows
    std::int64_t most_nodes;
  };
  // The next leaf and the nodes to be expanded with it. The tree has `n_leaves`.
  std::vector<std::int32_t> batch(std::int64_t n_leaves, const Limits& limits);

  // The tree is complete: notes what the next one can expect. `full` false: it ran out of splits, so that nothing is
  // known.
  void finish(bool full, double smallest_reach, double root_gain);

 private:
  struct Entry {
    Turn turn;
    std::int32_t version;
  };
  struct Known {
    double reach;
    std::int32_t node;
    std::int64_t n_rows;
  };

  bool comes_before(const Turn& a, const Turn& b) const;
  std::int32_t& version_of(std::int32_t node);
  double theta() const;
  void add_level(std::int64_t n_wanted, const Limits& limits, std::vector<std::int32_t>& nodes);
  void add_ahead(std::int64_t n_rows, const Limits& limits, std::vector<std::int32_t>& nodes);

  TreeShape shape_;
  bool expand_ahead_ = true;
  std::vector<Entry> queue_;           // heap: the next turn first; outdated entries are skipped
  std::vector<std::int32_t> version_;  // by node: entries of another version are outdated
  std::vector<Known> ahead_;           // heap: nodes by reach, the largest first
  std::vector<Known> best_;            // heap: the L - 1 nodes with the largest reach, the smallest first
  std::vector<char> expanded_;         // by node
  double root_gain_ = 0.0;
  double last_cut_ = 0.0;  // the smallest reach in the last tree; 0: not known
  double last_root_gain_ = 0.0;
};

}  // namespace gossamer
