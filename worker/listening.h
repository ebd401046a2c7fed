/* What crosses the socket between a listener and its worker: the stream's descriptor with the first
 * frame, then what is heard, and last how it ended. docs/worker.md shows the layout. The parent
 * trusts nothing of it. */
#ifndef DOPPEL_WORKER_LISTENING_H
#define DOPPEL_WORKER_LISTENING_H

#include "worker/protocol.h"

enum { LISTENING_RATE = 11025 /* samples a second that times are given in */ };

/* The first frame, in place of hello: what to listen to. */
struct listen_order {
    uint64_t max_memory; /* as of worker_limits */
    uint32_t pcm;        /* enum doppel_pcm_format */
    uint32_t pcm_rate, pcm_channels;
    uint32_t sandbox; /* enum doppel_sandbox */
};

void listen_write(const struct listen_order *order, uint8_t out[PROTOCOL_HELLO_BYTES]);
bool listen_read(const uint8_t *data, size_t size, struct listen_order *out);

/* Some of the stream, in samples of LISTENING_RATE. */
struct stretch {
    bool gap;
    uint64_t from, until;
    const uint8_t *track; /* what doppel_audio_track_write wrote; borrowed; none of a gap */
    size_t track_size;
};

/* @return bytes written; 0 when `capacity` is too small */
size_t stretch_write(const struct stretch *stretch, uint8_t *out, size_t capacity);

/* False when it is anything but a stretch that ends no sooner than `told`. @param out borrows
 * `data` */
bool stretch_read(const uint8_t *data, size_t size, uint64_t told, struct stretch *out);

/* Of any worker in place of ready, with a status: it does not start. Of a listener:
 * the end, status DOPPEL_OK, or what ended it sooner, with its sentence. @return bytes written */
size_t end_write(const struct doppel_error *error, uint8_t *out, size_t capacity);
bool end_read(const uint8_t *data, size_t size, struct doppel_error *out);

#endif
