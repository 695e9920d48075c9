#include "core/parallel.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "core/after_task.h"
#include "core/index.h"

namespace gossamer {
namespace {

std::atomic<void (*)() noexcept> after_task = nullptr;

inline void note_task() {
  if (auto* const function = after_task.load(std::memory_order_acquire); function != nullptr) function();
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

using Clock = std::chrono::steady_clock;

// How long a thread that waits stays awake. First it spins, for some tens of microseconds; then it
// offers its processor to others between looks; at last it parks. Waking parked threads costs more
// than most loops take, and the waits inside one native call are short.
constexpr int kSpins = 1000;
constexpr auto kAwake = std::chrono::milliseconds(2);

// On a machine whose cores are taken all of that is wrong. A processor once offered comes back after
// the other program's whole time slice, some milliseconds, whereas a parked thread is scheduled soon after it is
// woken; and spinning uses up the little time that the thread gets. An offered processor that stays
// away for kTaken tells of such a machine. The next kCrowdedWaits waits of the team then park
// after a short spin.
constexpr auto kTaken = std::chrono::microseconds(200);
constexpr int kCrowdedWaits = 256;
constexpr int kCrowdedSpins = 50;

// Waits until `value` differs from `old`. `crowded`: the waits left that park soon.
std::uint32_t wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, std::atomic<int>& crowded) {
  const int left = crowded.load(std::memory_order_relaxed);
  for (int spin = left > 0 ? kCrowdedSpins : kSpins; spin > 0; --spin) {
    const std::uint32_t now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    relax();
  }
  if (left > 0) {
    crowded.store(left - 1, std::memory_order_relaxed);  // another thread's count may get lost: no matter
  } else {
    const auto start = Clock::now();
    for (auto last = start; last - start < kAwake;) {
      std::this_thread::yield();
      const auto time = Clock::now();
      if (time - last > kTaken) crowded.store(kCrowdedWaits, std::memory_order_relaxed);
      const std::uint32_t now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      if (time - last > kTaken) break;
      last = time;
    }
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

// Job::inside while workers may enter.
constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

}  // namespace

void set_after_task(void (*function)() noexcept) { after_task.store(function, std::memory_order_release); }

struct Team::Job {
  // Own cache lines: the counters are written by every thread.
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // a new value: a new job, or time to quit
  // The next task of each share. Shares are ranges of tasks: one range, or one for each thread. They are close
  // together: a thread takes a task once in many microseconds, and all of them are set for every job.
  alignas(64) std::unique_ptr<std::atomic<std::int64_t>[]> next_task;
  std::unique_ptr<std::int64_t[]> share_begin;  // one more than there are shares
  // Workers that have entered the job, and kOpen. All that follows but `crowded` is read by those
  // only, and written only while the job is closed and empty.
  alignas(64) std::atomic<std::uint32_t> inside{0};
  alignas(64) Invoke invoke = nullptr;
  const void* closure = nullptr;
  std::int64_t n_tasks = 0;
  int n_shares = 1;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::atomic<bool> quit{false};
  std::atomic<int> crowded{0};  // see wait_for_change

  explicit Job(int n_threads)
      : next_task(std::make_unique<std::atomic<std::int64_t>[]>(at(n_threads))),
        share_begin(std::make_unique<std::int64_t[]>(at(n_threads) + 1)) {}
};

Team::Team(int n_threads) : job_(std::make_unique<Job>(std::max(n_threads, 1))) {
  if (n_threads <= 1) return;
  workers_.reserve(static_cast<std::size_t>(n_threads - 1));
  try {
    for (int thread = 1; thread < n_threads; ++thread) {
      workers_.emplace_back([this, thread] { work(thread); });
    }
  } catch (const std::system_error&) {  // a limit on processes or address space: the others do the work
  } catch (const std::bad_alloc&) {
  }
}

Team::~Team() {
  job_->quit.store(true, std::memory_order_relaxed);
  job_->epoch.fetch_add(1, std::memory_order_release);
  job_->epoch.notify_all();
  for (auto& worker : workers_) worker.join();
}

void Team::work(int thread) {
  Job& job = *job_;
  // A thread's first exception asks for memory (the thread-local data of the C++ library), and the
  // process ends if there is none. That memory is asked for here, long before some task runs out of it.
  (void)std::uncaught_exceptions();
  std::uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(job.epoch, seen, job.crowded);
    if (job.quit.load(std::memory_order_relaxed)) return;
    // A worker that comes too late, to a closed job, leaves at once and touches nothing else.
    if (job.inside.fetch_add(1, std::memory_order_acquire) & kOpen) take_tasks(thread);
    if (job.inside.fetch_sub(1, std::memory_order_release) == 1) job.inside.notify_one();
  }
}

void Team::take_tasks(int thread) {
  Job& job = *job_;
  try {
    for (int i = 0; i < job.n_shares; ++i) {
      const int share = (thread + i) % job.n_shares;
      const std::int64_t end = job.share_begin[at(share) + 1];
      std::atomic<std::int64_t>& next = job.next_task[at(share)];
      while (next.load(std::memory_order_relaxed) < end) {
        const std::int64_t task = next.fetch_add(1, std::memory_order_relaxed);
        if (task >= end) break;
        job.invoke(job.closure, task, thread);
        note_task();
      }
    }
  } catch (...) {
    const std::lock_guard lock(job.error_mutex);
    if (!job.error) job.error = std::current_exception();
    for (int share = 0; share < job.n_shares; ++share) {
      job.next_task[at(share)].store(job.n_tasks, std::memory_order_relaxed);
    }
  }
}

void Team::run(std::int64_t n_tasks, int n_shares, const std::int64_t* begin, Invoke invoke, const void* closure) {
  if (workers_.empty() || n_tasks <= 1) {
    for (std::int64_t task = 0; task < n_tasks; ++task) {
      invoke(closure, task, 0);
      note_task();
    }
    return;
  }
  Job& job = *job_;
  job.invoke = invoke;
  job.closure = closure;
  job.n_tasks = n_tasks;
  job.n_shares = n_shares;
  for (int share = 0; share <= n_shares; ++share) {
    job.share_begin[at(share)] = begin != nullptr ? begin[share] : n_tasks * share / n_shares;
    if (share < n_shares) job.next_task[at(share)].store(job.share_begin[at(share)], std::memory_order_relaxed);
  }
  job.inside.fetch_or(kOpen, std::memory_order_release);
  job.epoch.fetch_add(1, std::memory_order_release);
  job.epoch.notify_all();
  take_tasks(0);
  // Closed: the workers inside finish the tasks they have, the others are not waited for.
  std::uint32_t inside = job.inside.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  while (inside != 0) inside = wait_for_change(job.inside, inside, job.crowded);
  if (job.error) std::rethrow_exception(std::exchange(job.error, nullptr));
}

// ---- idle teams ----

namespace {

constexpr std::size_t kMaxIdle = 8;

struct IdleTeams {
  std::mutex mutex;
  std::array<std::unique_ptr<Team>, kMaxIdle> teams;  // the longest idle first, then empty ones
  std::uint64_t generation = 0;                       // how many forks lie between this process and the first

