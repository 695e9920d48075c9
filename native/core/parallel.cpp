#include "core/parallel.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace gossamer {
namespace {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How long a thread that waits stays awake. First it spins, for some tens of microseconds; then it
// offers its processor to others between looks; at last it parks. Waking parked threads costs more
// than most loops take, and the waits inside one native call are short.
constexpr int kSpins = 1000;
constexpr auto kAwake = std::chrono::milliseconds(2);

// Waits until `value` differs from `old`.
template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  const auto start = std::chrono::steady_clock::now();
  do {
    std::this_thread::yield();
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
  } while (std::chrono::steady_clock::now() - start < kAwake);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

struct Team::Job {
  // Own cache lines: the counters are written by every thread.
  alignas(64) std::atomic<std::uint64_t> epoch{0};  // a new value: a new job, or time to quit
  alignas(64) std::atomic<std::int64_t> next_task{0};
  alignas(64) std::atomic<int> busy_workers{0};
  alignas(64) Invoke invoke = nullptr;
  const void* closure = nullptr;
  std::int64_t n_tasks = 0;
  bool quit = false;
  std::mutex error_mutex;
  std::exception_ptr error;
};

Team::Team(int n_threads) : job_(std::make_unique<Job>()) {
  workers_.reserve(static_cast<std::size_t>(std::max(n_threads - 1, 0)));
  for (int thread = 1; thread < n_threads; ++thread) {
    workers_.emplace_back([this, thread] { work(thread); });
  }
}

Team::~Team() {
  job_->quit = true;
  job_->epoch.fetch_add(1, std::memory_order_release);
  job_->epoch.notify_all();
  for (auto& worker : workers_) worker.join();
}

void Team::work(int thread) {
  std::uint64_t seen = 0;
  for (;;) {
    seen = wait_for_change(job_->epoch, seen);
    if (job_->quit) return;
    take_tasks(thread);
    if (job_->busy_workers.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      job_->busy_workers.notify_one();
    }
  }
}

void Team::take_tasks(int thread) {
  Job& job = *job_;
  try {
    for (;;) {
      const std::int64_t task = job.next_task.fetch_add(1, std::memory_order_relaxed);
      if (task >= job.n_tasks) return;
      job.invoke(job.closure, task, thread);
    }
  } catch (...) {
    const std::lock_guard lock(job.error_mutex);
    if (!job.error) job.error = std::current_exception();
    job.next_task.store(job.n_tasks, std::memory_order_relaxed);
  }
}

void Team::run(std::int64_t n_tasks, Invoke invoke, const void* closure) {
  if (workers_.empty() || n_tasks <= 1) {
    for (std::int64_t task = 0; task < n_tasks; ++task) invoke(closure, task, 0);
    return;
  }
  Job& job = *job_;
  job.invoke = invoke;
  job.closure = closure;
  job.n_tasks = n_tasks;
  job.error = nullptr;
  job.next_task.store(0, std::memory_order_relaxed);
  job.busy_workers.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  job.epoch.fetch_add(1, std::memory_order_release);
  job.epoch.notify_all();
  take_tasks(0);
  int busy = job.busy_workers.load(std::memory_order_acquire);
  while (busy != 0) busy = wait_for_change(job.busy_workers, busy);
  if (job.error) std::rethrow_exception(job.error);
}

// ---- idle teams ----

namespace {

struct IdleTeams {
  std::mutex mutex;
  std::vector<std::unique_ptr<Team>> teams;
  std::uint64_t generation = 0;  // how many forks lie between this process and the first
};

// Never destroyed: worker threads may outlive static destruction. Teams left idle at exit end
// with the process.
IdleTeams& idle_teams() {
  static IdleTeams* const idle = [] {
    auto* const made = new IdleTeams;
#if defined(__unix__) || defined(__APPLE__)
    // The lock is held across the fork so that the child finds the list whole. Its teams have no
    // threads there: they are forgotten (leaked), since joining them would wait for ever.
    pthread_atfork([] { idle_teams().mutex.lock(); }, [] { idle_teams().mutex.unlock(); },
                   [] {
                     IdleTeams& idle = idle_teams();
                     for (auto& team : idle.teams) (void)team.release();
                     idle.teams.clear();
                     ++idle.generation;
                     idle.mutex.unlock();
                   });
#endif
    return made;
  }();
  return *idle;
}

constexpr std::size_t kMaxIdle = 8;

}  // namespace

TeamLease::TeamLease(int n_threads) {
  n_threads = std::max(n_threads, 1);
  IdleTeams& idle = idle_teams();
  {
    const std::lock_guard lock(idle.mutex);
    generation_ = idle.generation;
    for (auto it = idle.teams.begin(); it != idle.teams.end(); ++it) {
      if ((*it)->n_threads() == n_threads) {
        team_ = std::move(*it);
        idle.teams.erase(it);
        return;
      }
    }
  }
  team_ = std::make_unique<Team>(n_threads);
}

TeamLease::~TeamLease() {
  std::unique_ptr<Team> dropped;  // joined outside the lock
  IdleTeams& idle = idle_teams();
  const std::lock_guard lock(idle.mutex);
  if (generation_ != idle.generation) {
    (void)team_.release();
    return;
  }
  idle.teams.push_back(std::move(team_));
  if (idle.teams.size() > kMaxIdle) {
    dropped = std::move(idle.teams.front());
    idle.teams.erase(idle.teams.begin());
  }
}

}  // namespace gossamer
