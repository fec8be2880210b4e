#ifndef MIDSTREAM_CLINUX_H
#define MIDSTREAM_CLINUX_H

// Calls of Linux that Glibc's overlay for Swift lacks. Everything here is inline, so that there is nothing to compile or to link.

#ifdef __linux__

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static inline int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline int clinux_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int clinux_epoll_control(int epoll, int operation, int descriptor, uint32_t mask) {
    struct epoll_event event = {.events = mask, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

/// Waits until a descriptor can be read, for so many milliseconds at most; positive when it can.
static inline int clinux_wait_readable(int descriptor, int milliseconds) {
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    return poll(&one, 1, milliseconds);
}

static inline int clinux_event_descriptor(const struct epoll_event *event) { return event->data.fd; }
static inline uint32_t clinux_event_mask(const struct epoll_event *event) { return event->events; }

static inline void clinux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#endif
#endif
