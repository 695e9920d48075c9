#include <nanobind/stl/optional.h>

#include "bindings/arrays.h"
#include "bindings/targets.h"
#include "core/leaf_refit.h"
#include "core/pointwise.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

void gradients_py(const LossArgs& loss, const In<double>& score, const In<float>& label, const Weight& weight,
                  const Out<float>& gradient, const std::optional<Out<float>>& hessian, int n_threads) {
  const RowTargets t = targets(label, weight);
  if (!has_derivatives(loss.kind)) throw std::invalid_argument("this loss has no derivatives");
  check_length(score, t.n_rows, "score");
  check_length(gradient, t.n_rows, "gradient");
  if (hessian) check_length(*hessian, t.n_rows, "hessian");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  gradients_of(*team, t, loss, score.data(), gradient.data(), hessian ? hessian->data() : nullptr);
}

double sum_loss_py(const LossArgs& loss, const In<double>& score, const In<float>& label, const Weight& weight,
                   int n_threads) {
  const RowTargets t = targets(label, weight);
  check_length(score, t.n_rows, "score");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return sum_loss(*team, t, loss, score.data());
}

void apply_link_py(Link link, const In<double>& score, const Out<double>& out, int n_threads) {
  check_length(out, length(score), "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  apply_link(*team, link, score.data(), length(score), out.data());
}

double weighted_quantile_py(const In<float>& values, const Weight& weight, double alpha) {
  const RowTargets t = targets(values, weight);
  if (!(alpha >= 0.0 && alpha <= 1.0)) throw std::invalid_argument("alpha must be from 0 to 1");
  nb::gil_scoped_release release;
  std::vector<Residual> rows;
  rows.reserve(static_cast<std::size_t>(t.n_rows));
  for (std::int64_t i = 0; i < t.n_rows; ++i) {
    rows.push_back({static_cast<double>(t.label[i]), t.weight != nullptr ? static_cast<double>(t.weight[i]) : 1.0});
  }
  return weighted_quantile(rows, alpha);
}

}  // namespace

void bind_pointwise(nb::module_& m) {
  nb::enum_<Loss>(m, "Loss")
      .value("L1", Loss::l1)
      .value("HUBER", Loss::huber)
      .value("FAIR", Loss::fair)
      .value("QUANTILE", Loss::quantile)
      .value("MAPE", Loss::mape)
      .value("PSEUDO_HUBER", Loss::pseudo_huber)
      .value("LOG_COSH", Loss::log_cosh)
      .value("EXPECTILE", Loss::expectile)
      .value("POISSON", Loss::poisson)
      .value("GAMMA", Loss::gamma)
      .value("TWEEDIE", Loss::tweedie)
      .value("HINGE", Loss::hinge)
      .value("FOCAL", Loss::focal)
      .value("CROSS_ENTROPY", Loss::cross_entropy)
      .value("CROSS_ENTROPY_LAMBDA", Loss::cross_entropy_lambda)
      .value("POISSON_DEVIANCE", Loss::poisson_deviance)
      .value("GAMMA_LIKELIHOOD", Loss::gamma_likelihood)
      .value("GAMMA_DEVIANCE", Loss::gamma_deviance)
      .value("TWEEDIE_LIKELIHOOD", Loss::tweedie_likelihood)
      .value("SQUARED_LOG", Loss::squared_log)
      .value("PROBABILITY", Loss::probability)
      .value("INTENSITY", Loss::intensity);
  nb::enum_<Link>(m, "Link")
      .value("EXP", Link::exp)
      .value("EXPM1", Link::expm1)
      .value("SIGNED_SQUARE", Link::signed_square)
      .value("LOG1P_EXP", Link::log1p_exp);
  nb::class_<LossArgs>(m, "LossArgs")
      .def(
          "__init__",
          [](LossArgs* self, Loss kind, double a, double b, double c) { new (self) LossArgs{kind, a, b, c}; }, "kind"_a,
          "a"_a = 0.0, "b"_a = 0.0, "c"_a = 0.0)
      .def_ro("kind", &LossArgs::kind)
      .def_ro("a", &LossArgs::a)
      .def_ro("b", &LossArgs::b)
      .def_ro("c", &LossArgs::c);
  m.def("gradients_of", &gradients_py, "loss"_a, "score"_a.noconvert(), "label"_a.noconvert(),
        "weight"_a.noconvert().none(), "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "n_threads"_a);
  m.def("sum_loss", &sum_loss_py, "loss"_a, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "n_threads"_a);
  m.def("apply_link", &apply_link_py, "link"_a, "score"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
  m.def("weighted_quantile", &weighted_quantile_py, "values"_a.noconvert(), "weight"_a.noconvert().none(), "alpha"_a,
        "The quantile that leaf values are refitted with.");
}

}  // namespace gossamer::bindings
