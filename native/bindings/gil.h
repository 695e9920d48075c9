// nanobind under its short name, but with guards of our own that release the interpreter's lock
// during native work, and take it for a short while.
//
// A thread that asks for the lock while the interpreter shuts down never gets it: a daemon thread
// that trains, for one. Up to Python 3.13 the interpreter then ends the thread by unwinding its
// stack, which C++ turns into std::terminate, and which would destroy a thread team at work. Here the
// thread sleeps instead until the process ends, as Python itself does from version 3.14 on.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace gossamer::bindings {

[[noreturn]] inline void sleep_until_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

inline bool is_shutting_down() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Calls take(), which takes the lock.
template <class Take>
auto take_gil(const Take& take) noexcept {
  if (is_shutting_down()) sleep_until_exit();
  try {
    return take();
  } catch (...) {  // the shutdown began while the thread waited: the C library unwinds its stack
    sleep_until_exit();
  }
}

// What is declared here comes before nanobind's own of the same name.
namespace nb {

using namespace nanobind;

class gil_scoped_release {
 public:
  gil_scoped_release() : state_(PyEval_SaveThread()) {}
  ~gil_scoped_release() {
    take_gil([this] { PyEval_RestoreThread(state_); });
  }
  gil_scoped_release(const gil_scoped_release&) = delete;
  gil_scoped_release& operator=(const gil_scoped_release&) = delete;

 private:
  PyThreadState* state_;
};

class gil_scoped_acquire {
 public:
  gil_scoped_acquire() : state_(take_gil([] { return PyGILState_Ensure(); })) {}
  ~gil_scoped_acquire() { PyGILState_Release(state_); }
  gil_scoped_acquire(const gil_scoped_acquire&) = delete;
  gil_scoped_acquire& operator=(const gil_scoped_acquire&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace nb
}  // namespace gossamer::bindings
