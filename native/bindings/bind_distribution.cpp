#include <nanobind/stl/optional.h>

#include "bindings/arrays.h"
#include "bindings/targets.h"
#include "core/distribution.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

using NormalSum = double (*)(Team&, const RowTargets&, const double*, double);

void bind_sum(nb::module_& m, const char* name, NormalSum sum) {
  m.def(
      name,
      [sum](const In<double>& score, const In<float>& label, const Weight& weight, double floor, int n_threads) {
        const RowTargets t = targets(label, weight);
        check_length(score, 2 * t.n_rows, "score");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        return sum(*team, t, score.data(), floor);
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "floor"_a, "n_threads"_a);
}

}  // namespace

void bind_distribution(nb::module_& m) {
  m.def(
      "gradients_normal",
      [](const In<double>& score, const In<float>& label, const Weight& weight, double floor, double scale,
         const Out<float>& gradient, const Out<float>& hessian, int n_threads) {
        const RowTargets t = targets(label, weight);
        check_length(score, 2 * t.n_rows, "score");
        check_length(gradient, 2 * t.n_rows, "gradient");
        check_length(hessian, 2 * t.n_rows, "hessian");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        gradients_normal(*team, t, score.data(), floor, scale, gradient.data(), hessian.data());
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "floor"_a, "scale"_a,
      "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a,
      "Class-major: means, then logarithms of standard deviations.");
  bind_sum(m, "sum_normal_loss", &sum_normal_loss);
  bind_sum(m, "sum_normal_crps", &sum_normal_crps);
  m.def(
      "gradients_quantiles",
      [](const In<double>& score, const In<float>& label, const Weight& weight, const In<double>& alphas,
         const Out<float>& gradient, const std::optional<Out<float>>& hessian, int n_threads) {
        const RowTargets t = targets(label, weight);
        const std::int64_t size = t.n_rows * length(alphas);
        check_length(score, size, "score");
        check_length(gradient, size, "gradient");
        if (hessian) check_length(*hessian, size, "hessian");
        if (t.weight != nullptr && !hessian) throw std::invalid_argument("weights need a hessian array");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        gradients_quantiles(*team, t, score.data(), alphas.data(), static_cast<int>(length(alphas)), gradient.data(),
                            hessian ? hessian->data() : nullptr);
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "alphas"_a.noconvert(),
      "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "n_threads"_a, "Class-major scores and results.");
  m.def(
      "sort_outputs",
      [](const In<double>& score, int n_outputs, const Out<double>& out, int n_threads) {
        if (n_outputs < 1 || length(score) % n_outputs != 0) throw std::invalid_argument("score has a wrong length");
        check_length(out, length(score), "out");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        sort_outputs(*team, score.data(), length(score) / n_outputs, n_outputs, out.data());
      },
      "score"_a.noconvert(), "n_outputs"_a, "out"_a.noconvert(), "n_threads"_a,
      "Class-major scores to rows of increasing values.");
  m.def(
      "exp_scores",
      [](const In<double>& score, const Out<double>& out, int n_threads) {
        check_length(out, length(score), "out");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        exp_scores(*team, score.data(), length(score), out.data());
      },
      "score"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace gossamer::bindings
