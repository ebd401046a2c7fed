/*
 * text_ingest [RECORDS [HELD FOLDER]]: records a second that `doppel ingest` decides and keeps:
 * through a pipe with so many of them in flight, and from a file.
 *
 * Records are stretches of 1 to 4 KB of text that Debian packages ship; three in ten are copies,
 * two of these with a word changed. With one in flight each is answered, and kept, before the
 * next is written. The clock runs from the first answer on; until then the library is opened.
 *
 * With HELD the library has so many records of some 100 words before; it is made in FOLDER unless
 * it is there, and copied for each run.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "debian_text.h"

enum { SOURCE_BYTES = 64 << 20, LEAST_BYTES = 1000, SPAN_BYTES = 3000, LINE_BYTES = 8192 };
enum { HELD_PIECES = 10, HELD_PIECE_BYTES = 65 };

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Ids in no order, as digests and addresses are. */
static unsigned long long name_of(uint64_t number)
{
    return next_random(&number);
}

struct lines {
    char *bytes;
    size_t *starts; /* count + 1 of them */
    size_t count;
};

static void copy_plain(const char *from, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)from[i];
        bool plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
        out[i] = plain ? (char)byte : ' ';
    }
}

/* The same for a number on every call. */
static size_t write_text(const struct debian_text *source, uint64_t number, bool changed, char *out)
{
    uint64_t state = number;
    size_t size = LEAST_BYTES + (size_t)(next_random(&state) % SPAN_BYTES);
    copy_plain(source->bytes + (size_t)(next_random(&state) % (source->size - size)), size, out);
    if (changed)
        memcpy(out + size / 2, " changed ", 9);
    return size;
}

static void make_lines(struct lines *lines, size_t count)
{
    struct debian_text source = {0};
    uint64_t state = 4711;
    debian_text_find(&source, "/usr/share/doc", SOURCE_BYTES, 0);
    lines->bytes = malloc(count * LINE_BYTES);
    lines->starts = calloc(count + 1, sizeof *lines->starts);
    if (source.size < LEAST_BYTES + SPAN_BYTES || !lines->bytes || !lines->starts) {
        fprintf(stderr, "cannot make %zu records of %zu bytes of text\n", count, source.size);
        exit(1);
    }
    lines->count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t choice = next_random(&state) % 10;
        bool copies = i && choice < 3;
        char *at = lines->bytes + lines->starts[i], *begin = at;
        at += sprintf(at, "{\"id\":\"%016llx\",\"text\":\"", name_of(i));
        at += write_text(&source, copies ? next_random(&state) % i : i, copies && choice, at);
        at += sprintf(at, "\"}\n");
        lines->starts[i + 1] = lines->starts[i] + (size_t)(at - begin);
    }
    debian_text_free(&source);
}

/* ---- what the library holds before ---- */

/* Pieces of sentences: records that share one of them are not near each other. */
static void write_held(const struct debian_text *source, uint64_t number, FILE *file)
{
    char text[HELD_PIECES * HELD_PIECE_BYTES];
    uint64_t state = ~number;
    for (size_t i = 0; i < HELD_PIECES; i++)
        copy_plain(source->bytes + next_random(&state) % (source->size - HELD_PIECE_BYTES),
                   HELD_PIECE_BYTES, text + i * HELD_PIECE_BYTES);
    fprintf(file, "{\"id\":\"%016llx\",\"text\":\"%.*s\"}\n", name_of(~number), (int)sizeof text,
            text);
}

static void make_held(const char *folder, size_t count)
{
    char corpus[4096], library[4096];
    struct debian_text source = {0};
    snprintf(corpus, sizeof corpus, "%s/held.jsonl", folder);
    snprintf(library, sizeof library, "%s/library", folder);
    if (access(library, F_OK) == 0)
        return;
    debian_text_find(&source, "/usr/share/doc", SOURCE_BYTES, 0);
    FILE *file = fopen(corpus, "w");
    if (!file)
        exit(1);
    for (size_t i = 0; i < count; i++)
        write_held(&source, i, file);
    fclose(file);
    debian_text_free(&source);
    const char *const words[] = {DOPPEL_PROGRAM, "ingest",  "-q",   "-L",
                                 library,        "--jsonl", corpus, NULL};
    struct bench_run run = bench_run(words);
    printf("%zu held: made in %.1f s, %.1f s cpu, %.0f records/s, %.0f MB at most\n", count,
           run.wall, run.cpu, (double)count / run.wall, run.peak_bytes / 1e6);
}

static void copy_held(const char *folder, const char *to)
{
    char from[4096];
    snprintf(from, sizeof from, "%s/library", folder);
    const char *const words[] = {"cp", "-r", from, to, NULL};
    bench_run(words);
}

