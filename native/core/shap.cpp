#include "core/shap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "core/walk.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlockRows = 8 * kShapRows;
constexpr std::int64_t kMaxTableBytes = std::int64_t{1} << 25;  // of trees that are worked on together

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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

// ---- ways to leaves ----

// A step on the way to a leaf: the node, and whether the way goes left.
struct Step {
  std::int32_t node;
  bool left;
};

// One feature of the way to a leaf: its steps are steps[first_step, last_step).
struct Part {
  std::int32_t column;
  std::int32_t place;  // among used_columns
  double share;        // of the training rows that give these answers
  std::int32_t first_step, last_step;
};

struct Way {
  std::vector<Part> parts;
  std::vector<Step> steps;
};

// Calls visit(leaf, way) for every leaf of a tree.
template <class Visit>
void for_ways(const Forest& f, const Covers* covers, std::int64_t tree, const Visit& visit) {
  const std::int64_t first_node = f.node_begin[at(tree)];
  const std::int64_t first_leaf = f.leaf_begin[at(tree)];
  struct Stop {
    std::int32_t node;  // or ~leaf
    std::size_t depth;
    Step step;
    double share;
  };
  const auto n_rows = [&](std::int32_t child) {
    return static_cast<double>(child >= 0 ? covers->node[at(first_node + child)]
                                          : covers->leaf[at(first_leaf + ~child)]);
  };
  std::vector<Stop> waiting{{root_of(f, tree), 0, {}, 1.0}};
  std::vector<Step> steps;     // from the root
  std::vector<double> shares;  // of each
  Way way;
  while (!waiting.empty()) {
    const Stop stop = waiting.back();
    waiting.pop_back();
    if (stop.depth > 0) {
      steps.resize(stop.depth - 1);
      shares.resize(stop.depth - 1);
      steps.push_back(stop.step);
      shares.push_back(stop.share);
    }
    if (stop.node >= 0) {
      const std::int64_t node = first_node + stop.node;
      double total = 1.0;
      if (covers != nullptr) {
        total = n_rows(stop.node);
        if (!(total > 0.0)) {
          throw std::invalid_argument("tree " + std::to_string(tree) + " does not say how many rows its nodes had");
        }
      }
      const auto share = [&](std::int32_t child) { return covers != nullptr ? n_rows(child) / total : 0.0; };
      const std::int32_t children[2] = {f.left[at(node)], f.right[at(node)]};
      for (int side = 1; side >= 0; --side) {
        waiting.push_back({children[side], stop.depth + 1, {stop.node, side == 0}, share(children[side])});
      }
      continue;
    }
    // Steps by column, in the order of their first occurrence.
    way.parts.clear();
    way.steps.clear();
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const std::int32_t column = f.column[at(first_node + steps[s].node)];
      const auto part =
          std::find_if(way.parts.begin(), way.parts.end(), [&](const Part& p) { return p.column == column; });
      if (part == way.parts.end()) way.parts.push_back({column, f.place_of[at(column)], 1.0, 0, 0});
    }
    for (Part& part : way.parts) {
      part.first_step = static_cast<std::int32_t>(way.steps.size());
      for (std::size_t s = 0; s < steps.size(); ++s) {
        if (f.column[at(first_node + steps[s].node)] != part.column) continue;
        part.share *= shares[s];
        way.steps.push_back(steps[s]);
      }
      part.last_step = static_cast<std::int32_t>(way.steps.size());
    }
    visit(~stop.node, way);
  }
}

// ---- tables ----

// A leaf ready for rows. For each part: factors of 0 and of 1 at every point, then weight * derivative / factor of 0
// and of 1.
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

LeafTables make_tables(std::int32_t leaf, const Way& way, const Quadratures& quadratures) {
  LeafTables found;
  found.leaf = leaf;
  found.parts = way.parts;
  found.steps = way.steps;
  const auto d = static_cast<std::int64_t>(way.parts.size());
  found.n_points = static_cast<std::int32_t>((d + 1) / 2);
  const Quadrature& quadrature = quadratures[found.n_points];
  const auto n = at(found.n_points);
  found.tables.resize(at(d) * 4 * n);
  for (std::size_t j = 0; j < way.parts.size(); ++j) {
    const double share = way.parts[j].share;
    found.places.push_back(way.parts[j].place);
    found.reach *= share;
    double* const table = found.tables.data() + j * 4 * n;
    for (std::size_t q = 0; q < n; ++q) {
      const double t = quadrature.point[q];
      const double weight = quadrature.weight[q];
      const double unknown = (1.0 - t) * share;
      const double known = t + (1.0 - t) * share;
      table[q] = unknown;
      table[n + q] = known;
      // Without training rows on the way its product is 0 wherever the answer is not given.
      table[2 * n + q] = unknown > 0.0 ? weight * -share / unknown : 0.0;
      table[3 * n + q] = weight * (1.0 - share) / known;
    }
  }
  return found;
}

// The most features on the way to a leaf, over all trees.
std::int64_t count_parts(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree) {
  std::size_t most = 0;
  for (std::int64_t t = first_tree; t < last_tree; ++t) {
    for_ways(forest, nullptr, t, [&](std::int32_t, const Way& way) { most = std::max(most, way.parts.size()); });
  }
  return static_cast<std::int64_t>(most);
}

// ---- rows ----

// Values of the used columns of up to 64 rows: value[place * kShapRows + row].
struct Tile {
  std::vector<double> value;
  std::int64_t n_rows = 0;
};

