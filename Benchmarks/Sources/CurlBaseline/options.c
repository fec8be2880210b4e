#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(const char *problem, const char *detail) {
    fprintf(stderr, "curl-baseline: %s%s\n", problem, detail);
    fprintf(stderr, "usage: curl-baseline --url URL [--protocol http1|http2] [--ca FILE] [--requests N] [--in-flight N]"
                    " [--options kept|reset] [--upload MIB]\n");
    exit(64);
}

static uint32_t parse_count(const char *text) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || end == text || value < 1 || value > 100000000) fail("not a positive number: ", text);
    return (uint32_t)value;
}

static bool is_second(const char *text, const char *first, const char *second) {
    if (!strcmp(text, second)) return true;
    if (strcmp(text, first)) fail("unknown value ", text);
    return false;
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
        else if (!strcmp(name, "--upload")) options.upload = parse_count(value);
        else if (!strcmp(name, "--protocol")) options.http2 = is_second(value, "http1", "http2");
        else if (!strcmp(name, "--options")) options.resets = is_second(value, "kept", "reset");
        else fail("unknown option ", name);
    }
    if (!options.url) fail("no URL given", "");
    return options;
}
