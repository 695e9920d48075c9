#include <nanobind/stl/optional.h>

#include "bindings/arrays.h"
#include "bindings/targets.h"
#include "core/objectives.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

void l2(const In<double>& score, const In<float>& label, const Weight& weight, const Out<float>& gradient,
        const std::optional<Out<float>>& hessian, int n_threads) {
  const RowTargets t = targets(label, weight);
  check_length(score, t.n_rows, "score");
  check_length(gradient, t.n_rows, "gradient");
  if (hessian) check_length(*hessian, t.n_rows, "hessian");
  if (t.weight != nullptr && !hessian) throw std::invalid_argument("weights need a hessian array");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  gradients_l2(*team, t, score.data(), gradient.data(), hessian ? hessian->data() : nullptr);
}

void binary(const In<double>& score, const In<float>& label, const Weight& weight, double steepness,
            double weight_negative, double weight_positive, const Out<float>& gradient, const Out<float>& hessian,
            int n_threads) {
  const RowTargets t = targets(label, weight);
  check_length(score, t.n_rows, "score");
  check_length(gradient, t.n_rows, "gradient");
  check_length(hessian, t.n_rows, "hessian");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  gradients_binary(*team, t, score.data(), steepness, weight_negative, weight_positive, gradient.data(),
                   hessian.data());
}

void multiclass(const In<double>& score, const In<float>& label, const Weight& weight, int n_classes,
                const Out<float>& gradient, const Out<float>& hessian, int n_threads) {
  const RowTargets t = targets(label, weight);
  if (n_classes < 2) throw std::invalid_argument("n_classes must be at least 2");
  check_length(score, t.n_rows * n_classes, "score");
  check_length(gradient, t.n_rows * n_classes, "gradient");
  check_length(hessian, t.n_rows * n_classes, "hessian");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  gradients_softmax(*team, t, score.data(), n_classes, gradient.data(), hessian.data());
}

void sigmoid_py(const In<double>& score, double steepness, const Out<double>& out, int n_threads) {
  check_length(out, length(score), "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  sigmoid(*team, score.data(), length(score), steepness, out.data());
}

void softmax_py(const In<double>& score, int n_classes, const Out<double>& out, int n_threads) {
  if (n_classes < 1 || length(score) % n_classes != 0) throw std::invalid_argument("score has a wrong length");
  check_length(out, length(score), "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  softmax(*team, score.data(), length(score) / n_classes, n_classes, out.data());
}

}  // namespace

void bind_objectives(nb::module_& m) {
  nb::class_<RowLoss>(m, "RowLoss", "A loss whose rounds can follow one another without Python in between.")
      .def_static("squared", [] { return RowLoss{}; })
      .def_static(
          "logistic",
          [](double sigmoid, double weight_negative, double weight_positive) {
            return RowLoss{RowLoss::Kind::logistic, 1, sigmoid, weight_negative, weight_positive};
          },
          "sigmoid"_a, "weight_negative"_a, "weight_positive"_a)
      .def_static(
          "softmax",
          [](int n_classes) {
            if (n_classes < 2) throw std::invalid_argument("n_classes must be at least 2");
            return RowLoss{RowLoss::Kind::softmax, n_classes};
          },
          "n_classes"_a);
  m.def("gradients_l2", &l2, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "n_threads"_a);
  m.def("gradients_binary", &binary, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "sigmoid"_a, "weight_negative"_a, "weight_positive"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert(),
        "n_threads"_a);
  m.def("gradients_softmax", &multiclass, "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(),
        "n_classes"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a,
        "Class-major scores and results.");
  m.def("sigmoid", &sigmoid_py, "score"_a.noconvert(), "steepness"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("softmax", &softmax_py, "score"_a.noconvert(), "n_classes"_a, "out"_a.noconvert(), "n_threads"_a,
        "Class-major scores to row-major probabilities.");
}

}  // namespace gossamer::bindings
