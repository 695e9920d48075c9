#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "core/shap_paths.h"

namespace gossamer {

using namespace shap;

namespace {

// The features on the path to a leaf whose tests a row passes, as bits.
struct Pattern {
  std::uint64_t bits;
  double share;  // share of the background rows
};

struct LeafPatterns {
  std::int32_t leaf;
  std::vector<Part> parts;
  std::vector<Step> steps;
  std::vector<Pattern> background;
  double reach = 0.0;
};

// Bit j of pattern r: row r passes the tests of part j.
void patterns_of(const LeafPatterns& leaf, const std::vector<std::uint64_t>& left, std::int64_t n_rows,
                 std::uint64_t* patterns) {
  std::fill_n(patterns, n_rows, std::uint64_t{0});
  for (std::size_t j = 0; j < leaf.parts.size(); ++j) {
    const std::uint64_t known = known_rows(leaf.steps, leaf.parts[j], left);
    for (std::int64_t r = 0; r < n_rows; ++r) patterns[r] |= (known >> r & 1) << j;
  }
}

std::uint64_t all_parts(std::size_t d) { return d == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << d) - 1; }

// 1 / ((a + b) * binomial(a + b - 1, b)): the share of the orders in which one of `a` features comes after the other
// a - 1 and before all `b`; a > 0.
double order_share(int a, int b) {
  double binomial = 1.0;
  for (int i = 1; i <= b; ++i) binomial = binomial * (a - 1 + i) / i;
  return 1.0 / ((a + b) * binomial);
}

// integral_0^1 t^p (1 - t)^q dt = p! q! / (p + q + 1)!
class Integrals {
 public:
  explicit Integrals(int most) : n_(most + 1), values_(at(std::int64_t{n_} * n_)) {
    for (int p = 0; p < n_; ++p) {
      for (int q = 0; q < n_; ++q) values_[at(p * n_ + q)] = order_share(p + 1, q);
    }
  }
  double operator()(int p, int q) const { return values_[at(p * n_ + q)]; }

