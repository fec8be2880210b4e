#ifndef PEER_H
#define PEER_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A client of the server.
struct peer {
    int descriptor;
    /// Null in the clear.
    SSL *tls;
    uint32_t events;
    /// Frames come from now on.
    bool is_open;
    /// Messages are counted and not sent back.
    bool counts;
    uint64_t message_length;

    /// What has come of the request, or of a frame's head.
    uint8_t head[2048];
    size_t head_length;
    /// How much of the frame's payload is still to come.
    uint64_t rest;
    uint64_t offset;
    uint8_t mask[4];
    bool is_final;

    /// What couldn't be sent yet.
    uint8_t *unsent;
    size_t unsent_start, unsent_end, unsent_room;
};

struct peer *make_peer(int descriptor, SSL_CTX *tls);
void end_peer(struct peer *peer);

/// Sends and receives what goes now; false when the peer has gone.
bool serve(struct peer *peer);

bool waits_to_send(const struct peer *peer);

#endif
