// The other side of the benchmark of sockets: sends back each frame as it comes, unmasked, without keeping messages.
//
//     socket-echo CERTIFICATE KEY
//
// Prints two ports of loopback, one in the clear and one with TLS, and serves until it is killed. Below /count a message isn't sent back
// but answered by its length. permessage-deflate is agreed to when it is offered: what was deflated for one side inflates on the other.
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "socket-echo: %s\n", what);
    exit(1);
}

static int listener(int *port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, size) || listen(descriptor, 4096) ||
        getsockname(descriptor, (struct sockaddr *)&address, &size))
        fail("can't listen");
    *port = ntohs(address.sin_port);
    return descriptor;
}

static void watch(int epoll, int operation, int descriptor, uint32_t events, void *of) {
    struct epoll_event event = {.events = events, .data.ptr = of};
    if (epoll_ctl(epoll, operation, descriptor, &event)) fail("can't watch a socket");
}

static void accept_all(int epoll, int from, SSL_CTX *tls) {
    int descriptor;
    while ((descriptor = accept4(from, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct peer *peer = make_peer(descriptor, tls);
        peer->events = EPOLLIN;
        watch(epoll, EPOLL_CTL_ADD, descriptor, peer->events, peer);
    }
}

static SSL_CTX *make_tls(const char *certificate, const char *key) {
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    if (SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 || SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
        fail("can't use the certificate");
    return tls;
}

int main(int count, char **arguments) {
    if (count != 3) fail("usage: socket-echo CERTIFICATE KEY");
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    SSL_CTX *tls = make_tls(arguments[1], arguments[2]);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    // Told from peers by their addresses.
    int ports[2], listeners[2];
    for (int place = 0; place < 2; place++) {
        listeners[place] = listener(&ports[place]);
        watch(epoll, EPOLL_CTL_ADD, listeners[place], EPOLLIN, &listeners[place]);
    }
    printf("%d %d\n", ports[0], ports[1]);
    fflush(stdout);
    for (;;) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, -1);
        if (ready < 0 && errno != EINTR) fail("can't wait");
        for (int place = 0; place < ready; place++) {
            void *of = events[place].data.ptr;
            if (of == &listeners[0] || of == &listeners[1]) {
                accept_all(epoll, *(int *)of, of == &listeners[1] ? tls : NULL);
                continue;
            }
            struct peer *peer = of;
            if (!serve(peer)) {
                end_peer(peer);
                continue;
            }
            // Nothing more is read while the other side doesn't take what it gets.
            uint32_t wanted = waits_to_send(peer) ? EPOLLOUT : EPOLLIN;
            if (wanted != peer->events) {
                peer->events = wanted;
                watch(epoll, EPOLL_CTL_MOD, peer->descriptor, wanted, peer);
            }
        }
    }
}
