#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/shap_ways.h"

namespace gossamer {

using namespace shap;

namespace {

// Which features of the way to a leaf a row answers, as bits.
struct Pattern {
  std::uint64_t bits;
  double share;  // of the background rows
};

struct LeafPatterns {
  std::int32_t leaf;
  std::vector<Part> parts;
  std::vector<Step> steps;
  std::vector<Pattern> background;
  double reach = 0.0;
};

// Bit j of pattern r: row r gives the answers of part j.
void patterns_of(const LeafPatterns& leaf, const std::vector<std::uint64_t>& left, std::int64_t n_rows,
                 std::uint64_t* patterns) {
  std::fill_n(patterns, n_rows, std::uint64_t{0});
  for (std::size_t j = 0; j < leaf.parts.size(); ++j) {
    const std::uint64_t known = known_rows(leaf.steps, leaf.parts[j], left);
    for (std::int64_t r = 0; r < n_rows; ++r) patterns[r] |= (known >> r & 1) << j;
  }
}

// 1 / ((a + b) * binomial(a + b - 1, b)): the share of the orders in which one of `a` features comes after the other
// a - 1 and before all `b`; a > 0.
double order_share(int a, int b) {
  double binomial = 1.0;
  for (int i = 1; i <= b; ++i) binomial = binomial * (a - 1 + i) / i;
  return 1.0 / ((a + b) * binomial);
}

}  // namespace

void add_shap_values_of(Team& team, const Forest& forest, const MatrixView& background, const MatrixView& matrix,
                        std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output) {
  if (!forest.linear.empty()) throw std::invalid_argument("linear leaves have no values against background data");
  if (background.n_rows < 1) throw std::invalid_argument("there is no background row");
  const std::int64_t most_parts = count_parts(forest, first_tree, last_tree);
  if (most_parts > 64) throw std::invalid_argument("the way to a leaf asks about more than 64 columns");
  const auto n_most = static_cast<int>(most_parts);
  std::vector<double> shares(at((n_most + 1) * (n_most + 1)));
  const auto share_at = [&](int a, int b) -> double& { return shares[at(a * (n_most + 1) + b)]; };
  for (int a = 1; a <= n_most; ++a) {
    for (int b = 0; a + b <= n_most; ++b) share_at(a, b) = order_share(a, b);
  }
  const auto n_used = static_cast<std::int64_t>(forest.used_columns.size());
  const std::int64_t width = (output.compact ? n_used : forest.n_columns) + 1;
  const std::int64_t n_outputs = forest.n_outputs;
  const double one = 1.0 / static_cast<double>(background.n_rows);

  std::vector<std::vector<LeafPatterns>> trees(at(last_tree - first_tree));
  team.for_each(last_tree - first_tree, [&](std::int64_t i, int) {
    std::vector<LeafPatterns>& leaves = trees[at(i)];
    for_ways(forest, nullptr, first_tree + i,
             [&](std::int32_t leaf, const Way& way) { leaves.push_back({leaf, way.parts, way.steps, {}}); });
    Tile tile;
    std::vector<std::uint64_t> left;
    std::uint64_t patterns[kShapRows];
    for (std::int64_t row = 0; row < background.n_rows; row += kShapRows) {
      read_tile(forest, background, row, std::min(row + kShapRows, background.n_rows), tile);
      answer(forest, first_tree + i, tile, left);
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
      const std::size_t d = leaf.parts.size();
      const std::uint64_t all = d == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << d) - 1;
      if (distinct.back().bits == all) leaf.reach = distinct.back().share;
      leaf.background = std::move(distinct);
    }
  });

  for_blocks(team, matrix.n_rows, kShapRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    Tile tile;
    std::vector<std::uint64_t> left;
    std::uint64_t patterns[kShapRows];
    std::vector<double> sums;
    read_tile(forest, matrix, begin, end, tile);
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const std::int64_t tree = first_tree + static_cast<std::int64_t>(t);
      answer(forest, tree, tile, left);
      for (const LeafPatterns& leaf : trees[t]) {
        const std::size_t d = leaf.parts.size();
        const std::uint64_t all = d == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << d) - 1;
        patterns_of(leaf, left, tile.n_rows, patterns);
        const auto place = at(forest.leaf_begin[at(tree)] + leaf.leaf);
        std::uint64_t done = 0;  // rows
        for (std::int64_t r = 0; r < tile.n_rows; ++r) {
          if (done >> r & 1) continue;
          const std::uint64_t own = patterns[r];
          sums.assign(d, 0.0);
          for (const Pattern& other : leaf.background) {
            if ((own | other.bits) != all) continue;
            std::uint64_t gains = own & ~other.bits;
            std::uint64_t loses = other.bits & ~own;
            const int a = std::popcount(gains);
            const int b = std::popcount(loses);
            for (; gains != 0; gains &= gains - 1) sums[at(std::countr_zero(gains))] += other.share * share_at(a, b);
            for (; loses != 0; loses &= loses - 1) sums[at(std::countr_zero(loses))] -= other.share * share_at(b, a);
          }
          for (std::int64_t s = r; s < tile.n_rows; ++s) {  // all rows of the same pattern
            if (patterns[s] != own) continue;
            done |= std::uint64_t{1} << s;
            for (std::int64_t k = 0; k < forest.n_values; ++k) {
              const double value = forest.leaf_value[place * at(forest.n_values) + at(k)];
              const std::int64_t to_output = forest.n_values == 1 ? tree % n_outputs : k;
              double* const to = output.out + ((begin + s) * n_outputs + to_output) * width;
              for (std::size_t j = 0; j < d; ++j) {
                to[output.compact ? leaf.parts[j].place : leaf.parts[j].column] += value * sums[j];
              }
              to[width - 1] += value * leaf.reach;
            }
          }
        }
      }
    }
  });
}

}  // namespace gossamer