 private:
  int n_;
  std::vector<double> values_;
};

// ---- linear leaves ----

// A leaf, a row and a background row that together pass all its tests: parts that only the row passes are in every set
// of known features that reaches the leaf, parts that only the background row passes in none. Parts that both pass are
// free, and change the leaf's value if they have a term and the two values differ.
struct Meeting {
  std::uint64_t gains, loses;
  std::vector<std::size_t> free;  // parts with a term
  std::vector<double> change;     // change of the leaf's value if the part becomes known
  double value;                   // value with no free part known
};

// The bounds of a leaf, and missing values, make its value depend on all free parts at once: every set of them counts.
constexpr std::size_t kMaxFree = 20;

template <class Value>
void add_by_sets(const Meeting& m, const Integrals& integrals, const Value& value, double scale, double* sums) {
  const std::size_t k = m.free.size();
  if (k > kMaxFree) {
    throw std::invalid_argument("a linear leaf has " + std::to_string(k) + " terms that reach its bounds, more than " +
                                std::to_string(kMaxFree));
  }
  const int a = std::popcount(m.gains);
  const int b = std::popcount(m.loses);
  std::vector<double> values(std::size_t{1} << k);
  for (std::size_t set = 0; set < values.size(); ++set) values[set] = value(set);
  double gain = 0.0;
  double loss = 0.0;
  for (std::size_t set = 0; set < values.size(); ++set) {
    const int in = std::popcount(set);
    const int out = static_cast<int>(k) - in;
    if (a > 0) gain += values[set] * integrals(a - 1 + in, b + out);
    if (b > 0) loss += values[set] * integrals(a + in, b - 1 + out);
    for (std::size_t i = 0; i < k; ++i) {
      if (set >> i & 1) continue;
      const double change = values[set | std::size_t{1} << i] - values[set];
      sums[m.free[i]] += scale * change * integrals(a + in, b + out - 1);
    }
  }
  for (std::uint64_t g = m.gains; g != 0; g &= g - 1) sums[std::countr_zero(g)] += scale * gain;
  for (std::uint64_t l = m.loses; l != 0; l &= l - 1) sums[std::countr_zero(l)] -= scale * loss;
}

void add_additive(const Meeting& m, const Integrals& integrals, double scale, double* sums) {
  const int a = std::popcount(m.gains);
  const int b = std::popcount(m.loses);
  double change = 0.0;
  for (const double c : m.change) change += c;
  for (std::uint64_t g = m.gains; g != 0; g &= g - 1) {
    sums[std::countr_zero(g)] += scale * (m.value * integrals(a - 1, b) + change * integrals(a, b));
  }
  for (std::uint64_t l = m.loses; l != 0; l &= l - 1) {
    sums[std::countr_zero(l)] -= scale * (m.value * integrals(a, b - 1) + change * integrals(a + 1, b - 1));
  }
  for (std::size_t i = 0; i < m.free.size(); ++i) sums[m.free[i]] += scale * m.change[i] * integrals(a, b);
}

// The position of a row in a tile.
struct RowOf {
  const Tile& tile;
  std::int64_t row;
  double operator[](std::int32_t place) const { return tile.value[at(place) * kShapRows + at(row)]; }
};

// Adds the values of one leaf for a row against one background row to `sums`, by part.
void add_linear_meeting(const Forest& forest, const LeafPatterns& leaf, std::size_t place, std::uint64_t own_bits,
                        std::uint64_t other_bits, const RowOf& own, const RowOf& other, const Integrals& integrals,
                        double scale, Meeting& m, double* sums) {
  const LinearLeaves& linear = forest.linear;
  m.gains = own_bits & ~other_bits;
  m.loses = other_bits & ~own_bits;
  m.free.clear();
  m.change.clear();
  m.value = linear.constant[place];
  double lowest = 0.0;
  double highest = 0.0;
  for (auto t = at(linear.begin[place]); t < at(linear.begin[place + 1]); ++t) {
    std::size_t j = 0;
    while (leaf.parts[j].column != linear.column[t]) ++j;
    const std::int32_t p = leaf.parts[j].place;
    const auto term = [&](double x) { return linear.coefficient[t] * (x - linear.centre[t]); };
    const bool is_free = (own_bits & other_bits) >> j & 1;
    m.value += term(is_free || (m.loses >> j & 1) ? other[p] : own[p]);
    if (!is_free) continue;
    const double change = linear.coefficient[t] * (own[p] - other[p]);
    if (change == 0.0) continue;
    m.free.push_back(j);
    m.change.push_back(change);
    lowest += std::min(change, 0.0);
    highest += std::max(change, 0.0);
  }
  // False for NaN, too.
  if (m.value + lowest >= linear.low[place] && m.value + highest <= linear.high[place]) {
    add_additive(m, integrals, scale, sums);
    return;
  }
  const auto value = [&](std::size_t set) {
    std::uint64_t known = m.gains;
    for (std::size_t i = 0; i < m.free.size(); ++i) known |= (set >> i & 1) << m.free[i];
    const auto read = [&](std::int32_t column) {
      std::size_t j = 0;
      while (leaf.parts[j].column != column) ++j;
      return known >> j & 1 ? own[leaf.parts[j].place] : other[leaf.parts[j].place];
    };
    return linear.value(place, forest.leaf_value[place], read);
  };
  add_by_sets(m, integrals, value, scale, sums);
}

// Handles every row with every background row: the values of linear leaves differ from pair to pair.
void add_linear_tree(Team& team, const Forest& forest, std::int64_t tree, const std::vector<Tile>& background,
                     std::int64_t n_background, const MatrixView& matrix, const Integrals& integrals,
                     const ShapOutput& output) {
  std::vector<LeafPatterns> leaves;
  for_paths(forest, nullptr, tree,
            [&](std::int32_t leaf, const Path& path) { leaves.push_back({leaf, path.parts, path.steps, {}}); });
  const auto n_leaves = static_cast<std::int64_t>(leaves.size());
  std::vector<std::uint64_t> others(at(n_leaves * n_background));  // patterns, leaf after leaf
  const auto n_tiles = static_cast<std::int64_t>(background.size());
  team.for_each(n_tiles, [&](std::int64_t i, int) {
    std::vector<std::uint64_t> left;
    answer(forest, tree, background[at(i)], left);
    for (std::int64_t l = 0; l < n_leaves; ++l) {
      patterns_of(leaves[at(l)], left, background[at(i)].n_rows, others.data() + l * n_background + i * kShapRows);
    }
  });
  const std::int64_t n_used = static_cast<std::int64_t>(forest.used_columns.size());
  const std::int64_t width = (output.compact ? n_used : forest.n_columns) + 1;
  const double one = 1.0 / static_cast<double>(n_background);
  for_blocks(team, matrix.n_rows, kShapRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    Tile tile;
    std::vector<std::uint64_t> left;
    std::uint64_t patterns[kShapRows];
    std::vector<double> sums;
    Meeting meeting;
    read_tile(forest, matrix, begin, end, tile);
    answer(forest, tree, tile, left);
    for (std::int64_t l = 0; l < n_leaves; ++l) {
      const LeafPatterns& leaf = leaves[at(l)];
      const std::uint64_t all = all_parts(leaf.parts.size());
      const auto place = at(forest.leaf_begin[at(tree)] + leaf.leaf);
      patterns_of(leaf, left, tile.n_rows, patterns);
      double expected = 0.0;
      for (std::int64_t b = 0; b < n_background; ++b) {
        if (others[at(l * n_background + b)] != all) continue;
        const RowOf other{background[at(b / kShapRows)], b % kShapRows};
        const auto read = [&](std::int32_t column) { return other[forest.place_of[at(column)]]; };
        expected += one * forest.linear.value(place, forest.leaf_value[place], read);
      }
      for (std::int64_t r = 0; r < tile.n_rows; ++r) {
        sums.assign(leaf.parts.size(), 0.0);
        const RowOf own{tile, r};
        for (std::int64_t b = 0; b < n_background; ++b) {
          const std::uint64_t bits = others[at(l * n_background + b)];
          if ((patterns[r] | bits) != all) continue;
          const RowOf other{background[at(b / kShapRows)], b % kShapRows};
          add_linear_meeting(forest, leaf, place, patterns[r], bits, own, other, integrals, one, meeting, sums.data());
        }
        double* const to = output.out + ((begin + r) * forest.n_outputs + tree % forest.n_outputs) * width;
        for (std::size_t j = 0; j < leaf.parts.size(); ++j) {
          to[output.compact ? leaf.parts[j].place : leaf.parts[j].column] += sums[j];
        }
        to[width - 1] += expected;
      }
    }
  });
}

