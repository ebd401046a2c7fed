/*
 * The postings table: keys of 25 bits, half of them uniform, half by a power law, so that two
 * postings have the same key about as much more often than with uniform keys as was measured on
 * music; items of 24 000 postings, 5.2 a position. Then the same postings far apart, on an axis of
 * 2^32.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/cpu.h"
#include "index/index_bench.h"
#include "index/postings/postings.h"

enum { KEY_BITS = 25, ITEM_POSTINGS = 24000, BATCH = 4096, BATCHES = 1000 };

static const double law = 2.8, postings_a_position = 5.2;

struct made {
    struct doppel_index_posting *postings;
    uint64_t count, at;
    uint32_t length; /* of an item */
};

static uint32_t make_key(uint64_t *seed)
{
    uint64_t word = random_word(seed);
    uint32_t uniform = (uint32_t)(word >> (64 - KEY_BITS));
    if (word & 1)
        return uniform;
    double rank = pow((double)(uniform + 1) / (1 << KEY_BITS), law) * (1 << KEY_BITS);
    return (uint32_t)rank * 2654435761u >> (32 - KEY_BITS);
}

static struct made make_postings(uint64_t count)
{
    struct made made = {.count = count};
    uint64_t seed = 4;
    made.postings = need(malloc(count * sizeof *made.postings));
    made.length = (uint32_t)(ITEM_POSTINGS / postings_a_position);
    for (uint64_t i = 0; i < count; i++)
        made.postings[i] = (struct doppel_index_posting){
            make_key(&seed), (uint32_t)(i % ITEM_POSTINGS * made.length / ITEM_POSTINGS)};
    return made;
}

static bool read_item(void *context, uint64_t *payload, uint32_t *length,
                      const struct doppel_index_posting **postings, size_t *count)
{
    struct made *made = context;
    uint64_t left = made->count - made->at;
    *payload = made->at;
    *length = made->length;
    *postings = made->postings + made->at;
    *count = left < ITEM_POSTINGS ? (size_t)left : ITEM_POSTINGS;
    made->at += *count;
    return left != 0;
}

static void rewind_items(void *context)
{
    ((struct made *)context)->at = 0;
}

static double kernel_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

/* The peak of memory until now, or what is taken now. */
static double memory_bytes(bool peak)
{
    struct rusage usage;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    getrusage(RUSAGE_SELF, &usage);
    return peak ? (double)usage.ru_maxrss * 1024 : (double)pages * 4096;
}

static struct postings *build(struct made *made)
{
    struct doppel_error error = {0};
    struct postings_options options = {.key_bits = KEY_BITS};
    uint64_t items = (made->count + ITEM_POSTINGS - 1) / ITEM_POSTINGS;
    struct posting_stream stream = {made, items, made->count, read_item, rewind_items};
    struct segment_target target = {0};
    struct segment *segment;
    struct postings *table;
    claim_memory(made->count * 8);
    double before = memory_bytes(false), kernel = kernel_seconds(), start = thread_seconds();
    need_ok(postings_build(&options, &stream, &target, &segment, &error), &error);
    double spent = thread_seconds() - start, bytes = (double)segment_bytes(segment);
    kernel = kernel_seconds() - kernel;
    printf("build %.1f ns a posting, of which %.1f in page faults\n",
           spent * 1e9 / (double)made->count, kernel * 1e9 / (double)made->count);
    print_goal("bytes a posting", bytes / (double)made->count, "≤", 4.6, "bytes");
    print_goal("peak memory, × the table", (memory_bytes(true) - before) / bytes, "≤", 1.5, "×");
    need_ok(postings_open(segment, &table, &error), &error);
    return table;
}

struct sink {
    uint64_t postings, sum;
};

static bool take_run(void *context, uint32_t number, const uint32_t *positions, size_t count)
{
    struct sink *sink = context;
    sink->postings += count;
    sink->sum += number ^ positions[count - 1];
    return true;
}

/* Lookups of keys, in batches; @return seconds */
static double time_lookups(const struct postings *table, const uint32_t *keys, size_t batches,
                           struct sink *sink)
{
    double start = thread_seconds();
    for (size_t i = 0; i < batches; i++)
        need_ok(postings_lookup(table, keys + i * BATCH, BATCH, take_run, sink, NULL), NULL);
    return thread_seconds() - start;
}

