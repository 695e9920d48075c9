#include "core/row_sampler.h"

#include "core/random.h"

namespace gossamer {

RowSample sample_rows(std::int64_t n_rows, double fraction_negative, double fraction_positive, const float* label,
                      std::uint64_t key) {
  RowSample sample;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const double fraction = label != nullptr && label[i] > 0.0f ? fraction_positive : fraction_negative;
    auto& side = random_unit(key, static_cast<std::uint64_t>(i)) < fraction ? sample.in : sample.out;
    side.push_back(static_cast<RowIdx>(i));
  }
  if (sample.in.empty() && n_rows > 0) {
    const auto row = static_cast<std::size_t>(random_bits(key, ~std::uint64_t{0}) % static_cast<std::uint64_t>(n_rows));
    sample.in.push_back(static_cast<RowIdx>(row));
    sample.out.erase(sample.out.begin() + static_cast<std::ptrdiff_t>(row));
  }
  return sample;
}

}  // namespace gossamer
