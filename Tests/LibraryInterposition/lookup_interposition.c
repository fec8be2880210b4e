#ifdef __linux__

#define _GNU_SOURCE

#include "lookup_interposition.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stalled = 0;
static int releases = 0;
static int failures = 0;

static struct timespec in_a_minute(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 60;
    return time;
}

static void stall(void) {
    struct timespec end = in_a_minute();
    pthread_mutex_lock(&lock);
    int before = releases;
    stalled++;
    pthread_cond_broadcast(&changed);
    while (releases == before && pthread_cond_timedwait(&changed, &lock, &end) == 0) {}
    stalled--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static bool takes_failure(void) {
    pthread_mutex_lock(&lock);
    bool fails = failures > 0;
    if (fails) failures--;
    pthread_mutex_unlock(&lock);
    return fails;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    typedef int (*function)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (name != NULL && strcmp(name, "stalled-lookup.invalid") == 0) {
        stall();
        return EAI_AGAIN;
    }
    if (name != NULL && strcmp(name, "failing-lookup.invalid") == 0) {
        if (takes_failure()) return EAI_AGAIN;
        name = "127.0.0.1";
    }
    function next = (function)dlsym(RTLD_NEXT, "getaddrinfo");
    return next == NULL ? EAI_FAIL : next(name, service, hints, result);
}

bool wait_for_stalled_lookup(void) {
    struct timespec end = in_a_minute();
    pthread_mutex_lock(&lock);
    while (stalled == 0 && pthread_cond_timedwait(&changed, &lock, &end) == 0) {}
    bool is_stalled = stalled > 0;
    pthread_mutex_unlock(&lock);
    return is_stalled;
}

int stalled_lookups(void) {
    pthread_mutex_lock(&lock);
    int count = stalled;
    pthread_mutex_unlock(&lock);
    return count;
}

void release_stalled_lookups(void) {
    pthread_mutex_lock(&lock);
    releases++;
    pthread_cond_broadcast(&changed);
    while (stalled > 0) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void fail_lookups(int count) {
    pthread_mutex_lock(&lock);
    failures = count;
    pthread_mutex_unlock(&lock);
}

#endif
