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

constexpr std::size_t kMaxNumbers = 255;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

bool asks_categories(const Forest& f, std::size_t node) { return f.nodes[node].test == NodeTest::category; }

// Distinct numbers by place of their column, at most kMaxNumbers per column.
template <class T>
class ByPlace {
 public:
  explicit ByPlace(std::size_t n_places) : numbers_(n_places) {}

  // Returns false if there are too many.
  bool add(std::int32_t place, T number) {
    std::vector<T>& found = numbers_[static_cast<std::size_t>(place)];
    if (found.empty()) places_.push_back(static_cast<std::size_t>(place));
    found.push_back(number);
    return found.size() <= 8 * kMaxNumbers || compress(found);
  }
  bool finish() {
    std::sort(places_.begin(), places_.end());
    return std::all_of(places_.begin(), places_.end(), [&](std::size_t p) { return compress(numbers_[p]); });
  }
  void clear() {
    for (const std::size_t p : places_) numbers_[p].clear();
    places_.clear();
  }

  const std::vector<std::size_t>& places() const { return places_; }  // that have numbers
  const std::vector<T>& operator[](std::size_t place) const { return numbers_[place]; }

 private:
  static bool compress(std::vector<T>& found) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found.size() <= kMaxNumbers;
  }

  std::vector<std::vector<T>> numbers_;
  std::vector<std::size_t> places_;
};

// The thresholds and categories in some trees.
struct NodeTests {
  ByPlace<double> bounds;
  ByPlace<std::int32_t> categories;

  explicit NodeTests(std::size_t n_places) : bounds(n_places), categories(n_places) {}

  // Returns false if these are too many for a block.
  bool collect(const Forest& f, const std::vector<CompactTree>& trees, std::int64_t first, std::int64_t last) {
    bounds.clear();
    categories.clear();
    for (std::int64_t t = first; t < last; ++t) {
      if (trees[size(t)].is_compact && !add(f, t)) return false;
    }
    return bounds.finish() && categories.finish();
  }

 private:
  bool add(const Forest& f, std::int64_t t) {
    for (std::size_t n = size(f.node_begin[size(t)]); n < size(f.node_begin[size(t) + 1]); ++n) {
      const std::int32_t place = f.nodes[n].place;
      if (!asks_categories(f, n)) {
        if (!bounds.add(place, f.threshold[n])) return false;
        continue;
      }
      for (std::int64_t c = f.category_begin[n]; c < f.category_begin[n + 1]; ++c) {
        if (!categories.add(place, f.category[size(c)])) return false;
      }
    }
    return true;
  }
};

template <class T>
void write_bounds(const std::vector<double>& from, T* to) {
  T* const pivots = to;
  T* const bounds = to + CompactBlock::kPivots;
  std::fill(bounds, bounds + 256, std::numeric_limits<T>::infinity());
  std::transform(from.begin(), from.end(), bounds, [](double bound) { return round_down<T>(bound); });
  for (std::int64_t i = 0; i < CompactBlock::kPivots; ++i) pivots[i] = bounds[16 * i + 15];
}

// Sets up columns and bounds; operands are added when nodes need them.
CompactBlock make_block(const Forest& f, const NodeTests& tests, std::int64_t first, std::int64_t last) {
  constexpr std::int32_t kSmall = 1 << 16;
  const ByPlace<double>& bounds = tests.bounds;
  CompactBlock block;
  block.first_tree = first;
  block.last_tree = last;
  const auto n = static_cast<std::int64_t>(bounds.places().size());
  block.bounds_f32.reset(n * CompactBlock::kBounds);
  block.bounds_f64.reset(n * CompactBlock::kBounds);
  for (const std::size_t place : bounds.places()) {
    const auto i = static_cast<std::int64_t>(block.columns.size());
    CompactColumn column{f.used_columns[place], static_cast<std::int32_t>(bounds[place].size()), {}};
    std::fill(std::begin(column.operand), std::end(column.operand), -1);
    block.columns.push_back(column);
    write_bounds(bounds[place], block.bounds_f32.data() + i * CompactBlock::kBounds);
    write_bounds(bounds[place], block.bounds_f64.data() + i * CompactBlock::kBounds);
  }
  for (const std::size_t place : tests.categories.places()) {
    CompactCategories column;
    column.column = f.used_columns[place];
    column.categories = tests.categories[place];
    if (column.categories.back() < kSmall) {
      column.numbers.assign(size(column.categories.back()) + 1, 255);
      for (std::size_t i = 0; i < column.categories.size(); ++i) {
        column.numbers[size(column.categories[i])] = static_cast<std::uint8_t>(i);
      }
    }
    block.categories.push_back(std::move(column));
  }
  return block;
}

