// Predicts single rows of Python objects: read without a temporary array, and without the machinery for tables.

#include <cmath>
#include <cstring>

#include "bindings/casters.h"
#include "bindings/forest.h"
#include "core/row_predictor.h"
#include "kernels/kernels.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

// How raw scores become predictions.
enum class RowLink : std::int8_t { none, sigmoid, softmax, exp };

// A predictor, the start values of its sums, and how the sums become predictions.
struct PyRowPredictor {
  RowPredictor trees;
  std::vector<double> start;
  double n_averaged;  // the sum of the trees is divided by this; 0: not divided
  RowLink link;
  double steepness;  // steepness of a sigmoid
  nb::tuple names;   // names of the columns
};

// Reads Python's numbers and numpy's scalars. False: it is something else.
bool read_number(PyObject* item, double& out) {
  if (PyFloat_Check(item)) {
    out = PyFloat_AS_DOUBLE(item);
    return true;
  }
  if (item == Py_None) {
    out = NAN;
    return true;
  }
  const bool is_scalar = PyLong_Check(item) || std::strncmp(Py_TYPE(item)->tp_name, "numpy.", 6) == 0;
  if (!is_scalar || PyUnicode_Check(item) || PyBytes_Check(item)) return false;
  out = PyLong_Check(item) ? PyLong_AsDouble(item) : PyFloat_AsDouble(item);
  if (out != -1.0 || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  return false;
}

template <class T>
void read_strided(const Py_buffer& view, Py_ssize_t stride, std::vector<double>& row) {
  const char* p = static_cast<const char*>(view.buf);
  for (double& x : row) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    x = static_cast<double>(value);
    p += stride;
  }
}

bool read_buffer(const Py_buffer& view, std::vector<double>& row) {
  const auto n = static_cast<Py_ssize_t>(row.size());
  const bool is_row = view.ndim == 1 ? view.shape[0] == n : view.ndim == 2 && view.shape[0] == 1 && view.shape[1] == n;
  if (!is_row || view.format == nullptr || std::strlen(view.format) != 1) return false;
  const Py_ssize_t stride = view.strides[view.ndim - 1];
  switch (view.format[0]) {
    case 'd': read_strided<double>(view, stride, row); return true;
    case 'f': read_strided<float>(view, stride, row); return true;
    case '?':
    case 'B': read_strided<unsigned char>(view, stride, row); return true;
    case 'b': read_strided<signed char>(view, stride, row); return true;
    case 'h': read_strided<short>(view, stride, row); return true;
    case 'H': read_strided<unsigned short>(view, stride, row); return true;
    case 'i': read_strided<int>(view, stride, row); return true;
    case 'I': read_strided<unsigned>(view, stride, row); return true;
    case 'l': read_strided<long>(view, stride, row); return true;
    case 'L': read_strided<unsigned long>(view, stride, row); return true;
    case 'q': read_strided<long long>(view, stride, row); return true;
    case 'Q': read_strided<unsigned long long>(view, stride, row); return true;
    default: return false;
  }
}