void add_linear_values_of(Team& team, const Forest& forest, const MatrixView& background, const MatrixView& matrix,
                          std::int64_t first_tree, std::int64_t last_tree, int most_parts, const ShapOutput& output) {
  std::vector<Tile> tiles;
  for (std::int64_t row = 0; row < background.n_rows; row += kShapRows) {
    read_tile(forest, background, row, std::min(row + kShapRows, background.n_rows), tiles.emplace_back());
  }
  const Integrals integrals(most_parts);
  for (std::int64_t t = first_tree; t < last_tree; ++t) {
    add_linear_tree(team, forest, t, tiles, background.n_rows, matrix, integrals, output);
  }
}

// How the background rows fall on the paths of a tree: equal patterns are counted together.
std::vector<LeafPatterns> background_patterns(const Forest& forest, std::int64_t tree, const MatrixView& background) {
  const double one = 1.0 / static_cast<double>(background.n_rows);
  std::vector<LeafPatterns> leaves;
  for_paths(forest, nullptr, tree,
            [&](std::int32_t leaf, const Path& path) { leaves.push_back({leaf, path.parts, path.steps, {}}); });
  Tile tile;
  std::vector<std::uint64_t> left;
  std::uint64_t patterns[kShapRows];
  for (std::int64_t row = 0; row < background.n_rows; row += kShapRows) {
    read_tile(forest, background, row, std::min(row + kShapRows, background.n_rows), tile);
    answer(forest, tree, tile, left);
    for (LeafPatterns& leaf : leaves) {
      patterns_of(leaf, left, tile.n_rows, patterns);
      for (std::int64_t r = 0; r < tile.n_rows; ++r) leaf.background.push_back({patterns[r], one});
    }
  }
  for (LeafPatterns& leaf : leaves) {
    std::sort(leaf.background.begin(), leaf.background.end(),
              [](const Pattern& a, const Pattern& b) { return a.bits < b.bits; });
    std::vector<Pattern> distinct;
    for (const Pattern& pattern : leaf.background) {
      if (!distinct.empty() && distinct.back().bits == pattern.bits) {
        distinct.back().share += pattern.share;
      } else {
        distinct.push_back(pattern);
      }
    }
    if (distinct.back().bits == all_parts(leaf.parts.size())) leaf.reach = distinct.back().share;
    leaf.background = std::move(distinct);
  }
  return leaves;
}