std::uint32_t four_times(std::size_t byte) { return static_cast<std::uint32_t>(byte & 0xFF) * 0x01010101u; }

// Leaves below each node of a tree. Children come after their parents.
std::vector<std::size_t> count_leaves(const Forest& f, std::int64_t tree) {
  const std::size_t first = size(f.node_begin[size(tree)]);
  std::vector<std::size_t> n_leaves(size(f.node_begin[size(tree) + 1]) - first);
  const auto below = [&](std::int32_t child) { return child < 0 ? 1 : n_leaves[size(child)]; };
  for (std::size_t n = n_leaves.size(); n-- > 0;) n_leaves[n] = below(f.left[first + n]) + below(f.right[first + n]);
  return n_leaves;
}

// Whether a tree is small enough: few enough nodes for one piece have many leaves below them.
bool is_small_enough(const Forest& f, std::int64_t tree) {
  const std::int64_t n_leaves = f.node_begin[size(tree) + 1] - f.node_begin[size(tree)] + 1;
  if (n_leaves <= kMaxCompactLeaves) return true;
  if (n_leaves > kMaxLargeLeaves) return false;
  const std::vector<std::size_t> below = count_leaves(f, tree);
  return std::count_if(below.begin(), below.end(), [](std::size_t n) {
           return n > static_cast<std::size_t>(kMaxCompactLeaves);
         }) < kMaxCompactLeaves;
}

// Writes nodes, leaves and values of the trees of a block.
class BlockWriter {
 public:
  BlockWriter(const Forest& f, const NodeTests& tests, CompactBlock& block, CompactForest& out)
      : f_(f),
        tests_(tests),
        block_(block),
        out_(out),
        column_of_(f.used_columns.size()),
        categories_of_(f.used_columns.size()) {
    number_places(tests.bounds.places(), column_of_);
    number_places(tests.categories.places(), categories_of_);
  }

  void write(std::int64_t t) {
    CompactTree& tree = out_.trees[size(t)];
    first_ = size(f_.node_begin[size(t)]);
    const std::int64_t n_nodes = f_.node_begin[size(t) + 1] - f_.node_begin[size(t)];
    n_leaves_ = count_leaves(f_, t);
    tree.n_leaves = n_nodes + 1;
    tree.first_piece = static_cast<std::int64_t>(out_.pieces.size());
    tree.first_leaf = static_cast<std::int64_t>(out_.leaf.size());
    tree.first_value = static_cast<std::int64_t>(out_.values.size());
    const std::size_t first_set = out_.sets.size();
    out_.leaf.resize(out_.leaf.size() + size(n_nodes) + 1);
    leaf_ = out_.leaf.data() + tree.first_leaf;
    const std::int32_t root = n_nodes == 0 ? ~0 : 0;
    if (tree.n_leaves <= kMaxCompactLeaves) {
      write_bottom(root, 0);
    } else {
      tree.n_exits = write_large(root);
    }
    tree.has_categories = out_.sets.size() > first_set;
    if (f_.n_values != 1) return;
    const double* const values = f_.leaf_value.data() + f_.leaf_begin[size(t)];
    for (std::int64_t l = 0; l < tree.n_leaves; ++l) out_.values.push_back(values[leaf_[l]]);
    out_.values.resize(size(tree.first_value + std::max<std::int64_t>(tree.n_leaves, 32)));
  }

