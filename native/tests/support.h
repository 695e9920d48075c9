// What the native tests share: random data, every kernel level, exact comparison.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/index.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer::tests {

// A stream of random numbers; the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : key_(mix_bits(seed)) {}

  std::uint64_t bits() { return random_bits(key_, counter_++); }
  double unit() { return random_unit(key_, counter_++); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  bool chance(double probability) { return unit() < probability; }
  double normal() { return std::sqrt(-2.0 * std::log(1.0 - unit())) * std::cos(6.283185307179586 * unit()); }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

// Index of the first element whose bits differ, -1 if there is none, -2 if the lengths differ.
template <class T, class A>
std::int64_t first_difference(const std::vector<T, A>& a, const std::vector<T, A>& b) {
  if (a.size() != b.size()) return -2;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return static_cast<std::int64_t>(i);
  }
  return -1;
}

// Calls body() at every level that this machine has, then returns to the level of before.
template <class Body>
void at_every_level(const Body& body) {
  const std::string before = kernels().level;
  for (int i = 0; i < n_kernel_levels(); ++i) {
    const std::string level = kernel_level_name(i);
    REQUIRE(set_kernel_level(level.c_str()));
    CAPTURE(level);
    body();
  }
  REQUIRE(set_kernel_level(before.c_str()));
}

// make() returns a vector; its bits must be the same at every level.
template <class Make>
auto same_at_every_level(const Make& make) {
  decltype(make()) first;
  bool have_first = false;
  at_every_level([&] {
    auto result = make();
    if (!have_first) {
      first = std::move(result);
      have_first = true;
    } else {
      CHECK(first_difference(first, result) == -1);
    }
  });
  return first;
}

// Sums by cell as three plain vectors.
struct CellSums {
  std::vector<std::int64_t> gradient;
  std::vector<std::int64_t> hessian;
  std::vector<std::uint32_t> count;

  explicit CellSums(std::int64_t n) : gradient(at(n)), hessian(at(n)), count(at(n)) {}
  LargeCells view() { return {gradient.data(), hessian.data(), count.data()}; }
  std::int64_t size() const { return static_cast<std::int64_t>(gradient.size()); }
  bool operator==(const CellSums&) const = default;
};

// The forms of a row's cell, as kernels/layout.inl chooses them: packed ones with 0 and 2 extra bits.
enum class Form { packed, packed_fine, constant_hessian, wide };

inline void set_packed(CellLayout& layout, int count_bits, int hessian_bits, int gradient_bits) {
  layout.count_bits = count_bits;
  layout.row_hessian_bits = hessian_bits;
  layout.hessian_bits = hessian_bits + count_bits;
  layout.max_rows = (1 << count_bits) - 1;
  layout.gradient_limit = 1 << gradient_bits;
  layout.hessian_limit = (1 << hessian_bits) - 1;
}

inline CellLayout layout_of(Form form) {
  CellLayout layout;
  switch (form) {
    case Form::packed: set_packed(layout, 13, 11, 13); break;
    case Form::packed_fine: set_packed(layout, 11, 15, 15); break;
    case Form::constant_hessian:
      layout.count_bits = 16;
      layout.max_rows = (1 << 16) - 1;
      layout.gradient_limit = 1 << 30;
      break;
    case Form::wide:
      layout.wide = true;
      layout.count_bits = 20;
      layout.hessian_bits = 44;
      layout.max_rows = (1 << 20) - 1;
      layout.gradient_limit = std::int64_t{1} << 40;
      layout.hessian_limit = 1 << 23;
      break;
  }
  return layout;
}

inline constexpr Form kForms[] = {Form::packed, Form::packed_fine, Form::constant_hessian, Form::wide};

// Rows with known integer gradients and hessians, in the form that histograms are built from.
struct Rows {
  CellLayout layout;
  std::vector<std::int64_t> gradient;
  std::vector<std::int64_t> hessian;
  Buffer<PackedRow> packed;
  Buffer<WideCell> wide;

  Rows(std::int64_t n, const CellLayout& l, Random& random) : layout(l) {
    for (std::int64_t i = 0; i < n; ++i) {
      gradient.push_back(random.below(2 * l.gradient_limit + 1) - l.gradient_limit);
      hessian.push_back(l.constant_hessian() ? 0 : random.below(l.hessian_limit + 1));
    }
    encode();
  }

  std::int64_t size() const { return static_cast<std::int64_t>(gradient.size()); }
  const void* values() const { return layout.wide ? static_cast<const void*>(wide.data()) : packed.data(); }

  // A packed row: hessian in the low bits, gradient above. A wide one: count, hessian; gradient (types.h).
  void encode() {
    packed.reset(size());
    wide.reset(size());
    for (std::int64_t i = 0; i < size(); ++i) {
      const auto g = static_cast<std::uint64_t>(gradient[at(i)]);
      const auto h = static_cast<std::uint64_t>(hessian[at(i)]);
      packed[i] = static_cast<PackedRow>((g << layout.row_hessian_bits) + h);
      wide[i] = {g, (h << layout.count_bits) + 1};
    }
  }
};

}  // namespace gossamer::tests
