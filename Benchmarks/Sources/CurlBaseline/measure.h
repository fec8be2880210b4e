#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Nanoseconds of the monotonic clock.
uint64_t now(void);

/// What the process has used up at some moment; the difference of two is what lies between.
struct reading {
    uint64_t nanoseconds;
    double cpu_seconds;
    uint64_t allocations;
};
struct reading take_reading(void);

/// Whether the counting library was preloaded.
bool counts_allocations(void);

/// The largest resident size of the process so far.
long peak_kib(void);

void sort_latencies(uint32_t *nanoseconds, size_t count);

/// The latency, in microseconds, that this share of sorted ones doesn't exceed.
double percentile(const uint32_t *sorted, size_t count, double share);

#endif
