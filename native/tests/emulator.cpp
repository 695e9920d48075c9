#include "tests/emulator.h"

#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace emulator {

Index thread_index, block_index, block_size, grid_size;

namespace {

constexpr std::size_t kStackBytes = 96 * 1024;

enum class Waits { nothing, warp, block, is_done };

struct Thread {
  std::unique_ptr<unsigned char[]> stack;
  ucontext_t context;
  jmp_buf place;
  bool is_started = false;
  Waits waits = Waits::nothing;
};

struct Warp {
  unsigned char rooms[2][8 * 32];
  std::uint64_t exchanges[32] = {};
};

std::vector<Thread> threads;
std::vector<Warp> warps;
std::vector<unsigned char> memory;
ucontext_t scheduler_context;
jmp_buf scheduler;
const Launch* current = nullptr;

Thread& self() { return threads[thread_index.x]; }

void wait(Waits what) {
  Thread& own = self();
  own.waits = what;
  if (_setjmp(own.place) == 0) _longjmp(scheduler, 1);
}

void body() {
  current->kernel(current->args);
  self().waits = Waits::is_done;
  _longjmp(scheduler, 1);
}

void resume(unsigned t) {
  thread_index.x = t;
  Thread& thread = threads[t];
  thread.waits = Waits::nothing;
  if (_setjmp(scheduler) != 0) return;
  if (thread.is_started) _longjmp(thread.place, 1);
  thread.is_started = true;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = kStackBytes;
  thread.context.uc_link = &scheduler_context;
  makecontext(&thread.context, body, 0);
  setcontext(&thread.context);
}

bool all_wait(unsigned begin, unsigned end, Waits what) {
  for (unsigned t = begin; t < end; ++t) {
    if (threads[t].waits != what && threads[t].waits != Waits::is_done) return false;
  }
  return true;
}

bool is_done(unsigned begin, unsigned end) {
  for (unsigned t = begin; t < end; ++t) {
    if (threads[t].waits != Waits::is_done) return false;
  }
  return true;
}

// Runs a warp until all of its threads wait for the block, or are done.
void run_warp(unsigned begin, unsigned end) {
  while (true) {
    for (unsigned t = begin; t < end; ++t) {
      if (threads[t].waits == Waits::nothing) resume(t);
    }
    if (all_wait(begin, end, Waits::block)) return;
    if (!all_wait(begin, end, Waits::warp)) throw std::logic_error("threads of a warp wait for different things");
    for (unsigned t = begin; t < end; ++t) {
      if (threads[t].waits == Waits::warp) threads[t].waits = Waits::nothing;
    }
  }
}

void run_block(unsigned n_threads) {
  const std::span own(threads.data(), n_threads);
  for (Thread& thread : own) {
    thread.is_started = false;
    thread.waits = Waits::nothing;
  }
  for (Warp& warp : warps) warp = Warp{};
  while (!is_done(0, n_threads)) {
    for (unsigned begin = 0; begin < n_threads; begin += 32) {
      if (!is_done(begin, begin + 32)) run_warp(begin, begin + 32);
    }
    for (Thread& thread : own) {
      if (thread.waits == Waits::block) thread.waits = Waits::nothing;
    }
  }
}

}  // namespace

unsigned char* shared_memory() { return memory.data(); }
void wait_for_block() { wait(Waits::block); }
void wait_for_warp() { wait(Waits::warp); }

void* room_of_warp() {
  Warp& warp = warps[thread_index.x / 32];
  return warp.rooms[warp.exchanges[thread_index.x & 31]++ & 1];
}

void run(const Launch& launch) {
  if (launch.n_threads % 32 != 0) throw std::invalid_argument("blocks have whole warps");
  current = &launch;
  // Stacks are kept for larger launches, and not cleared: that takes longer than most kernels.
  while (threads.size() < launch.n_threads) {
    threads.emplace_back().stack = std::make_unique_for_overwrite<unsigned char[]>(kStackBytes);
  }
  warps.resize(launch.n_threads / 32);
  block_size.x = launch.n_threads;
  grid_size.x = launch.n_blocks;
  for (unsigned b = 0; b < launch.n_blocks; ++b) {
    block_index.x = b;
    memory.assign(launch.shared_bytes, 0xa5);  // kernels may not count on zeros
    run_block(launch.n_threads);
  }
}

}  // namespace emulator
