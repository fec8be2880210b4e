#include "peer.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// Of all peers: one is served at a time.
static uint8_t input[128 << 10];
// The answers to the smallest frames are larger than these.
static uint8_t output[sizeof input * 4 + 64];
static size_t output_length;

struct peer *make_peer(int descriptor, SSL_CTX *tls) {
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer) abort();
    peer->descriptor = descriptor;
    if (tls) {
        peer->tls = SSL_new(tls);
        SSL_set_fd(peer->tls, descriptor);
        SSL_set_accept_state(peer->tls);
    }
    return peer;
}

void end_peer(struct peer *peer) {
    SSL_free(peer->tls);
    close(peer->descriptor);
    free(peer->unsent);
    free(peer);
}

bool waits_to_send(const struct peer *peer) { return peer->unsent_start < peer->unsent_end; }

/// How much was received or sent; zero: nothing at present; below: nothing ever again.
static ssize_t outcome(struct peer *peer, ssize_t count, bool is_end) {
    if (count > 0) return count;
    if (!peer->tls) return !is_end && count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    int error = SSL_get_error(peer->tls, (int)count);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static ssize_t receive(struct peer *peer) {
    ssize_t count = peer->tls ? SSL_read(peer->tls, input, sizeof input) : recv(peer->descriptor, input, sizeof input, 0);
    return outcome(peer, count, count == 0);
}

static ssize_t transmit(struct peer *peer, const uint8_t *bytes, size_t length) {
    ssize_t count = peer->tls ? SSL_write(peer->tls, bytes, (int)length) : send(peer->descriptor, bytes, length, MSG_NOSIGNAL);
    return outcome(peer, count, false);
}

static bool send_unsent(struct peer *peer) {
    while (waits_to_send(peer)) {
        ssize_t count = transmit(peer, peer->unsent + peer->unsent_start, peer->unsent_end - peer->unsent_start);
        if (count < 0) return false;
        if (count == 0) return true;
        peer->unsent_start += (size_t)count;
    }
    return true;
}

/// Sends the output; what isn't taken is kept.
static bool send_output(struct peer *peer) {
    size_t sent = 0;
    while (sent < output_length) {
        ssize_t count = transmit(peer, output + sent, output_length - sent);
        if (count < 0) return false;
        if (count == 0) break;
        sent += (size_t)count;
    }
    size_t left = output_length - sent;
    output_length = 0;
    if (left == 0) return true;
    if (left > peer->unsent_room) {
        free(peer->unsent);
        peer->unsent = malloc(left);
        if (!peer->unsent) abort();
        peer->unsent_room = left;
    }
    memcpy(peer->unsent, output + sent, left);
    peer->unsent_start = 0;
    peer->unsent_end = left;
    return true;
}

// MARK: The upgrade

static const char *field(const char *head, const char *name) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0) return line + length + strspn(line + length, " \t");
    }
    return NULL;
}

/// Answers the request, once it is whole.
static bool open_socket(struct peer *peer) {
    char *head = (char *)peer->head;
    head[peer->head_length] = 0;
    if (!strstr(head, "\r\n\r\n")) return peer->head_length + 1 < sizeof peer->head;
    const char *key = field(head, "sec-websocket-key:");
    if (!key) return false;
    char text[128];
    int length = snprintf(text, sizeof text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, " \r"), key);
    uint8_t digest[SHA_DIGEST_LENGTH], accept[64];
    SHA1((uint8_t *)text, (size_t)length, digest);
    EVP_EncodeBlock(accept, digest, sizeof digest);
    const char *extensions = field(head, "sec-websocket-extensions:");
    bool deflates = extensions && strncmp(extensions, "permessage-deflate", 18) == 0;
    output_length = (size_t)snprintf(
        (char *)output, sizeof output,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n",
        (char *)accept, deflates ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : "");
    peer->counts = strstr(head, " /count ") != NULL;
    peer->is_open = true;
    peer->head_length = 0;
    return send_output(peer);
}

// MARK: Frames

static void put_head(uint8_t first, uint64_t length) {
    output[output_length++] = first;
    if (length <= 125) {
        output[output_length++] = (uint8_t)length;
        return;
    }
    int bytes = length <= 0xFFFF ? 2 : 8;
    output[output_length++] = bytes == 2 ? 126 : 127;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) output[output_length++] = (uint8_t)(length >> shift);
}

/// Takes a byte of a frame's head; true when that is whole.
static bool take_head(struct peer *peer, uint8_t byte) {
    peer->head[peer->head_length++] = byte;
    if (peer->head_length < 2) return false;
    uint8_t length = peer->head[1] & 0x7F;
    size_t extended = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (peer->head_length < 2 + extended + 4) return false;
    peer->rest = extended ? 0 : length;
    for (size_t place = 0; place < extended; place++) peer->rest = peer->rest << 8 | peer->head[2 + place];
    memcpy(peer->mask, peer->head + 2 + extended, 4);
    peer->offset = 0;
    peer->head_length = 0;
    peer->is_final = peer->head[0] & 0x80;
    return true;
}

static void begin_frame(struct peer *peer) {
    if (peer->counts) {
        peer->message_length += peer->rest;
    } else {
        uint8_t opcode = peer->head[0] & 0x0F;
        // A pong for a ping.
        put_head(opcode == 9 ? 0x8A : peer->head[0], peer->rest);
    }
}

static void end_frame(struct peer *peer) {
    if (!peer->counts || !peer->is_final) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)peer->message_length);
    put_head(0x81, (uint64_t)length);
    memcpy(output + output_length, text, (size_t)length);
    output_length += (size_t)length;
    peer->message_length = 0;
}

static void put_payload(struct peer *peer, const uint8_t *bytes, size_t length) {
    uint8_t *to = output + output_length;
    uint8_t turned[8];
    for (int place = 0; place < 8; place++) turned[place] = peer->mask[(peer->offset + (uint64_t)place) & 3];
    uint64_t pattern;
    memcpy(&pattern, turned, 8);
    size_t place = 0;
    for (; place + 8 <= length; place += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + place, 8);
        eight ^= pattern;
        memcpy(to + place, &eight, 8);
    }
    for (; place < length; place++) to[place] = bytes[place] ^ turned[place & 7];
    output_length += length;
}

static void take_frames(struct peer *peer, size_t count) {
    size_t place = 0;
    while (place < count) {
        if (peer->rest == 0) {
            if (!take_head(peer, input[place++])) continue;
            begin_frame(peer);
        } else {
            size_t length = count - place < peer->rest ? count - place : (size_t)peer->rest;
            if (!peer->counts) put_payload(peer, input + place, length);
            place += length;
            peer->offset += length;
            peer->rest -= length;
        }
        if (peer->rest == 0) end_frame(peer);
    }
}

bool serve(struct peer *peer) {
    if (!send_unsent(peer)) return false;
    while (!waits_to_send(peer)) {
        ssize_t count = receive(peer);
        if (count < 0) return false;
        if (count == 0) return true;
        if (peer->is_open) {
            take_frames(peer, (size_t)count);
            if (!send_output(peer)) return false;
        } else {
            if (peer->head_length + (size_t)count >= sizeof peer->head) return false;
            memcpy(peer->head + peer->head_length, input, (size_t)count);
            peer->head_length += (size_t)count;
            if (!open_socket(peer)) return false;
        }
        // Without TLS the system tells of what is left.
        if (!peer->tls) return true;
    }
    return true;
}
