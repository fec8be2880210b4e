#ifndef MIDSTREAM_FLOCK_INTERPOSITION_H
#define MIDSTREAM_FLOCK_INTERPOSITION_H

// A disk without locks, as some behind a network are: this target defines `flock`, which every library in the test process then finds
// before the C library's. It fails with `ENOSYS` for a file whose path holds this; all others are locked by the system.

#define PATH_WITHOUT_LOCKS "disk-without-locks"

#endif
