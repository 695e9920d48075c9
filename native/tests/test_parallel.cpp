// The thread team: fork-join, exceptions, several teams at once, late workers, threads and memory that cannot be had,
// fork().
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "core/parallel.h"
#include "memory_faults.h"
#include "support.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace gossamer::tests {
namespace {

// Every task must run exactly once, on a thread of the team.
bool runs_every_task_once(Team& team, std::int64_t n_tasks) {
  std::vector<std::atomic<int>> seen(at(n_tasks));
  std::atomic<bool> threads_ok{true};
  team.for_each(n_tasks, [&](std::int64_t task, int thread) {
    seen[at(task)].fetch_add(1, std::memory_order_relaxed);
    if (thread < 0 || thread >= team.n_threads()) threads_ok = false;
  });
  for (const auto& s : seen) {
    if (s.load() != 1) return false;
  }
  return threads_ok.load();
}

// Plain writes from tasks must be visible after the join (a race detector would object otherwise).
std::int64_t sum_of_squares(Team& team, std::int64_t n) {
  std::vector<std::int64_t> squares(at(n));
  for_blocks(team, n, 16, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::int64_t i = begin; i < end; ++i) squares[at(i)] = i * i;
  });
  return std::accumulate(squares.begin(), squares.end(), std::int64_t{0});
}

// One task for each of two threads: body(thread) runs on both of them at the same time.
template <class Body>
void on_two_threads(Team& team, const Body& body) {
  std::atomic<int> n_here{0};
  team.for_each(2, [&](std::int64_t, int thread) {
    ++n_here;
    while (n_here < 2) std::this_thread::yield();
    body(thread);
  });
}

#if defined(__unix__) || defined(__APPLE__)
// A signal handler that keeps a thread where it is, as a scheduler does that has no core for it.
std::atomic<bool> frozen{false};
std::atomic<bool> thaw{false};

