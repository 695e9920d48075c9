#include "core/compact_forest.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "core/bin_bounds.h"
#include "core/feature.h"
#include "core/predict.h"

namespace gossamer {
namespace {

constexpr std::size_t kMaxBounds = 255;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

bool can_be_compact(const Forest& f, std::int64_t tree) {
  const std::size_t first = size(f.node_begin[size(tree)]);
  const std::size_t last = size(f.node_begin[size(tree) + 1]);
  return static_cast<std::int64_t>(last - first) < kMaxCompactLeaves &&
         std::none_of(
             f.nodes.begin() + static_cast<std::ptrdiff_t>(first), f.nodes.begin() + static_cast<std::ptrdiff_t>(last),
             [](const ForestNode& node) { return node.test == NodeTest::category; });
}

// Thresholds by place of their column; at most kMaxBounds of each, or nothing is kept.
class Bounds {
 public:
  explicit Bounds(std::size_t n_places) : by_place_(n_places) {}

  // Returns false if the trees ask about more thresholds.
  bool collect(const Forest& f, const std::vector<CompactTree>& trees, std::int64_t first, std::int64_t last) {
    clear();
    for (std::int64_t t = first; t < last; ++t) {
      if (!trees[size(t)].is_compact) continue;
      for (std::size_t n = size(f.node_begin[size(t)]); n < size(f.node_begin[size(t) + 1]); ++n) {
        const auto place = static_cast<std::size_t>(f.nodes[n].place);
        std::vector<double>& found = by_place_[place];
        if (found.empty()) places_.push_back(place);
        found.push_back(f.threshold[n]);
        if (found.size() > 8 * kMaxBounds && !compress(found)) return false;
      }
    }
    std::sort(places_.begin(), places_.end());
    return std::all_of(places_.begin(), places_.end(), [&](std::size_t p) { return compress(by_place_[p]); });
  }

  const std::vector<std::size_t>& places() const { return places_; }
  const std::vector<double>& operator[](std::size_t place) const { return by_place_[place]; }

 private:
  static bool compress(std::vector<double>& found) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found.size() <= kMaxBounds;
  }
  void clear() {
    for (const std::size_t p : places_) by_place_[p].clear();
    places_.clear();
  }

  std::vector<std::vector<double>> by_place_;
  std::vector<std::size_t> places_;  // that have thresholds
};

template <class T>
void write_bounds(const std::vector<double>& from, T* to) {
  T* const pivots = to;
  T* const bounds = to + CompactBlock::kPivots;
  std::fill(bounds, bounds + 256, std::numeric_limits<T>::infinity());
  std::transform(from.begin(), from.end(), bounds, [](double bound) { return round_down<T>(bound); });
  for (std::int64_t i = 0; i < CompactBlock::kPivots; ++i) pivots[i] = bounds[16 * i + 15];
}

// Sets up columns and bounds; lanes come when nodes ask for them.
CompactBlock make_block(const Forest& f, const Bounds& bounds, std::int64_t first, std::int64_t last) {
  CompactBlock block;
  block.first_tree = first;
  block.last_tree = last;
  const auto n = static_cast<std::int64_t>(bounds.places().size());
  block.bounds_f32.reset(n * CompactBlock::kBounds);
  block.bounds_f64.reset(n * CompactBlock::kBounds);
  for (const std::size_t place : bounds.places()) {
    const auto i = static_cast<std::int64_t>(block.columns.size());
    CompactColumn column{f.used_columns[place], static_cast<std::int32_t>(bounds[place].size()), {}};
    std::fill(std::begin(column.lane), std::end(column.lane), -1);
    block.columns.push_back(column);
    write_bounds(bounds[place], block.bounds_f32.data() + i * CompactBlock::kBounds);
    write_bounds(bounds[place], block.bounds_f64.data() + i * CompactBlock::kBounds);
  }
  return block;
}

std::uint32_t four_times(std::size_t byte) { return static_cast<std::uint32_t>(byte & 0xFF) * 0x01010101u; }

// Writes nodes, leaves and values of the trees of a block.
class BlockWriter {
 public:
  BlockWriter(const Forest& f, const Bounds& bounds, CompactBlock& block, CompactForest& out)
      : f_(f), bounds_(bounds), block_(block), out_(out), column_of_(f.used_columns.size()) {
    for (std::size_t i = 0; i < bounds.places().size(); ++i) column_of_[bounds.places()[i]] = i;
  }

