#include "core/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gossamer {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Frontier::start(const TreeShape& shape, bool expand_ahead) {
  shape_ = shape;
  expand_ahead_ = expand_ahead;
  queue_.clear();
  version_.clear();
  ahead_.clear();
  best_.clear();
  expanded_.clear();
  root_gain_ = 0.0;
}

// ---- turns ----

bool Frontier::comes_before(const Turn& a, const Turn& b) const {
  const auto forced_a = static_cast<std::uint32_t>(a.forced);  // -1 becomes the largest number
  const auto forced_b = static_cast<std::uint32_t>(b.forced);
  if (forced_a != forced_b) return forced_a < forced_b;
  if (shape_.depthwise && a.depth != b.depth) return a.depth < b.depth;
  if (!shape_.depthwise && a.gain != b.gain) return a.gain > b.gain;
  return a.order < b.order;
}

std::int32_t& Frontier::version_of(std::int32_t node) {
  if (version_.size() <= at(node)) version_.resize(at(node) + 1, 0);
  return version_[at(node)];
}

void Frontier::push(const Turn& turn) {
  queue_.push_back({turn, ++version_of(turn.node)});
  std::push_heap(queue_.begin(), queue_.end(),
                 [&](const Entry& a, const Entry& b) { return comes_before(b.turn, a.turn); });
}

void Frontier::remove(std::int32_t node) { ++version_of(node); }

bool Frontier::empty() {
  while (!queue_.empty() && queue_.front().version != version_of(queue_.front().turn.node)) {
    std::pop_heap(queue_.begin(), queue_.end(),
                  [&](const Entry& a, const Entry& b) { return comes_before(b.turn, a.turn); });
    queue_.pop_back();
  }
  return queue_.empty();
}

const Frontier::Turn& Frontier::next() {
  empty();  // drops outdated entries
  return queue_.front().turn;
}

// ---- expanding ahead ----

double Frontier::note(std::int32_t node, double gain, double parent_reach, std::int64_t n_rows,
                      std::vector<std::int32_t>& hopeless) {
  const double reach = std::min(gain, parent_reach);
  if (node == 0) root_gain_ = std::isfinite(gain) ? gain : 0.0;
  if (!expand_ahead_ || shape_.depthwise) return reach;
  const auto smaller = [](const Known& a, const Known& b) { return a.reach < b.reach; };
  const auto larger = [](const Known& a, const Known& b) { return a.reach > b.reach; };
  ahead_.push_back({reach, node, n_rows});
  std::push_heap(ahead_.begin(), ahead_.end(), smaller);
  best_.push_back({reach, node, n_rows});
  std::push_heap(best_.begin(), best_.end(), larger);
  if (std::ssize(best_) < shape_.num_leaves) return reach;
  std::pop_heap(best_.begin(), best_.end(), larger);
  // The order decides which of two nodes with the same reach gets into the tree: both stay.
  if (best_.back().reach < best_.front().reach) hopeless.push_back(best_.back().node);
  best_.pop_back();
  return reach;
}

double Frontier::theta() const {
  double least = -std::numeric_limits<double>::infinity();
  if (std::ssize(best_) + 1 >= shape_.num_leaves) least = best_.front().reach;
  if (last_cut_ > 0.0 && last_root_gain_ > 0.0) least = std::max(least, last_cut_ * (root_gain_ / last_root_gain_));
  return least;
}

std::vector<std::int32_t> Frontier::batch(std::int64_t n_leaves, const Limits& limits) {
  const Turn first = next();
  std::vector<std::int32_t> nodes{first.node};
  const std::int64_t n_wanted = shape_.num_leaves - n_leaves;
  const bool alone = !expand_ahead_ || first.forced >= 0 || n_wanted == 1;
  // A leaf of the tree below the cut shows that this tree reaches lower than the last one: it may use other features.
  const double scale = last_root_gain_ > 0.0 ? root_gain_ / last_root_gain_ : 0.0;
  if (first.gain < last_cut_ * scale) last_cut_ = first.gain / (4.0 * scale);
  if (!alone && shape_.depthwise) add_level(std::min(n_wanted, limits.most_nodes), limits, nodes);
  if (!alone && !shape_.depthwise) add_ahead(first.n_rows, limits, nodes);
  for (const std::int32_t node : nodes) {
    if (expanded_.size() <= at(node)) expanded_.resize(at(node) + 1, 0);
    expanded_[at(node)] = 1;
  }
  return nodes;
}

// Leaves of one level are all committed, in order, until the tree is full.
void Frontier::add_level(std::int64_t n_wanted, const Limits& limits, std::vector<std::int32_t>& nodes) {
  std::vector<Turn> level{next()};
  std::int64_t n_rows = level.front().n_rows;
  remove(level.front().node);
  while (!empty() && next().depth == level.front().depth && n_rows < limits.enough_rows &&
         std::ssize(nodes) < n_wanted) {
    level.push_back(next());
    nodes.push_back(level.back().node);
    n_rows += level.back().n_rows;
    remove(level.back().node);
  }
  for (const Turn& turn : level) push(turn);
}

void Frontier::add_ahead(std::int64_t n_rows, const Limits& limits, std::vector<std::int32_t>& nodes) {
  const double least = theta();
  while (!ahead_.empty() && ahead_.front().reach >= least && n_rows < limits.enough_rows &&
         std::ssize(nodes) < limits.most_nodes) {
    std::pop_heap(ahead_.begin(), ahead_.end(), [](const Known& a, const Known& b) { return a.reach < b.reach; });
    const Known known = ahead_.back();
    ahead_.pop_back();
    const bool is_expanded = at(known.node) < expanded_.size() && expanded_[at(known.node)];
    if (is_expanded || known.node == nodes.front()) continue;
    nodes.push_back(known.node);
    n_rows += known.n_rows;
  }
}

void Frontier::finish(bool full, double smallest_reach, double root_gain) {
  last_cut_ = full ? smallest_reach : 0.0;
  last_root_gain_ = root_gain;
}

}  // namespace gossamer
