#ifndef MIDSTREAM_LOOKUP_INTERPOSITION_H
#define MIDSTREAM_LOOKUP_INTERPOSITION_H

// A name server that doesn't answer, or only at times, without a server: this target defines `getaddrinfo`, which every library in the test
// process then finds before the C library's. The lookup of `stalled-lookup.invalid` waits until it is released, that of
// `failing-lookup.invalid` fails as often as it is told to; all others go to the C library.

#include <stdbool.h>

/// Returns once a lookup is stalled; false when none was within a minute.
bool wait_for_stalled_lookup(void);

/// How many lookups are stalled. One gives up after a minute, as a resolver does.
int stalled_lookups(void);

/// Ends the stalled lookups, with no address, and returns when they have ended. Later ones stall again.
void release_stalled_lookups(void);

/// Has so many of the next lookups of `failing-lookup.invalid` fail for the moment. The others find 127.0.0.1.
void fail_lookups(int count);

#endif
