#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *problem, const char *detail) {
    fprintf(stderr, "curl-baseline: %s%s\n", problem, detail);
    fprintf(stderr, "usage: curl-baseline --url URL [--protocol http1|http2] [--ca FILE] [--requests N] [--in-flight N]\n");
    exit(64);
}

static uint32_t parse_count(const char *text) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || end == text || value < 1 || value > 100000000) fail("not a positive number: ", text);
    return (uint32_t)value;
}

struct options parse_options(int count, char **arguments) {
    struct options options = {.requests = 10000, .in_flight = 64};
    for (int index = 1; index < count; index += 2) {
        const char *name = arguments[index];
        if (index + 1 == count) fail("no value for ", name);
        const char *value = arguments[index + 1];
        if (!strcmp(name, "--url")) options.url = value;
        else if (!strcmp(name, "--ca")) options.authorities = value;
        else if (!strcmp(name, "--requests")) options.requests = parse_count(value);
        else if (!strcmp(name, "--in-flight")) options.in_flight = parse_count(value);
        else if (strcmp(name, "--protocol")) fail("unknown option ", name);
        else if (!strcmp(value, "http2")) options.http2 = true;
        else if (strcmp(value, "http1")) fail("unknown protocol ", value);
    }
    if (!options.url) fail("no URL given", "");
    return options;
}
