#include "core/linear_leaves.h"

#include <algorithm>
#include <limits>

#include "core/index.h"
#include "core/linear_system.h"
#include "core/split_math.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

// Sums are over blocks of this many rows, which are then added up in order: they do not depend on threads.
constexpr std::int64_t kBlockRows = 1024;
constexpr std::int64_t kSampledRows = 64;
// A column counts as constant where its variance is less than this share of its mean square around the reference.
constexpr double kConstant = 1e-12;
// Likewise where its deviation is less than this share of its mean: values that differ in their last bits alone (0.3
// and 0.1 + 0.2) would get slopes of rounding errors, too steep to be written as a line through zero.
constexpr double kLastBits = 0x1p-40;
// Coefficients are dropped where their effect is less than this share of the leaf's largest.
constexpr double kNegligible = 1e-10;
// With `check`: a term must lower the loss of the leaf's rows by this many times what a column of noise would.
constexpr double kTermGain = 2.0;
// With `check`: into how many parts the rows of a leaf are split, of which each is left out once.
constexpr std::size_t kFolds = 4;
// With `check`: how many average leaves of the tree are added to the rows of a leaf when slopes are judged.
constexpr double kTreeLeaves = 6.0;
// With `check`, where losses are not quadratic: slopes of a tree must lower the loss of left-out rows by at least this
// share of what the splits gain. With two classes, one of them may be rare, and slopes are the least certain.
constexpr double kLeastOfGain = 0.015;
constexpr double kLeastOfTwoClasses = 0.03;
// With `check`: slopes move left-out rows at most so many times as far (squared) as others. Predictions are bounded,
// too.
constexpr double kMostSpread = 4.0;
constexpr double kLargest = std::numeric_limits<double>::max();  // bounds are finite
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Columns are read as (x - shift) * factor, near 0 and of about unit size: squares then neither cancel nor overflow.
struct Reference {
  double shift = 0.0;
  double factor = 1.0;
};

struct Block {
  std::size_t leaf;
  std::int64_t begin, end;
};

// Sums of a leaf's complete rows. Place 0 is the constant, place i the column i - 1.
struct Moments {
  std::int64_t n_rows = 0;
  double squares = 0.0;      // of gradients
  std::vector<double> sums;  // triangle of products, then products with the gradient

  static std::size_t size(std::size_t n_places) { return n_places * (n_places + 1) / 2 + n_places; }
  double product(std::size_t i, std::size_t j) const {
    return i < j ? sums[j * (j + 1) / 2 + i] : sums[i * (i + 1) / 2 + j];
  }
  double gradient(std::size_t n_places, std::size_t i) const { return sums[n_places * (n_places + 1) / 2 + i]; }
  Moments& operator+=(const Moments& o) {
    if (sums.empty()) return *this = o;
    n_rows += o.n_rows;
    squares += o.squares;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += o.sums[i];
    return *this;
  }
};

// Before shrinkage.
struct Model {
  double constant = 0.0;
  std::vector<std::int32_t> column;
  std::vector<double> coefficient;
  std::vector<double> centre;
};

// A fit in terms of the columns as they are read, see Reference.
struct Fit {
  double constant = 0.0;
  std::vector<std::size_t> places;
  std::vector<double> slopes;
};

// Computed from a few rows spread over the leaf.
std::vector<Reference> find_references(const RawTable& raw, const LinearLeaf& leaf) {
  std::vector<Reference> found(leaf.columns.size());
  const std::int64_t n = std::min(leaf.n_rows, kSampledRows);
  visit(raw, [&](const auto& read) {
    for (std::size_t c = 0; c < found.size(); ++c) {
      double values[kSampledRows];
      std::int64_t n_finite = 0;
      double sum = 0.0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = read(leaf.rows[i * leaf.n_rows / n], leaf.columns[c]);
        if (!std::isfinite(x)) continue;
        values[n_finite++] = x;
        sum += x / static_cast<double>(n);
      }
      if (n_finite == 0) continue;
      const double mean = sum * (static_cast<double>(n) / static_cast<double>(n_finite));
      double width = 0.0;
      for (std::int64_t i = 0; i < n_finite; ++i) width = std::max(width, std::abs(values[i] - mean));
      if (std::isfinite(mean)) found[c].shift = mean;
      if (std::isfinite(width) && width > std::numeric_limits<double>::min()) found[c].factor = 1.0 / width;
    }
  });
  return found;
}

struct Scratch {
  std::vector<double> columns;
  std::vector<double> gradient;
  std::vector<double> hessian;
  std::vector<double> products;
};

// Rows of a leaf: n of them from `first` on, every step-th.
struct Rows {
  const RowIdx* first;
  std::int64_t n, step;
};

