#ifndef MIDSTREAM_LOOKUP_INTERPOSITION_H
#define MIDSTREAM_LOOKUP_INTERPOSITION_H

// A name server that doesn't answer, without a server: this target defines `getaddrinfo`, which every library in the test
// process then finds before the C library's. The lookup of `stalled-lookup.invalid` waits until it is released; all others go to
// the C library.

#include <stdbool.h>

/// Returns once a lookup is stalled; false when none was within a minute.
bool wait_for_stalled_lookup(void);

/// How many lookups are stalled. One gives up after a minute, as a resolver does.
int stalled_lookups(void);

/// Ends the stalled lookups, with no address, and returns when they have ended. Later ones stall again.
void release_stalled_lookups(void);

#endif
