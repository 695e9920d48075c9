// A way out of long work, asked about between its steps.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace gossamer {

// Thrown where work is to be left; what it has changed so far is for the caller to put right.
struct Interrupted {};

class Interrupt {
 public:
  // `ask` says whether to stop. Only the thread that makes this calls it, and not often.
  explicit Interrupt(bool (*ask)()) : ask_(ask), owner_(std::this_thread::get_id()), asked_(Clock::now()) {}

  // Throws Interrupted once somebody wants the work to end. Any thread may call it.
  void check() {
    if (!wanted_.load(std::memory_order_relaxed) && std::this_thread::get_id() == owner_) {
      const Clock::time_point now = Clock::now();
      if (now - asked_ < kPause) return;
      asked_ = now;
      if (ask_()) wanted_.store(true, std::memory_order_relaxed);
    }
    if (wanted_.load(std::memory_order_relaxed)) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};

  bool (*ask_)();
  std::thread::id owner_;
  Clock::time_point asked_;
  std::atomic<bool> wanted_{false};
};

}  // namespace gossamer
