/*
 * The band table: 25 bands of 5 of 128 lanes. A fifth of the records are near-duplicates of others.
 * Skewed: besides, two hundredths hold boilerplate (half the lanes of one of 16 templates) and half
 * a hundredth are identical. Half the queries are planted (a record with a fifth of its lanes
 * changed), half are new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "index/bands/bands.h"
#include "index/index_bench.h"

enum { LANES = 128, WORDS = LANES / 4, RADIUS = 64, QUERIES = 3000, TEMPLATES = 16 };

struct made {
    bool skewed;
    uint64_t count, at;
};

static uint64_t seed_of(uint64_t i)
{
    uint64_t state = i * 0x2545f4914f6cdd1du + 1;
    return random_word(&state);
}

static void fill(uint64_t seed, uint64_t code[WORDS])
{
    for (size_t i = 0; i < WORDS; i++)
        code[i] = random_word(&seed);
}

/* Keep of `code` about `part` of 1024 lanes, take the others from `from`. */
static void mix(uint64_t *seed, uint64_t part, const uint64_t *from, uint64_t *code)
{
    for (size_t i = 0; i < WORDS; i++)
        for (unsigned lane = 0; lane < 4; lane++) {
            uint64_t mask = 0xffffull << 16 * lane;
            if (random_word(seed) % 1024 >= part)
                code[i] = (code[i] & ~mask) | (from[i] & mask);
        }
}

static void make_signature(const struct made *made, uint64_t i, uint64_t code[WORDS])
{
    uint64_t seed = seed_of(i), kind = random_word(&seed) % 1000, other[WORDS];
    fill(seed, code);
    if (made->skewed && kind >= 995)
        fill(seed_of(1), code);
    else if (made->skewed && kind >= 975) {
        fill(seed_of(~(seed % TEMPLATES)), other);
        mix(&seed, 512, other, code);
    } else if (kind < 200 && i) {
        make_signature(made, seed % i, other);
        mix(&seed, 204, other, code);
    }
}

static size_t read_made(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct made *made = context;
    size_t n = 0;
    for (; n < max && made->at < made->count; n++, made->at++) {
        make_signature(made, made->at, codes + n * WORDS);
        payloads[n] = made->at;
    }
    return n;
}

static void rewind_made(void *context)
{
    ((struct made *)context)->at = 0;
}

static uint64_t *make_query_codes(const struct made *made)
{
    uint64_t *codes = need(malloc(QUERIES * WORDS * sizeof *codes)), seed = 99, other[WORDS];
    for (size_t i = 0; i < QUERIES; i++) {
        fill(seed_of(made->count + i), codes + i * WORDS);
        if (i % 2)
            continue;
        make_signature(made, random_word(&seed) % made->count, other);
        mix(&seed, 204, other, codes + i * WORDS);
    }
    return codes;
}

/* Of the kernel's time of this thread: page faults, which cost what the machine makes of them. */
static double kernel_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* CPU of making the records, which the build's time contains twice. */
static double stream_seconds(struct made *made)
{
    uint64_t codes[64 * WORDS], payloads[64];
    double start = thread_seconds();
    while (read_made(made, codes, payloads, 64))
        ;
    rewind_made(made);
    return thread_seconds() - start;
}

static struct bands *build(struct made *made)
{
    struct doppel_error error = {0};
    struct bands_options options = {LANES, 25, 5};
    struct code_stream stream = {made, made->count, read_made, rewind_made};
    struct segment_target target = {0};
    struct segment *segment;
    struct bands *table;
    claim_memory(made->count * (LANES * 2 + 190));
    double making = stream_seconds(made), kernel = kernel_seconds(), start = thread_seconds();
    need_ok(bands_build(&options, &stream, &target, &segment, &error), &error);
    double spent = thread_seconds() - start - 2 * making;
    kernel = kernel_seconds() - kernel;
    double bytes = (double)segment_bytes(segment), count = (double)made->count;
    print_goal("build, µs a record", spent * 1e6 / count, "≤", .6, "µs");
    printf("  of which %.3f in page faults\n", kernel * 1e6 / count);
    print_goal("bytes a record beside the signature", bytes / count - LANES * 2, "≤", 190, "bytes");
    print_goal("peak memory, × the table", peak_bytes() / bytes, "≤", 1.5, "×");
    need_ok(bands_open(segment, &table, &error), &error);
    return table;
}

static void time_queries(const struct bands *table, const uint64_t *codes)
{
    static double spent[QUERIES];
    struct bands_scratch *scratch = need(bands_scratch_new());
    hit_array hits = {0};
    size_t found = 0;
    for (uint32_t i = 0; i < QUERIES; i++) {
        struct query query = {codes + i * WORDS, i, RADIUS, &hits, NULL, 0};
        hits.count = 0;
        double start = thread_seconds();
        need_ok(bands_search(table, scratch, &query, 1, 0, NULL), NULL);
        spent[i] = thread_seconds() - start;
        found += hits.count;
    }
    struct times times = times_of(spent, QUERIES);
    printf("%zu hits of %d queries, mean %.2f µs\n", found, QUERIES, times.mean);
    print_goal("a query, median", times.median, "≤", 6, "µs");
    print_goal("a query, p99", times.p99, "≤", 100, "µs");
    array_free(&hits);
    bands_scratch_free(scratch);
}

static void time_batch(const struct bands *table, const uint64_t *codes)
{
    static struct query queries[QUERIES];
    struct bands_scratch *scratch = need(bands_scratch_new());
    hit_array hits = {0};
    for (uint32_t i = 0; i < QUERIES; i++)
        queries[i] = (struct query){codes + i * WORDS, i, RADIUS, &hits, NULL, 0};
    double start = thread_seconds();
    need_ok(bands_search(table, scratch, queries, QUERIES, 0, NULL), NULL);
    printf("in one call: %.2f µs a query\n", (thread_seconds() - start) * 1e6 / QUERIES);
    array_free(&hits);
    bands_scratch_free(scratch);
}

static void measure(uint64_t count, bool skewed)
{
    struct made made = {.count = count, .skewed = skewed};
    printf("\n%s, %llu signatures\n", skewed ? "skewed" : "uniform", (unsigned long long)count);
    struct bands *table = build(&made);
    uint64_t *codes = make_query_codes(&made);
    time_queries(table, codes);
    time_batch(table, codes);
    free(codes);
    bands_free(table);
}

/* index_bands [RECORDS [skewed|uniform]] */
int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    if (argc < 3 || !strcmp(argv[2], "uniform"))
        measure(count, false);
    if (argc < 3 || !strcmp(argv[2], "skewed"))
        measure(count, true);
    return 0;
}