 private:
  std::size_t leaves_below(std::int32_t child) const { return child < 0 ? 1 : n_leaves_[size(child)]; }

  // Writes the nodes below a root, down to the children for which is_out(child) holds, the exits; count(child) is the
  // number of exits below. Calls on_out(child, number) for each exit, from left to right.
  template <class IsOut, class Count, class OnOut>
  void write_piece(std::int32_t root, std::int64_t first_leaf, const IsOut& is_out, const Count& count,
                   const OnOut& on_out) {
    CompactPiece piece{static_cast<std::int64_t>(out_.nodes.size()), 0, first_leaf};
    std::vector<std::pair<std::int32_t, std::size_t>> open{{root, 0}};  // nodes or ~leaves, and their leftmost exit
    while (!open.empty()) {
      const auto [at, leftmost] = open.back();
      open.pop_back();
      if (is_out(at)) {
        on_out(at, leftmost);
        continue;
      }
      const std::size_t n = first_ + size(at);
      const std::size_t right = leftmost + count(f_.left[n]);
      const bool is_set = asks_categories(f_, n);
      out_.nodes.push_back({is_set ? category_operand_of(n) : operand_of(n),
                            is_set ? set_of(n) : four_times(threshold_of(n)), four_times(leftmost), four_times(right)});
      open.emplace_back(f_.right[n], right);
      open.emplace_back(f_.left[n], leftmost);
    }
    piece.n_nodes = static_cast<std::int64_t>(out_.nodes.size()) - piece.first_node;
    out_.pieces.push_back(piece);
  }

  void write_bottom(std::int32_t root, std::int64_t first_leaf) {
    write_piece(
        root, first_leaf, [](std::int32_t child) { return child < 0; },
        [&](std::int32_t child) { return leaves_below(child); },
        [&](std::int32_t child, std::size_t number) {
          leaf_[first_leaf + static_cast<std::int64_t>(number)] = ~child;
        });
  }

  // Returns how many exits its top has.
  std::int64_t write_large(std::int32_t root) {
    const auto is_out = [&](std::int32_t child) {
      return leaves_below(child) <= static_cast<std::size_t>(kMaxCompactLeaves);
    };
    std::vector<std::size_t> n_out(n_leaves_.size());
    const auto count = [&](std::int32_t child) { return is_out(child) ? 1 : n_out[size(child)]; };
    for (std::size_t n = n_leaves_.size(); n-- > 0;)
      n_out[n] = count(f_.left[first_ + n]) + count(f_.right[first_ + n]);
    std::vector<std::int32_t> exits;
    write_piece(root, 0, is_out, count, [&](std::int32_t child, std::size_t) { exits.push_back(child); });
    std::int64_t first_leaf = 0;
    for (const std::int32_t child : exits) {
      write_bottom(child, first_leaf);
      first_leaf += static_cast<std::int64_t>(leaves_below(child));
    }
    return static_cast<std::int64_t>(exits.size());
  }

  static void number_places(const std::vector<std::size_t>& places, std::vector<std::size_t>& number) {
    for (std::size_t i = 0; i < places.size(); ++i) number[places[i]] = i;
  }
  std::size_t place_of(std::size_t n) const { return static_cast<std::size_t>(f_.nodes[n].place); }

