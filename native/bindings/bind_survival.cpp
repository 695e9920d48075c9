#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"
#include "bindings/targets.h"
#include "core/cox.h"
#include "core/survival.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

AftTargets aft_targets(const In<float>& lower, const std::optional<In<float>>& upper, const Weight& weight,
                       int distribution, double sigma) {
  if (distribution < 0 || distribution > 2) throw std::invalid_argument("distribution must be 0, 1 or 2");
  if (!(sigma > 0.0)) throw std::invalid_argument("sigma must be above 0");
  return {targets(lower, weight), data_or_null(upper, length(lower), "upper"), distribution, sigma};
}

void check_rows(std::int64_t n) {
  if (n > std::int64_t{UINT32_MAX}) throw std::invalid_argument("too many rows");
}

}  // namespace

void bind_survival(nb::module_& m) {
  nb::class_<CoxOrder>(m, "CoxOrder", "Rows in the order of their times.")
      .def(
          "__init__",
          [](CoxOrder* self, const In<float>& label, const Weight& weight) {
            check_rows(length(label));
            new (self) CoxOrder(targets(label, weight));
          },
          "label"_a.noconvert(), "weight"_a.noconvert().none())
      .def_prop_ro("event_weight", &CoxOrder::event_weight)
      .def(
          "gradients",
          [](const CoxOrder& self, const In<double>& score, const Out<float>& gradient, const Out<float>& hessian,
             int n_threads) {
            check_length(score, self.n_rows(), "score");
            check_length(gradient, self.n_rows(), "gradient");
            check_length(hessian, self.n_rows(), "hessian");
            nb::gil_scoped_release release;
            TeamLease team(n_threads);
            self.gradients(*team, score.data(), gradient.data(), hessian.data());
          },
          "score"_a.noconvert(), "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a)
      .def(
          "loss",
          [](const CoxOrder& self, const In<double>& score, int n_threads) {
            check_length(score, self.n_rows(), "score");
            nb::gil_scoped_release release;
            TeamLease team(n_threads);
            return self.loss(*team, score.data());
          },
          "score"_a.noconvert(), "n_threads"_a, "Negative logarithm of the partial likelihood.");
  m.def(
      "gradients_aft",
      [](const In<double>& score, const In<float>& lower, const std::optional<In<float>>& upper, const Weight& weight,
         int distribution, double sigma, const Out<float>& gradient, const Out<float>& hessian, int n_threads) {
        const AftTargets t = aft_targets(lower, upper, weight, distribution, sigma);
        check_length(score, t.rows.n_rows, "score");
        check_length(gradient, t.rows.n_rows, "gradient");
        check_length(hessian, t.rows.n_rows, "hessian");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        gradients_aft(*team, t, score.data(), gradient.data(), hessian.data());
      },
      "score"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert().none(), "weight"_a.noconvert().none(),
      "distribution"_a, "sigma"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a);
  m.def(
      "sum_aft_loss",
      [](const In<double>& score, const In<float>& lower, const std::optional<In<float>>& upper, const Weight& weight,
         int distribution, double sigma, double most, int n_threads) {
        const AftTargets t = aft_targets(lower, upper, weight, distribution, sigma);
        check_length(score, t.rows.n_rows, "score");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        return sum_aft_loss(*team, t, score.data(), most);
      },
      "score"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert().none(), "weight"_a.noconvert().none(),
      "distribution"_a, "sigma"_a, "most"_a, "n_threads"_a);
  m.def(
      "aft_slopes",
      [](double score, const In<float>& lower, const std::optional<In<float>>& upper, const Weight& weight,
         int distribution, double sigma, int n_threads) {
        const AftTargets t = aft_targets(lower, upper, weight, distribution, sigma);
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        const auto [first, second] = aft_slopes(*team, t, score);
        return std::pair<double, double>(first, second);
      },
      "score"_a, "lower"_a.noconvert(), "upper"_a.noconvert().none(), "weight"_a.noconvert().none(), "distribution"_a,
      "sigma"_a, "n_threads"_a, "Sums of the two derivatives where all rows have one score.");
  m.def(
      "concordance",
      [](const In<float>& lower, const In<float>& upper, const In<double>& risk, const Weight& weight) {
        const std::int64_t n = length(lower);
        check_rows(n);
        check_length(upper, n, "upper");
        check_length(risk, n, "risk");
        const float* const w = data_or_null(weight, n, "weight");
        nb::gil_scoped_release release;
        return concordance(lower.data(), upper.data(), risk.data(), w, n);
      },
      "lower"_a.noconvert(), "upper"_a.noconvert(), "risk"_a.noconvert(), "weight"_a.noconvert().none(),
      "Harrell's C.");
}

}  // namespace gossamer::bindings
