#ifndef MIDSTREAM_SEND_INTERPOSITION_H
#define MIDSTREAM_SEND_INTERPOSITION_H

// A server that answers before its client can ask whether it has: this target defines `send`, which libcurl then finds before the
// C library's. Sending the head of `GET /answered-at-once` returns when something has come back; everything else is sent by the C
// library and no more.

/// How often sending has waited for an answer.
int sends_answered_at_once(void);

#endif