  void write(std::int64_t t) {
    CompactTree& tree = out_.trees[size(t)];
    const std::size_t first = size(f_.node_begin[size(t)]);
    const auto n_nodes = static_cast<std::int32_t>(f_.node_begin[size(t) + 1] - f_.node_begin[size(t)]);
    tree.n_nodes = n_nodes;
    tree.first_node = static_cast<std::int64_t>(out_.nodes.size());
    tree.first_leaf = static_cast<std::int64_t>(out_.leaf.size());
    tree.first_value = static_cast<std::int64_t>(out_.values.size());
    count_leaves(first, n_nodes);
    out_.leaf.resize(out_.leaf.size() + size(n_nodes) + 1);
    std::int32_t* const leaf = out_.leaf.data() + tree.first_leaf;
    std::vector<std::pair<std::int32_t, std::size_t>> open;  // nodes or ~leaves, and their leftmost leaf
    open.emplace_back(n_nodes == 0 ? ~0 : 0, 0);
    while (!open.empty()) {
      const auto [at, leftmost] = open.back();
      open.pop_back();
      if (at < 0) {
        leaf[leftmost] = ~at;
        continue;
      }
      const std::size_t n = first + size(at);
      const std::size_t right = leftmost + leaves_below(f_.left[n]);
      out_.nodes.push_back({lane_of(n), four_times(threshold_of(n)), four_times(leftmost), four_times(right)});
      open.emplace_back(f_.right[n], right);
      open.emplace_back(f_.left[n], leftmost);
    }
    if (f_.n_values != 1) return;
    const double* const values = f_.leaf_value.data() + f_.leaf_begin[size(t)];
    for (std::int32_t l = 0; l <= n_nodes; ++l) out_.values.push_back(values[leaf[l]]);
    out_.values.resize(size(tree.first_value + std::max<std::int64_t>(n_nodes + 1, 32)));
  }

 private:
  void count_leaves(std::size_t first, std::int32_t n_nodes) {
    n_leaves_.assign(size(n_nodes), 0);
    for (std::int32_t n = n_nodes - 1; n >= 0; --n) {  // children come after their parents
      n_leaves_[size(n)] = leaves_below(f_.left[first + size(n)]) + leaves_below(f_.right[first + size(n)]);
    }
  }
  std::size_t leaves_below(std::int32_t child) const { return child < 0 ? 1 : n_leaves_[size(child)]; }

  std::size_t column_of(std::size_t n) const { return column_of_[static_cast<std::size_t>(f_.nodes[n].place)]; }
  std::size_t threshold_of(std::size_t n) const {
    const std::vector<double>& bounds = bounds_[static_cast<std::size_t>(f_.nodes[n].place)];
    const auto found = std::lower_bound(bounds.begin(), bounds.end(), f_.threshold[n]);
    return static_cast<std::size_t>(found - bounds.begin()) + 128;  // less 128, as lanes are
  }
  std::uint32_t lane_of(std::size_t n) {
    std::int32_t& lane = block_.columns[column_of(n)].lane[static_cast<std::size_t>(lane_kind(f_, n))];
    if (lane < 0) lane = static_cast<std::int32_t>(block_.n_lanes++);
    return static_cast<std::uint32_t>(lane);
  }

  const Forest& f_;
  const Bounds& bounds_;
  CompactBlock& block_;
  CompactForest& out_;
  std::vector<std::size_t> column_of_;  // by place
  std::vector<std::size_t> n_leaves_;   // below the nodes of a tree
};

}  // namespace

LaneKind lane_kind(const Forest& f, std::size_t node) {
  const bool left = f.default_left[node] != 0;
  switch (static_cast<MissingKind>(f.missing_kind[node])) {
    case MissingKind::nan: return left ? LaneKind::nan_left : LaneKind::nan_right;
    case MissingKind::zero: return left ? LaneKind::zero_left : LaneKind::zero_right;
    default: return LaneKind::nan_is_zero;
  }
}

CompactForest make_compact(const Forest& f) {
  CompactForest compact;
  compact.trees.resize(size(f.n_trees()));
  for (std::int64_t t = 0; t < f.n_trees(); ++t) compact.trees[size(t)].is_compact = can_be_compact(f, t);
  Bounds bounds(f.used_columns.size());
  std::int64_t n_fitting = f.n_trees();  // in the block before
  for (std::int64_t first = 0, last; first < f.n_trees(); first = last) {
    last = std::min(f.n_trees(), first + 2 * n_fitting);
    while (!bounds.collect(f, compact.trees, first, last)) {
      last = first + std::max<std::int64_t>((last - first) * 3 / 4, 1);  // one tree always fits
    }
    n_fitting = last - first;
    compact.blocks.push_back(make_block(f, bounds, first, last));
    BlockWriter writer(f, bounds, compact.blocks.back(), compact);
    for (std::int64_t t = first; t < last; ++t) {
      if (compact.trees[size(t)].is_compact) writer.write(t);
    }
  }
  return compact;
}

}  // namespace gossamer
