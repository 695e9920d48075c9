// 2^x by + - * alone, so that every platform gets the same bits: libraries differ in the last bit of std::exp2.
#pragma once

#include <algorithm>
#include <cmath>

namespace gossamer {

// Exact where x is whole, else within one unit in the last place.
inline double power_of_two(double x) {
  const double whole = std::floor(x + 0.5);
  const double t = (x - whole) * 0.69314718055994531;  // 2^(x - whole) = e^t, |t| < 0.35
  double sum = 1.0;
  for (int k = 16; k >= 1; --k) sum = 1.0 + sum * t / k;
  return std::ldexp(sum, static_cast<int>(std::clamp(whole, -2000.0, 2000.0)));
}

}  // namespace gossamer