// order_share(a, b) for all a and b that a path can have.
class Shares {
 public:
  explicit Shares(int n_most) : n_(n_most + 1), shares_(at(n_ * n_)) {
    for (int a = 1; a <= n_most; ++a) {
      for (int b = 0; a + b <= n_most; ++b) shares_[at(a * n_ + b)] = order_share(a, b);
    }
  }
  double operator()(int a, int b) const { return shares_[at(a * n_ + b)]; }

 private:
  int n_;
  std::vector<double> shares_;
};

// What each part of a leaf's path adds for a row with the pattern `own`, for a leaf value of 1.
void sum_over_background(const LeafPatterns& leaf, std::uint64_t own, const Shares& shares, std::vector<double>& sums) {
  const std::uint64_t all = all_parts(leaf.parts.size());
  sums.assign(leaf.parts.size(), 0.0);
  for (const Pattern& other : leaf.background) {
    if ((own | other.bits) != all) continue;
    std::uint64_t gains = own & ~other.bits;
    std::uint64_t loses = other.bits & ~own;
    const int a = std::popcount(gains);
    const int b = std::popcount(loses);
    for (; gains != 0; gains &= gains - 1) sums[at(std::countr_zero(gains))] += other.share * shares(a, b);
    for (; loses != 0; loses &= loses - 1) sums[at(std::countr_zero(loses))] -= other.share * shares(b, a);
  }
}

void add_leaf_sums(const Forest& forest, std::int64_t tree, const LeafPatterns& leaf, const std::vector<double>& sums,
                   std::int64_t row, const ShapOutput& output) {
  const auto n_used = static_cast<std::int64_t>(forest.used_columns.size());
  const std::int64_t width = (output.compact ? n_used : forest.n_columns) + 1;
  const auto place = at(forest.leaf_begin[at(tree)] + leaf.leaf);
  for (std::int64_t k = 0; k < forest.n_values; ++k) {
    const double value = forest.leaf_value[place * at(forest.n_values) + at(k)];
    const std::int64_t to_output = forest.n_values == 1 ? tree % forest.n_outputs : k;
    double* const to = output.out + (row * forest.n_outputs + to_output) * width;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      to[output.compact ? leaf.parts[j].place : leaf.parts[j].column] += value * sums[j];
    }
    to[width - 1] += value * leaf.reach;
  }
}

}  // namespace

void add_shap_values_of(Team& team, const Forest& forest, const MatrixView& background, const MatrixView& matrix,
                        std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output) {
  if (background.n_rows < 1) throw std::invalid_argument("there is no background row");
  const std::int64_t most_parts = count_parts(forest, first_tree, last_tree);
  if (most_parts > 64) throw std::invalid_argument("the path to a leaf tests more than 64 columns");
  const auto n_most = static_cast<int>(most_parts);
  if (!forest.linear.empty()) {
    add_linear_values_of(team, forest, background, matrix, first_tree, last_tree, n_most, output);
    return;
  }
  const Shares shares(n_most);
  std::vector<std::vector<LeafPatterns>> trees(at(last_tree - first_tree));
  team.for_each(last_tree - first_tree,
                [&](std::int64_t i, int) { trees[at(i)] = background_patterns(forest, first_tree + i, background); });
  for_blocks(team, matrix.n_rows, kShapRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    Tile tile;
    std::vector<std::uint64_t> left;
    std::uint64_t patterns[kShapRows];
    std::vector<double> sums;
    read_tile(forest, matrix, begin, end, tile);
    for (std::int64_t tree = first_tree; tree < last_tree; ++tree) {
      answer(forest, tree, tile, left);
      for (const LeafPatterns& leaf : trees[at(tree - first_tree)]) {
        patterns_of(leaf, left, tile.n_rows, patterns);
        std::uint64_t done = 0;  // rows
        for (std::int64_t r = 0; r < tile.n_rows; ++r) {
          if (done >> r & 1) continue;
          sum_over_background(leaf, patterns[r], shares, sums);
          for (std::int64_t s = r; s < tile.n_rows; ++s) {  // all rows of the same pattern
            if (patterns[s] != patterns[r]) continue;
            done |= std::uint64_t{1} << s;
            add_leaf_sums(forest, tree, leaf, sums, begin + s, output);
          }
        }
      }
    }
  });
}

}  // namespace gossamer
