// Runs the kernels of a GPU on the host, thread by thread: the tests need no GPU.
//
// A block's threads are coroutines. A thread runs until it comes to a barrier, or to a function that exchanges values
// within its warp; then the next one runs. Blocks run one after another, so atomic functions are plain ones. Threads of
// a warp must come to the same exchanges in the same order, as on a GPU.
#pragma once

#include <math.h>
#include <string.h>

#include <cstdint>

#define GOSSAMER_KERNEL(name, n_threads, n_blocks) static void name
#define GOSSAMER_RARE inline
#define __grid_constant__

struct uint4 {
  unsigned x, y, z, w;
};

namespace emulator {

struct Index {
  unsigned x = 0;
};

extern Index thread_index, block_index, block_size, grid_size;

unsigned char* shared_memory();
void wait_for_block();
void wait_for_warp();
// A buffer for the value of each thread of the warp. Two buffers take turns, so that a fast thread does not overwrite a
// value before a slow one has read it.
void* room_of_warp();

template <class T>
T exchange(T value, unsigned source) {
  static_assert(sizeof(T) <= 8);
  auto* const room = static_cast<unsigned char*>(room_of_warp());
  memcpy(room + 8 * (thread_index.x & 31), &value, sizeof(T));
  wait_for_warp();
  memcpy(&value, room + 8 * (source & 31), sizeof(T));
  return value;
}

// Runs a kernel in every block of a grid.
struct Launch {
  void (*kernel)(const void* args);
  const void* args;
  unsigned n_blocks;
  unsigned n_threads;
  std::size_t shared_bytes;
};
void run(const Launch& launch);

}  // namespace emulator

#define threadIdx emulator::thread_index
#define blockIdx emulator::block_index
#define blockDim emulator::block_size
#define gridDim emulator::grid_size

inline unsigned char* shared_memory() { return emulator::shared_memory(); }
inline void __syncthreads() { emulator::wait_for_block(); }
inline void __syncwarp() { emulator::wait_for_warp(); }

template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return emulator::exchange(value, static_cast<unsigned>(lane));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return emulator::exchange(value, (threadIdx.x & 31) ^ static_cast<unsigned>(mask));
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned step) {
  const unsigned lane = threadIdx.x & 31;
  return emulator::exchange(value, lane < step ? lane : lane - step);
}
inline unsigned __ballot_sync(unsigned, bool value) {
  auto* const room = static_cast<unsigned char*>(emulator::room_of_warp());
  room[8 * (threadIdx.x & 31)] = value ? 1 : 0;
  emulator::wait_for_warp();
  unsigned all = 0;
  for (unsigned lane = 0; lane < 32; ++lane) all |= static_cast<unsigned>(room[8 * lane] & 1) << lane;
  return all;
}
inline void __threadfence() {}
template <class T>
T __ldcg(const T* at) {
  return *at;
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __popc(unsigned value) { return __builtin_popcount(value); }

template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <class T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at |= value;
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  const T before = *at;
  *at = value > before ? value : before;
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  const T before = *at;
  *at = value < before ? value : before;
  return before;
}
