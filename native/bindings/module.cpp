#include <nanobind/nanobind.h>

#include "kernels/kernels.h"

namespace gossamer::bindings {
void bind_kernels(nanobind::module_& m);
void bind_binning(nanobind::module_& m);
void bind_objectives(nanobind::module_& m);
void bind_device(nanobind::module_& m);
void bind_pages(nanobind::module_& m);
void bind_pointwise(nanobind::module_& m);
void bind_survival(nanobind::module_& m);
void bind_distribution(nanobind::module_& m);
void bind_metrics(nanobind::module_& m);
void bind_ranking(nanobind::module_& m);
void bind_sampling(nanobind::module_& m);
void bind_sketch(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_predict(nanobind::module_& m);
void bind_shap(nanobind::module_& m);
void bind_row_predictor(nanobind::module_& m);
}  // namespace gossamer::bindings

NB_MODULE(_native, m) {
  using namespace gossamer::bindings;
  gossamer::kernels();  // throws if there are none for this processor; Python raises ImportError then
  // Models that a daemon thread or a cache still holds when Python exits are not errors.
  nanobind::set_leak_warnings(false);
  m.doc() = "Gossamer's native core: everything that runs per row, per bin or per node.";
  bind_kernels(m);
  bind_sparse(m);
  bind_binning(m);
  bind_device(m);
  bind_pages(m);
  bind_objectives(m);
  bind_pointwise(m);
  bind_survival(m);
  bind_distribution(m);
  bind_metrics(m);
  bind_ranking(m);
  bind_sampling(m);
  bind_sketch(m);
  bind_tree(m);
  bind_predict(m);
  bind_shap(m);
  bind_row_predictor(m);
}
