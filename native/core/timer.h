// Adds the time of a scope to a total, in seconds: a double, or an atomic one that others read meanwhile.
#pragma once

#include <chrono>

namespace gossamer {

template <class Total>
class Timer {
 public:
  explicit Timer(Total& total) : total_(total), start_(Clock::now()) {}
  ~Timer() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Total& total_;
  Clock::time_point start_;
};

}  // namespace gossamer
