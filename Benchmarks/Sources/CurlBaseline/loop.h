#ifndef LOOP_H
#define LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Which events epoll watches a socket for.
struct watch {
    uint32_t registered;
    uint32_t wanted;
    /// curl has opened it and will tell when it closes it.
    bool is_curls;
};

/// A multi handle driven by epoll, on one thread.
struct loop {
    CURLM *multi;
    int epoll;
    bool has_timer;
    /// When curl wants to be called, if it has a timer.
    uint64_t timer;
    /// Indexed by descriptor.
    struct watch *watches;
    size_t watch_count;
};

void open_loop(struct loop *loop);
void close_loop(struct loop *loop);

/// Sets the options by which an easy handle tells the loop of its sockets.
void attach(struct loop *loop, CURL *easy);

/// Waits until there is something to do and does it.
void turn(struct loop *loop);

#endif
