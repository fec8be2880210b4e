#include "transfer.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t append(char *bytes, size_t size, size_t count, void *context) {
    struct buffer *buffer = context;
    size_t length = size * count, needed = buffer->count + length;
    if (needed > buffer->capacity) {
        size_t capacity = needed > 2 * buffer->capacity ? needed : 2 * buffer->capacity;
        char *larger = realloc(buffer->bytes, capacity);
        if (!larger) return CURL_WRITEFUNC_ERROR;
        buffer->bytes = larger;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->count, bytes, length);
    buffer->count = needed;
    return length;
}

// A body that is made while it is sent, 64 KiB at a time.
static size_t produce(char *bytes, size_t size, size_t count, void *context) {
    static const char chunk[64 << 10];
    struct transfer *transfer = context;
    size_t length = size * count;
    if (length > sizeof chunk) length = sizeof chunk;
    if (length > transfer->unsent) length = (size_t)transfer->unsent;
    memcpy(bytes, chunk, length);
    transfer->unsent -= length;
    return length;
}

void open_transfer(struct transfer *transfer) {
    *transfer = (struct transfer){.easy = curl_easy_init()};
    if (!transfer->easy) abort();
}

void close_transfer(struct transfer *transfer) {
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->fields);
    free(transfer->head.bytes);
    free(transfer->body.bytes);
}

static void set_options(struct transfer *transfer, struct loop *loop, const struct options *options) {
    CURL *easy = transfer->easy;
    attach(loop, easy);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 30000L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer->head);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer->body);
    if (options->upload) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, produce);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
        // Nobody is asked first whether the body is wanted.
        if (!transfer->fields) transfer->fields = curl_slist_append(NULL, "Expect:");
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->fields);
    }
    if (options->authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, options->authorities);
    if (options->http2) {
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    }
}

void start(struct transfer *transfer, struct loop *loop, const struct options *options) {
    transfer->head.count = 0;
    transfer->body.count = 0;
    transfer->unsent = (uint64_t)options->upload << 20;
    transfer->started = now();
    if (!transfer->has_options || options->resets) {
        curl_easy_reset(transfer->easy);
        set_options(transfer, loop, options);
        transfer->has_options = true;
    }
    // What differs from request to request.
    curl_easy_setopt(transfer->easy, CURLOPT_URL, options->url);
    curl_easy_setopt(transfer->easy, CURLOPT_TIMEOUT_MS, 60000L);
    curl_multi_add_handle(loop->multi, transfer->easy);
}

void check(struct transfer *transfer, CURLcode result, const struct options *options) {
    long status = 0, version = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &version);
    if (result) fprintf(stderr, "curl-baseline: %s\n", curl_easy_strerror(result));
    else if (status != 200) fprintf(stderr, "curl-baseline: status %ld\n", status);
    else if ((version == CURL_HTTP_VERSION_2_0) != options->http2) fprintf(stderr, "curl-baseline: not the protocol asked for\n");
    else return;
    exit(1);
}
