#include "core/frontier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/index.h"

namespace gossamer {

void Frontier::start(const TreeShape& shape, bool expand_ahead) {
  shape_ = shape;
  expand_ahead_ = expand_ahead;
  queue_.clear();
  version_.clear();
  known_.clear();
  open_.clear();
  best_.clear();
  n_committed_ = 0;
  least_gain_ = std::numeric_limits<double>::infinity();
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

// ---- expanding ahead ----

void Frontier::note(std::int32_t node, std::int32_t parent, double gain, std::int64_t n_rows,
                    std::vector<std::int32_t>& hopeless) {
  if (!expand_ahead_ || shape_.depthwise) return;
  if (known_.size() <= at(node)) known_.resize(at(node) + 1);
  Known& known = known_[at(node)];
  known.gain = gain;
  known.from_root = parent >= 0 ? std::min(gain, known_[at(parent)].from_root) : gain;
  known.parent = parent;
  known.n_rows = n_rows;
  known.is_hopeful = true;
  open_.push_back(node);
  const auto larger = [&](std::int32_t a, std::int32_t b) { return known_[at(a)].from_root > known_[at(b)].from_root; };
  best_.push_back(node);
  std::push_heap(best_.begin(), best_.end(), larger);
  if (std::ssize(best_) < shape_.num_leaves) return;
  std::pop_heap(best_.begin(), best_.end(), larger);
  // The order decides which of two nodes with the same smallest gain gets into the tree: both stay.
  if (larger(best_.front(), best_.back())) {
    known_[at(best_.back())].is_hopeful = false;
    hopeless.push_back(best_.back());
  }
  best_.pop_back();
}

void Frontier::commit(std::int32_t node) {
  remove(node);
  ++n_committed_;
  if (!expand_ahead_ || shape_.depthwise) return;
  Known& known = known_[at(node)];
  known.is_committed = true;
  known.is_hopeful = false;
  if (2 * n_committed_ > shape_.num_leaves) least_gain_ = std::min(least_gain_, known.gain);
}

// Sets the reach of the open nodes. Their parents come before them.
void Frontier::look_at_open() {
  std::erase_if(open_, [&](std::int32_t node) { return !known_[at(node)].is_hopeful; });
  reaches_.clear();
  for (const std::int32_t node : open_) {
    Known& known = known_[at(node)];
    known.reach = known.gain;
    if (known.parent >= 0 && !known_[at(known.parent)].is_committed) {
      known.reach = std::min(known.gain, known_[at(known.parent)].reach);
    }
    reaches_.push_back(known.reach);
  }
}

double Frontier::theta(std::int64_t n_wanted, double most) {
  look_at_open();
  double least = -std::numeric_limits<double>::infinity();
  if (std::ssize(reaches_) >= n_wanted) {
    const auto nth = reaches_.begin() + (n_wanted - 1);
    std::nth_element(reaches_.begin(), nth, reaches_.end(), std::greater<>());
    least = *nth;
  }
  const double root_gain = known_[0].gain;
  if (!(last_cut_ > 0.0) || !(last_root_gain_ > 0.0) || !std::isfinite(root_gain)) return least;
  const double scale = root_gain / last_root_gain_;
  const bool is_late = 2 * n_committed_ > shape_.num_leaves;
  // A late node below the cut shows that this tree reaches lower than the last one: it may use other features.
  if (is_late && most < last_cut_ * scale) last_cut_ = most / (4.0 * scale);
  return std::max(least, std::min(last_cut_ * scale, most));
}

std::span<const std::int32_t> Frontier::batch(std::int64_t n_leaves, const Limits& limits) {
  const Turn first = next();
  batch_.assign(1, first.node);
  const std::int64_t n_wanted = shape_.num_leaves - n_leaves;
  const bool alone = !expand_ahead_ || first.forced >= 0 || n_wanted == 1;
  if (!alone && shape_.depthwise) add_level(std::min(n_wanted, limits.most_nodes), limits);
  if (!alone && !shape_.depthwise) add_ahead(n_wanted, limits);
  for (const std::int32_t node : batch_) {
    if (at(node) < known_.size()) known_[at(node)].is_expanded = true;
  }
  return batch_;
}

// Leaves of one level are all committed, in order, until the tree is full.
void Frontier::add_level(std::int64_t n_wanted, const Limits& limits) {
  std::vector<Turn> level{next()};
  std::int64_t n_rows = level.front().n_rows;
  remove(level.front().node);
  while (!empty() && next().depth == level.front().depth && n_rows < limits.enough_rows &&
         std::ssize(batch_) < n_wanted) {
    level.push_back(next());
    batch_.push_back(level.back().node);
    n_rows += level.back().n_rows;
    remove(level.back().node);
  }
  for (const Turn& turn : level) push(turn);
}

void Frontier::add_ahead(std::int64_t n_wanted, const Limits& limits) {
  const Turn first = next();
  std::int64_t n_rows = first.n_rows;
  if (n_rows >= limits.enough_rows) return;
  // Where every batch costs a message or a pass, nodes of much smaller gains come along.
  const bool is_costly = limits.enough_rows == std::numeric_limits<std::int64_t>::max();
  const double least = theta(n_wanted, (is_costly ? 0.25 : 0.75) * first.gain);
  std::vector<std::int32_t> ahead;
  for (const std::int32_t node : open_) {
    const Known& known = known_[at(node)];
    if (!known.is_expanded && known.reach >= least && node != first.node) ahead.push_back(node);
  }
  std::sort(ahead.begin(), ahead.end(), [&](std::int32_t a, std::int32_t b) {
    const double x = known_[at(a)].reach;
    const double y = known_[at(b)].reach;
    return x != y ? x > y : a < b;
  });
  for (const std::int32_t node : ahead) {
    if (n_rows >= limits.enough_rows || std::ssize(batch_) >= limits.most_nodes) return;
    batch_.push_back(node);
    n_rows += known_[at(node)].n_rows;
  }
}

void Frontier::finish() {
  const bool is_full = n_committed_ + 1 == shape_.num_leaves;
  const bool is_known = is_full && std::isfinite(least_gain_);
  last_cut_ = is_known ? least_gain_ : 0.0;
  last_root_gain_ = known_.empty() ? 0.0 : known_[0].gain;
}

}  // namespace gossamer