/* Print lookups of the keys that `choose` gives. */
static void time_keys(const char *what, const struct postings *table, const uint32_t *keys,
                      double goal)
{
    struct sink sink = {0};
    double spent = time_lookups(table, keys, BATCHES, &sink);
    double rate = (double)BATCH * BATCHES / spent * 1e-6;
    printf("%s: %.1f M lookups/s, %.0f M postings/s, %.1f postings a list\n", what, rate,
           (double)sink.postings / spent * 1e-6, (double)sink.postings / BATCH / BATCHES);
    if (goal > 0)
        print_goal("batched lookups on short lists", rate, "≥", goal, "M/s");
}

static void time_long(const char *name, struct postings *table, const uint32_t *keys)
{
    static uint32_t chosen[BATCH];
    uint64_t counts[BATCH];
    size_t n = 0;
    for (size_t at = 0; at < BATCHES && n < BATCH; at++) {
        for (size_t i = 0; i < BATCH; i++)
            counts[i] = 0;
        need_ok(postings_counts(table, keys + at * BATCH, BATCH, counts, NULL), NULL);
        for (size_t i = 0; i < BATCH && n < BATCH; i++)
            if (counts[i] >= 1000)
                chosen[n++] = keys[at * BATCH + i];
    }
    struct sink sink = {0};
    double start = thread_seconds();
    need_ok(postings_lookup(table, chosen, n, take_run, &sink, NULL), NULL);
    double rate = (double)sink.postings * 1e-9 / (thread_seconds() - start);
    printf("%s: %zu lists of 1000 and more, %.0f postings on average\n", name, n,
           (double)sink.postings / (double)n);
    print_goal("postings of long lists", rate, "≥", 1, "G/s");
}

static void time_counts(const struct postings *table, const uint32_t *keys)
{
    uint64_t counts[BATCH] = {0};
    double start = thread_seconds();
    for (size_t i = 0; i < BATCHES; i++)
        need_ok(postings_counts(table, keys + i * BATCH, BATCH, counts, NULL), NULL);
    printf("lengths only: %.1f M/s\n", (double)BATCH * BATCHES / (thread_seconds() - start) * 1e-6);
}

/* How often two postings have the same key, × uniform ones. */
static double collisions(const struct made *made)
{
    uint32_t *counts = need(calloc(1u << KEY_BITS, sizeof *counts));
    double sum = 0;
    for (uint64_t i = 0; i < made->count; i++)
        counts[made->postings[i].key]++;
    for (uint32_t key = 0; key < 1u << KEY_BITS; key++)
        sum += (double)counts[key] * counts[key];
    free(counts);
    return sum / ((double)made->count * (double)made->count) * (1 << KEY_BITS);
}

static void measure(struct made *made)
{
    uint64_t seed = 77;
    struct postings *table = build(made);
    uint32_t *uniform = need(malloc(BATCH * BATCHES * sizeof *uniform));
    uint32_t *alike = need(malloc(BATCH * BATCHES * sizeof *alike));
    for (size_t i = 0; i < BATCH * BATCHES; i++) {
        uniform[i] = (uint32_t)(random_word(&seed) >> (64 - KEY_BITS));
        alike[i] = make_key(&seed);
    }
    time_keys("uniform keys", table, uniform, 30);
    time_keys("keys as the postings have them", table, alike, 0);
    time_counts(table, uniform);
    time_long("long lists", table, alike);
    postings_free(table);
    free(uniform);
    free(alike);
}

/* index_postings [POSTINGS] */
int main(int argc, char **argv)
{
    struct made made = make_postings(argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000);
    uint64_t items = (made.count + ITEM_POSTINGS - 1) / ITEM_POSTINGS;
    printf("%llu postings\n", (unsigned long long)made.count);
    measure(&made);
    printf("two postings have the same key %.0f × as often as with uniform keys\n",
           collisions(&made));
    printf("\non an axis of 2^32\n");
    uint32_t wide = (uint32_t)(UINT32_MAX / items);
    for (uint64_t i = 0; i < made.count; i++)
        made.postings[i].position =
            (uint32_t)((uint64_t)made.postings[i].position * wide / made.length);
    made.length = wide;
    measure(&made);
    free(made.postings);
    return 0;
}
