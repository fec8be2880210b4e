#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/// What the command line says.
struct options {
    const char *url;
    /// A PEM file of authorities to trust; NULL: the system's.
    const char *authorities;
    bool http2;
    /// Whether all options are set anew for each request, rather than those alone that may differ.
    bool resets;
    uint32_t requests;
    uint32_t in_flight;
    /// How many mebibytes each request sends, in chunks, as they are asked for; 0: it has no body.
    uint32_t upload;
};

/// Ends the program with a message when the arguments aren't right.
struct options parse_options(int count, char **arguments);

#endif
