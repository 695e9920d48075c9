// Lists and shared pointers as arguments and results.
//
// nanobind's own casters for them (stl/vector.h, stl/shared_ptr.h) allocate in functions that are noexcept: the process
// ends where memory runs out. These throw instead, which nanobind turns into a MemoryError.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "bindings/gil.h"

namespace nanobind::detail {

template <class T>
struct type_caster<std::vector<T>> {
  NB_TYPE_CASTER(std::vector<T>,
                 io_name("collections.abc.Sequence", "list") + const_name("[") + make_caster<T>::Name + const_name("]"))

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) {
    PyObject* const given = source.ptr();
    if (!PySequence_Check(given) || PyUnicode_Check(given) || PyBytes_Check(given)) return false;
    const object items = steal(PySequence_Fast(given, "a sequence"));
    if (!items.is_valid()) {
      PyErr_Clear();
      return false;
    }
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
    value.clear();
    value.reserve(static_cast<std::size_t>(n));
    flags = static_cast<Flags>(flags_for_local_caster<T>(flags));
    for (Py_ssize_t i = 0; i < n; ++i) {
      make_caster<T> caster;
      if (!caster.from_python(PySequence_Fast_GET_ITEM(items.ptr(), i), flags, cleanup)) return false;
      if (!caster.template can_cast<T>()) return false;
      value.push_back(caster.operator cast_t<T>());
    }
    return true;
  }

  template <class Source>
  static handle from_cpp(Source&& source, rv_policy policy, cleanup_list* cleanup) {
    object items = steal(PyList_New(static_cast<Py_ssize_t>(source.size())));
    if (!items.is_valid()) return {};
    Py_ssize_t i = 0;
    for (auto&& entry : source) {
      const handle item = make_caster<T>::from_cpp(forward_like_<Source>(entry), policy, cleanup);
      if (!item.is_valid()) return {};
      PyList_SET_ITEM(items.ptr(), i++, item.ptr());
    }
    return items.release();
  }
};

template <class T>
struct type_caster<std::shared_ptr<T>> {
  static constexpr bool IsClass = true;
  using Plain = std::remove_const_t<T>;
  NB_TYPE_CASTER(std::shared_ptr<T>, make_caster<T>::Name)

  // The pointer keeps the Python object alive.
  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) {
    make_caster<T> caster;
    if (!caster.from_python(source, static_cast<Flags>(flags & ~static_cast<Flags>(cast_flags::convert)), cleanup)) {
      return false;
    }
    Plain* const found = caster.operator Plain*();
    value.reset();
    if (found == nullptr) return true;
    source.inc_ref();  // given back by the deleter, also where there is no memory for the pointer's own count
    value = std::shared_ptr<T>(found, [object = source.ptr()](const void*) noexcept {
      if (!Py_IsInitialized()) return;
      if (PyGILState_Check()) {  // also while the interpreter ends, when the lock cannot be taken any more
        Py_DECREF(object);
        return;
      }
      const gossamer::bindings::nb::gil_scoped_acquire gil;
      Py_DECREF(object);
    });
    return true;
  }

  // The Python object keeps a copy of the pointer.
  static handle from_cpp(const std::shared_ptr<T>& value, rv_policy, cleanup_list*) {
    if (!value) return none().release();
    if (object known = find(*value); known.is_valid()) return known.release();
    auto copy = std::make_unique<std::shared_ptr<T>>(value);
    const capsule owner(copy.get(), [](void* p) noexcept { delete static_cast<std::shared_ptr<T>*>(p); });
    (void)copy.release();
    return inst_reference(type<Plain>(), const_cast<Plain*>(value.get()), owner).release();
  }
};

}  // namespace nanobind::detail
