#include <nanobind/stl/optional.h>

#include <cmath>

#include "bindings/arrays.h"
#include "bindings/casters.h"
#include "bindings/targets.h"
#include "core/ranking.h"
#include "core/ranking_metrics.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

QueryBegin checked_queries(const In<std::int64_t>& queries, std::int64_t n_rows) {
  QueryBegin begin = to_vector(queries);
  bool fits = begin.size() >= 2 && begin.front() == 0 && begin.back() == n_rows;
  for (std::size_t q = 1; q < begin.size(); ++q) {
    const std::int64_t n = begin[q] - begin[q - 1];
    fits = fits && n > 0 && n <= INT32_MAX;
  }
  if (!fits) throw std::invalid_argument("queries must increase from 0 to the number of rows");
  return begin;
}

GainRule checked_gain(GainRule::Kind kind, std::vector<double> table, const In<float>& label) {
  GainRule rule{kind, std::move(table)};
  for (std::int64_t i = 0; i < length(label); ++i) {
    const float y = label.data()[i];
    if (!(y >= 0.0f && y < 1e9f)) throw std::invalid_argument("label is negative or too large");
    if (kind == GainRule::Kind::table && (y != std::floor(y) || !(y < static_cast<float>(rule.table.size())))) {
      throw std::invalid_argument("label has no gain");
    }
  }
  return rule;
}

void check_outputs(const In<double>& score, const Out<float>& gradient, const Out<float>& hessian,
                   std::int64_t n_rows) {
  check_length(score, n_rows, "score");
  check_length(gradient, n_rows, "gradient");
  check_length(hessian, n_rows, "hessian");
}

struct PyLambdaRank {
  std::vector<float> label;
  LambdaRank ranker;
};

PyLambdaRank* make(const In<float>& label, const In<std::int64_t>& queries, PairDelta delta, GainRule::Kind gain,
                   std::vector<double> gains, double sigmoid, double hessian_factor, double hessian_floor,
                   bool divide_by_difference, LambdaRules::Norm norm, std::int64_t n_top, std::int64_t n_drawn,
                   int n_threads) {
  LambdaRules rules;
  rules.delta = delta;
  rules.sigmoid = sigmoid;
  rules.hessian_factor = hessian_factor;
  rules.hessian_floor = hessian_floor;
  rules.divide_by_difference = divide_by_difference;
  rules.norm = norm;
  rules.n_top = n_top;
  rules.n_drawn = n_drawn;
  if (n_top < 1 || n_drawn < 0) throw std::invalid_argument("n_top or n_drawn is out of range");
  if (norm == LambdaRules::Norm::pairs && n_drawn == 0) throw std::invalid_argument("no pairs are drawn");
  rules.gain = checked_gain(gain, std::move(gains), label);
  QueryBegin begin = checked_queries(queries, length(label));
  std::vector<float> labels = to_vector(label);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  LambdaRank ranker(*team, std::move(begin), labels.data(), std::move(rules));
  return new PyLambdaRank{std::move(labels), std::move(ranker)};
}

