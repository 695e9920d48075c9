#include "core/shap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "core/shap_paths.h"

namespace gossamer {

using namespace shap;

namespace {

constexpr std::int64_t kBlockRows = 8 * kShapRows;
constexpr std::int64_t kMaxTableBytes = std::int64_t{1} << 25;  // tables of trees that are handled together

// ---- quadrature ----

struct Quadrature {
  std::vector<double> point;  // on (0, 1)
  std::vector<double> weight;
};

// Gauss-Legendre: roots of the Legendre polynomial by Newton's method.
Quadrature gauss_legendre(int n) {
  Quadrature found{std::vector<double>(at(n)), std::vector<double>(at(n))};
  for (int i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5));
    double slope = 1.0;
    for (int step = 0; step < 100; ++step) {
      double value = 1.0;
      double before = 0.0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1.0);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-16) break;
    }
    found.point[at(i)] = 0.5 * (1.0 - x);
    found.weight[at(i)] = 1.0 / ((1.0 - x * x) * slope * slope);
  }
  return found;
}

// ---- tables ----

// The tables of a leaf. For each part: the factors for 0 and for 1 at every point, then weight * derivative / factor
// for 0 and for 1.
struct LeafTables {
  std::int32_t leaf;
  std::int32_t n_points;
  std::vector<Part> parts;
  std::vector<std::int32_t> places;
  std::vector<Step> steps;
  std::vector<double> tables;
  double reach = 1.0;  // share of the training rows
};

struct TreeTables {
  std::int64_t tree;
  std::vector<LeafTables> leaves;
};

class Quadratures {
 public:
  explicit Quadratures(std::int64_t most) {
    for (std::int64_t n = 0; n <= most; ++n) all_.push_back(n > 0 ? gauss_legendre(static_cast<int>(n)) : Quadrature{});
  }
  const Quadrature& operator[](std::int64_t n) const { return all_[at(n)]; }
  std::int64_t most() const { return static_cast<std::int64_t>(all_.size()) - 1; }

 private:
  std::vector<Quadrature> all_;
};

LeafTables make_tables(std::int32_t leaf, const Path& path, const Quadratures& quadratures) {
  LeafTables found;
  found.leaf = leaf;
  found.parts = path.parts;
  found.steps = path.steps;
  const auto d = static_cast<std::int64_t>(path.parts.size());
  found.n_points = static_cast<std::int32_t>((d + 1) / 2);
  const Quadrature& quadrature = quadratures[found.n_points];
  const auto n = at(found.n_points);
  found.tables.resize(at(d) * 4 * n);
  for (std::size_t j = 0; j < path.parts.size(); ++j) {
    const double share = path.parts[j].share;
    found.places.push_back(path.parts[j].place);
    found.reach *= share;
    double* const table = found.tables.data() + j * 4 * n;
    for (std::size_t q = 0; q < n; ++q) {
      const double t = quadrature.point[q];
      const double weight = quadrature.weight[q];
      const double unknown = (1.0 - t) * share;
      const double known = t + (1.0 - t) * share;
      table[q] = unknown;
      table[n + q] = known;
      // Without training rows on the path the product is 0 wherever a test is not passed.
      table[2 * n + q] = unknown > 0.0 ? weight * -share / unknown : 0.0;
      table[3 * n + q] = weight * (1.0 - share) / known;
    }
  }
  return found;
}

// ---- linear leaves ----

// A leaf whose value depends on the row: constant + the terms of the known columns. An unknown column is at its centre,
// where its term is 0. The effect of the bounds is taken from all columns alike; the effect of missing values is shared
// by the columns that are missing.
struct LinearParts {
  double constant;
  std::vector<double> add;  // by part
};

LinearParts linear_parts(const Forest& forest, std::size_t leaf, const std::vector<Part>& parts, const Tile& tile,
                         std::int64_t row) {
  const LinearLeaves& linear = forest.linear;
  const auto read = [&](std::int32_t column) {
    return tile.value[at(forest.place_of[at(column)]) * kShapRows + at(row)];
  };
  LinearParts found{linear.constant[leaf], std::vector<double>(parts.size(), 0.0)};
  const double value = linear.value(leaf, forest.leaf_value[leaf], read);
  std::vector<std::size_t> own;   // parts that have a term
  std::vector<std::size_t> lost;  // parts whose value is missing
  double whole = found.constant;
  for (auto t = at(linear.begin[leaf]); t < at(linear.begin[leaf + 1]); ++t) {
    const double add = linear.coefficient[t] * (read(linear.column[t]) - linear.centre[t]);
    whole += add;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (parts[j].column != linear.column[t]) continue;
      found.add[j] = add;
      own.push_back(j);
      if (!std::isfinite(add)) lost.push_back(j);
    }
  }
  if (whole == value) return found;
  if (!std::isfinite(whole)) {
    std::fill(found.add.begin(), found.add.end(), 0.0);
    whole = found.constant;
  } else if (const double scale = (value - found.constant) / (whole - found.constant); scale >= 0.0 && scale <= 1.0) {
    for (double& add : found.add) add *= scale;
    return found;
  }
  const std::vector<std::size_t>& to = lost.empty() ? own : lost;
  for (const std::size_t j : to) found.add[j] += (value - whole) / static_cast<double>(to.size());
  return found;
}

