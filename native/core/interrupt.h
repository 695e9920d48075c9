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
      : should_stop_(should_stop),
        owner_(std::this_thread::get_id()),
        checked_at_(Clock::now()),
        read_at_(checked_at_) {}

  // Throws Interrupted once the work should end. Any thread may call it.
  void check() {
    if (!wanted_.load(std::memory_order_relaxed) && std::this_thread::get_id() == owner_) {
      if (n_skipped_ < n_to_skip_) {
        ++n_skipped_;
        return;
      }
      const Clock::time_point now = Clock::now();
      // Where steps take microseconds, reading the clock at each of them would take a part of that.
      n_to_skip_ = now - read_at_ < (n_skipped_ + 1) * kShortStep ? kMostSkipped : 0;
      n_skipped_ = 0;
      read_at_ = now;
      if (now - checked_at_ < kPause) return;
      checked_at_ = now;
      if (should_stop_()) wanted_.store(true, std::memory_order_relaxed);
    }
    if (wanted_.load(std::memory_order_relaxed)) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};
  static constexpr std::chrono::microseconds kShortStep{20};
  static constexpr int kMostSkipped = 15;

  bool (*should_stop_)();
  std::thread::id owner_;
  Clock::time_point checked_at_;
  Clock::time_point read_at_;
  int n_to_skip_ = 0;  // of the calls of the owner
  int n_skipped_ = 0;
  std::atomic<bool> wanted_{false};
};

}  // namespace gossamer
