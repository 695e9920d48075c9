// A small team of threads for fork-join loops.
//
// A Team is leased for the length of one native call (growing a tree, binning a matrix). Between
// the loops of that call its workers stay awake, so a fork-join costs a few microseconds; after a
// while without work they park. Several Python threads may train at once: each call leases a team of its own.
//
// A loop never waits for a worker that has not begun: a worker takes part by entering the loop, and
// the calling thread, which takes tasks like any worker, closes the loop once no task is left. So on
// a machine whose cores are taken, the calling thread does the work alone. A team may also have
// fewer threads than were asked for, where the system cannot start more.
//
// After fork() the child starts with no teams (see parallel.cpp), so it cannot wait for threads
// that did not survive the fork.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

namespace gossamer {

class Team {
 public:
  // Starts n_threads - 1 workers, or as many as the system lets it.
  explicit Team(int n_threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // The threads that are there, the calling one among them.
  int n_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(task, thread) for every task in [0, n_tasks), in any order, on any thread.
  // An exception thrown by `body` is rethrown here after all threads have stopped.
  //
  // Every thread begins with tasks of its own, the same share of them in every loop, and then takes what others have
  // left. Where tasks are rows in their order, a thread so finds in its cache what it wrote there in the last loop.
  template <class Body>
  void for_each(std::int64_t n_tasks, const Body& body) {
    run(n_tasks, n_threads(), nullptr, &invoke<Body>, &body);
  }

  // As for_each, but tasks are begun in their order: for tasks that are sorted, the longest first.
  template <class Body>
  void for_each_in_order(std::int64_t n_tasks, const Body& body) {
    run(n_tasks, 1, nullptr, &invoke<Body>, &body);
  }

  // As for_each; the tasks of thread t are [begin[t], begin[t + 1]). `begin` has an entry more than there are threads.
  template <class Body>
  void for_each_dealt(std::span<const std::int64_t> begin, const Body& body) {
    run(begin.back(), n_threads(), begin.data(), &invoke<Body>, &body);
  }

 private:
  using Invoke = void (*)(const void* closure, std::int64_t task, int thread);
  template <class Body>
  static void invoke(const void* closure, std::int64_t task, int thread) {
    (*static_cast<const Body*>(closure))(task, thread);
  }
  // `begin`: where each share begins, and where the last one ends; nullptr: shares are equal.
  void run(std::int64_t n_tasks, int n_shares, const std::int64_t* begin, Invoke invoke, const void* closure);
  void work(int thread);
  void take_tasks(int thread);

  struct Job;
  std::unique_ptr<Job> job_;
  std::vector<std::thread> workers_;
};

// A team held for one call; goes back to the idle list when the lease ends.
class TeamLease {
 public:
  explicit TeamLease(int n_threads);
  ~TeamLease();
  TeamLease(const TeamLease&) = delete;
  TeamLease& operator=(const TeamLease&) = delete;

  Team& operator*() { return *team_; }
  Team* operator->() { return team_.get(); }

 private:
  std::unique_ptr<Team> team_;
  std::uint64_t generation_;
};

// Splits [0, n) into blocks of `block` and calls body(begin, end, block_idx, thread).
template <class Body>
void for_blocks(Team& team, std::int64_t n, std::int64_t block, const Body& body) {
  const std::int64_t n_blocks = (n + block - 1) / block;
  team.for_each(n_blocks, [&](std::int64_t b, int thread) {
    const std::int64_t begin = b * block;
    const std::int64_t end = begin + block < n ? begin + block : n;
    body(begin, end, b, thread);
  });
}

}  // namespace gossamer
