#ifndef TRANSFER_H
#define TRANSFER_H

#include "loop.h"
#include "options.h"

/// Bytes whose memory is kept from one response to the next.
struct buffer {
    char *bytes;
    size_t count;
    size_t capacity;
};

/// An easy handle and the response that it receives; used again for each request.
struct transfer {
    CURL *easy;
    bool has_options;
    struct buffer head;
    struct buffer body;
    /// How much of its own body the request has still to send.
    uint64_t unsent;
    struct curl_slist *fields;
    uint64_t started;
};

void open_transfer(struct transfer *transfer);
void close_transfer(struct transfer *transfer);

/// Sends a request.
void start(struct transfer *transfer, struct loop *loop, const struct options *options);

/// Ends the program with a message when the response isn't the one that was expected.
void check(struct transfer *transfer, CURLcode result, const struct options *options);

#endif
