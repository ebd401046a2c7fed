/*
 * Searches of the index at radius 16: nanoseconds a code and query, by kernel, number of codes and
 * of queries at once; beside the limit, which is the kernel alone on codes in the level-1 cache,
 * and the reading of the codes from where they lie.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <doppel/index.h>

#include "../bench.h"
#include "core/cpu.h"
#include "index/scan.h"

enum { RADIUS_64 = 16, RADIUS_256 = 40, MAX_QUERIES = 32 };

static const double enough_seconds = 0.15;

static uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t *random_words(size_t count, uint64_t seed)
{
    uint64_t *words = aligned_alloc(64, (count * sizeof *words + 63) / 64 * 64);
    if (!words)
        exit(2);
    for (size_t i = 0; i < count; i++)
        words[i] = random_word(&seed);
    return words;
}

static bool count_hit(void *context, const struct doppel_index_hit *hit)
{
    (void)hit;
    ++*(uint64_t *)context;
    return true;
}

/* ---- what is measured: each does its work once, for `count` codes ---- */

struct trial {
    uint32_t bits;
    size_t count, queries;
    const uint64_t *codes, *query_codes;
    struct doppel_index *index;
    uint64_t sink;
};

static void search_index(struct trial *trial)
{
    uint32_t radius = trial->bits == 64 ? RADIUS_64 : RADIUS_256;
    struct doppel_index_request request = {
        .queries = trial->query_codes, .count = trial->queries, .radius = radius};
    if (doppel_index_search(trial->index, &request, count_hit, &trial->sink, NULL))
        exit(2);
}

static void scan_in_cache(struct trial *trial)
{
    enum { GROUPS = 64 };
    static struct scan_hit hits[GROUPS * SCAN_GROUP];
    scan_kernel *kernel = scan_choose(trial->bits);
    uint32_t radius = trial->bits == 64 ? RADIUS_64 : RADIUS_256;
    for (size_t i = 0; i < trial->count; i += GROUPS * SCAN_GROUP)
        trial->sink += kernel(trial->codes, GROUPS, trial->query_codes, radius, hits);
}

static void read_codes(struct trial *trial)
{
    uint64_t sum[8] = {0};
    size_t words = trial->count * trial->bits / 64;
    for (size_t i = 0; i + 8 <= words; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sum[lane] += trial->codes[i + lane];
    for (size_t lane = 0; lane < 8; lane++)
        trial->sink += sum[lane];
}

/* Nanoseconds a code and query. */
static double measure(void (*work)(struct trial *), struct trial *trial)
{
    double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), spent;
    size_t rounds = 0;
    do {
        work(trial);
        rounds++;
        spent = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    } while (spent < enough_seconds);
    return spent * 1e9 / ((double)rounds * (double)trial->count * (double)trial->queries);
}

static void print_row(const char *kernel, struct trial *trial)
{
    static const size_t queries[] = {1, 8, MAX_QUERIES};
    trial->queries = 1;
    double limit = measure(scan_in_cache, trial), reading = measure(read_codes, trial);
    printf("%-9s %4" PRIu32 " %9zu %8.3f %8.3f ", kernel, trial->bits, trial->count, limit,
           reading);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        trial->queries = queries[i];
        double spent = measure(search_index, trial);
        printf(" %8.3f (%.2f)", spent, spent / limit);
    }
    putchar('\n');
}

static void measure_size(uint32_t bits, size_t count)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } kernels[] = {{"portable", 0}, {"AVX2", CPU_AVX2}, {"AVX-512", CPU_AVX2 | CPU_AVX512_POPCNT}};
    uint64_t *codes = random_words(count * bits / 64, 1), *payloads = random_words(count, 2);
    uint64_t *queries = random_words(MAX_QUERIES * bits / 64, 3);
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    options.design_radius = bits / 2; /* at which it scans */
    struct trial trial = {.bits = bits, .count = count, .codes = codes, .query_codes = queries};
    if (doppel_index_new(&options, &trial.index, NULL) ||
        doppel_index_insert(trial.index, codes, payloads, count, NULL))
        exit(2);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        cpu_mask(UINT32_MAX);
        if ((cpu_flags() & kernels[i].flags) != kernels[i].flags)
            continue;
        cpu_mask(kernels[i].flags);
        print_row(kernels[i].name, &trial);
    }
    doppel_index_free(trial.index);
    free(codes);
    free(payloads);
    free(queries);
}

int main(void)
{
    printf("ns a code and query; in brackets × the kernel alone\n");
    printf("%-9s %4s %9s %8s %8s  %15s %15s %15s\n", "kernel", "bits", "codes", "in L1", "reading",
           "1 query", "8 queries", "32 queries");
    for (uint32_t bits = 64; bits <= 256; bits += 192)
        for (size_t count = 64 << 10; count <= 4 << 20; count *= 8)
            measure_size(bits, count);
    return 0;
}
