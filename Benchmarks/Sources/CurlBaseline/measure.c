#include "measure.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

typedef uint64_t (*counter)(void);

static counter find_counter(void) {
    static counter found;
    static bool has_looked;
    if (!has_looked) {
        found = (counter)dlsym(RTLD_DEFAULT, "midstream_malloc_count");
        has_looked = true;
    }
    return found;
}

bool counts_allocations(void) { return find_counter() != NULL; }

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

struct reading take_reading(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    counter count = find_counter();
    return (struct reading){
        .nanoseconds = now(),
        .cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
        .allocations = count ? count() : 0,
    };
}

// Not ru_maxrss: that one includes the size of the process that has started this one.
long peak_kib(void) {
    FILE *status = fopen("/proc/self/status", "r");
    long peak = 0;
    char line[256];
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmHWM: %ld kB", &peak) == 1) break;
    }
    if (status) fclose(status);
    return peak;
}

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void sort_latencies(uint32_t *nanoseconds, size_t count) { qsort(nanoseconds, count, sizeof *nanoseconds, compare); }

double percentile(const uint32_t *sorted, size_t count, double share) {
    size_t index = (size_t)(share * (double)count);
    return (double)sorted[index < count ? index : count - 1] / 1000;
}
