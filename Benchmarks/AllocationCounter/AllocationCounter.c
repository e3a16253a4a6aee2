#include "AllocationCounter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

static atomic_bool counting;
static atomic_long allocations;

void allocation_counting_start(void) {
    atomic_store(&allocations, 0);
    atomic_store(&counting, true);
}

long allocation_counting_stop(void) {
    atomic_store(&counting, false);
    return atomic_load(&allocations);
}

#if defined(__GLIBC__) && !defined(SANITIZED)

bool allocation_counting_is_supported(void) { return true; }

// The allocator's own entry points, which are not interposed: forwarding to them cannot come back here. `free` stays glibc's,
// since every block is.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

// While nothing is counted, this is one load of a cache line that is not written, so timed runs are not disturbed.
static inline void count(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
void *realloc(void *block, size_t size) { count(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    count();
    void *result = __libc_memalign(alignment, size);
    if (!result) return ENOMEM;
    *block = result;
    return 0;
}

#else

bool allocation_counting_is_supported(void) { return false; }

#endif
