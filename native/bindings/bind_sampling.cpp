#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"
#include "core/gradient_sampler.h"
#include "core/random.h"
#include "core/row_sampler.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

// A sampler with the sizes needed to check arguments.
struct PyGradientSampler {
  std::int64_t n_rows;
  int n_outputs;
  GradientSampler sampler;

  PyGradientSampler(std::int64_t rows, int outputs)
      : n_rows(rows),
        n_outputs(outputs),
        sampler(checked(rows, "n_rows"), static_cast<int>(checked(outputs, "n_outputs"))) {}

  static std::int64_t checked(std::int64_t count, const char* name) {
    if (count < 1) throw std::invalid_argument(std::string(name) + " must be at least 1");
    return count;
  }

  template <class Array>
  void check(const Array& gradient, const Array& hessian) const {
    check_length(gradient, n_rows * n_outputs, "gradient");
    check_length(hessian, n_rows * n_outputs, "hessian");
  }

  void check_scores() const {
    if (!sampler.is_scored()) throw std::invalid_argument("rows have no scores");
  }

  void check_sample(const Out<float>& gradient, const Out<float>& hessian, const Out<RowIdx>& rows) const {
    check(gradient, hessian);
    check_length(rows, n_rows, "rows");
  }
};

void score(PyGradientSampler& self, const In<float>& gradient, const In<float>& hessian, double reg, int n_threads) {
  self.check(gradient, hessian);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  self.sampler.score(*team, gradient.data(), hessian.data(), reg);
}

void sample_goss(PyGradientSampler& self, std::int64_t n_top, std::int64_t n_other, std::uint64_t key,
                 const Out<float>& gradient, const Out<float>& hessian, const Out<RowIdx>& rows, int n_threads) {
  if (n_top < 1 || n_other < 0 || n_top > self.n_rows || n_other > self.n_rows - n_top) {
    throw std::invalid_argument("too few or too many rows");
  }
  self.check_sample(gradient, hessian, rows);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  self.sampler.sample_goss(*team, n_top, n_other, key, gradient.data(), hessian.data(), rows.data());
}

std::int64_t sample_mvs(PyGradientSampler& self, double n_expected, std::uint64_t key, const Out<float>& gradient,
                        const Out<float>& hessian, const Out<RowIdx>& rows, int n_threads) {
  if (!(n_expected > 0.0)) throw std::invalid_argument("n_expected must be above 0");
  self.check_sample(gradient, hessian, rows);
  self.check_scores();
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return self.sampler.sample_mvs(*team, n_expected, key, gradient.data(), hessian.data(), rows.data());
}

std::int64_t sample_rows_py(std::int64_t n_rows, double fraction_negative, double fraction_positive,
                            const std::optional<In<float>>& label, std::uint64_t key, const Out<RowIdx>& rows,
                            int n_threads) {
  const float* const labels = data_or_null(label, n_rows, "label");
  check_length(rows, n_rows, "rows");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return sample_rows(*team, n_rows, fraction_negative, fraction_positive, labels, key, rows.data());
}

double mean_step_py(const In<float>& gradient, const In<float>& hessian, int n_threads) {
  check_length(hessian, length(gradient), "hessian");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return mean_step(*team, gradient.data(), hessian.data(), length(gradient));
}

nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> share_draws_py(std::int64_t n_rows, const In<std::int64_t>& n_tops,
                                                                 std::int64_t n_other, std::uint64_t key) {
  check_length(n_tops, count_sample_blocks(n_rows), "n_tops");
  const std::vector<std::int64_t> tops(n_tops.data(), n_tops.data() + length(n_tops));
  return to_numpy(share_draws(n_rows, tops, n_other, key));
}

double find_mu_py(double n_expected, const In<std::uint32_t>& counts,
                  const std::function<std::pair<double, std::int64_t>(double)>& sums_at) {
  check_length(counts, kLeadingDigits, "counts");
  return find_mu(n_expected, {counts.data(), counts.data() + length(counts)}, [&](double mu) {
    const auto [below, n_sure] = sums_at(mu);
    return MuSums{below, n_sure};
  });
}

}  // namespace

void bind_sampling(nb::module_& m) {
  m.def("random_bits", &random_bits, "key"_a, "counter"_a, "64 random bits, a function of both arguments.");
  m.def("sample_rows", &sample_rows_py, "n_rows"_a, "fraction_negative"_a, "fraction_positive"_a,
        "label"_a.noconvert().none(), "key"_a, "rows"_a.noconvert(), "n_threads"_a,
        "Draws a bag of rows and writes them to `rows`. Returns how many there are.");

  nb::class_<PyGradientSampler>(m, "GradientSampler", "Samples rows by their gradients; scores serve one sample.")
      .def(nb::init<std::int64_t, int>(), "n_rows"_a, "n_outputs"_a)
      .def("score", &score, "gradient"_a.noconvert(), "hessian"_a.noconvert(), "reg"_a, "n_threads"_a,
           "Scores rows by sqrt(sum over outputs of gradient^2 + reg x hessian^2).")
      .def(
          "histogram",
          [](PyGradientSampler& self) {
            self.check_scores();
            return to_numpy(std::vector<std::uint32_t>(self.sampler.histogram()));
          },
          nb::rv_policy::move, "Rows by the leading 12 bits of their score: exponent and 4 bits of mantissa.")
      .def("sample_goss", &sample_goss, "n_top"_a, "n_other"_a, "key"_a, "gradient"_a.noconvert(),
           "hessian"_a.noconvert(), "rows"_a.noconvert(), "n_threads"_a,
           "Keeps the rows of largest score and draws others, whose gradients are weighted.\n\n"
           "Rows without scores are scored with reg = 0.\n"
           "The first n_top + n_other of `rows` become the sample, in increasing order.")
      .def("sample_mvs", &sample_mvs, "n_expected"_a, "key"_a, "gradient"_a.noconvert(), "hessian"_a.noconvert(),
           "rows"_a.noconvert(), "n_threads"_a,
           "Keeps rows with probabilities that grow with their scores; divides gradients by them.\n\n"
           "Returns how many of `rows` are the sample.");
  m.def("share_draws", &share_draws_py, "n_rows"_a, "n_tops"_a.noconvert(), "n_other"_a, "key"_a, nb::rv_policy::move,
        "How many rows outside the top GOSS draws from each block of rows.");
  m.def("find_mu", &find_mu_py, "n_expected"_a, "counts"_a.noconvert(), "sums_at"_a,
        "The mu of MVS.\n\n`sums_at` takes a mu; it returns the sum of the scores below it and the number of others.");
  m.attr("SAMPLE_BLOCK") = kSampleBlock;
  m.def("mean_step", &mean_step_py, "gradient"_a.noconvert(), "hessian"_a.noconvert(), "n_threads"_a,
        "Sum of |gradient| over sum of hessian.");
}

}  // namespace gossamer::bindings