// Rows of a fold in a block: folds take turns.
Rows rows_of(const LinearLeaf& leaf, const Block& block, std::size_t fold, std::size_t n_folds) {
  const auto step = static_cast<std::int64_t>(n_folds);
  const std::int64_t begin = std::min(block.begin + static_cast<std::int64_t>(fold), block.end);
  return {leaf.rows + begin, (block.end - begin + step - 1) / step, step};
}

Moments sum_rows(const LinearFit& fit, const LinearLeaf& leaf, const std::vector<Reference>& references,
                 const Rows& rows, Scratch& s) {
  const std::int64_t n = rows.n;
  const std::int64_t padded = (n + 7) / 8 * 8;
  const std::size_t n_columns = leaf.columns.size();
  s.columns.resize(at(kBlockRows) * (n_columns + 1));
  s.products.resize(at(kBlockRows));
  s.gradient.assign(at(padded), 0.0);
  s.hessian.assign(at(padded), 0.0);
  std::fill_n(s.columns.begin(), padded, 1.0);
  double* const columns = s.columns.data() + kBlockRows;
  for (std::size_t c = 0; c < n_columns; ++c) {
    for (std::int64_t i = n; i < padded; ++i) columns[at(kBlockRows) * c + at(i)] = 0.0;
  }
  Moments found;
  visit(*fit.raw, [&](const auto& read) {
    for (std::int64_t i = 0; i < n; ++i) {
      const RowIdx row = rows.first[i * rows.step];
      double zero = 0.0;  // stays 0 while all values are finite
      for (std::size_t c = 0; c < n_columns; ++c) {
        const double z = (read(row, leaf.columns[c]) - references[c].shift) * references[c].factor;
        columns[at(kBlockRows) * c + at(i)] = z;
        zero += z * 0.0;
      }
      if (zero == 0.0) {
        s.gradient[at(i)] = static_cast<double>(fit.gradient[row]);
        found.squares += s.gradient[at(i)] * s.gradient[at(i)];
        s.hessian[at(i)] = fit.hessian != nullptr ? static_cast<double>(fit.hessian[row]) : 1.0;
        ++found.n_rows;
      } else {
        for (std::size_t c = 0; c < n_columns; ++c) columns[at(kBlockRows) * c + at(i)] = 0.0;
      }
    }
  });
  found.sums.resize(Moments::size(n_columns + 1));
  kernels().linear_moments(
      {s.columns.data(), kBlockRows, static_cast<int>(n_columns + 1), s.hessian.data(), s.gradient.data(), padded},
      s.products.data(), found.sums.data());
  return found;
}

// The terms whose columns vary, and their equations: correlations, and how each goes with the gradient.
struct Equations {
  std::vector<std::size_t> places;
  std::vector<double> deviations;  // times the root of the weight
  std::vector<double> matrix;
  std::vector<double> right;

  Equations take(const std::vector<std::size_t>& terms) const {
    Equations kept;
    for (const std::size_t i : terms) {
      kept.places.push_back(places[i]);
      kept.deviations.push_back(deviations[i]);
      kept.right.push_back(right[i]);
      for (const std::size_t j : terms) kept.matrix.push_back(matrix[i * places.size() + j]);
    }
    return kept;
  }
};

double centre_of(const std::vector<Reference>& references, const Moments& moments, std::size_t place) {
  const Reference& reference = references[place - 1];
  return reference.shift + moments.product(place, 0) / moments.product(0, 0) / reference.factor;
}

Equations make_equations(const std::vector<Reference>& references, const Moments& moments) {
  const std::size_t n_places = references.size() + 1;
  const double weight = moments.product(0, 0);
  // Centred at the means.
  const auto covariance = [&](std::size_t i, std::size_t j) {
    return moments.product(i, j) - moments.product(i, 0) * (moments.product(j, 0) / weight);
  };
  Equations found;
  for (std::size_t i = 1; i < n_places; ++i) {
    const double variance = covariance(i, i);
    if (!(variance > kConstant * moments.product(i, i)) || !std::isfinite(variance)) continue;
    const double deviation = std::sqrt(variance / weight) / references[i - 1].factor;
    if (!(deviation > kLastBits * std::abs(centre_of(references, moments, i)))) continue;
    found.places.push_back(i);
    found.deviations.push_back(std::sqrt(variance));
  }
  const std::size_t n = found.places.size();
  found.matrix.assign(n * n, 1.0);
  const double mean = moments.gradient(n_places, 0) / weight;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t place = found.places[i];
    for (std::size_t j = 0; j < i; ++j) {
      const double correlation = covariance(place, found.places[j]) / (found.deviations[i] * found.deviations[j]);
      found.matrix[i * n + j] = found.matrix[j * n + i] = correlation;
    }
    const double together = moments.gradient(n_places, place) - moments.product(place, 0) * mean;
    found.right.push_back(-together / found.deviations[i]);
  }
  return found;
}