void read_tile(const Forest& forest, const MatrixView& matrix, std::int64_t begin, std::int64_t end, Tile& tile) {
  tile.n_rows = end - begin;
  tile.value.resize(forest.used_columns.size() * kShapRows);
  visit(matrix, [&]<class T>(TypedView<T> view) {
    for (std::size_t p = 0; p < forest.used_columns.size(); ++p) {
      double* const out = tile.value.data() + p * kShapRows;
      for (std::int64_t r = begin; r < end; ++r) out[r - begin] = static_cast<double>(view(r, forest.used_columns[p]));
    }
  });
}

void read_tile(const Forest& forest, const SparseView& matrix, std::int64_t begin, std::int64_t end, Tile& tile) {
  tile.n_rows = end - begin;
  tile.value.assign(forest.used_columns.size() * kShapRows, 0.0);
  // Columns that the table lacks are missing.
  for (std::size_t p = 0; p < forest.used_columns.size(); ++p) {
    if (forest.used_columns[p] < matrix.n_columns) continue;
    std::fill_n(tile.value.data() + p * kShapRows, kShapRows, std::numeric_limits<double>::quiet_NaN());
  }
  const auto n_known = static_cast<std::int64_t>(forest.place_of.size());
  const auto n_used = static_cast<std::int32_t>(forest.used_columns.size());
  visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> view) {
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t e = view.begin[r]; e < view.begin[r + 1]; ++e) {
        const auto column = static_cast<std::int64_t>(view.indices[e]);
        if (column >= n_known) break;
        const std::int32_t place = forest.place_of[at(column)];
        if (place < n_used) tile.value[at(place) * kShapRows + at(r - begin)] = static_cast<double>(view.values[e]);
      }
    }
  });
}

// Bit r of left[node]: row r goes left there.
void answer(const Forest& forest, std::int64_t tree, const Tile& tile, std::vector<std::uint64_t>& left) {
  const std::int64_t first = forest.node_begin[at(tree)];
  const std::int64_t n_nodes = forest.node_begin[at(tree) + 1] - first;
  left.resize(at(n_nodes));
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    const ForestNode& node = forest.nodes[at(first + i)];
    const std::int32_t left_child = forest.left[at(first + i)];
    const double* const values = tile.value.data() + at(node.place) * kShapRows;
    std::uint64_t bits = 0;
    for (std::int64_t r = 0; r < tile.n_rows; ++r) {
      bits |= static_cast<std::uint64_t>(step(node, values[r]) == left_child) << r;
    }
    left[at(i)] = bits;
  }
}

// Bit r: row r gives all the answers of a part.
std::uint64_t known_rows(const std::vector<Step>& steps, const Part& part, const std::vector<std::uint64_t>& left) {
  std::uint64_t known = ~std::uint64_t{0};
  for (std::int32_t s = part.first_step; s < part.last_step; ++s) {
    const std::uint64_t bits = left[at(steps[at(s)].node)];
    known &= steps[at(s)].left ? bits : ~bits;
  }
  return known;
}

// ---- linear leaves ----

// A leaf whose value depends on the row: constant + what each known column adds. A column that is not known stands at
// its centre, where it adds nothing. What the bounds take away is taken from all columns alike; what changes where a
// value is missing is shared by the columns that miss it.
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
  std::vector<std::size_t> lost;  // those that make it missing
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

// One row at a time: a term of column k is there only where k is known.
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

// ---- all rows ----

std::vector<TreeTables> tables_of(Team& team, const Forest& forest, const Covers& covers,
                                  const Quadratures& quadratures, std::int64_t first_tree, std::int64_t last_tree) {
  std::vector<TreeTables> trees(at(last_tree - first_tree));
  team.for_each(last_tree - first_tree, [&](std::int64_t i, int) {
    trees[at(i)].tree = first_tree + i;
    for_ways(forest, &covers, first_tree + i, [&](std::int32_t leaf, const Way& way) {
      trees[at(i)].leaves.push_back(make_tables(leaf, way, quadratures));
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
    throw std::invalid_argument("the way to a leaf asks about " + std::to_string(most_parts) + " columns, more than " +
                                std::to_string(2 * kMaxShapPoints));
  }
  return n_points;
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
    // What is expected of all rows.
    std::vector<double> expected(at(n_outputs), 0.0);
    for (const TreeTables& tree : trees) {
      for (const LeafTables& leaf : tree.leaves) {
        const auto place = at(forest.leaf_begin[at(tree.tree)] + leaf.leaf);
        for (std::int64_t k = 0; k < forest.n_values; ++k) {
          double value = forest.leaf_value[place * at(forest.n_values) + at(k)];
          if (!forest.linear.empty()) value = forest.linear.constant[place];
          expected[at(forest.n_values == 1 ? tree.tree % n_outputs : k)] += leaf.reach * value;
        }
      }
    }
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
            args.n_groups = static_cast<int>((tile.n_rows + 7) / 8);
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
  if (!forest.linear.empty()) throw std::invalid_argument("interactions of linear leaves are not known");
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
          args.n_groups = static_cast<int>((tile.n_rows + 7) / 8);
          args.known = known.data();
          args.tables = leaf.tables.data();
          args.weight = quadratures[leaf.n_points].weight.data();
          args.out = sums.data();
          if (d > 0) kernels().add_shap_pairs(args);
          const auto place = at(forest.leaf_begin[at(tree.tree)] + leaf.leaf);
          for (std::int64_t k = 0; k < forest.n_values; ++k) {
            const double value = forest.leaf_value[place * at(forest.n_values) + at(k)];
            const std::int64_t to = forest.n_values == 1 ? tree.tree % n_outputs : k;
            for (std::int64_t r = 0; r < tile.n_rows; ++r) {
              double* const own = out + ((begin + r) * n_outputs + to) * width * width;
              own[width * width - 1] += leaf.reach * value;
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

// ---- background data ----

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