/* ---- the runs ---- */

struct child {
    pid_t pid;
    int to, from;
    double open_seconds;
};

static struct child start(const char *library, const char *corpus)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        exit(1);
    struct child child = {.pid = fork(), .to = to[1], .from = from[0]};
    if (child.pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execl(DOPPEL_PROGRAM, "doppel", "ingest", "-q", "-L", library, "--jsonl", corpus, NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    return child;
}

static size_t read_answers(const struct child *child)
{
    static char buffer[1 << 16];
    size_t count = 0;
    ssize_t got = read(child->from, buffer, sizeof buffer);
    if (got <= 0) {
        fprintf(stderr, "doppel ingest ended early\n");
        exit(1);
    }
    for (ssize_t i = 0; i < got; i++)
        count += buffer[i] == '\n';
    return count;
}

static void write_records(const struct child *child, const struct lines *lines, size_t first,
                          size_t end)
{
    for (size_t at = lines->starts[first]; at < lines->starts[end];) {
        ssize_t put = write(child->to, lines->bytes + at, lines->starts[end] - at);
        if (put <= 0)
            exit(1);
        at += (size_t)put;
    }
}

/* After the first. A line is written for each that was answered; few enough that neither pipe
 * blocks the other. */
static void converse(const struct child *child, const struct lines *lines, size_t under_way)
{
    size_t written = 1, answered = 1;
    while (answered < lines->count) {
        size_t end = answered + under_way < lines->count ? answered + under_way : lines->count;
        write_records(child, lines, written, end);
        written = end;
        answered += read_answers(child);
    }
}

static void print_run(const char *name, struct child *child, size_t count, struct bench_time since)
{
    struct rusage usage;
    int status;
    close(child->to);
    close(child->from);
    double wall = bench_now().wall - since.wall;
    if (wait4(child->pid, &status, 0, &usage) < 0 || status != 0)
        exit(1);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    printf("%-16s %8.2f s %9.0f records/s; opened in %.2f s; %.2f s cpu and %.0f MB in all\n", name,
           wall, (double)count / wall, child->open_seconds, cpu, (double)usage.ru_maxrss / 1024);
    fflush(stdout);
}

/* The first record is answered when the library is open. */
static struct bench_time ask_first(struct child *child, const struct lines *lines)
{
    struct bench_time since = bench_now();
    write_records(child, lines, 0, 1);
    while (read_answers(child) == 0)
        ;
    struct bench_time now = bench_now();
    child->open_seconds = now.wall - since.wall;
    return now;
}

static void run_pipe(const struct lines *lines, size_t under_way, const char *library)
{
    char name[32];
    struct child child = start(library, "-");
    struct bench_time since = ask_first(&child, lines);
    snprintf(name, sizeof name, "%zu in flight", under_way);
    converse(&child, lines, under_way);
    print_run(name, &child, lines->count - 1, since);
}

static void run_file(const struct lines *lines, const char *corpus, const char *library)
{
    FILE *file = fopen(corpus, "w");
    if (!file || fwrite(lines->bytes, 1, lines->starts[lines->count], file) == 0 || fclose(file))
        exit(1);
    struct bench_time since = bench_now();
    struct child child = start(library, corpus);
    size_t answered = read_answers(&child);
    child.open_seconds = bench_now().wall - since.wall;
    while (answered < lines->count)
        answered += read_answers(&child);
    print_run("from a file, all", &child, lines->count, since);
}

int main(int argc, char **argv)
{
    static const size_t under_way[] = {1, 8, 64, 200};
    struct lines lines;
    char folder[] = "/tmp/text_ingest-XXXXXX", path[64], corpus[64];
    const char *held = argc > 3 ? argv[3] : NULL;
    if (!mkdtemp(folder))
        return 1;
    signal(SIGPIPE, SIG_IGN);
    if (held)
        make_held(held, strtoul(argv[2], NULL, 10));
    make_lines(&lines, argc > 1 ? strtoul(argv[1], NULL, 10) : 50000);
    printf("%zu records, %.0f MB\n", lines.count, (double)lines.starts[lines.count] / 1e6);
    snprintf(path, sizeof path, "%s/library", folder);
    snprintf(corpus, sizeof corpus, "%s/corpus.jsonl", folder);
    for (size_t i = 0; i <= sizeof under_way / sizeof *under_way; i++) {
        if (held)
            copy_held(held, path);
        if (i < sizeof under_way / sizeof *under_way)
            run_pipe(&lines, under_way[i], path);
        else
            run_file(&lines, corpus, path);
        bench_remove_folder(path);
    }
    free(lines.bytes);
    free(lines.starts);
    return !bench_remove_folder(folder);
}
