/*
 * A worker that listens, and does what the stream tells it, word by word: "heard" tells a second of
 * audio, "gap" one that is missing, "back" a time before the last, "end" and "error" end the
 * stream; "crash", "exit", "mute" (for good), "twice" (ready), "beside" (with a descriptor) and
 * "garbage N" and "bend N" (a stretch of which random bytes are changed) misbehave.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/confine.h"
#include "worker/listening.h"

enum { SOCKET = STDIN_FILENO };

static uint64_t told;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t make_stretch(bool gap, uint8_t *out)
{
    static const uint8_t track[] = "a track";
    struct stretch stretch = {.gap = gap, .from = told, .until = told + LISTENING_RATE};
    if (!gap) {
        stretch.track = track;
        stretch.track_size = sizeof track;
    }
    told += LISTENING_RATE;
    return stretch_write(&stretch, out, PROTOCOL_MAX_BYTES);
}

static void send_end(enum doppel_status status, const char *sentence)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    struct doppel_error error = {0};
    if (status)
        doppel_fail(&error, status, "%s", sentence);
    frame_send(SOCKET, frame, end_write(&error, frame, sizeof frame));
}

static void send_bent(uint64_t seed, bool garbage)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
    size_t size = make_stretch(seed % 2, frame);
    if (garbage)
        size = 1 + next_random(&state) % 64;
    for (size_t i = 0; garbage && i < size; i++)
        frame[i] = (uint8_t)next_random(&state);
    for (unsigned i = 0; i < 3; i++)
        frame[next_random(&state) % size] = (uint8_t)next_random(&state);
    frame_send(SOCKET, frame, size);
}

static void send_ready(void)
{
    uint8_t frame[READY_MOST_BYTES];
    struct doppel_confinement held = {0};
    frame_send(SOCKET, frame, ready_write(&held, frame));
}

static void obey(const char *word, uint64_t number)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    if (strcmp(word, "heard") == 0 || strcmp(word, "gap") == 0)
        frame_send(SOCKET, frame, make_stretch(word[0] == 'g', frame));
    else if (strcmp(word, "end") == 0)
        send_end(DOPPEL_OK, NULL);
    else if (strcmp(word, "error") == 0)
        send_end(DOPPEL_E_CORRUPT, "a \x1b[31mred sentence \xff");
    else if (strcmp(word, "crash") == 0)
        raise(SIGSEGV);
    else if (strcmp(word, "exit") == 0)
        _exit(7);
    else if (strcmp(word, "garbage") == 0 || strcmp(word, "bend") == 0)
        send_bent(number, word[0] == 'g');
    else if (strcmp(word, "beside") == 0)
        frame_send_beside(SOCKET, frame, make_stretch(false, frame), SOCKET);
    else if (strcmp(word, "back") == 0)
        told -= LISTENING_RATE + 1;
    else if (strcmp(word, "twice") == 0) {
        send_ready();
    }
    while (strcmp(word, "mute") == 0)
        pause();
}

int main(void)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES];
    struct listen_order order;
    int fd;
    signal(SIGSEGV, SIG_DFL); /* no sanitizer's report: the crash is wanted */
    if (recv(SOCKET, frame, 1, MSG_PEEK) != 1)
        return 0;
    ssize_t size = frame_receive(SOCKET, frame, sizeof frame, &fd);
    struct worker_limits limits = {0};
    if (size < 0 || !listen_read(frame, (size_t)size, &order) || confine(&limits, NULL))
        return 1;
    if (getenv("FAKE_START"))
        return 3;
    send_ready();
    FILE *stream = fdopen(fd, "r");
    char word[64];
    unsigned long number;
    if (stream)
        setvbuf(stream, NULL, _IONBF, 0); /* another one may go on where this one ends */
    while (stream && fscanf(stream, "%63s%lu", word, &number) == 2)
        obey(word, number);
    return 0;
}