void freeze(int) {
  frozen = true;
  while (!thaw) {
    const timespec pause{0, 1000000};
    nanosleep(&pause, nullptr);
  }
  frozen = false;
}
#endif

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("dealt tasks run once each, whatever the shares") {
    for (const int n_threads : {1, 2, 3, 5}) {
      Team team(n_threads);
      const std::int64_t n = team.n_threads();
      for (const std::int64_t n_tasks : {0, 1, 7, 200}) {
        std::vector<std::vector<std::int64_t>> all;
        all.push_back(std::vector<std::int64_t>(at(n) + 1, n_tasks));  // all of them are the last thread's
        all.back().front() = 0;
        for (std::int64_t t = 1; t < n; ++t) all.back()[at(t)] = 0;
        all.push_back(std::vector<std::int64_t>(at(n) + 1, n_tasks));  // the first thread's
        all.back().front() = 0;
        for (const auto& begin : all) {
          CAPTURE(n_threads);
          CAPTURE(n_tasks);
          std::vector<std::atomic<int>> seen(at(n_tasks));
          team.for_each_dealt(begin, [&](std::int64_t task, int) { ++seen[at(task)]; });
          CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s == 1; }));
          CHECK(runs_every_task_once(team, n_tasks));  // the next loop has shares of its own
        }
      }
    }
  }

  TEST_CASE("every task runs once") {
    for (const int n_threads : {1, 2, 3, 4, 8}) {
      Team team(n_threads);
      CHECK(team.n_threads() == n_threads);
      for (const std::int64_t n_tasks : {0, 1, 2, 3, 7, 100, 1000}) {
        CAPTURE(n_threads);
        CAPTURE(n_tasks);
        CHECK(runs_every_task_once(team, n_tasks));
      }
    }
  }

  TEST_CASE("tasks that are sorted are begun in their order") {
    for (const int n_threads : {1, 2, 4}) {
      Team team(n_threads);
      std::mutex mutex;
      std::vector<std::int64_t> begun;
      std::vector<std::int64_t> last(at(n_threads), -1);
      bool in_order = true;
      team.for_each_in_order(200, [&](std::int64_t task, int thread) {
        const std::lock_guard lock(mutex);
        in_order = in_order && last[at(thread)] < task;
        last[at(thread)] = task;
        begun.push_back(task);
      });
      CHECK(in_order);
      std::sort(begun.begin(), begun.end());
      std::vector<std::int64_t> all(200);
      std::iota(all.begin(), all.end(), 0);
      CHECK(begun == all);
    }
  }

  TEST_CASE("every thread begins with its own share of the tasks, and helps the others then") {
    Team team(2);
    for (int job = 0; job < 5; ++job) {
      std::vector<int> done_by(100, -1);
      std::atomic<bool> has_begun{false};
      std::atomic<int> n_others{0};
      team.for_each(100, [&](std::int64_t task, int thread) {
        done_by[at(task)] = thread;
        if (task == 50) {  // the first task of the second thread
          while (!has_begun) std::this_thread::yield();
        }
        if (task != 0) {
          ++n_others;
          return;
        }
        // The first thread is held up in its first task: the second one does all others.
        has_begun = true;
        while (n_others < 99) std::this_thread::yield();
      });
      CHECK(done_by[0] == 0);
      CHECK(std::count(done_by.begin(), done_by.end(), 1) == 99);
    }
  }

  TEST_CASE("a team takes many jobs one after another") {
    Team team(3);
    std::int64_t wrong = 0;
    for (int job = 0; job < 3000; ++job) wrong += sum_of_squares(team, 64) != 85344;
    CHECK(wrong == 0);
  }

  TEST_CASE("a team wakes up after a pause") {
    Team team(3);
    for (int job = 0; job < 5; ++job) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than the workers spin
      CHECK(runs_every_task_once(team, 50));
    }
  }

  TEST_CASE("blocks cover the range") {
    Team team(2);
    for (const std::int64_t n : {0, 1, 15, 16, 17, 1000}) {
      std::vector<int> seen(at(n));
      std::atomic<std::int64_t> longest{0};
      for_blocks(team, n, 16, [&](std::int64_t begin, std::int64_t end, std::int64_t block, int) {
        if (block != begin / 16) longest = 1000;
        if (end - begin > longest) longest = end - begin;
        for (std::int64_t i = begin; i < end; ++i) ++seen[at(i)];
      });
      CHECK(longest <= 16);
      CHECK(seen == std::vector<int>(at(n), 1));
    }
  }

  TEST_CASE("an exception reaches the caller and the team goes on") {
    for (const int n_threads : {1, 2, 4}) {
      Team team(n_threads);
      for (int round = 0; round < 50; ++round) {
        CHECK_THROWS_AS(team.for_each(100,
                                      [](std::int64_t task, int) {
                                        if (task % 7 == 3) throw std::runtime_error("task failed");
                                      }),
                        std::runtime_error);
        CHECK(runs_every_task_once(team, 20));
      }
    }
  }

  TEST_CASE("what a worker throws reaches the caller") {
    Team team(2);
    for (int round = 0; round < 50; ++round) {
      const auto throws_on = [&](int thrower) {
        on_two_threads(team, [thrower](int thread) {
          if (thread == thrower) throw std::bad_alloc();
        });
      };
      CHECK_THROWS_AS(throws_on(1), std::bad_alloc);
      CHECK_THROWS_AS(throws_on(0), std::bad_alloc);
      CHECK(runs_every_task_once(team, 20));
    }
  }

  TEST_CASE("memory that runs out in the team ends in an exception, or in fewer threads") {
    std::int64_t n = 0;
    int n_wrong = 0;
    for (bool happened = true; happened; ++n) {
      const FailAllocation fail(n);
      try {
        Team team(5);
        n_wrong += !runs_every_task_once(team, 20);
      } catch (const std::bad_alloc&) {
      }
      happened = fail.happened();
    }
    CHECK(n_wrong == 0);
    CHECK(n > 5);  // every thread asks for memory, and so do the team and the test
    std::vector<std::unique_ptr<TeamLease>> leases;
    for (int i = 0; i < 10; ++i) leases.push_back(std::make_unique<TeamLease>(2));
    const FailAllocation fail(0);
    leases.clear();
    CHECK_FALSE(fail.happened());  // what ends for want of memory must not ask for more
  }

  TEST_CASE("several teams at once") {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&wrong, caller] {
        for (int round = 0; round < 100; ++round) {
          TeamLease team(1 + (caller + round) % 4);
          if (sum_of_squares(*team, 200) != 2646700) ++wrong;
        }
      });
    }
    for (auto& caller : callers) caller.join();
    CHECK(wrong == 0);
  }

  TEST_CASE("more leases than are kept idle") {
    std::vector<std::unique_ptr<TeamLease>> leases;
    for (int i = 0; i < 20; ++i) leases.push_back(std::make_unique<TeamLease>(2));
    for (auto& lease : leases) CHECK(sum_of_squares(**lease, 64) == 85344);
    leases.clear();
    TeamLease again(2);
    CHECK(sum_of_squares(*again, 64) == 85344);
  }

  TEST_CASE("a lease takes nonsense for one thread") {
    TeamLease zero(0);
    TeamLease negative(-5);
    CHECK(zero->n_threads() == 1);
    CHECK(negative->n_threads() == 1);
    CHECK(sum_of_squares(*zero, 64) == 85344);
  }