void fill(const PyLambdaRank& self, const In<double>& score, const Weight& weight,
          const std::optional<In<std::int32_t>>& position, const std::optional<In<double>>& bias,
          const std::optional<In<double>>& ratios, const std::optional<Out<double>>& costs, std::uint64_t key,
          const Out<float>& gradient, const Out<float>& hessian, int n_threads) {
  const std::int64_t n_rows = self.ranker.n_rows();
  check_outputs(score, gradient, hessian, n_rows);
  RankTargets t;
  t.label = self.label.data();
  t.weight = data_or_null(weight, n_rows, "weight");
  if (bias) {
    t.position = data_or_null(position, n_rows, "position");
    if (t.position == nullptr) throw std::invalid_argument("bias without position");
    for (std::int64_t i = 0; i < n_rows; ++i) {
      if (t.position[i] < 0 || t.position[i] >= length(*bias)) throw std::invalid_argument("position has no bias");
    }
    t.bias = bias->data();
  }
  if (ratios) {
    if (!costs || length(*ratios) % 2 != 0) throw std::invalid_argument("ratios without costs, or not in pairs");
    check_length(*costs, length(*ratios), "costs");
    const std::int64_t n_places = length(*ratios) / 2;
    t.place_bias = {n_places, ratios->data(), ratios->data() + n_places};
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  self.ranker.fill(*team, t, score.data(), key, gradient.data(), hessian.data(), ratios ? costs->data() : nullptr);
}

void xendcg(const In<double>& score, const In<float>& label, const Weight& weight, const In<std::int64_t>& queries,
            std::uint64_t key, const Out<float>& gradient, const Out<float>& hessian, int n_threads) {
  const std::int64_t n_rows = length(label);
  check_outputs(score, gradient, hessian, n_rows);
  const QueryBegin begin = checked_queries(queries, n_rows);
  checked_gain(GainRule::Kind::exponential, {}, label);
  RankTargets t;
  t.label = label.data();
  t.weight = data_or_null(weight, n_rows, "weight");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  gradients_xendcg(*team, begin, t, score.data(), key, gradient.data(), hessian.data());
}

double metric(const In<double>& score, const In<float>& label, const Weight& weight, const In<std::int64_t>& queries,
              RankMetricRules::Kind kind, std::int64_t n_top, double without_relevant, GainRule::Kind gain,
              std::vector<double> gains, int n_threads) {
  const RowTargets t = targets(label, weight);
  check_length(score, t.n_rows, "score");
  const QueryBegin begin = checked_queries(queries, t.n_rows);
  if (n_top < 1) throw std::invalid_argument("n_top must be at least 1");
  RankMetricRules rules;
  rules.kind = kind;
  rules.n_top = n_top;
  rules.without_relevant = without_relevant;
  if (kind == RankMetricRules::Kind::ndcg) rules.gain = checked_gain(gain, std::move(gains), label);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return ranking_metric(*team, begin, t, score.data(), rules);
}

}  // namespace

void bind_ranking(nb::module_& m) {
  nb::enum_<PairDelta>(m, "PairDelta", "How a pair of rows is weighted.")
      .value("ndcg", PairDelta::ndcg)
      .value("pairwise", PairDelta::pairwise)
      .value("map", PairDelta::map);
  nb::enum_<GainRule::Kind>(m, "GainKind", "2^label - 1, the label itself, or a table by label.")
      .value("exponential", GainRule::Kind::exponential)
      .value("linear", GainRule::Kind::linear)
      .value("table", GainRule::Kind::table);
  nb::enum_<LambdaRules::Norm>(m, "PairNorm", "What the gradients of a query are divided by.")
      .value("none", LambdaRules::Norm::none)
      .value("gradients", LambdaRules::Norm::gradients)
      .value("pairs", LambdaRules::Norm::pairs);
  nb::enum_<RankMetricRules::Kind>(m, "RankMetric")
      .value("ndcg", RankMetricRules::Kind::ndcg)
      .value("map", RankMetricRules::Kind::map)
      .value("precision", RankMetricRules::Kind::precision);
  nb::class_<PyLambdaRank>(m, "LambdaRank", "Gradients from pairs of rows of the same query.")
      .def(nb::new_(&make), "label"_a.noconvert(), "queries"_a.noconvert(), nb::kw_only(), "delta"_a, "gain"_a,
           "gains"_a, "sigmoid"_a, "hessian_factor"_a, "hessian_floor"_a, "divide_by_difference"_a, "norm"_a, "n_top"_a,
           "n_drawn"_a, "n_threads"_a)
      .def("fill", &fill, "score"_a.noconvert(), "weight"_a.noconvert().none(), "position"_a.noconvert().none(),
           "bias"_a.noconvert().none(), "ratios"_a.noconvert().none(), "costs"_a.noconvert().none(), "key"_a,
           "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a);
  m.def("gradients_xendcg", &xendcg, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "queries"_a.noconvert(), "key"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a);
  m.def("ranking_metric", &metric, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "queries"_a.noconvert(), "kind"_a, "n_top"_a, "without_relevant"_a, "gain"_a, "gains"_a, "n_threads"_a,
        "Mean over the queries, weighted by the mean weight of their rows.");
}

}  // namespace gossamer::bindings
