/*
 * What crosses the socket between the pool and a worker: packets of a SOCK_SEQPACKET pair, numbers
 * little-endian, each packet one whole frame. Files travel beside the frames as open descriptors
 * (SCM_RIGHTS). docs/worker.md shows the layout.
 *
 * The parent does not trust the worker: answer_read checks every length, type and number of what
 * comes back.
 */
#ifndef DOPPEL_WORKER_PROTOCOL_H
#define DOPPEL_WORKER_PROTOCOL_H

#include <stdbool.h>
#include <sys/types.h>

#include <doppel/worker.h>

enum {
    PROTOCOL_VERSION = 10,
    PROTOCOL_BATCH = 8,             /* orders in one frame, at most */
    PROTOCOL_MAX_BYTES = 64 * 1024, /* of one frame */
    PROTOCOL_LONG_BYTES = 64 << 20, /* of an answer that comes beside its frame */
    PROTOCOL_HELLO_BYTES = 48 + DOPPEL_OCR_BYTES
};

/* Of --max-memory: resident bytes that RLIMIT_DATA does not count (the code of FFmpeg and its
 * friends, the stack); what the process maps before it has a file; and the least that leaves a
 * decoder something. Measured: docs/worker.md. */
enum {
    WORKER_UNCOUNTED_BYTES = 48 << 20,
    WORKER_OWN_BYTES = 48 << 20,
    WORKER_LEAST_BYTES = 128 << 20
};

/* The first frame to a worker: what one file may cost. 0 = no limit. */
struct worker_limits {
    uint64_t max_memory, max_bytes, max_pixels;
    uint64_t max_ms;            /* of audio or video */
    uint32_t sandbox;           /* enum doppel_sandbox */
    char ocr[DOPPEL_OCR_BYTES]; /* languages; "": no OCR */
};

/* One file to be fingerprinted. */
struct worker_order {
    uint64_t serial; /* comes back as the tag of the answer */
    struct doppel_order wanted;
    int fd;
};

void hello_write(const struct worker_limits *limits, uint8_t out[PROTOCOL_HELLO_BYTES]);
bool hello_read(const uint8_t *data, size_t size, struct worker_limits *out);

/* The worker's first frame: it lives, is of this version, and is held so. Before its first file it
 * is believed. */
enum { READY_BYTES = 16, READY_MOST_BYTES = READY_BYTES + DOPPEL_LIBRARIES_BYTES };
size_t ready_write(const struct doppel_confinement *held, uint8_t out[READY_MOST_BYTES]);
bool ready_read(const uint8_t *data, size_t size, struct doppel_confinement *out);

/* Send a whole frame; errno tells why not. Never SIGPIPE. */
bool frame_send(int socket, const uint8_t *data, size_t size);

/* A regular file opened again, only to be read, with an offset and flags that nobody shares. Given;
 * -1: errno says why, such as rights that changed since. */
int open_for_worker(int fd);

/* Send `count` orders (1..PROTOCOL_BATCH) and their descriptors in one frame, without waiting;
 * errno tells why not. The descriptors are borrowed. */
bool orders_send(int socket, const struct worker_order *orders, size_t count);

/* Take orders, and wait for them if there are none and `wait` says so; the descriptors are given.
 * @return how many; 0 when the parent is gone or sent what is no order, or there are none (then
 * errno is EAGAIN). */
size_t orders_receive(int socket, bool wait, struct worker_order out[PROTOCOL_BATCH]);

/* An outcome as a frame; its `tag` is the serial. @return bytes written; 0 if `capacity` is too
 * small. */
size_t answer_write(const struct doppel_outcome *outcome, uint8_t *out, size_t capacity);

/* Bytes that answer_write needs. */
size_t answer_size(const struct doppel_outcome *outcome);

/* Send an answer of any size up to PROTOCOL_LONG_BYTES: in a frame, or in a file in memory whose
 * descriptor goes with a frame. */
bool answer_send(int socket, const struct doppel_outcome *outcome);

/* NO_MEMORY is this process's own, and neither the worker's fault nor the file's. */
enum answer { ANSWER_GOOD, ANSWER_NONSENSE, ANSWER_NO_MEMORY };

/* Take an answer from a file that came with a frame, as answer_read; the descriptor is borrowed.
 * What is no file in memory is not read. */
enum answer answer_read_long(int fd, const struct worker_order *order, struct doppel_outcome *out);

/* Receive one frame, without waiting, and the descriptor that came with it, or -1; given
 * (frame_descriptor_close). As recv; EBADMSG: more came than one. */
ssize_t frame_receive(int socket, uint8_t *out, size_t capacity, int *out_fd);

/* Close what a worker sent, without waiting: a socket may linger. Nothing for -1. */
void frame_descriptor_close(int fd);

/* Send a frame and one descriptor beside it, which is borrowed; errno tells why not. */
bool frame_send_beside(int socket, const uint8_t *data, size_t size, int fd);

/* Copy a worker's sentence: nothing that a terminal obeys, nothing that is not UTF-8 gets through.
 */
void sentence_copy(const uint8_t *text, size_t size, char out[512]);

/* Whether a frame says that its answer lies in the descriptor beside it. */
bool frame_is_long(const uint8_t *data, size_t size);

/* Read an answer to `order`; NONSENSE when it is anything but a well-formed one.
 * @param out given (doppel_outcome_free); untouched on failure */
enum answer answer_read(const uint8_t *data, size_t size, const struct worker_order *order,
                        struct doppel_outcome *out);

#endif
