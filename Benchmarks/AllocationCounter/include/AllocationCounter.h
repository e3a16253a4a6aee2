#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

/// Whether this system and build can count: glibc, and no sanitizer with its own allocator.
bool allocation_counting_is_supported(void);

/// Starts counting, from zero, every allocation of every thread.
void allocation_counting_start(void);

/// Stops counting, and returns how many allocations were made. Growing a block counts as one.
long allocation_counting_stop(void);

#endif
