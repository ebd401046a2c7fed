/*
 * A worker that does what the content of each file tells it: "ok N" answers with a code N, "slow N"
 * the same N milliseconds later; "crash", "abort", "exit", "close", "hang", "memory", "error",
 * "twice", "mute" misbehave, and so does, by silence, every other word; "garbage N" and "bend N"
 * answer with random bytes, or with a good answer of which random bytes are changed; "lend N"
 * answers with a good one in a file in memory that is not sealed; "eat" takes memory until there is
 * none; "which" says what process it is, "look" what is around it; "steps N" gets on by 10 s of
 * media every 100 ms, N times; "lie" says nonsense of its progress, and cuts off the page for it.
 * The environment variable FAKE_START misbehaves before the ready frame.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/bell.h"
#include "worker/confine.h"
#include "worker/frame.h"
#include "worker/process.h"

enum { SOCKET = STDIN_FILENO };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void send_outcome(struct doppel_outcome *outcome, uint64_t bend)
{
    uint8_t frame[PROTOCOL_MAX_BYTES];
    size_t size = answer_write(outcome, frame, sizeof frame);
    for (unsigned i = 0; bend && i < 1 + bend % 4; i++)
        frame[next_random(&bend) % size] = (uint8_t)next_random(&bend);
    frame_send(SOCKET, frame, size);
    doppel_outcome_free(outcome);
}

static void send_good(uint64_t serial, enum doppel_scheme_id id, uint64_t code, uint64_t bend)
{
    struct doppel_outcome outcome = {
        .tag = serial, .kind = DOPPEL_KIND_IMAGE, .width = 3, .height = 2, .quality = 50};
    const struct doppel_scheme *scheme = doppel_scheme_by_id(id);
    doppel_fingerprint_make(scheme, 256, 2, &outcome.fingerprint, NULL);
    outcome.fingerprint.codes[0].word[0] = code;
    outcome.fingerprint.positions[1] = 1;
    outcome.attachment = calloc(1, 100);
    outcome.attachment_size = 100;
    send_outcome(&outcome, bend);
}

static void send_error(uint64_t serial, enum doppel_status status, const char *sentence)
{
    struct doppel_outcome outcome = {.tag = serial};
    doppel_fail(&outcome.error, status, "%s", sentence);
    send_outcome(&outcome, 0);
}

static void lend_good(uint64_t serial, enum doppel_scheme_id id)
{
    uint8_t frame[PROTOCOL_MAX_BYTES], beside[FRAME_HEADER_BYTES];
    struct doppel_outcome outcome = {.tag = serial, .kind = DOPPEL_KIND_IMAGE};
    doppel_fingerprint_make(doppel_scheme_by_id(id), 256, 2, &outcome.fingerprint, NULL);
    size_t size = answer_write(&outcome, frame, sizeof frame);
    int fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    frame_header_write(beside, FRAME_LONG, 0);
    if (write(fd, frame, size) == (ssize_t)size)
        frame_send_beside(SOCKET, beside, sizeof beside, fd);
    close(fd);
    doppel_outcome_free(&outcome);
}

static void send_garbage(uint64_t seed)
{
    uint8_t bytes[PROTOCOL_MAX_BYTES + 4096];
    size_t size = 1 + next_random(&seed) % (seed % 2 ? 100 : sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)next_random(&seed);
    if (seed % 3 == 0)
        memcpy(bytes, "dlpw\4\0\0", 8 < size ? 8 : size);
    frame_send(SOCKET, bytes, size);
}

/* Take memory as a decoder would that knows no bounds, and tell how much was resident; by then
 * there is none for stdio. */
static void eat(uint64_t serial)
{
    enum { PIECE = 1 << 20 };
    char status[4096], sentence[64];
    for (char *piece; (piece = malloc(PIECE));)
        memset(piece, 1, PIECE);
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, status, sizeof status - 1);
    status[size > 0 ? size : 0] = '\0';
    close(fd);
    const char *peak = strstr(status, "VmHWM:");
    snprintf(sentence, sizeof sentence, "%ld", peak ? strtol(peak + 6, NULL, 10) : 0);
    send_error(serial, DOPPEL_E_MEMORY, sentence);
}

/* How many descriptors are open, but the one for looking. */
static void count(uint64_t serial)
{
    char sentence[64];
    int open = -3; /* it, . and .. */
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        open++;
    if (folder)
        closedir(folder);
    snprintf(sentence, sizeof sentence, "%d", open);
    send_error(serial, DOPPEL_E_IO, sentence);
}

static void tell_process(uint64_t serial)
{
    char sentence[64];
    snprintf(sentence, sizeof sentence, "process %d", (int)getpid());
    send_error(serial, DOPPEL_E_IO, sentence);
}

