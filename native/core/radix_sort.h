// Least-significant-digit radix sort of unsigned keys: several times faster than comparison sorting
// for the hundreds of thousands of sampled values per column. Digits that all keys share are skipped.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace gossamer {

// Unsigned keys in the order of the floating-point values (NaN excluded; -0 below +0).
inline std::uint32_t ordered_key(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
inline std::uint64_t ordered_key(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}
inline float key_value(std::uint32_t key) {
  const std::uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
inline double key_value(std::uint64_t key) {
  const std::uint64_t bits = key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key;
  double x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

template <int kBits, class Item, class GetKey>
void radix_sort_digits(std::vector<Item>& items, const GetKey& get_key) {
  using Key = std::decay_t<decltype(get_key(items[0]))>;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  constexpr int kPasses = (static_cast<int>(sizeof(Key)) * 8 + kBits - 1) / kBits;
  if (items.size() < 2) return;
  std::vector<std::array<std::uint32_t, kBuckets>> histograms(kPasses);
  for (auto& h : histograms) h.fill(0);
  for (const Item& item : items) {
    const Key key = get_key(item);
    for (int pass = 0; pass < kPasses; ++pass) {
      ++histograms[static_cast<std::size_t>(pass)][(key >> (pass * kBits)) & (kBuckets - 1)];
    }
  }
  std::vector<Item> other(items.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    auto& starts = histograms[static_cast<std::size_t>(pass)];
    const auto digit = [&](const Item& item) {
      return static_cast<std::size_t>((get_key(item) >> (pass * kBits)) & (kBuckets - 1));
    };
    if (starts[digit(items[0])] == items.size()) continue;
    std::uint32_t sum = 0;
    for (auto& start : starts) start = std::exchange(sum, sum + start);
    for (const Item& item : items) other[starts[digit(item)]++] = item;
    items.swap(other);
  }
}

// Sorts `items` by get_key(item) (an unsigned integer), keeping the order of equal keys.
template <class Item, class GetKey>
void radix_sort(std::vector<Item>& items, const GetKey& get_key) {
  // Few items: the counters of large digits would cost more than another pass.
  items.size() < 8192 ? radix_sort_digits<8>(items, get_key) : radix_sort_digits<11>(items, get_key);
}

}  // namespace gossamer
