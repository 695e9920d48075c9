#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <mutex>
#include <span>
#include <utility>

#include "bindings/arrays.h"
#include "core/quantile_sketch.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

constexpr std::size_t kEntryNumbers = 4;  // value, rank_low, rank_high, weight

using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

std::span<const double> span_of(const In<double>& a) { return {a.data(), a.shape(0)}; }

// Python threads may share a sketch, and work on it runs without the GIL.
class PyQuantileSketch {
 public:
  explicit PyQuantileSketch(QuantileSketch sketch) : sketch_(std::move(sketch)) {}

  // Calls work(sketch) under the lock and without the GIL: a thread that waits for the lock must not hold the GIL.
  template <class Work>
  auto alone(const Work& work) {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work(sketch_);
  }
  QuantileSketch copy() {
    return alone([](const QuantileSketch& sketch) { return sketch; });
  }

 private:
  QuantileSketch sketch_;
  std::mutex mutex_;
};

void update(PyQuantileSketch& self, const In<double>& values, const std::optional<In<double>>& weights) {
  if (weights) check_length(*weights, length(values), "weights");
  const std::span<const double> weight = weights ? span_of(*weights) : std::span<const double>{};
  self.alone([&](QuantileSketch& sketch) { sketch.update(span_of(values), weight); });
}

void merge_sketches(PyQuantileSketch& self, PyQuantileSketch& other) {
  const QuantileSketch copy = other.copy();  // holding both locks could end in a deadlock
  self.alone([&](QuantileSketch& sketch) { sketch.merge(copy); });
}

Doubles query(PyQuantileSketch& self, const In<double>& shares) {
  std::vector<double> values(shares.shape(0));
  self.alone([&](const QuantileSketch& sketch) {
    const QuantileSummary summary = sketch.summary();
    if (summary.empty()) throw std::invalid_argument("the sketch is empty");
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = summary.query(shares.data()[i] * summary.total_weight());
    }
  });
  return to_numpy(std::move(values));
}

std::pair<Doubles, Doubles> rank(PyQuantileSketch& self, const In<double>& values) {
  std::vector<double> low(values.shape(0));
  std::vector<double> high(values.shape(0));
  self.alone([&](const QuantileSketch& sketch) {
    const QuantileSummary summary = sketch.summary();
    for (std::size_t i = 0; i < low.size(); ++i) {
      const RankBounds bounds = summary.rank(values.data()[i]);
      low[i] = bounds.low;
      high[i] = bounds.high;
    }
  });
  return {to_numpy(std::move(low)), to_numpy(std::move(high))};
}

Doubles propose(PyQuantileSketch& self, double eps) {
  return to_numpy(self.alone([&](const QuantileSketch& sketch) { return sketch.summary().propose(eps).values; }));
}

nb::tuple get_state(PyQuantileSketch& self) {
  const SketchState state = self.copy().state();
  std::vector<double> buffer;
  for (const WeightedValue& v : state.buffer) buffer.insert(buffer.end(), {v.value, v.weight});
  std::vector<std::int64_t> sizes;
  std::vector<double> entries;
  for (const QuantileSummary& level : state.levels) {
    sizes.push_back(level.n_entries());
    for (const SummaryEntry& e : level.entries) {
      entries.insert(entries.end(), {e.value, e.rank_low, e.rank_high, e.weight});
    }
  }
  return nb::make_tuple(state.eps, state.missing_weight, to_numpy(std::move(buffer)), to_numpy(std::move(sizes)),
                        to_numpy(std::move(entries)));
}

PyQuantileSketch* from_state(double eps, double missing_weight, const In<double>& buffer, const In<std::int64_t>& sizes,
                             const In<double>& entries) {
  if (buffer.shape(0) % 2 != 0 || entries.shape(0) % kEntryNumbers != 0) {
    throw std::invalid_argument("the length of buffer or entries is wrong");
  }
  SketchState state;
  state.eps = eps;
  state.missing_weight = missing_weight;
  for (std::size_t i = 0; i < buffer.shape(0); i += 2) state.buffer.push_back({buffer.data()[i], buffer.data()[i + 1]});
  const double* next = entries.data();
  auto n_left = static_cast<std::int64_t>(entries.shape(0) / kEntryNumbers);
  for (std::size_t l = 0; l < sizes.shape(0); ++l) {
    const std::int64_t size = sizes.data()[l];
    if (size < 0 || size > n_left) throw std::invalid_argument("a level has more entries than there are");
    n_left -= size;
    QuantileSummary& level = state.levels.emplace_back();
    for (std::int64_t i = 0; i < size; ++i, next += kEntryNumbers) {
      level.entries.push_back({next[0], next[1], next[2], next[3]});
    }
  }
  if (n_left != 0) throw std::invalid_argument("there are more entries than the levels have");
  return new PyQuantileSketch(QuantileSketch(std::move(state)));
}

template <class Result>
auto getter(Result (QuantileSketch::*get)() const) {
  return [get](PyQuantileSketch& self) {
    return self.alone([get](const QuantileSketch& sketch) { return (sketch.*get)(); });
  };
}

}  // namespace

void bind_sketch(nb::module_& m) {
  nb::class_<PyQuantileSketch>(m, "QuantileSketch", "Quantiles of a stream of weighted values.")
      .def(
          "__init__", [](PyQuantileSketch* self, double eps) { new (self) PyQuantileSketch(QuantileSketch(eps)); },
          "eps"_a)
      .def("update", &update, "values"_a.noconvert(), "weights"_a.noconvert().none(),
           "Adds values; NaN counts as missing, weight 0 does not count.")
      .def("merge", &merge_sketches, "other"_a, "Adds all that the other sketch has seen.")
      .def("query", &query, "shares"_a.noconvert(), nb::rv_policy::move,
           "The values at these shares of the total weight.")
      .def("rank", &rank, "values"_a.noconvert(), nb::rv_policy::move,
           "Lower bounds of the weight below values, and upper bounds of the weight at and below them.")
      .def("propose", &propose, "eps"_a, nb::rv_policy::move,
           "Increasing cuts; from each to the next lies at most eps of the weight, or one heavy value.")
      .def("state", &get_state,
           "(eps, missing_weight, buffer, level sizes, entries).\n\n"
           "The buffer is pairs (value, weight), an entry is (value, rank_low, rank_high, weight).")
      .def_static("from_state", &from_state, "eps"_a, "missing_weight"_a, "buffer"_a.noconvert(),
                  "level_sizes"_a.noconvert(), "entries"_a.noconvert(), nb::rv_policy::take_ownership,
                  "The sketch with this state; ValueError if no sketch can have it.")
      .def_prop_ro("eps", getter(&QuantileSketch::eps))
      .def_prop_ro("total_weight", getter(&QuantileSketch::total_weight))
      .def_prop_ro("missing_weight", getter(&QuantileSketch::missing_weight))
      .def_prop_ro("n_entries", getter(&QuantileSketch::n_entries))
      .def_prop_ro("error_bound", getter(&QuantileSketch::error_bound));
}

}  // namespace gossamer::bindings
