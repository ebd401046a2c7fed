/*
 * text_dedup [RECORDS [THREADS [FILE [BYTES [COPIES [PASSAGE]]]]]]: how long `doppel dedup` takes
 * for a corpus, and how much memory, beside a count of its lines and a parse of its records on one
 * core.
 *
 * The corpus is made of passages that Debian packages ship, of PASSAGE bytes (400), put together
 * again for each original: the longer they are, the more originals share one, and are compared;
 * COPIES in a hundred records (60) are copies of an earlier original: with other letters' case, a
 * dateline and a footer, a cut, replaced words, or boilerplate. With FILE (not -) it is kept there,
 * and not made again. BYTES are those of a text on average. At the end the same with --memory 1G,
 * and the count of paragraphs.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/corpus.h>

#include "bench.h"
#include "corpus/read/reader.h"
#include "debian_text.h"

enum {
    SOURCE_BYTES = 200 << 20,
    TEXT_BYTES = 6400,
    PASSAGE_BYTES = 400, /* if nothing else is wanted */
    MIN_TEXT = 64,
    MAX_TEXT = 1 << 15
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit)
{
    return (size_t)(next_random(state) % limit);
}

/* ---- the corpus ---- */

struct draft {
    char bytes[MAX_TEXT];
    size_t size;
};

static void add(struct draft *draft, const char *bytes, size_t size)
{
    size_t room = MAX_TEXT - draft->size;
    memcpy(draft->bytes + draft->size, bytes, size < room ? size : room);
    draft->size += size < room ? size : room;
}

static void add_passage(struct draft *draft, const struct debian_text *source, uint64_t *state,
                        size_t size)
{
    size_t at = below(state, source->size - 2 * size);
    const char *line = memchr(source->bytes + at, '\n', size);
    add(draft, line ? line : source->bytes + at, size);
}

/* What the corpus is to be. */
struct bench_corpus {
    size_t records, mean, copies_percent, passage;
};

/* The same for a number on every call. */
static void write_original(struct draft *draft, const struct debian_text *source, uint64_t number,
                           const struct bench_corpus *plan)
{
    size_t mean = plan->mean, passage = plan->passage < mean ? plan->passage : mean / 2;
    uint64_t state = number * 2 + 1;
    size_t size = mean / 4 + below(&state, mean * 3 / 2);
    draft->size = 0;
    while (draft->size < size)
        add_passage(draft, source, &state, passage);
}

static void replace_words(struct draft *draft, uint64_t *state)
{
    for (size_t i = below(state, 600); i + 8 < draft->size; i += 200 + below(state, 400))
        memcpy(draft->bytes + i, " other ", 7);
}

static void vary(struct draft *draft, const struct debian_text *source, uint64_t *state)
{
    struct draft copy;
    switch (below(state, 6)) {
    case 0:
        for (size_t i = 0; i < draft->size; i += 7)
            if (draft->bytes[i] >= 'a' && draft->bytes[i] <= 'z')
                draft->bytes[i] = (char)(draft->bytes[i] - 32);
        break;
    case 1:
    case 2:
        copy = *draft;
        draft->size = 0;
        add_passage(draft, source, state, 60);
        add(draft, copy.bytes, copy.size);
        add_passage(draft, source, state, 100 + below(state, 300));
        break;
    case 3:
        draft->size -= draft->size * (5 + below(state, 25)) / 100;
        break;
    case 4:
        replace_words(draft, state);
        break;
    default:
        add_passage(draft, source, state, draft->size / 8);
    }
}

static void print_record(FILE *file, size_t number, const struct draft *draft)
{
    static char line[2 * MAX_TEXT];
    size_t size = 0;
    for (size_t i = 0; i < draft->size; i++) {
        unsigned char byte = (unsigned char)draft->bytes[i];
        if (byte == '"' || byte == '\\' || byte == '\n')
            line[size++] = '\\';
        line[size++] = (char)(byte == '\n' ? 'n' : byte < 0x20 || byte > 0x7e ? ' ' : byte);
    }
    fprintf(file, "{\"id\":\"doc-%zu\",\"text\":\"", number);
    fwrite(line, 1, size, file);
    fputs("\"}\n", file);
}

static void make_corpus(const char *path, const struct bench_corpus *plan)
{
    struct debian_text source = {0};
    struct draft draft;
    uint64_t state = 4711;
    debian_text_find(&source, "/usr/share/doc", SOURCE_BYTES, 2);
    debian_text_find(&source, "/usr/share/man", SOURCE_BYTES, 2);
    FILE *file = fopen(path, "w");
    if (!file || source.size < 1 << 20) {
        fprintf(stderr, "%s: cannot make a corpus of %zu bytes of text\n", path, source.size);
        exit(1);
    }
    for (size_t i = 0; i < plan->records; i++) {
        bool copies = i && below(&state, 100) < plan->copies_percent;
        write_original(&draft, &source, copies ? below(&state, i) : i, plan);
        if (copies)
            vary(&draft, &source, &state);
        print_record(file, i, &draft);
    }
    if (fclose(file)) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
    debian_text_free(&source);
}

