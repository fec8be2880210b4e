#include "loop.h"

#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct watch *watch_of(struct loop *loop, int descriptor) {
    size_t needed = (size_t)descriptor + 1;
    if (needed > loop->watch_count) {
        loop->watches = realloc(loop->watches, needed * sizeof *loop->watches);
        if (!loop->watches) abort();
        memset(loop->watches + loop->watch_count, 0, (needed - loop->watch_count) * sizeof *loop->watches);
        loop->watch_count = needed;
    }
    return &loop->watches[descriptor];
}

static void set_registration(struct loop *loop, int descriptor, uint32_t events) {
    struct watch *watch = watch_of(loop, descriptor);
    if (watch->registered == events) return;
    int operation = events == 0 ? EPOLL_CTL_DEL : watch->registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    if (epoll_ctl(loop->epoll, operation, descriptor, &event) && operation != EPOLL_CTL_DEL) {
        perror("curl-baseline: epoll_ctl");
        exit(1);
    }
    watch->registered = events;
}

// curl takes a socket out after each response and puts it in again for the next request. Those two system calls are
// saved for the sockets whose end curl announces; the others (a resolver's) are taken out, their number may come back.
static int socket_changed(CURL *easy, curl_socket_t descriptor, int what, void *context, void *of_socket) {
    (void)easy, (void)of_socket;
    struct loop *loop = context;
    struct watch *watch = watch_of(loop, descriptor);
    watch->wanted = what == CURL_POLL_IN      ? EPOLLIN
                    : what == CURL_POLL_OUT   ? EPOLLOUT
                    : what == CURL_POLL_INOUT ? EPOLLIN | EPOLLOUT
                                              : 0;
    if (watch->wanted || !watch->is_curls) set_registration(loop, descriptor, watch->wanted);
    return 0;
}

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct loop *loop = context;
    loop->has_timer = milliseconds >= 0;
    loop->timer = milliseconds > 0 ? now() + (uint64_t)milliseconds * 1000000 : 0;
    return 0;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (descriptor < 0) return CURL_SOCKET_BAD;
    *watch_of(context, descriptor) = (struct watch){.is_curls = true};
    return descriptor;
}

static int close_socket(void *context, curl_socket_t descriptor) {
    set_registration(context, descriptor, 0);
    *watch_of(context, descriptor) = (struct watch){0};
    return close(descriptor);
}

void open_loop(struct loop *loop) {
    *loop = (struct loop){.multi = curl_multi_init(), .epoll = epoll_create1(EPOLL_CLOEXEC)};
    if (!loop->multi || loop->epoll < 0) {
        fprintf(stderr, "curl-baseline: no event loop\n");
        exit(1);
    }
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(loop->multi, CURLMOPT_SOCKETDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(loop->multi, CURLMOPT_TIMERDATA, loop);
    curl_multi_setopt(loop->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
}

void close_loop(struct loop *loop) {
    curl_multi_cleanup(loop->multi);
    close(loop->epoll);
    free(loop->watches);
}

void attach(struct loop *loop, CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, loop);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, loop);
}

static void handle_event(struct loop *loop, const struct epoll_event *event) {
    int descriptor = event->data.fd;
    if (watch_of(loop, descriptor)->wanted == 0) {
        // An idle connection was closed by the server; epoll would say so for ever.
        set_registration(loop, descriptor, 0);
        return;
    }
    int what = 0;
    if (event->events & (EPOLLIN | EPOLLHUP)) what |= CURL_CSELECT_IN;
    if (event->events & EPOLLOUT) what |= CURL_CSELECT_OUT;
    if (event->events & EPOLLERR) what |= CURL_CSELECT_ERR;
    int running;
    curl_multi_socket_action(loop->multi, descriptor, what, &running);
}

void turn(struct loop *loop) {
    int running;
    uint64_t time = loop->has_timer && loop->timer ? now() : 0;
    if (loop->has_timer && loop->timer <= time) {
        loop->has_timer = false;
        curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        return;
    }
    struct epoll_event events[256];
    int timeout = loop->has_timer ? (int)((loop->timer - time) / 1000000 + 1) : -1;
    int count = epoll_wait(loop->epoll, events, 256, timeout);
    if (count < 0 && errno != EINTR) {
        perror("curl-baseline: epoll_wait");
        exit(1);
    }
    for (int index = 0; index < count; index++) handle_event(loop, &events[index]);
}
