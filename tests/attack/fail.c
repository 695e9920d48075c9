/* Makes chosen allocations and starts of threads fail, for LD_PRELOAD (Linux with glibc).
 *
 * While armed, the allocations of the watched libraries are counted, on all threads. Those numbered
 * first to last (from 1) return NULL with ENOMEM. An allocation belongs to the library that called
 * malloc or mmap: operator new belongs to the C++ library, which must be watched, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum { MAX_RANGES = 64 };
static struct {
  uintptr_t begin, end;
  size_t least; /* bytes of the allocations that count */
} ranges[MAX_RANGES];
static int n_ranges;
static atomic_int armed;
static atomic_long count;
static long first_failing, last_failing;
static const void* last_caller; /* of an allocation of exactly learned_size bytes */
static size_t learned_size;

struct library {
  const char* part_of_name;
  size_t least;
};

static int add_ranges(struct dl_phdr_info* info, size_t size, void* watched) {
  (void)size;
  const struct library* const library = watched;
  const char* const name = library->part_of_name;
  if (name[0] == 0 ? info->dlpi_name[0] != 0 : strstr(info->dlpi_name, name) == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum && n_ranges < MAX_RANGES; ++i) {
    const ElfW(Phdr)* const part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    ranges[n_ranges].begin = info->dlpi_addr + part->p_vaddr;
    ranges[n_ranges].end = ranges[n_ranges].begin + part->p_memsz;
    ranges[n_ranges].least = library->least;
    ++n_ranges;
  }
  return 0;
}

/* Watches allocations of at least so many bytes of the loaded libraries whose path contains this text (without text: of
 * the program itself); returns how many ranges of code are watched by now. */
int fail_malloc_watch(const char* part_of_name, size_t least) {
  struct library library = {part_of_name, least};
  dl_iterate_phdr(add_ranges, &library);
  return n_ranges;
}

/* From now on, notes who allocates exactly so many bytes. */
void fail_malloc_learn(size_t size) {
  learned_size = size;
  last_caller = NULL;
}

/* Watches the one call that was noted last; returns whether there was one. */
int fail_malloc_watch_learned(void) {
  if (last_caller == NULL || n_ranges == MAX_RANGES) return 0;
  ranges[n_ranges].begin = (uintptr_t)last_caller;
  ranges[n_ranges].end = ranges[n_ranges].begin + 1;
  ranges[n_ranges].least = 0;
  ++n_ranges;
  learned_size = 0;
  return 1;
}

void fail_malloc_arm(long first, long last) {
  first_failing = first;
  last_failing = last;
  atomic_store(&count, 0);
  atomic_store(&armed, 1);
}

/* Returns the number of allocations since fail_malloc_arm. */
long fail_malloc_disarm(void) {
  atomic_store(&armed, 0);
  return atomic_load(&count);
}

static int fails(const void* caller, size_t size) {
  if (size == learned_size && size > 0) last_caller = caller;
  if (!atomic_load_explicit(&armed, memory_order_relaxed)) return 0;
  for (int i = 0; i < n_ranges; ++i) {
    if ((uintptr_t)caller < ranges[i].begin || (uintptr_t)caller >= ranges[i].end) continue;
    if (size < ranges[i].least) return 0;
    const long number = atomic_fetch_add(&count, 1) + 1;
    if (number < first_failing || number > last_failing) return 0;
    errno = ENOMEM;
    return 1;
  }
  return 0;
}

#define CALLER __builtin_return_address(0)

void* malloc(size_t size) { return fails(CALLER, size) ? NULL : __libc_malloc(size); }

void* calloc(size_t n, size_t size) { return fails(CALLER, n * size) ? NULL : __libc_calloc(n, size); }

void* realloc(void* old, size_t size) { return size > 0 && fails(CALLER, size) ? NULL : __libc_realloc(old, size); }

void* memalign(size_t alignment, size_t size) { return fails(CALLER, size) ? NULL : __libc_memalign(alignment, size); }

void* aligned_alloc(size_t alignment, size_t size) { return fails(CALLER, size) ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* const found = fails(CALLER, size) ? NULL : __libc_memalign(alignment, size);
  if (found == NULL) return ENOMEM;
  *out = found;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) && fails(CALLER, size)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

/* ---- threads ---- */

static atomic_int threads_armed;
static atomic_long n_threads_started;
static long first_thread, last_thread;

void fail_threads_arm(long first, long last) {
  first_thread = first;
  last_thread = last;
  atomic_store(&n_threads_started, 0);
  atomic_store(&threads_armed, 1);
}

/* Returns the number of threads that were to be started since fail_threads_arm. */
long fail_threads_disarm(void) {
  atomic_store(&threads_armed, 0);
  return atomic_load(&n_threads_started);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (atomic_load(&threads_armed)) {
    const long number = atomic_fetch_add(&n_threads_started, 1) + 1;
    if (number >= first_thread && number <= last_thread) return EAGAIN;
  }
  return ((Create)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, work, argument);
}