// The fit of rows with these sums; without terms where there is too little to fit.
Fit fit_terms(const LinearFit& fit, const LinearLeaf& leaf, const std::vector<Reference>& references,
              const Moments& moments) {
  const double weight = moments.product(0, 0);
  const double gradient = moments.gradient(references.size() + 1, 0);
  if (!(weight > 0.0) || !std::isfinite(weight)) return {};
  const double ridge = fit.lambda / weight;
  Equations equations = make_equations(references, moments);
  if (fit.check) {
    // A column of noise lowers twice the loss by this much on average.
    const double noise = std::max((moments.squares - gradient * (gradient / weight)) / weight, fit.least_noise);
    equations = equations.take(choose_terms(equations.matrix, equations.right, ridge, kTermGain * noise));
  }
  const std::size_t n = equations.places.size();
  Fit found;
  found.constant =
      leaf_output(gradient, weight, static_cast<double>(moments.n_rows), fit.rules, fit.damp_from, &leaf.parent);
  if (n == 0 || moments.n_rows < static_cast<std::int64_t>(n) + 1) return found;
  std::vector<double> effects = equations.right;
  Factor(equations.matrix, n, ridge).solve(effects.data());
  double largest = 0.0;
  for (const double e : effects) {
    if (!std::isfinite(e)) return found;
    largest = std::max(largest, std::abs(e));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double slope = effects[i] / equations.deviations[i];
    if (!(std::abs(effects[i]) > kNegligible * largest) || slope == 0.0) continue;
    found.places.push_back(equations.places[i]);
    found.slopes.push_back(slope);
  }
  return found;
}

Model make_model(const LinearLeaf& leaf, const std::vector<Reference>& references, const Moments& moments,
                 const Fit& fit) {
  Model model{fit.constant, {}, {}, {}};
  for (std::size_t i = 0; i < fit.places.size(); ++i) {
    const std::size_t place = fit.places[i];
    const double coefficient = fit.slopes[i] * references[place - 1].factor;
    const double centre = centre_of(references, moments, place);
    if (!std::isfinite(coefficient) || coefficient == 0.0 || !std::isfinite(centre)) continue;
    model.column.push_back(leaf.columns[place - 1]);
    model.coefficient.push_back(coefficient);
    model.centre.push_back(centre);
  }
  return model;
}

// ---- rows that are left out ----

// How the loss of rows that are left out of the fit changes with the share s of the slopes: by a s + b s^2 / 2.
struct LeftOut {
  double a = 0.0, b = 0.0;
  // The share of the slopes that a leaf gets. Rows of the leaf that are left out say which share is best, and average
  // leaves of its tree, which tell how far slopes can be trusted in these data. Up to twice this share does not raise
  // the loss of these rows: a step of this length may take more of it. 0 where slopes do not help.
  double share(const LeftOut& tree, double step) const {
    const double slope = a + kTreeLeaves * tree.a;
    const double curvature = b + kTreeLeaves * tree.b;
    if (!(slope < 0.0 && curvature > 0.0)) return 0.0;
    return std::min(-slope / curvature * (2.0 - std::min(step, 1.0)), 1.0);
  }
  // How far the best share lowers the loss.
  double gain() const { return a < 0.0 && b > 0.0 ? a * a / (2.0 * b) : 0.0; }
};

// Rows with the sums `out`, which are left out of the fit of the others. With c the constant of the fit and u what the
// slopes add to a row: a = sum of (g + h c) u, b = sum of h u^2.
LeftOut leave_out(const Fit& fit, const Moments& others, const Moments& out, std::size_t n_places) {
  const double weight = others.product(0, 0);
  const double weight_out = out.product(0, 0);
  LeftOut found;
  double inside = 0.0;  // sum of h u^2 over the others
  for (std::size_t i = 0; i < fit.places.size(); ++i) {
    const std::size_t p = fit.places[i];
    const double centre = others.product(p, 0) / weight;
    const double sum = out.product(p, 0) - centre * weight_out;
    const double gradient = out.gradient(n_places, p) - centre * out.gradient(n_places, 0);
    found.a += fit.slopes[i] * (gradient + fit.constant * sum);
    for (std::size_t j = 0; j < fit.places.size(); ++j) {
      const std::size_t q = fit.places[j];
      const double both = fit.slopes[i] * fit.slopes[j];
      inside += both * (others.product(p, q) - centre * others.product(q, 0));
      found.b += both * (out.product(p, q) - centre * out.product(q, 0) - others.product(q, 0) / weight * sum);
    }
  }
  const double most = kMostSpread * inside * (weight_out / weight);
  if (!(found.b > most)) return found;
  return {found.a * std::sqrt(most / found.b), most};
}