// One row at a time: the term of column k counts only if k is known.
void add_linear_leaf(const Forest& forest, const LeafTables& leaf, std::size_t place, const std::uint64_t* known,
                     const Quadrature& quadrature, const Tile& tile, double* acc) {
  const std::size_t d = leaf.parts.size();
  for (std::int64_t r = 0; r < tile.n_rows; ++r) {
    const LinearParts linear = linear_parts(forest, place, leaf.parts, tile, r);
    for (std::size_t q = 0; q < quadrature.point.size(); ++q) {
      const double t = quadrature.point[q];
      double product = 1.0;
      std::vector<double> factor(d);
      double terms = linear.constant;
      for (std::size_t j = 0; j < d; ++j) {
        const double o = known[j] >> r & 1 ? 1.0 : 0.0;
        factor[j] = t * o + (1.0 - t) * leaf.parts[j].share;
        product *= factor[j];
        if (factor[j] > 0.0) terms += t * o * linear.add[j] / factor[j];
      }
      for (std::size_t j = 0; j < d; ++j) {
        if (!(factor[j] > 0.0)) continue;
        const double o = known[j] >> r & 1 ? 1.0 : 0.0;
        const double others = terms - t * o * linear.add[j] / factor[j];
        const double slope = (o - leaf.parts[j].share) * others + o * linear.add[j];
        acc[at(leaf.parts[j].place) * kShapRows + at(r)] += quadrature.weight[q] * product / factor[j] * slope;
      }
    }
  }
}

// The same for pairs, as kernels' add_shap_pairs does for plain leaves of value 1: sums[(i * d + j) * kShapRows + row]
// is the interaction of parts i < j, and with i = j the Shapley value.
void add_linear_pairs(const Forest& forest, const LeafTables& leaf, std::size_t place, const std::uint64_t* known,
                      const Quadrature& quadrature, const Tile& tile, double* sums) {
  const std::size_t d = leaf.parts.size();
  std::vector<double> factor(d);
  std::vector<double> slope(d);  // derivative of the factor
  std::vector<double> term(d);   // the part's term of the leaf's value, over the factor
  for (std::int64_t r = 0; r < tile.n_rows; ++r) {
    const LinearParts linear = linear_parts(forest, place, leaf.parts, tile, r);
    const auto is_known = [&](std::size_t j) { return known[j] >> r & 1; };
    for (std::size_t q = 0; q < quadrature.point.size(); ++q) {
      const double t = quadrature.point[q];
      double product = 1.0;
      double terms = linear.constant;
      for (std::size_t j = 0; j < d; ++j) {
        const double share = leaf.parts[j].share;
        factor[j] = (is_known(j) ? t : 0.0) + (1.0 - t) * share;
        slope[j] = (is_known(j) ? 1.0 : 0.0) - share;
        term[j] = is_known(j) ? t * linear.add[j] / factor[j] : 0.0;
        product *= factor[j];
        terms += term[j];
      }
      if (!(product > 0.0)) continue;  // no row passes some test: every derivative is 0
      for (std::size_t i = 0; i < d; ++i) {
        const double add_i = is_known(i) ? linear.add[i] : 0.0;
        const double weight = quadrature.weight[q] * product / factor[i];
        sums[(i * d + i) * kShapRows + at(r)] += weight * (slope[i] * (terms - term[i]) + add_i);
        for (std::size_t j = i + 1; j < d; ++j) {
          const double add_j = is_known(j) ? linear.add[j] : 0.0;
          const double both = slope[i] * slope[j] * (terms - term[i] - term[j]) + add_i * slope[j] + add_j * slope[i];
          sums[(i * d + j) * kShapRows + at(r)] += weight / factor[j] * both;
        }
      }
    }
  }
}

// ---- all rows ----

std::vector<TreeTables> tables_of(Team& team, const Forest& forest, const Covers& covers,
                                  const Quadratures& quadratures, std::int64_t first_tree, std::int64_t last_tree) {
  std::vector<TreeTables> trees(at(last_tree - first_tree));
  team.for_each(last_tree - first_tree, [&](std::int64_t i, int) {
    trees[at(i)].tree = first_tree + i;
    for_paths(forest, &covers, first_tree + i, [&](std::int32_t leaf, const Path& path) {
      trees[at(i)].leaves.push_back(make_tables(leaf, path, quadratures));
    });
  });
  return trees;
}

