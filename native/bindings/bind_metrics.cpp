#include <nanobind/stl/optional.h>

#include "bindings/arrays.h"
#include "bindings/targets.h"
#include "core/metrics.h"
#include "core/order_metrics.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

// Checks lengths, releases the GIL, leases a team, calls metric(team, targets, score).
template <class Metric>
double run(const In<double>& score, const In<float>& label, const Weight& weight, int n_classes, int n_threads,
           const Metric& metric) {
  const RowTargets t = targets(label, weight);
  if (n_classes < 1) throw std::invalid_argument("n_classes must be at least 1");
  check_length(score, t.n_rows * n_classes, "score");
  if (n_classes > 1) {
    for (std::int64_t i = 0; i < t.n_rows; ++i) {
      if (!(t.label[i] >= 0.0f && t.label[i] < static_cast<float>(n_classes))) {
        throw std::invalid_argument("label outside the classes");
      }
    }
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return metric(*team, t, score.data());
}

}  // namespace

void bind_metrics(nb::module_& m) {
  const auto simple = [&](const char* name, double (*metric)(Team&, const RowTargets&, const double*)) {
    m.def(
        name,
        [metric](const In<double>& score, const In<float>& label, const Weight& weight, int n_threads) {
          return run(score, label, weight, 1, n_threads, metric);
        },
        "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "n_threads"_a);
  };
  simple("sum_squared_error", &sum_squared_error);
  simple("sum_absolute_error", &sum_absolute_error);
  simple("auc", &auc);
  simple("average_precision", &average_precision);
  simple("aucpr", &aucpr);
  m.def(
      "sum_binary_error",
      [](const In<double>& score, const In<float>& label, const Weight& weight, double threshold, int n_threads) {
        return run(score, label, weight, 1, n_threads, [&](Team& team, const RowTargets& t, const double* s) {
          return sum_binary_error(team, t, s, threshold);
        });
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "threshold"_a, "n_threads"_a);
  m.def(
      "sum_logloss",
      [](const In<double>& score, const In<float>& label, const Weight& weight, double steepness, int n_threads) {
        return run(score, label, weight, 1, n_threads, [&](Team& team, const RowTargets& t, const double* s) {
          return sum_logloss(team, t, s, steepness);
        });
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "sigmoid"_a, "n_threads"_a);
  m.def(
      "sum_multi_logloss",
      [](const In<double>& score, const In<float>& label, const Weight& weight, int n_classes, int n_threads) {
        return run(score, label, weight, n_classes, n_threads, [&](Team& team, const RowTargets& t, const double* s) {
          return sum_multi_logloss(team, t, s, n_classes);
        });
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "n_classes"_a, "n_threads"_a);
  m.def(
      "sum_multi_error",
      [](const In<double>& score, const In<float>& label, const Weight& weight, int n_classes, int top_k,
         int n_threads) {
        return run(score, label, weight, n_classes, n_threads, [&](Team& team, const RowTargets& t, const double* s) {
          return sum_multi_error(team, t, s, n_classes, top_k);
        });
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "n_classes"_a, "top_k"_a,
      "n_threads"_a);
  m.def(
      "auc_mu",
      [](const In<double>& score, const In<float>& label, const Weight& weight, int n_classes, const In<double>& costs,
         int n_threads) {
        check_length(costs, static_cast<std::int64_t>(n_classes) * n_classes, "costs");
        return run(score, label, weight, n_classes, n_threads, [&](Team& team, const RowTargets& t, const double* s) {
          return auc_mu(team, t, s, n_classes, costs.data());
        });
      },
      "score"_a.noconvert(), "label"_a.noconvert(), "weight"_a.noconvert().none(), "n_classes"_a, "costs"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace gossamer::bindings
