// Adds the time of a scope to a total, in seconds: a double, or an atomic one that others read meanwhile. `is_on`
// false: the clock is not read.
#pragma once

#include <chrono>

namespace gossamer {

template <class Total>
class Timer {
 public:
  explicit Timer(Total& total, bool is_on = true)
      : total_(total), is_on_(is_on), start_(is_on ? Clock::now() : Clock::time_point{}) {}
  ~Timer() {
    if (is_on_) total_ += std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Total& total_;
  bool is_on_;
  Clock::time_point start_;
};

}  // namespace gossamer
