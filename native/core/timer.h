// Adds the time of a scope to a total, in seconds.
#pragma once

#include <chrono>

namespace gossamer {

class Timer {
 public:
  explicit Timer(double& total) : total_(total), start_(Clock::now()) {}
  ~Timer() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  Clock::time_point start_;
};

}  // namespace gossamer