LeftOut leave_folds_out(const LinearFit& fit, const LinearLeaf& leaf, const std::vector<Reference>& references,
                        const std::vector<Moments>& folds) {
  LeftOut found;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    Moments others;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      if (f != k) others += folds[f];
    }
    const Fit fitted = fit_terms(fit, leaf, references, others);
    const LeftOut fold = leave_out(fitted, others, folds[k], references.size() + 1);
    found = {found.a + fold.a, found.b + fold.b};
  }
  return found;
}

// The constant, computed from the residuals minus the linear terms.
double refit_constant(const LinearFit& fit, const LinearLeaf& leaf, const Model& model) {
  std::vector<Residual> residuals, scratch;
  visit(*fit.raw, [&](const auto& read) {
    for (std::int64_t i = 0; i < leaf.n_rows; ++i) {
      const RowIdx row = leaf.rows[i];
      double slope = 0.0;
      for (std::size_t t = 0; t < model.column.size(); ++t) {
        slope += model.coefficient[t] * (read(row, model.column[t]) - model.centre[t]);
      }
      if (!std::isfinite(slope)) continue;
      const double weight = fit.refit.weight != nullptr ? static_cast<double>(fit.refit.weight[row]) : 1.0;
      residuals.push_back({static_cast<double>(fit.refit.label[row]) - fit.refit.score[row] - slope, weight});
    }
  });
  const double value = refit_residuals(fit.refit, residuals, scratch);
  const double limit = fit.rules.max_delta_step;
  return limit > 0.0 ? std::clamp(value, -limit, limit) : value;
}

std::vector<Block> cut_blocks(std::span<const LinearLeaf> leaves, const std::vector<char>& wanted) {
  std::vector<Block> blocks;
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    for (std::int64_t begin = 0; wanted[l] && begin < leaves[l].n_rows; begin += kBlockRows) {
      blocks.push_back({l, begin, std::min(begin + kBlockRows, leaves[l].n_rows)});
    }
  }
  return blocks;
}

// Models keep the share of their slopes that helps rows which are left out of the fit, or none.
void shrink_models(const LinearFit& fit, const std::vector<LeftOut>& left_out, std::vector<Model>& models) {
  LeftOut tree;
  double n = 0.0;  // leaves where a part of the rows gets slopes from the others
  for (const LeftOut& leaf : left_out) {
    if (!(leaf.b > 0.0)) continue;
    tree = {tree.a + leaf.a, tree.b + leaf.b};
    n += 1.0;
  }
  const double least = fit.least_noise > 0.0 ? kLeastOfTwoClasses : kLeastOfGain;
  const bool helps = fit.damp_from == 0.0 || tree.gain() > least * fit.gain;
  if (n > 0.0) tree = {tree.a / n, tree.b / n};
  for (std::size_t l = 0; l < models.size(); ++l) {
    const double share = helps ? left_out[l].share(tree, fit.learning_rate) : 0.0;
    if (share == 0.0) models[l] = {};
    for (double& coefficient : models[l].coefficient) coefficient *= share;
  }
}

// By leaf and fold; without a check there is one fold. `wanted`: leaves that may be linear.
std::vector<std::vector<Moments>> sum_folds(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves,
                                            const std::vector<char>& wanted,
                                            const std::vector<std::vector<Reference>>& references) {
  const std::size_t n_folds = fit.check ? kFolds : 1;
  const std::vector<Block> blocks = cut_blocks(leaves, wanted);
  std::vector<std::vector<Moments>> parts(blocks.size());
  std::vector<Scratch> scratch(at(team.n_threads()));
  team.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b, int thread) {
    const Block& block = blocks[at(b)];
    for (std::size_t f = 0; f < n_folds; ++f) {
      const Rows rows = rows_of(leaves[block.leaf], block, f, n_folds);
      parts[at(b)].push_back(sum_rows(fit, leaves[block.leaf], references[block.leaf], rows, scratch[at(thread)]));
    }
  });
  std::vector<std::vector<Moments>> folds(leaves.size(), std::vector<Moments>(n_folds));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t f = 0; f < n_folds; ++f) folds[blocks[b].leaf][f] += parts[b][f];
  }
  return folds;
}

