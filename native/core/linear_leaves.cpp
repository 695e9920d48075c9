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
// With `check`: how many average leaves of the tree are added to the rows of a leaf when slopes are judged.
constexpr double kTreeLeaves = 2.0;
// A row of more leverage than this decides its own prediction: leaving it out says nothing about the others.
constexpr double kMaxLeverage = 0.999;
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
};

// Before shrinkage.
struct Model {
  double constant = 0.0;
  std::vector<std::int32_t> column;
  std::vector<double> coefficient;
  std::vector<double> centre;
};

// A model, and what the leverage of a row is computed from.
struct FittedModel {
  Model model;
  double weight = 0.0;        // of the leaf's complete rows
  std::vector<double> scale;  // by term: the factor's columns are (x - centre) * scale
  Factor factor;
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

Moments sum_block(const LinearFit& fit, const LinearLeaf& leaf, const std::vector<Reference>& references,
                  const Block& block, Scratch& s) {
  const std::int64_t n = block.end - block.begin;
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
      const RowIdx row = leaf.rows[block.begin + i];
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

FittedModel find_model(const LinearFit& fit, const LinearLeaf& leaf, const std::vector<Reference>& references,
                       const Moments& moments) {
  const double weight = moments.product(0, 0);
  const double gradient = moments.gradient(references.size() + 1, 0);
  if (!(weight > 0.0) || !std::isfinite(weight)) return {};
  const double ridge = fit.lambda / weight;
  Equations equations = make_equations(references, moments);
  if (fit.check) {
    // A column of noise lowers twice the loss by this much on average.
    const double noise = std::max(moments.squares - gradient * (gradient / weight), 0.0) / weight;
    equations = equations.take(choose_terms(equations.matrix, equations.right, ridge, kTermGain * noise));
  }
  const std::size_t n = equations.places.size();
  if (n == 0 || moments.n_rows < static_cast<std::int64_t>(n) + 1) return {};
  FittedModel found;
  found.weight = weight;
  found.factor = Factor(equations.matrix, n, ridge);
  std::vector<double> effects = equations.right;
  found.factor.solve(effects.data());
  double largest = 0.0;
  for (const double e : effects) {
    if (!std::isfinite(e)) return {};
    largest = std::max(largest, std::abs(e));
  }
  Model& model = found.model;
  model.constant =
      leaf_output(gradient, weight, static_cast<double>(moments.n_rows), fit.rules, fit.damp_from, &leaf.parent);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t place = equations.places[i];
    const double scale = references[place - 1].factor / equations.deviations[i];
    const double coefficient = effects[i] / equations.deviations[i] * references[place - 1].factor;
    const double centre = centre_of(references, moments, place);
    const bool is_used = std::abs(effects[i]) > kNegligible * largest && std::isfinite(coefficient) &&
                         coefficient != 0.0 && std::isfinite(centre);
    if (!is_used && fit.check) return {};  // the factor is of all terms
    if (!is_used) continue;
    model.column.push_back(leaf.columns[place - 1]);
    model.coefficient.push_back(coefficient);
    model.centre.push_back(centre);
    found.scale.push_back(scale);
  }
  return found;
}

// ---- rows that are left out ----

// Sums over rows of what each loses when it is left out of the fit. With c and c + u the values that the constant and
// the model have without the row, its loss with the share s of the slopes changes by a s + b s^2 / 2,
// where a = (g + h c) u and b = h u^2.
struct LeftOut {
  double a = 0.0, b = 0.0;
  bool is_decisive = false;  // a row decides its own value

  LeftOut& operator+=(const LeftOut& o) {
    a += o.a;
    b += o.b;
    is_decisive |= o.is_decisive;
    return *this;
  }

  // The share of the slopes that is best for rows that are left out: rows of the leaf, and of average leaves of its
  // tree, which tell how far slopes can be trusted in these data. 0 where slopes do not help.
  double share(const LeftOut& tree) const {
    if (is_decisive) return 0.0;
    const double slope = a + kTreeLeaves * tree.a;
    const double curvature = b + kTreeLeaves * tree.b;
    return slope < 0.0 && curvature > 0.0 ? std::min(-slope / curvature, 1.0) : 0.0;
  }
};

LeftOut average(const std::vector<LeftOut>& leaves, const std::vector<char>& wanted) {
  LeftOut sum;
  double n = 0.0;
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    if (!wanted[l] || leaves[l].is_decisive) continue;
    sum += leaves[l];
    n += 1.0;
  }
  if (n > 0.0) sum = {sum.a / n, sum.b / n};
  return sum;
}

