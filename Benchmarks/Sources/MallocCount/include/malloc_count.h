#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

#include <stdint.h>

/// The allocations of all threads of the process so far. A benchmark looks this up at run time, so that it finds it only
/// when the library has been preloaded.
uint64_t midstream_malloc_count(void);

#endif