/* ---- the runs ---- */

static bool count_record(void *context, const struct doppel_corpus_record *record)
{
    *(size_t *)context += record->text != NULL;
    return true;
}

/* Read and parse, on this thread. */
static struct bench_run run_parser(const char *path)
{
    struct bench_time since = bench_now();
    struct doppel_corpus_fields fields = doppel_corpus_fields_default();
    struct doppel_corpus_files files = {
        .paths = &path, .count = 1, .max_line_bytes = UINT64_C(1) << 30};
    struct reader *reader;
    struct line_block block;
    size_t count = 0;
    struct parser *parser = parser_new(&fields);
    if (!parser || reader_new(&files, &reader, NULL))
        exit(1);
    while (reader_next(reader, &block, NULL) == DOPPEL_OK) {
        parser_block(parser, &block, count_record, &count);
        line_block_free(&block);
    }
    reader_free(reader);
    parser_free(parser);
    struct bench_time now = bench_now();
    return (struct bench_run){now.wall - since.wall, now.cpu - since.cpu, 0, 0};
}

static void print_run(const char *name, const struct bench_run *run, size_t records, double bytes)
{
    printf("%-28s %8.2f s %8.2f s cpu %9.0f records/s %7.0f MB/s", name, run->wall, run->cpu,
           (double)records / run->wall, bytes / 1e6 / run->wall);
    if (run->peak_bytes > 0)
        printf(" (%.0f by CPU alone, a core) %6.0f bytes a record, %.0f %% in the kernel",
               bytes / 1e6 / run->cpu, run->peak_bytes / (double)records,
               100 * run->kernel / run->cpu);
    putchar('\n');
    fflush(stdout);
}

static size_t argument_number(int argc, char **argv, int place, size_t usual)
{
    return argc > place ? strtoul(argv[place], NULL, 10) : usual;
}

int main(int argc, char **argv)
{
    const struct bench_corpus plan = {.records = argument_number(argc, argv, 1, 50000),
                                      .mean = argument_number(argc, argv, 4, TEXT_BYTES),
                                      .copies_percent = argument_number(argc, argv, 5, 60),
                                      .passage = argument_number(argc, argv, 6, PASSAGE_BYTES)};
    size_t records = plan.records;
    const char *threads = argc > 2 ? argv[2] : "2";
    char path[64] = "/tmp/text_dedup-XXXXXX";
    bool kept = argc > 3 && strcmp(argv[3], "-") != 0;
    int fd = kept ? -1 : mkstemp(path);
    const char *corpus = kept ? argv[3] : path;
    struct stat stat_now;
    if (plan.mean < MIN_TEXT || plan.mean > MAX_TEXT / 4 || plan.passage < MIN_TEXT)
        return 2;
    if (!kept || stat(corpus, &stat_now))
        make_corpus(corpus, &plan);
    if (stat(corpus, &stat_now))
        return 1;
    double bytes = (double)stat_now.st_size;
    printf("%zu records, %.2f GB, %s threads\n", records, bytes / 1e9, threads);
    struct bench_run lines = bench_run((const char *const[]){"wc", "-l", corpus, NULL});
    print_run("wc -l", &lines, records, bytes);
    struct bench_run parsed = run_parser(corpus);
    print_run("read and parse, 1 thread", &parsed, records, bytes);
    struct bench_run dedup = bench_run(
        (const char *const[]){DOPPEL_PROGRAM, "dedup", "-q", "--jobs", threads, corpus, NULL});
    print_run("doppel dedup", &dedup, records, bytes);
    printf("%.1f × wc -l, %.1f × read and parse\n", dedup.wall / lines.wall,
           dedup.wall / parsed.wall);
    struct bench_run bounded = bench_run((const char *const[]){
        DOPPEL_PROGRAM, "dedup", "-q", "--jobs", threads, "--memory", "1G", corpus, NULL});
    print_run("the same, --memory 1G", &bounded, records, bytes);
    struct bench_run paragraphs = bench_run((const char *const[]){
        DOPPEL_PROGRAM, "dedup", "-q", "--jobs", threads, "--unit", "paragraph", corpus, NULL});
    print_run("--unit paragraph", &paragraphs, records, bytes);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return 0;
}