/* Its environment, its folder, and how the file in hand is open, which it then reads. */
static void look(const struct worker_order *order)
{
    char sentence[256], folder[64] = "?", byte;
    int variables = 0;
    while (environ[variables])
        variables++;
    snprintf(sentence, sizeof sentence, "%d variables, in %s, file %s at %ld", variables,
             getcwd(folder, sizeof folder) ? folder : "?",
             (fcntl(order->fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? "read-only" : "writable",
             (long)lseek(order->fd, 0, SEEK_CUR));
    if (read(order->fd, &byte, 1) == 1)
        send_error(order->serial, DOPPEL_E_IO, sentence);
}

/* Write to the file in hand, which is open to be read alone. */
static bool change(const struct worker_order *order, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", order->fd);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

static struct progress_page *page(void)
{
    static struct progress_page *mapped;
    if (!mapped)
        mapped = progress_page_take(dup(PROCESS_PROGRESS));
    return mapped;
}

static void get_on(uint64_t steps)
{
    progress_begin_file(page());
    for (uint64_t i = 0; i < steps; i++) {
        usleep(100000);
        progress_report(page(), (i + 1) * 10000, steps * 10000);
    }
}

static void lie(void)
{
    int cut = ftruncate(PROCESS_PROGRESS, 0), grown = ftruncate(PROCESS_PROGRESS, 1 << 30);
    (void)cut, (void)grown;
    atomic_store(&page()->done_ms, UINT64_MAX);
    atomic_store(&page()->expected_ms, UINT64_MAX - 1);
    atomic_store(&page()->worked_ms, UINT64_MAX);
    usleep(400000);
    atomic_store(&page()->worked_ms, 3);
    usleep(400000);
}

static void obey(const char *command, const struct worker_order *order)
{
    uint64_t number = 0;
    char verb[32] = "";
    sscanf(command, "%31s %lu", verb, &number);
    if (strcmp(verb, "ok") == 0)
        send_good(order->serial, order->wanted.scheme, number, 0);
    else if (strcmp(verb, "bend") == 0)
        send_good(order->serial, order->wanted.scheme, number, number + 1);
    else if (strcmp(verb, "garbage") == 0)
        send_garbage(number + 1);
    else if (strcmp(verb, "lend") == 0)
        lend_good(order->serial, order->wanted.scheme);
    else if (strcmp(verb, "crash") == 0)
        raise(SIGSEGV);
    else if (strcmp(verb, "abort") == 0)
        raise(SIGABRT);
    else if (strcmp(verb, "exit") == 0)
        _exit(7);
    else if (strcmp(verb, "close") == 0)
        shutdown(SOCKET, SHUT_RDWR);
    else if (strcmp(verb, "memory") == 0)
        send_error(order->serial, DOPPEL_E_MEMORY, "no memory for 9 rows");
    else if (strcmp(verb, "short") == 0) {
        /* of memory, but only this time */
        if (change(order, "ok 5 "))
            send_error(order->serial, DOPPEL_E_MEMORY, "no memory for 9 rows");
    } else if (strcmp(verb, "error") == 0)
        send_error(order->serial, DOPPEL_E_CORRUPT, "a \x1b[31mred\x9b sentence \xc3\x97 \xff");
    else if (strcmp(verb, "mute") == 0) {
        close(PROCESS_BELL);
        send_good(order->serial, order->wanted.scheme, number, 0);
    } else if (strcmp(verb, "count") == 0)
        count(order->serial);
    else if (strcmp(verb, "which") == 0)
        tell_process(order->serial);
    else if (strcmp(verb, "look") == 0)
        look(order);
    else if (strcmp(verb, "eat") == 0)
        eat(order->serial);
    else if (strcmp(verb, "twice") == 0) {
        send_good(order->serial, order->wanted.scheme, number, 0);
        send_good(order->serial, order->wanted.scheme, number, 0);
    } else if (strcmp(verb, "steps") == 0) {
        get_on(number);
        send_good(order->serial, order->wanted.scheme, number, 0);
    } else if (strcmp(verb, "lie") == 0) {
        lie();
        send_good(order->serial, order->wanted.scheme, number, 0);
    } else if (strcmp(verb, "slow") == 0) {
        usleep((useconds_t)number * 1000);
        send_good(order->serial, order->wanted.scheme, number, 0);
    }
    while (strcmp(verb, "hang") == 0)
        pause();
}

static void misbehave_at_start(void)
{
    const char *how = getenv("FAKE_START");
    if (!how)
        return;
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "exit") == 0)
        _exit(3);
    if (strcmp(how, "garbage") == 0)
        send_garbage(5);
}

int main(void)
{
    uint8_t frame[PROTOCOL_HELLO_BYTES], ready[READY_MOST_BYTES];
    struct worker_limits limits;
    struct worker_order orders[PROTOCOL_BATCH];
    struct bell bell = {.fd = PROCESS_BELL};
    size_t count;
    settle_allocator();
    signal(SIGSEGV, SIG_DFL); /* no sanitizer's report: the crash is wanted */
    signal(SIGABRT, SIG_DFL);
    if (recv(SOCKET, frame, sizeof frame, 0) != (ssize_t)sizeof frame ||
        !hello_read(frame, sizeof frame, &limits) || confine(&limits, NULL))
        return 1;
    misbehave_at_start();
    struct doppel_confinement held = {0};
    frame_send(SOCKET, ready, ready_write(&held, ready));
    while ((count = bell_take_orders(&bell, SOCKET, orders)) > 0)
        for (size_t i = 0; i < count; i++) {
            char command[64] = "";
            if (pread(orders[i].fd, command, sizeof command - 1, 0) >= 0)
                obey(command, &orders[i]);
            close(orders[i].fd);
            bell_answered(&bell);
        }
    return 0;
}
