// What the sockets of Midstream are measured against: the same messages by libcurl's curl_ws_send and curl_ws_recv, from C, with poll.
//
//     socket-baseline echo|bulk URL COUNT SIZE
//     socket-baseline idle URL COUNT [CERTIFICATE]
//
// `echo` sends one message at a time, `bulk` as fast as they are taken while it reads what comes back, `idle` opens sockets and does
// nothing with them. Prints a line of JSON.
#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "socket-baseline: %s\n", what);
    exit(1);
}

// MARK: Measuring

static double wall(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// In KiB.
static long memory(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long figure = -1;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) == 0) figure = atol(line + strlen(name));
    }
    if (file) fclose(file);
    return figure;
}

static void forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) fail("no /proc/self/clear_refs");
    fputs("5", file);
    fclose(file);
}

// MARK: Sockets

struct peer {
    CURL *easy;
    curl_socket_t descriptor;
};

static struct peer open_peer(const char *url, const char *authorities) {
    struct peer peer = {.easy = curl_easy_init()};
    curl_easy_setopt(peer.easy, CURLOPT_URL, url);
    curl_easy_setopt(peer.easy, CURLOPT_CONNECT_ONLY, 2L);
    if (authorities) curl_easy_setopt(peer.easy, CURLOPT_CAINFO, authorities);
    CURLcode result = curl_easy_perform(peer.easy);
    if (result) fail(curl_easy_strerror(result));
    curl_easy_getinfo(peer.easy, CURLINFO_ACTIVESOCKET, &peer.descriptor);
    return peer;
}

static void wait_for(const struct peer *peer, short events) {
    struct pollfd wanted = {.fd = peer->descriptor, .events = events};
    poll(&wanted, 1, -1);
}

/// Sends what goes now of a message; true when all of it has left.
static bool send_some(const struct peer *peer, const char *message, size_t size, size_t *done) {
    while (*done < size) {
        size_t sent = 0;
        CURLcode result = curl_ws_send(peer->easy, message + *done, size - *done, &sent, 0, CURLWS_BINARY);
        *done += sent;
        if (result == CURLE_AGAIN) return false;
        if (result) fail(curl_easy_strerror(result));
    }
    return true;
}

/// Receives what is there; true at a message's end.
static bool receive_some(const struct peer *peer, char *room, size_t size, size_t *done) {
    for (;;) {
        size_t received = 0;
        struct curl_ws_frame *frame = NULL;
        CURLcode result = curl_ws_recv(peer->easy, room + *done, size - *done, &received, (void *)&frame);
        if (result == CURLE_AGAIN) return false;
        if (result) fail(curl_easy_strerror(result));
        *done += received;
        if (frame->bytesleft == 0) return true;
        if (*done == size) fail("a message is larger than what was sent");
    }
}

static void echo(const struct peer *peer, const char *message, size_t size, char *room, long count) {
    for (long number = 0; number < count; number++) {
        size_t sent = 0, received = 0;
        while (!send_some(peer, message, size, &sent)) wait_for(peer, POLLOUT);
        while (!receive_some(peer, room, size, &received)) wait_for(peer, POLLIN);
        if (received != size) fail("another message came back");
    }
}

static void bulk(const struct peer *peer, const char *message, size_t size, char *room, long count) {
    long sent = 0, received = 0;
    size_t out = 0, in = 0;
    while (received < count) {
        while (received < count && receive_some(peer, room, size, &in)) {
            if (in != size) fail("another message came back");
            received++;
            in = 0;
        }
        bool is_full = false;
        // One at a time, so that what comes back is taken meanwhile.
        if (sent < count) {
            is_full = !send_some(peer, message, size, &out);
            if (!is_full) {
                sent++;
                out = 0;
                continue;
            }
        }
        if (received < count) wait_for(peer, is_full ? POLLIN | POLLOUT : POLLIN);
    }
}

static void idle(const char *url, long count, const char *authorities) {
    // What the first ones need for good.
    for (int number = 0; number < 20; number++) open_peer(url, authorities);
    long before = memory("VmRSS:");
    for (long number = 0; number < count; number++) open_peer(url, authorities);
    printf("{\"bytes\": %.0f}\n", (double)(memory("VmRSS:") - before) * 1024 / (double)count);
}

int main(int count, char **arguments) {
    if (count < 4) fail("usage: socket-baseline echo|bulk URL COUNT SIZE | idle URL COUNT [CERTIFICATE]");
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) abort();
    const char *what = arguments[1], *url = arguments[2];
    long times = atol(arguments[3]);
    if (strcmp(what, "idle") == 0) {
        idle(url, times, count > 4 ? arguments[4] : NULL);
        return 0;
    }
    if (count < 5) fail("no size");
    size_t size = (size_t)atol(arguments[4]);
    char *message = malloc(size), *room = malloc(size);
    if (!message || !room) abort();
    memset(message, 'x', size);
    struct peer peer = open_peer(url, NULL);
    void (*run)(const struct peer *, const char *, size_t, char *, long) = strcmp(what, "echo") == 0 ? echo : bulk;
    run(&peer, message, size, room, 50);
    forget_peak();
    long resident = memory("VmRSS:");
    double begin = wall(), used = processor();
    run(&peer, message, size, room, times);
    printf("{\"seconds\": %.6f, \"cpuSeconds\": %.6f, \"peak\": %ld}\n", wall() - begin, processor() - used,
           (memory("VmHWM:") - resident) * 1024);
}
