// Sums and choices over the 32 threads of a warp, or all threads of a block.

constexpr unsigned kAll = 0xffffffffu;

inline int lane_of_thread() { return static_cast<int>(threadIdx.x & 31); }
inline int warp_of_thread() { return static_cast<int>(threadIdx.x >> 5); }

inline void add_to(int64_t* sum, int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

template <class T>
inline T sum_of_warp(T value) {
  for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

inline uint32_t largest_of_warp(uint32_t value) {
  for (int step = 16; step > 0; step >>= 1) {
    const uint32_t other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  return value;
}

// The sum over this thread and those before it in the warp.
template <class T>
inline T running_sum(T value) {
  for (int step = 1; step < 32; step <<= 1) {
    const T other = __shfl_up_sync(kAll, value, static_cast<unsigned>(step));
    if (lane_of_thread() >= step) value += other;
  }
  return value;
}

// The sum over the threads of the block before this one; `total` becomes the sum over all of them. `shared` holds 33
// numbers. There may be 1024 threads.
template <class T>
inline T sum_before(T value, T* shared, T& total) {
  const T upto = running_sum(value);
  const int n_warps = static_cast<int>(blockDim.x >> 5);
  __syncthreads();
  if (lane_of_thread() == 31) shared[warp_of_thread()] = upto;
  __syncthreads();
  if (warp_of_thread() == 0) {
    const T own = lane_of_thread() < n_warps ? shared[lane_of_thread()] : T{};
    const T through = running_sum(own);
    shared[lane_of_thread()] = through - own;
    if (lane_of_thread() == 31) shared[32] = through;
  }
  __syncthreads();
  total = shared[32];
  return shared[warp_of_thread()] + upto - value;
}

inline double shuffled(double value, int lane) { return __shfl_sync(kAll, value, lane); }

inline Sums shuffled(const Sums& s, int lane) {
  return {__shfl_sync(kAll, s.gradient, lane), __shfl_sync(kAll, s.hessian, lane), __shfl_sync(kAll, s.count, lane)};
}

// The last place p in [0, n) with at(p) <= value; at(0) <= value.
template <class At>
inline int last_at_most(int n, int64_t value, const At& at) {
  int low = 0;
  int high = n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (at(middle) <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
