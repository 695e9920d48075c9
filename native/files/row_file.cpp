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
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "core/after_task.h"
#include "files/page_file.h"

namespace gossamer {
namespace {

// A task touches at most a few hundred kilobytes of these arrays.
constexpr std::uint32_t kTasksBetween = 16;

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

void fail(int error_number) {
  throw PageError(std::string("scores and gradients could not be put on disk: ") + std::strerror(error_number),
                  error_number);
}

}  // namespace

RowFile::RowFile(int file, std::int64_t n_bytes) {
  if (n_bytes < 1) throw std::invalid_argument("a row file has at least one byte");
  if (const int error = reserve(file, n_bytes); error != 0) fail(error);
  const auto size = static_cast<std::size_t>(n_bytes);
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  all.files.reserve(all.files.size() + 1);
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) fail(errno);
  bytes_ = {static_cast<std::uint8_t*>(data), size};
  all.files.push_back(bytes_);
  set_after_task(&after_task);
}

RowFile::~RowFile() {
  Mapped& all = mapped();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.files, [&](std::span<std::uint8_t> other) { return other.data() == bytes_.data(); });
  if (all.files.empty()) set_after_task(nullptr);
  munmap(bytes_.data(), bytes_.size());
}

void release_row_files() noexcept {
  Mapped& all = mapped();
  // Threads wait for one another here, or those that are faster would touch ever more memory.
  const std::lock_guard lock(all.mutex);
  for (const std::span<std::uint8_t> bytes : all.files) madvise(bytes.data(), bytes.size(), MADV_DONTNEED);
}

#endif

}  // namespace gossamer
