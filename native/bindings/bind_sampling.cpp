#include <nanobind/stl/optional.h>

#include "bindings/arrays.h"
#include "core/random.h"
#include "core/row_sampler.h"

namespace gossamer::bindings {

using namespace nb::literals;

void bind_sampling(nb::module_& m) {
  m.def("random_bits", &random_bits, "key"_a, "counter"_a, "64 random bits, a function of both arguments.");
  m.def(
      "sample_rows",
      [](std::int64_t n_rows, double fraction_negative, double fraction_positive, const std::optional<In<float>>& label,
         std::uint64_t key) {
        const float* const labels = data_or_null(label, n_rows, "label");
        RowSample sample;
        {
          nb::gil_scoped_release release;
          sample = sample_rows(n_rows, fraction_negative, fraction_positive, labels, key);
        }
        return nb::make_tuple(to_numpy(std::move(sample.in)), to_numpy(std::move(sample.out)));
      },
      "n_rows"_a, "fraction_negative"_a, "fraction_positive"_a, "label"_a.noconvert().none(), "key"_a,
      "Rows in the bag and rows outside it.");
}

}  // namespace gossamer::bindings