LeftOut leave_rows_out(const LinearFit& fit, const LinearLeaf& leaf, const FittedModel& fitted, const Block& block) {
  const Model& model = fitted.model;
  const std::size_t n = model.column.size();
  const double share = 1.0 / (fitted.weight + fit.rules.lambda_l2);
  std::vector<double> z(n);
  LeftOut found;
  visit(*fit.raw, [&](const auto& read) {
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      const RowIdx row = leaf.rows[i];
      double slope = 0.0;
      for (std::size_t t = 0; t < n; ++t) {
        const double x = read(row, model.column[t]) - model.centre[t];
        slope += model.coefficient[t] * x;
        z[t] = x * fitted.scale[t];
      }
      if (!std::isfinite(slope)) continue;
      fitted.factor.solve_lower(z.data());
      double leverage = share;
      for (const double y : z) leverage += y * y;
      const auto g = static_cast<double>(fit.gradient[row]);
      const double h = fit.hessian != nullptr ? static_cast<double>(fit.hessian[row]) : 1.0;
      if (!(h * leverage < kMaxLeverage)) {
        found.is_decisive = true;
        return;
      }
      const double plain = model.constant;
      const double v = plain + slope;
      const double c = plain + share * (g + h * plain) / (1.0 - h * share);
      const double u = v + leverage * (g + h * v) / (1.0 - h * leverage) - c;
      found += {(g + h * c) * u, h * u * u};
    }
  });
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
void check_models(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves,
                  std::vector<FittedModel>& fitted) {
  std::vector<char> wanted(leaves.size());
  for (std::size_t l = 0; l < leaves.size(); ++l) wanted[l] = !fitted[l].model.column.empty();
  const std::vector<Block> blocks = cut_blocks(leaves, wanted);
  std::vector<LeftOut> parts(blocks.size());
  team.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b, int) {
    const Block& block = blocks[at(b)];
    parts[at(b)] = leave_rows_out(fit, leaves[block.leaf], fitted[block.leaf], block);
  });
  std::vector<LeftOut> totals(leaves.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) totals[blocks[b].leaf] += parts[b];
  const LeftOut tree = average(totals, wanted);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const double share = totals[l].share(tree);
    if (share == 0.0) fitted[l].model = {};
    for (double& coefficient : fitted[l].model.coefficient) coefficient *= share;
  }
}

std::vector<Model> find_models(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves) {
  const auto n_leaves = static_cast<std::int64_t>(leaves.size());
  std::vector<char> candidate(leaves.size());
  for (std::size_t l = 0; l < leaves.size(); ++l) candidate[l] = !leaves[l].columns.empty() && leaves[l].n_rows > 1;
  std::vector<std::vector<Reference>> references(leaves.size());
  team.for_each(n_leaves, [&](std::int64_t l, int) {
    if (candidate[at(l)]) references[at(l)] = find_references(*fit.raw, leaves[at(l)]);
  });
  const std::vector<Block> blocks = cut_blocks(leaves, candidate);
  std::vector<Moments> parts(blocks.size());
  std::vector<Scratch> scratch(at(team.n_threads()));
  team.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b, int thread) {
    const Block& block = blocks[at(b)];
    parts[at(b)] = sum_block(fit, leaves[block.leaf], references[block.leaf], block, scratch[at(thread)]);
  });
  std::vector<Moments> moments(leaves.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Moments& total = moments[blocks[b].leaf];
    if (total.sums.empty()) {
      total = std::move(parts[b]);
      continue;
    }
    total.n_rows += parts[b].n_rows;
    total.squares += parts[b].squares;
    for (std::size_t i = 0; i < total.sums.size(); ++i) total.sums[i] += parts[b].sums[i];
  }
  std::vector<FittedModel> fitted(leaves.size());
  team.for_each(n_leaves, [&](std::int64_t i, int) {
    const std::size_t l = at(i);
    if (candidate[l]) fitted[l] = find_model(fit, leaves[l], references[l], moments[l]);
  });
  if (fit.check) check_models(team, fit, leaves, fitted);
  std::vector<Model> models(leaves.size());
  team.for_each(n_leaves, [&](std::int64_t i, int) {
    const std::size_t l = at(i);
    models[l] = std::move(fitted[l].model);
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
