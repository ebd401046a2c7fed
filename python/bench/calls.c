/* The C side of calls.py: the same calls of the engine as the package makes, timed in a loop. A
 * library for ctypes, so that both sides run in one process. */
#include <stdlib.h>
#include <time.h>

#include <doppel/compare.h>
#include <doppel/core.h>
#include <doppel/index.h>

#define CALLS __attribute__((visibility("default")))

/* Seconds of CPU of this thread. */
static double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

CALLS struct doppel_index *calls_index(unsigned bits, unsigned radius);

CALLS struct doppel_index *calls_index(unsigned bits, unsigned radius)
{
    struct doppel_index_options make = doppel_index_options_default();
    struct doppel_index *index = NULL;
    make.table = DOPPEL_INDEX_HAMMING;
    make.bits = bits;
    make.design_radius = radius;
    return doppel_index_new(&make, &index, NULL) ? NULL : index;
}

CALLS void calls_free(struct doppel_index *index);

CALLS void calls_free(struct doppel_index *index)
{
    doppel_index_free(index);
}

CALLS double calls_add(struct doppel_index *index, const uint64_t *codes, size_t count);

/* With ids that count on, as the package's do. */
CALLS double calls_add(struct doppel_index *index, const uint64_t *codes, size_t count)
{
    const double began = bench_seconds();
    uint64_t *ids = malloc(count * sizeof *ids);
    const uint64_t first = doppel_index_count(index);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = first + i;
    if (!ids || doppel_index_insert(index, codes, ids, count, NULL))
        return -1;
    free(ids);
    return bench_seconds() - began;
}

CALLS double calls_search(struct doppel_index *index, const uint64_t *queries, size_t count,
                          size_t nearest, unsigned times);

/* Of radius 8; or all, where so many nearest are wanted. */
CALLS double calls_search(struct doppel_index *index, const uint64_t *queries, size_t count,
                          size_t nearest, unsigned times)
{
    const struct doppel_index_request request = {.queries = queries,
                                                 .count = count,
                                                 .radius = nearest ? 64 : 8,
                                                 .nearest = nearest,
                                                 .threads = 1};
    const double began = bench_seconds();
    for (unsigned i = 0; i < times; i++) {
        struct doppel_index_hit *hits;
        size_t found;
        if (doppel_index_search_array(index, &request, &hits, &found, NULL))
            return -1;
        free(hits);
    }
    return bench_seconds() - began;
}

CALLS double calls_compare(uint64_t a, uint64_t b, unsigned times);

/* Two pictures of one code each. */
CALLS double calls_compare(uint64_t a, uint64_t b, unsigned times)
{
    struct doppel_record records[2] = {{.quality = 100}, {.quality = 100}};
    const struct doppel_scheme *scheme = doppel_scheme_by_name("phash64");
    const struct doppel_compare_options options = doppel_compare_options_default();
    const uint64_t codes[2] = {a, b};
    double took = -1;
    for (int i = 0; i < 2; i++) {
        struct doppel_record *record = &records[i];
        if (doppel_fingerprint_make(scheme, scheme->code_bits, 1, &record->fingerprint, NULL))
            goto done;
        record->kind = scheme->kind;
        record->scheme = scheme->id;
        record->version = scheme->version;
        record->fingerprint.codes[0].word[0] = codes[i];
    }
    const double began = bench_seconds();
    for (unsigned i = 0; i < times; i++) {
        struct doppel_comparison pair = {0};
        if (doppel_compare(NULL, &records[0], &records[1], &options, &pair, NULL))
            goto done;
        doppel_comparison_free(&pair);
    }
    took = bench_seconds() - began;
done:
    for (int i = 0; i < 2; i++)
        doppel_record_free(&records[i]);
    return took;
}
