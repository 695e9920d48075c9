#include "files/row_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#if !defined(_WIN32)
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "core/after_task.h"
#include "files/page_file.h"

namespace gossamer {
namespace {

// A task touches at most a few hundred kilobytes of these arrays.
constexpr std::uint32_t kTasksBetween = 8;

struct Mapped {
  std::mutex mutex;
  std::vector<std::span<std::uint8_t>> files;
  std::atomic<std::uint32_t> n_tasks = 0;
};

// Never destroyed: threads of idle teams may outlive static destruction.
Mapped& mapped() {
  static Mapped* const all = [] {
    auto* const made = new Mapped;
#if !defined(_WIN32)
    // The lock is held across a fork, so that the child does not wait for a thread that it does not have.
    pthread_atfork([] { mapped().mutex.lock(); }, [] { mapped().mutex.unlock(); }, [] { mapped().mutex.unlock(); });
#endif
    return made;
  }();
  return *all;
}

void after_task() noexcept {
  if (mapped().n_tasks.fetch_add(1, std::memory_order_relaxed) % kTasksBetween == 0) release_row_files();
}

}  // namespace

#if defined(_WIN32)

RowFile::RowFile(int, std::int64_t) { throw std::invalid_argument("row files are not available on Windows"); }
RowFile::~RowFile() = default;
void RowFile::check() const {}
void release_row_files() noexcept {}

#else

namespace {

// The error number; 0: all bytes have a place on the disk.
int reserve(int file, std::int64_t n_bytes) {
#if defined(__linux__)
  return posix_fallocate(file, 0, static_cast<off_t>(n_bytes));
#else
  const std::vector<std::uint8_t> zeros(std::size_t{1} << 20);
  for (std::int64_t done = 0; done < n_bytes;) {
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(n_bytes - done, std::ssize(zeros)));
    const ssize_t written = pwrite(file, zeros.data(), n, static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) return errno;
    done += std::max<ssize_t>(written, 0);
  }
  return 0;
#endif
}

[[noreturn]] void fail(const std::string& what, int error_number = 0) {
  throw PageError(error_number == 0 ? what : what + ": " + std::strerror(error_number), error_number);
}

// ---- bytes that cannot be read ----

}  // namespace

// A mapped file as a signal handler may look at it: never freed, and used again for later files.
struct RowFile::Watched {
  std::atomic<std::uintptr_t> begin = 0;  // 0: of no file
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> is_lost = false;
  Watched* next = nullptr;

  static inline std::atomic<Watched*> first = nullptr;

  // The caller holds the mutex of `mapped()`.
  static Watched* find_free() {
    for (Watched* w = first; w != nullptr; w = w->next) {
      if (w->begin == 0) return w;
    }
    auto* const made = new Watched;
    made->next = first;
    first = made;
    return made;
  }

  static Watched* find(std::uintptr_t address) {
    for (Watched* w = first; w != nullptr; w = w->next) {
      const std::uintptr_t start = w->begin;
      if (start != 0 && address >= start && address - start < w->size) return w;
    }
    return nullptr;
  }

  static void on_bus_error(int signal_number, siginfo_t* info, void* context);
};

namespace {

struct sigaction other_action;

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if (other_action.sa_flags & SA_SIGINFO) return other_action.sa_sigaction(signal_number, info, context);
  if (other_action.sa_handler != SIG_DFL && other_action.sa_handler != SIG_IGN) {
    return other_action.sa_handler(signal_number);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);  // is blocked until the handler returns
}

}  // namespace

// The system raises SIGBUS where a mapped byte cannot be read. Zeros in memory take the place of the file then, so that
// the thread can go on; check() tells that the numbers are lost.
void RowFile::Watched::on_bus_error(int signal_number, siginfo_t* info, void* context) {
  const int error_number = errno;
  // si_code > 0: si_addr is the address that was touched, not the sender of the signal.
  Watched* const file = info->si_code > 0 ? find(reinterpret_cast<std::uintptr_t>(info->si_addr)) : nullptr;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (file == nullptr || mmap(reinterpret_cast<void*>(file->begin.load()), file->size, PROT_READ | PROT_WRITE, kFlags,
                              -1, 0) == MAP_FAILED) {
    return pass_on(signal_number, info, context);
  }
  file->is_lost = true;
  errno = error_number;
}

namespace {

void handle_bus_errors(void (*handler)(int, siginfo_t*, void*)) {
  static std::once_flag done;
  std::call_once(done, [&] {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &other_action);
  });
}

constexpr char kNotPut[] = "scores and gradients could not be put on disk";

}  // namespace

RowFile::RowFile(int file, std::int64_t n_bytes) {
  if (n_bytes < 1) throw std::invalid_argument("a row file has at least one byte");
  if (const int error = reserve(file, n_bytes); error != 0) fail(kNotPut, error);
  const auto size = static_cast<std::size_t>(n_bytes);
  handle_bus_errors(&Watched::on_bus_error);
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  all.files.reserve(all.files.size() + 1);
  watched_ = Watched::find_free();
  file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (file_ < 0) fail(kNotPut, errno);
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    close(file_);
    fail(kNotPut, error);
  }
  bytes_ = {static_cast<std::uint8_t*>(data), size};
  watched_->size = size;
  watched_->is_lost = false;
  watched_->begin = reinterpret_cast<std::uintptr_t>(data);
  all.files.push_back(bytes_);
  set_after_task(&after_task);
}

RowFile::~RowFile() {
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.files, [&](std::span<std::uint8_t> other) { return other.data() == bytes_.data(); });
  if (all.files.empty()) set_after_task(nullptr);
  watched_->begin = 0;
  munmap(bytes_.data(), bytes_.size());
  close(file_);
}

void RowFile::check() const {
  struct stat facts = {};
  const bool is_known = fstat(file_, &facts) == 0;
  if (is_known && facts.st_size < std::ssize(bytes_)) {
    fail("the file of scores and gradients was cut off during training: it has " + std::to_string(facts.st_size) +
         " bytes instead of " + std::to_string(bytes_.size()));
  }
  if (watched_->is_lost) fail("scores and gradients could not be read back from disk", EIO);
#if defined(__linux__)
  // Waits for one page, and tells whether any page of the file could not be written since the last call.
  if (sync_file_range(file_, 0, 1, SYNC_FILE_RANGE_WAIT_BEFORE) != 0) {
    const int error = errno;
    if (error == EIO || error == ENOSPC || error == EDQUOT) {
      watched_->is_lost = true;
      fail(kNotPut, error);
    }
  }
#endif
}

void release_row_files() noexcept {
  Mapped& all = mapped();
  // Threads wait for one another here, or those that are faster would touch ever more memory.
  const std::lock_guard lock(all.mutex);
  for (const std::span<std::uint8_t> bytes : all.files) madvise(bytes.data(), bytes.size(), MADV_DONTNEED);
}

#endif

}  // namespace gossamer
