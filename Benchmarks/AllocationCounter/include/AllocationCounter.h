#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

/// Whether this system and this build can count: glibc, and no sanitizer that has an allocator of its own.
bool allocation_counting_is_supported(void);

/// Begins to count, from zero, every allocation of every thread.
void allocation_counting_start(void);

/// Ends the counting and returns how many allocations were made since it began. Growing a block counts as one.
long allocation_counting_stop(void);

#endif