// Trees whose tables fit together into a few megabytes.
std::int64_t trees_together(const Forest& forest, std::int64_t first, std::int64_t last, std::int64_t most_parts) {
  std::int64_t bytes = 0;
  std::int64_t t = first;
  for (; t < last && (t == first || bytes < kMaxTableBytes); ++t) {
    const std::int64_t n_leaves = forest.leaf_begin[at(t) + 1] - forest.leaf_begin[at(t)];
    const std::int64_t depth = std::min<std::int64_t>(most_parts, 2 + 2 * std::bit_width(at(n_leaves)));
    bytes += n_leaves * depth * (depth + 1) * 16;
  }
  return t;
}

void check_covers(const Forest& forest, const Covers& covers) {
  if (covers.node.size() != forest.left.size() ||
      covers.leaf.size() * at(forest.n_values) != forest.leaf_value.size()) {
    throw std::invalid_argument("rows of nodes and leaves do not fit the trees");
  }
}

std::int64_t checked_points(std::int64_t most_parts) {
  const std::int64_t n_points = (most_parts + 1) / 2;
  if (n_points > kMaxShapPoints) {
    throw std::invalid_argument("the path to a leaf tests " + std::to_string(most_parts) + " columns, more than " +
                                std::to_string(2 * kMaxShapPoints));
  }
  return n_points;
}

// The expected value over all rows, by output.
std::vector<double> expected_values(const Forest& forest, const std::vector<TreeTables>& trees) {
  std::vector<double> expected(at(forest.n_outputs), 0.0);
  for (const TreeTables& tree : trees) {
    for (const LeafTables& leaf : tree.leaves) {
      const auto place = at(forest.leaf_begin[at(tree.tree)] + leaf.leaf);
      for (std::int64_t k = 0; k < forest.n_values; ++k) {
        double value = forest.leaf_value[place * at(forest.n_values) + at(k)];
        if (!forest.linear.empty()) value = forest.linear.constant[place];
        expected[at(forest.n_values == 1 ? tree.tree % forest.n_outputs : k)] += leaf.reach * value;
      }
    }
  }
  return expected;
}

template <class View>
void add_values(Team& team, const Forest& forest, const Covers& covers, const View& matrix, std::int64_t first_tree,
                std::int64_t last_tree, const ShapOutput& output) {
  check_covers(forest, covers);
  const std::int64_t most_parts = count_parts(forest, first_tree, last_tree);
  const Quadratures quadratures(checked_points(most_parts));
  const auto n_used = static_cast<std::int64_t>(forest.used_columns.size());
  const std::int64_t width = (output.compact ? n_used : forest.n_columns) + 1;
  const std::int64_t n_outputs = forest.n_outputs;
  for (std::int64_t first = first_tree; first < last_tree;) {
    const std::int64_t last = trees_together(forest, first, last_tree, most_parts);
    const std::vector<TreeTables> trees = tables_of(team, forest, covers, quadratures, first, last);
    const std::vector<double> expected = expected_values(forest, trees);
    for_blocks(team, matrix.n_rows, kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      Tile tile;
      std::vector<std::uint64_t> left;
      std::vector<std::uint64_t> known;
      std::vector<double> acc;
      std::vector<double*> outs;
      for (std::int64_t row = begin; row < end; row += kShapRows) {
        read_tile(forest, matrix, row, std::min(row + kShapRows, end), tile);
        acc.assign(at(n_outputs * n_used * kShapRows), 0.0);
        for (const TreeTables& tree : trees) {
          answer(forest, tree.tree, tile, left);
          for (const LeafTables& leaf : tree.leaves) {
            const auto place = at(forest.leaf_begin[at(tree.tree)] + leaf.leaf);
            known.resize(leaf.parts.size());
            for (std::size_t j = 0; j < known.size(); ++j) known[j] = known_rows(leaf.steps, leaf.parts[j], left);
            outs.clear();
            for (std::int64_t k = 0; k < forest.n_values; ++k) {
              const std::int64_t to = forest.n_values == 1 ? tree.tree % n_outputs : k;
              outs.push_back(acc.data() + to * n_used * kShapRows);
            }
            if (!forest.linear.empty() && forest.linear.is_linear(place)) {
              add_linear_leaf(forest, leaf, place, known.data(), quadratures[leaf.n_points], tile, outs[0]);
              continue;
            }
            ShapLeafArgs args;
            args.n_parts = static_cast<int>(leaf.parts.size());
            args.n_points = leaf.n_points;
            args.n_blocks = static_cast<int>((tile.n_rows + 7) / 8);
            args.known = known.data();
            args.tables = leaf.tables.data();
            args.place = leaf.places.data();
            args.n_values = static_cast<int>(forest.n_values);
            args.values = forest.leaf_value.data() + place * at(forest.n_values);
            args.out = outs.data();
            kernels().add_shap_leaf(args);
          }
        }
        for (std::int64_t r = 0; r < tile.n_rows; ++r) {
          for (std::int64_t k = 0; k < n_outputs; ++k) {
            double* const to = output.out + ((row + r) * n_outputs + k) * width;
            const double* const from = acc.data() + k * n_used * kShapRows + r;
            for (std::int64_t p = 0; p < n_used; ++p) {
              to[output.compact ? p : forest.used_columns[at(p)]] += from[p * kShapRows];
            }
            to[width - 1] += expected[at(k)];
          }
        }
      }
    });
    first = last;
  }
}

}  // namespace

