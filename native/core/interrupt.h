// Lets long work be interrupted between its steps.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace gossamer {

// Thrown to stop the work; the caller must undo what the work has changed so far.
struct Interrupted {};

class Interrupt {
 public:
  // `should_stop` returns whether to stop. Only the thread that constructs this object calls it, and rarely.
  explicit Interrupt(bool (*should_stop)())
      : should_stop_(should_stop), owner_(std::this_thread::get_id()), checked_at_(Clock::now()) {}

  // Throws Interrupted once the work should end. Any thread may call it.
  void check() {
    if (!wanted_.load(std::memory_order_relaxed) && std::this_thread::get_id() == owner_) {
      const Clock::time_point now = Clock::now();
      if (now - checked_at_ < kPause) return;
      checked_at_ = now;
      if (should_stop_()) wanted_.store(true, std::memory_order_relaxed);
    }
    if (wanted_.load(std::memory_order_relaxed)) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};

  bool (*should_stop_)();
  std::thread::id owner_;
  Clock::time_point checked_at_;
  std::atomic<bool> wanted_{false};
};

}  // namespace gossamer