  // Takes the team at `place` out.
  std::unique_ptr<Team> take(std::size_t place) {
    std::unique_ptr<Team> team = std::move(teams[place]);
    std::move(teams.begin() + place + 1, teams.end(), teams.begin() + place);
    return team;
  }
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
                     ++idle.generation;
                     idle.mutex.unlock();
                   });
#endif
    return made;
  }();
  return *idle;
}

}  // namespace

TeamLease::TeamLease(int n_threads) {
  n_threads = std::max(n_threads, 1);
  IdleTeams& idle = idle_teams();
  {
    const std::lock_guard lock(idle.mutex);
    generation_ = idle.generation;
    for (std::size_t i = 0; i < kMaxIdle && idle.teams[i]; ++i) {
      if (idle.teams[i]->n_threads() == n_threads) {
        team_ = idle.take(i);
        return;
      }
    }
  }
  team_ = std::make_unique<Team>(n_threads);
}

// Nothing here allocates: a lease often ends because memory has.
TeamLease::~TeamLease() {
  std::unique_ptr<Team> dropped;  // joined outside the lock
  IdleTeams& idle = idle_teams();
  const std::lock_guard lock(idle.mutex);
  if (generation_ != idle.generation) {
    (void)team_.release();
    return;
  }
  if (idle.teams.back()) dropped = idle.take(0);
  *std::find(idle.teams.begin(), idle.teams.end(), nullptr) = std::move(team_);
}

}  // namespace gossamer
