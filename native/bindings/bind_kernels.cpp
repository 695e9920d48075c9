#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings/casters.h"
#include "kernels/kernels.h"

namespace gossamer::bindings {

using namespace nb::literals;

void bind_kernels(nb::module_& m) {
  m.def("kernel_level", [] { return std::string(kernels().level); }, "Instruction set level in use.");
  m.def(
      "kernel_levels",
      [] {
        std::vector<std::string> names;
        for (int i = 0; i < n_kernel_levels(); ++i) names.emplace_back(kernel_level_name(i));
        return names;
      },
      "Levels that this machine can run, best last.");
  m.def(
      "set_kernel_level", [](const std::string& name) { return set_kernel_level(name.c_str()); }, "name"_a,
      "Chooses a level; False if this machine does not have it.");
}

}  // namespace gossamer::bindings