// Reads lists, tuples, dicts by name, arrays of one row. False: the row is not as expected.
bool read_row(const PyRowPredictor& self, PyObject* given, std::vector<double>& row) {
  const auto n = static_cast<Py_ssize_t>(row.size());
  if (PyList_Check(given) || PyTuple_Check(given)) {
    for (Py_ssize_t i = 0; i < n; ++i) {
      // A number's own code may run and change a list.
      if (PySequence_Fast_GET_SIZE(given) != n) return false;
      if (!read_number(PySequence_Fast_GET_ITEM(given, i), row[static_cast<std::size_t>(i)])) return false;
    }
    return PySequence_Fast_GET_SIZE(given) == n;
  }
  if (PyDict_CheckExact(given)) {
    if (PyDict_GET_SIZE(given) != n) return false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* const item = PyDict_GetItemWithError(given, PyTuple_GET_ITEM(self.names.ptr(), i));
      if (item == nullptr) {
        PyErr_Clear();
        return false;
      }
      if (!read_number(item, row[static_cast<std::size_t>(i)])) return false;
    }
    return true;
  }
  Py_buffer view;
  if (!PyObject_CheckBuffer(given) || PyObject_GetBuffer(given, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool is_read = read_buffer(view, row);
  PyBuffer_Release(&view);
  return is_read;
}

// Turns raw scores into predictions, as for tables.
void finish(const PyRowPredictor& self, std::vector<double>& score, std::vector<double>& out) {
  const std::size_t k = score.size();
  for (std::size_t i = 0; i < k && self.n_averaged > 0.0; ++i) score[i] = score[i] / self.n_averaged + self.start[i];
  switch (self.link) {
    case RowLink::none: out = score; return;
    case RowLink::sigmoid:
      kernels().sigmoid(score.data(), static_cast<std::int64_t>(k), self.steepness, out.data());
      return;
    case RowLink::softmax: kernels().softmax(score.data(), 1, 0, 1, static_cast<int>(k), out.data()); return;
    case RowLink::exp: kernels().apply_link(Link::exp, score.data(), static_cast<std::int64_t>(k), out.data()); return;
  }
}

nb::object call(const PyRowPredictor& self, nb::handle given) {
  thread_local std::vector<double> row, score, out;
  row.resize(static_cast<std::size_t>(self.trees.n_columns()));
  if (!read_row(self, given.ptr(), row)) return nb::borrow(Py_NotImplemented);
  const auto k = static_cast<std::size_t>(self.trees.n_outputs());
  if (self.n_averaged > 0.0) {
    score.assign(k, 0.0);
  } else {
    score = self.start;
  }
  out.resize(k);
  constexpr std::int64_t kManyTrees = 2000;  // worth letting other threads run
  if (self.trees.n_trees() > kManyTrees) {
    nb::gil_scoped_release release;
    self.trees.add_scores(row.data(), score.data());
  } else {
    self.trees.add_scores(row.data(), score.data());
  }
  finish(self, score, out);
  if (k == 1) return nb::steal(PyFloat_FromDouble(out[0]));
  auto* const copy = new double[k];
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::copy(out.begin(), out.end(), copy);
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy, {k}, owner));
}

void make(PyRowPredictor* self, const Forest& forest, std::int64_t first, std::int64_t last, std::vector<double> start,
          std::int64_t n_averaged, RowLink link, double steepness, nb::tuple names) {
  check_trees(forest, first, last);
  if (static_cast<std::int64_t>(start.size()) != forest.n_outputs)
    throw std::invalid_argument("start must have one value per output");
  if (static_cast<std::int64_t>(names.size()) != forest.n_columns)
    throw std::invalid_argument("names must have one entry per column");
  new (self) PyRowPredictor{RowPredictor(forest, first, last),
                            std::move(start),
                            static_cast<double>(n_averaged),
                            link,
                            steepness,
                            std::move(names)};
}

}  // namespace

void bind_row_predictor(nb::module_& m) {
  nb::enum_<RowLink>(m, "RowLink")
      .value("NONE", RowLink::none)
      .value("SIGMOID", RowLink::sigmoid)
      .value("SOFTMAX", RowLink::softmax)
      .value("EXP", RowLink::exp);
  nb::class_<PyRowPredictor>(m, "RowPredictor", "Predicts one row at a time.")
      .def("__init__", &make, nb::keep_alive<1, 2>(), "forest"_a, "first_tree"_a, "last_tree"_a, "start"_a,
           "n_averaged"_a, "link"_a, "steepness"_a, "names"_a)
      .def("__call__", &call, "row"_a.none(),
           "A float, or an array of several outputs; NotImplemented if the row is not as expected.");
}

}  // namespace gossamer::bindings
