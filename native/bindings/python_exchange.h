// Sums over shards of the rows by a Python object, for example over a network.
//
// The object is called by the thread that grows the trees, which takes the interpreter's lock for that long. What the
// object raises ends the round: the exception stays set, and `Interrupted` unwinds the native code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "core/exchange.h"
#include "core/interrupt.h"

namespace gossamer::bindings {

class PythonExchange : public Exchange {
 public:
  // The object stays alive as long as the grower's owner does.
  explicit PythonExchange(nb::object sums)
      : sums_(std::move(sums)),
        n_shards_(nb::cast<std::int32_t>(sums_.attr("size"))),
        shard_(nb::cast<std::int32_t>(sums_.attr("rank"))),
        has_all_rows_(nb::cast<bool>(sums_.attr("has_all_rows"))),
        top_k_(nb::cast<std::int32_t>(sums_.attr("top_k"))) {}

  std::int32_t n_shards() const override { return n_shards_; }
  std::int32_t shard() const override { return shard_; }
  bool has_all_rows() const override { return has_all_rows_; }
  std::int32_t top_k() const override { return top_k_; }

  Received swap(std::vector<Bytes> parts) override {
    using Content = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const nb::gil_scoped_acquire acquire;
    // The last one to drop it may be without the interpreter's lock.
    const std::shared_ptr<std::vector<Content>> contents(new std::vector<Content>, [](auto* last) {
      const nb::gil_scoped_acquire acquire_again;
      delete last;
    });
    Received received;
    try {
      nb::list own;
      for (Bytes& part : parts) own.append(to_array(std::move(part)));
      for (const nb::handle content : nb::list(sums_.attr("exchange")(own))) {
        contents->push_back(nb::cast<Content>(content));
        received.parts.emplace_back(contents->back().data(), contents->back().size());
      }
    } catch (nb::python_error& error) {
      error.restore();
      throw Interrupted{};
    }
    received.owner = contents;
    return received;
  }

  void add(std::span<const std::span<std::uint64_t>> parts) override { add_parts(parts, words_); }
  void add(std::span<const std::span<std::int32_t>> parts) override { add_parts(parts, ints_); }

  void keep_largest(std::span<double> values) override {
    const nb::gil_scoped_acquire acquire;
    call("keep_largest", values);
  }

  std::vector<double> gather(std::span<const double> own) override {
    std::vector<double> copy(own.begin(), own.end());
    const nb::gil_scoped_acquire acquire;
    const nb::object all = call("gather", std::span<double>(copy));
    In<double> found;
    if (!nb::try_cast(all, found, false)) {
      PyErr_SetString(PyExc_TypeError, "gather() must return a contiguous array of float64");
      throw Interrupted{};
    }
    return to_vector(found);
  }

 private:
  // An array that owns the bytes: they may be sent after the exchange has returned.
  static nb::object to_array(Bytes part) {
    auto* const owned = new Bytes(std::move(part));
    const nb::capsule owner(owned, [](void* bytes) noexcept { delete static_cast<Bytes*>(bytes); });
    const nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>> array(owned->data(), {owned->size()}, owner);
    return nb::cast(array);
  }

  template <class T>
  void add_parts(std::span<const std::span<T>> parts, std::vector<T>& all) {
    all.clear();
    for (const std::span<T> part : parts) all.insert(all.end(), part.begin(), part.end());
    {
      const nb::gil_scoped_acquire acquire;
      call("add", std::span<T>(all));
    }
    const T* from = all.data();
    for (const std::span<T> part : parts) {
      std::copy_n(from, part.size(), part.begin());
      from += part.size();
    }
  }

  template <class T>
  nb::object call(const char* method, std::span<T> values) {
    try {
      const nb::ndarray<nb::numpy, T, nb::ndim<1>> array(values.data(), {values.size()}, nb::handle());
      return sums_.attr(method)(nb::cast(array, nb::rv_policy::reference));
    } catch (nb::python_error& error) {
      error.restore();
      throw Interrupted{};
    }
  }

  nb::object sums_;
  std::int32_t n_shards_, shard_;
  bool has_all_rows_;
  std::int32_t top_k_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> ints_;
};

}  // namespace gossamer::bindings
