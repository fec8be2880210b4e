// What the Swift client is measured against: the same requests by libcurl's own API in C, one thread, one epoll.
#include "loop.h"
#include "measure.h"
#include "options.h"
#include "transfer.h"

#include <stdio.h>
#include <stdlib.h>

/// Sends `count` requests, as many at a time as the options say; the latencies, in nanoseconds, are stored.
static void run(struct loop *loop, struct transfer *transfers, const struct options *options, uint32_t count,
                uint32_t *latencies) {
    uint32_t started = 0, ended = 0;
    while (started < options->in_flight && started < count) start(&transfers[started++], loop, options);
    while (ended < count) {
        turn(loop);
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(loop->multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURLcode result = message->data.result;
            struct transfer *transfer = NULL;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            curl_multi_remove_handle(loop->multi, transfer->easy);
            check(transfer, result, options);
            latencies[ended++] = (uint32_t)(now() - transfer->started);
            if (started < count) {
                start(transfer, loop, options);
                started++;
            }
        }
    }
}

static void print_result(const struct options *options, struct reading before, struct reading after, uint32_t *latencies) {
    sort_latencies(latencies, options->requests);
    printf("{\"name\": \"libcurl in C%s\", \"protocol\": \"%s\", \"inFlight\": %u, \"requests\": %u, ",
           options->resets ? ", options reset" : "", options->http2 ? "http2" : "http1", options->in_flight, options->requests);
    printf("\"seconds\": %.6f, \"cpuSeconds\": %.6f, \"peakKiB\": %ld, ",
           (double)(after.nanoseconds - before.nanoseconds) / 1e9, after.cpu_seconds - before.cpu_seconds, peak_kib());
    if (counts_allocations()) {
        printf("\"allocations\": %.2f, ", (double)(after.allocations - before.allocations) / options->requests);
    } else {
        printf("\"allocations\": null, ");
    }
    printf("\"p50us\": %.1f, \"p99us\": %.1f}\n", percentile(latencies, options->requests, 0.5),
           percentile(latencies, options->requests, 0.99));
}

int main(int count, char **arguments) {
    struct options options = parse_options(count, arguments);
    // The warm-up opens the connections.
    uint32_t warm_up = options.requests / 10 + 2 * options.in_flight;
    uint32_t *latencies = calloc(options.requests > warm_up ? options.requests : warm_up, sizeof *latencies);
    struct transfer *transfers = calloc(options.in_flight, sizeof *transfers);
    if (!latencies || !transfers || curl_global_init(CURL_GLOBAL_DEFAULT)) abort();
    struct loop loop;
    open_loop(&loop);
    for (uint32_t index = 0; index < options.in_flight; index++) open_transfer(&transfers[index]);

    run(&loop, transfers, &options, warm_up, latencies);
    struct reading before = take_reading();
    run(&loop, transfers, &options, options.requests, latencies);
    struct reading after = take_reading();
    print_result(&options, before, after, latencies);

    for (uint32_t index = 0; index < options.in_flight; index++) close_transfer(&transfers[index]);
    close_loop(&loop);
    free(transfers);
    free(latencies);
}
