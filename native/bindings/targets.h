// Label and weight arguments that objectives and metrics share.
#pragma once

#include "bindings/arrays.h"
#include "core/objectives.h"

namespace gossamer::bindings {

using Weight = std::optional<In<float>>;

inline RowTargets targets(const In<float>& label, const Weight& weight) {
  return {length(label), label.data(), data_or_null(weight, length(label), "weight")};
}

}  // namespace gossamer::bindings