  std::size_t threshold_of(std::size_t n) const {
    const std::vector<double>& bounds = tests_.bounds[place_of(n)];
    const auto found = std::lower_bound(bounds.begin(), bounds.end(), f_.threshold[n]);
    return static_cast<std::size_t>(found - bounds.begin()) + 128;  // minus 128, as operands are
  }
  std::uint32_t operand_of(std::size_t n) {
    return take_operands(block_.columns[column_of_[place_of(n)]].operand[static_cast<std::size_t>(operand_kind(f_, n))],
                         1);
  }
  std::uint32_t category_operand_of(std::size_t n) {
    auto& operands = block_.categories[categories_of_[place_of(n)]].operand;
    return take_operands(operands[static_cast<std::size_t>(f_.missing_kind[n])], 2) | kCategoryOperand;
  }
  std::uint32_t take_operands(std::int32_t& operand, std::int32_t n_operands) {
    if (operand < 0) {
      operand = static_cast<std::int32_t>(block_.n_operands);
      block_.n_operands += n_operands;
    }
    return static_cast<std::uint32_t>(operand);
  }
  // The node's categories go where missing values do not: to the right, or all others do.
  std::uint32_t set_of(std::size_t n) {
    const std::vector<std::int32_t>& known = tests_.categories[place_of(n)];
    CategoryBits set;
    for (std::int64_t c = f_.category_begin[n]; c < f_.category_begin[n + 1]; ++c) {
      const auto found = std::lower_bound(known.begin(), known.end(), f_.category[size(c)]) - known.begin();
      set.byte[found / 8] = static_cast<std::uint8_t>(set.byte[found / 8] | 1 << (found % 8));
    }
    if (f_.default_left[n] == 0) {
      for (std::uint8_t& byte : set.byte) byte = static_cast<std::uint8_t>(~byte);
    }
    out_.sets.push_back(set);
    return static_cast<std::uint32_t>(out_.sets.size() - 1);
  }

  const Forest& f_;
  const NodeTests& tests_;
  CompactBlock& block_;
  CompactForest& out_;
  std::vector<std::size_t> column_of_;      // by place: which of the block's columns
  std::vector<std::size_t> categories_of_;  // likewise
  // The tree that is being written:
  std::size_t first_ = 0;              // its first node
  std::vector<std::size_t> n_leaves_;  // by node: leaves below it
  std::int32_t* leaf_ = nullptr;
};

}  // namespace

OperandKind operand_kind(const Forest& f, std::size_t node) {
  const bool left = f.default_left[node] != 0;
  switch (static_cast<MissingKind>(f.missing_kind[node])) {
    case MissingKind::nan: return left ? OperandKind::nan_left : OperandKind::nan_right;
    case MissingKind::zero: return left ? OperandKind::zero_left : OperandKind::zero_right;
    default: return OperandKind::nan_is_zero;
  }
}

std::uint8_t CompactCategories::number_of(double x, bool nan_is_zero, bool zero_is_missing) const {
  const std::int32_t category = category_of(x, nan_is_zero, zero_is_missing);
  if (numbers.empty()) {
    const auto found = std::lower_bound(categories.begin(), categories.end(), category);
    const bool is_known = found != categories.end() && *found == category;
    return is_known ? static_cast<std::uint8_t>(found - categories.begin()) : 255;
  }
  return category >= 0 && category < static_cast<std::int32_t>(numbers.size()) ? numbers[size(category)] : 255;
}

CompactForest make_compact(const Forest& f) {
  CompactForest compact;
  compact.trees.resize(size(f.n_trees()));
  NodeTests tests(f.used_columns.size());
  for (std::int64_t t = 0; t < f.n_trees(); ++t) {
    CompactTree& tree = compact.trees[size(t)];
    tree.is_compact = is_small_enough(f, t);
    const bool may_be_too_many =
        !f.sets.empty() || f.node_begin[size(t) + 1] - f.node_begin[size(t)] > static_cast<std::int64_t>(kMaxNumbers);
    if (tree.is_compact && may_be_too_many) tree.is_compact = tests.collect(f, compact.trees, t, t + 1);
  }
  std::int64_t n_fitting = f.n_trees();  // in the block before
  for (std::int64_t first = 0, last; first < f.n_trees(); first = last) {
    last = std::min(f.n_trees(), first + 2 * n_fitting);
    while (!tests.collect(f, compact.trees, first, last)) {
      last = first + std::max<std::int64_t>((last - first) * 3 / 4, 1);  // one tree always fits
    }
    n_fitting = last - first;
    compact.blocks.push_back(make_block(f, tests, first, last));
    BlockWriter writer(f, tests, compact.blocks.back(), compact);
    for (std::int64_t t = first; t < last; ++t) {
      if (compact.trees[size(t)].is_compact) writer.write(t);
    }
  }
  return compact;
}

}  // namespace gossamer
