// The thread team: fork-join, exceptions, several teams at once, and fork().
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "core/parallel.h"
#include "support.h"

#if defined(__unix__) || defined(__APPLE__)
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

}  // namespace

TEST_SUITE("parallel") {
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