void add_shap_values(Team& team, const Forest& forest, const Covers& covers, const MatrixView& matrix,
                     std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output) {
  add_values(team, forest, covers, matrix, first_tree, last_tree, output);
}

void add_shap_values(Team& team, const Forest& forest, const Covers& covers, const SparseView& matrix,
                     std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output) {
  add_values(team, forest, covers, matrix, first_tree, last_tree, output);
}

// ---- interactions ----

void add_shap_interactions(Team& team, const Forest& forest, const Covers& covers, const MatrixView& matrix,
                           std::int64_t first_tree, std::int64_t last_tree, double* out) {
  check_covers(forest, covers);
  const std::int64_t most_parts = count_parts(forest, first_tree, last_tree);
  const Quadratures quadratures(checked_points(most_parts));
  const std::int64_t width = forest.n_columns + 1;
  const std::int64_t n_outputs = forest.n_outputs;
  for (std::int64_t first = first_tree; first < last_tree;) {
    const std::int64_t last = trees_together(forest, first, last_tree, most_parts);
    const std::vector<TreeTables> trees = tables_of(team, forest, covers, quadratures, first, last);
    for_blocks(team, matrix.n_rows, kShapRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      Tile tile;
      std::vector<std::uint64_t> left;
      std::vector<std::uint64_t> known;
      std::vector<double> sums;
      read_tile(forest, matrix, begin, end, tile);
      for (const TreeTables& tree : trees) {
        answer(forest, tree.tree, tile, left);
        for (const LeafTables& leaf : tree.leaves) {
          const std::size_t d = leaf.parts.size();
          known.resize(d);
          for (std::size_t j = 0; j < d; ++j) known[j] = known_rows(leaf.steps, leaf.parts[j], left);
          sums.assign(d * d * kShapRows, 0.0);
          ShapPairArgs args;
          args.n_parts = static_cast<int>(d);
          args.n_points = leaf.n_points;
          args.n_blocks = static_cast<int>((tile.n_rows + 7) / 8);
          args.known = known.data();
          args.tables = leaf.tables.data();
          args.weight = quadratures[leaf.n_points].weight.data();
          args.out = sums.data();
          const auto place = at(forest.leaf_begin[at(tree.tree)] + leaf.leaf);
          const bool is_linear = !forest.linear.empty() && forest.linear.is_linear(place);
          if (is_linear) {
            add_linear_pairs(forest, leaf, place, known.data(), quadratures[leaf.n_points], tile, sums.data());
          } else if (d > 0) {
            kernels().add_shap_pairs(args);
          }
          for (std::int64_t k = 0; k < forest.n_values; ++k) {
            const double plain = forest.leaf_value[place * at(forest.n_values) + at(k)];
            const double value = is_linear ? 1.0 : plain;
            const double expected = leaf.reach * (is_linear ? forest.linear.constant[place] : plain);
            const std::int64_t to = forest.n_values == 1 ? tree.tree % n_outputs : k;
            for (std::int64_t r = 0; r < tile.n_rows; ++r) {
              double* const own = out + ((begin + r) * n_outputs + to) * width * width;
              own[width * width - 1] += expected;
              for (std::size_t i = 0; i < d; ++i) {
                double* const line = own + leaf.parts[i].column * width;
                double rest = sums[(i * d + i) * kShapRows + at(r)];
                for (std::size_t j = 0; j < d; ++j) {
                  if (i == j) continue;
                  const double half = 0.5 * sums[(std::min(i, j) * d + std::max(i, j)) * kShapRows + at(r)];
                  line[leaf.parts[j].column] += value * half;
                  rest -= half;
                }
                line[leaf.parts[i].column] += value * rest;
              }
            }
          }
        }
      }
    });
    first = last;
  }
}

}  // namespace gossamer
