#ifdef __linux__

#define _GNU_SOURCE

#include "send_interposition.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

static atomic_int answered = 0;

static const char marked[] = "GET /answered-at-once ";

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    typedef ssize_t (*function)(int, const void *, size_t, int);
    static _Atomic(function) found = NULL;
    function next = found;
    if (next == NULL) {
        next = (function)dlsym(RTLD_NEXT, "send");
        found = next;
    }
    if (next == NULL) {
        errno = ENOSYS;
        return -1;
    }
    ssize_t sent = next(descriptor, bytes, count, flags);
    if (sent > 0 && count >= sizeof marked - 1 && memcmp(bytes, marked, sizeof marked - 1) == 0) {
        struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
        // A minute, after which the test fails.
        if (poll(&wanted, 1, 60000) == 1) answered++;
    }
    return sent;
}

int sends_answered_at_once(void) { return answered; }

#endif