std::vector<Model> find_models(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves) {
  const auto n_leaves = static_cast<std::int64_t>(leaves.size());
  std::vector<char> candidate(leaves.size());
  for (std::size_t l = 0; l < leaves.size(); ++l) candidate[l] = !leaves[l].columns.empty() && leaves[l].n_rows > 1;
  std::vector<std::vector<Reference>> references(leaves.size());
  team.for_each(n_leaves, [&](std::int64_t l, int) {
    if (candidate[at(l)]) references[at(l)] = find_references(*fit.raw, leaves[at(l)]);
  });
  const std::vector<std::vector<Moments>> folds = sum_folds(team, fit, leaves, candidate, references);
  std::vector<Model> models(leaves.size());
  std::vector<LeftOut> left_out(leaves.size());
  team.for_each(n_leaves, [&](std::int64_t i, int) {
    const std::size_t l = at(i);
    if (!candidate[l]) return;
    Moments all;
    for (const Moments& fold : folds[l]) all += fold;
    models[l] = make_model(leaves[l], references[l], all, fit_terms(fit, leaves[l], references[l], all));
    if (fit.check) left_out[l] = leave_folds_out(fit, leaves[l], references[l], folds[l]);
  });
  if (fit.check) shrink_models(fit, left_out, models);
  team.for_each(n_leaves, [&](std::int64_t i, int) {
    const std::size_t l = at(i);
    if (fit.refit.label != nullptr && !models[l].column.empty()) {
      models[l].constant = refit_constant(fit, leaves[l], models[l]);
    }
  });
  return models;
}

// No step may be longer than this, whatever the model says.
double largest_step(const LinearFit& fit) {
  if (fit.rules.max_delta_step > 0.0) return fit.rules.max_delta_step;
  return fit.damp_from > 0.0 ? 2.0 * fit.damp_from : kInfinity;  // the limit of damping
}

}  // namespace

ValueSpan add_linear_leaf(const LinearLeaves& leaves, std::size_t leaf, double plain, const RawTable& raw,
                          const RowIdx* rows, std::int64_t n_rows, double* score) {
  ValueSpan span{plain, plain};
  if (!leaves.is_linear(leaf)) {
    for (std::int64_t i = 0; i < n_rows; ++i) score[rows[i]] += plain;
    return span;
  }
  visit(raw, [&](const auto& read) {
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::int64_t row = rows[i];
      const double v = leaves.value(leaf, plain, [&](std::int32_t column) { return read(row, column); });
      score[row] += v;
      span = {std::min(span.low, v), std::max(span.high, v)};
    }
  });
  return span;
}

LinearLeaves fit_linear_leaves(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves, double* score) {
  const std::vector<Model> models = find_models(team, fit, leaves);
  const double limit = largest_step(fit) * fit.learning_rate;
  LinearLeaves linear;
  linear.begin.push_back(0);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const Model& model = models[l];
    const bool is_linear = !model.column.empty();
    linear.constant.push_back(is_linear ? model.constant * fit.learning_rate : leaves[l].value);
    linear.low.push_back(is_linear ? -limit : leaves[l].value);
    linear.high.push_back(is_linear ? limit : leaves[l].value);
    linear.column.insert(linear.column.end(), model.column.begin(), model.column.end());
    linear.centre.insert(linear.centre.end(), model.centre.begin(), model.centre.end());
    for (const double c : model.coefficient) linear.coefficient.push_back(c * fit.learning_rate);
    linear.begin.push_back(static_cast<std::int64_t>(linear.column.size()));
  }
  const std::vector<Block> blocks = cut_blocks(leaves, std::vector<char>(leaves.size(), 1));
  std::vector<ValueSpan> spans(blocks.size());
  team.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b, int) {
    const Block& block = blocks[at(b)];
    const LinearLeaf& leaf = leaves[block.leaf];
    spans[at(b)] = add_linear_leaf(linear, block.leaf, leaf.value, *fit.raw, leaf.rows + block.begin,
                                   block.end - block.begin, score);
  });
  std::vector<ValueSpan> by_leaf(leaves.size(), {kInfinity, -kInfinity});
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    ValueSpan& span = by_leaf[blocks[b].leaf];
    span = {std::min(span.low, spans[b].low), std::max(span.high, spans[b].high)};
  }
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    if (!linear.is_linear(l)) continue;
    const double margin = fit.extrapolation * (by_leaf[l].high - by_leaf[l].low);
    linear.low[l] = std::max(by_leaf[l].low - margin, -std::min(limit, kLargest));
    linear.high[l] = std::min(by_leaf[l].high + margin, std::min(limit, kLargest));
  }
  return linear;
}

}  // namespace gossamer
