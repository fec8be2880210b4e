#ifdef __linux__

#define _GNU_SOURCE

#include "flock_interposition.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int flock(int descriptor, int operation) {
    typedef int (*function)(int, int);
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    function next = (function)dlsym(RTLD_NEXT, "flock");
    if (next == NULL || strstr(path, PATH_WITHOUT_LOCKS) != NULL) {
        errno = ENOSYS;
        return -1;
    }
    return next(descriptor, operation);
}

#endif