#if defined(__unix__) || defined(__APPLE__)
  // The child's exit code; 99 if it had to be killed by its alarm.
  template <class Body>
  int in_child(const Body& body) {
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      alarm(60);  // a child that waits for threads it does not have ends here
      _exit(body());
    }
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
  }

  int use_leases() {
    for (const int n_threads : {1, 2, 3, 4}) {
      TeamLease team(n_threads);
      if (sum_of_squares(*team, 200) != 2646700) return 1;
    }
    return 0;
  }

  TEST_CASE("a loop does not wait for a worker that has no core") {
    Team team(2);
    pthread_t worker{};
    on_two_threads(team, [&worker](int thread) {
      if (thread == 1) worker = pthread_self();
    });
    struct sigaction action{};
    struct sigaction before{};
    action.sa_handler = &freeze;
    REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
    thaw = false;
    REQUIRE(pthread_kill(worker, SIGUSR1) == 0);
    while (!frozen) std::this_thread::yield();
    for (int round = 0; round < 100; ++round) CHECK(runs_every_task_once(team, 20));
    thaw = true;
    while (frozen) std::this_thread::yield();
    REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
    // The worker is back, and finds nothing left of what it missed.
    std::atomic<int> n_worked{0};
    on_two_threads(team, [&n_worked](int) { ++n_worked; });
    CHECK(n_worked == 2);
    CHECK(runs_every_task_once(team, 50));
  }

#if defined(__GLIBC__)
  TEST_CASE("a team without a single worker works") {
    const int code = in_child([] {
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, std::size_t{1} << 47);  // more than there are addresses
      if (pthread_setattr_default_np(&attributes) != 0) return 2;
      TeamLease team(4);
      return team->n_threads() == 1 && sum_of_squares(*team, 200) == 2646700 ? 0 : 1;
    });
    CHECK(code == 0);
  }
#endif

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  TEST_CASE("a team has as many workers as there is address space for") {
    const int code = in_child([] {
      std::int64_t n_pages = 0;
      std::FILE* const file = std::fopen("/proc/self/statm", "r");
      if (file == nullptr || std::fscanf(file, "%ld", &n_pages) != 1) return 2;
      std::fclose(file);
      rlimit limit{};
      limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(n_pages * sysconf(_SC_PAGESIZE) + (40 << 20));
      if (setrlimit(RLIMIT_AS, &limit) != 0) return 3;
      void* const too_much = mmap(nullptr, std::size_t{1} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (too_much != MAP_FAILED) return 0;  // qemu-user knows no such limit
      TeamLease team(64);
      if (team->n_threads() < 2 || team->n_threads() >= 64) return 4;
      return sum_of_squares(*team, 200) == 2646700 ? 0 : 1;
    });
    CHECK(code == 0);
  }
#endif

  TEST_CASE("a forked child makes teams of its own") {
    REQUIRE(use_leases() == 0);
    CHECK(in_child(use_leases) == 0);
    CHECK(use_leases() == 0);
  }

  TEST_CASE("a child's child makes teams of its own") {
    REQUIRE(use_leases() == 0);
    CHECK(in_child([] { return use_leases() != 0 ? 2 : in_child(use_leases); }) == 0);
  }

  TEST_CASE("a fork while a lease is held, and while another thread works") {
    std::atomic<bool> stop{false};
    std::thread other([&stop] {
      while (!stop.load()) {
        TeamLease team(2);
        sum_of_squares(*team, 200);
      }
    });
    for (int round = 0; round < 10; ++round) {
      TeamLease held(2);
      sum_of_squares(*held, 64);
      CHECK(in_child(use_leases) == 0);
      CHECK(sum_of_squares(*held, 64) == 85344);
    }
    stop = true;
    other.join();
  }

  TEST_CASE("a lease that ends in the child does not wait for the parent's threads") {
    auto lease = std::make_unique<TeamLease>(3);
    sum_of_squares(**lease, 64);
    const int code = in_child([&lease] {
      lease.reset();
      return use_leases();
    });
    CHECK(code == 0);
  }
#endif
}

}  // namespace gossamer::tests
