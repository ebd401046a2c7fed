/* The engine under test without what is around it: one immutable Hamming table. */
#include <stdlib.h>
#include <string.h>

#include "index/hamming/hamming.h"
#include "index/index_bench.h"

struct engine {
    struct hamming *table;
    struct hamming_scratch *scratch;
    size_t words;
};

static void search(void *self, const uint64_t *query, uint32_t radius, hit_array *out)
{
    struct engine *engine = self;
    struct doppel_error error;
    struct query asked = {query, 0, radius, out, NULL, 0};
    need_ok(hamming_search(engine->table, engine->scratch, &asked, 1, NULL, &error), &error);
}

static void search_all(void *self, const uint64_t *queries, size_t count, uint32_t radius,
                       hit_array *out)
{
    struct engine *engine = self;
    struct doppel_error error;
    struct query *asked = need(malloc(count * sizeof *asked));
    for (size_t i = 0; i < count; i++)
        asked[i] = (struct query){queries + i * engine->words, (uint32_t)i, radius, out, NULL, 0};
    need_ok(hamming_search(engine->table, engine->scratch, asked, count, NULL, &error), &error);
    free(asked);
}

static void nearest(void *self, const uint64_t *query, size_t k, hit_array *out)
{
    struct engine *engine = self;
    struct doppel_error error;
    struct query asked = {query, 0, UINT32_MAX, out, NULL, 0};
    need_ok(hamming_knn(engine->table, engine->scratch, &asked, 1, k, NULL, &error), &error);
}

static void release(void *self)
{
    struct engine *engine = self;
    hamming_free(engine->table);
    hamming_scratch_free(engine->scratch);
    free(engine);
}

struct finder finder_table(const struct codes *codes, uint32_t design_radius, bool compact)
{
    struct finder finder = {"table", NULL, search, search_all, nearest, release, 0, 0};
    struct hamming_options options = {codes->bits, design_radius, compact};
    struct source source = {codes, 0};
    struct code_stream stream = {&source, codes->count, source_read, source_rewind};
    struct segment_target target = {0};
    struct segment *segment;
    struct doppel_error error;
    struct engine *engine = need(calloc(1, sizeof *engine));
    double start = thread_seconds();
    need_ok(hamming_build(&options, &stream, &target, &segment, &error), &error);
    finder.build_seconds = thread_seconds() - start;
    finder.bytes = segment_bytes(segment);
    need_ok(hamming_open(segment, &engine->table, &error), &error);
    engine->scratch = need(hamming_scratch_new());
    engine->words = codes->words;
    finder.self = engine;
    return finder;
}
