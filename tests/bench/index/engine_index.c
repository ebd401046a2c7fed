/* The engine under test as programs use it: doppel/index.h, one segment in memory. */
#include <stdlib.h>
#include <string.h>

#include "index/index_bench.h"

struct engine {
    struct doppel_index *index;
    uint32_t bits;
};

size_t source_read(void *context, uint64_t *out_codes, uint64_t *out_payloads, size_t max)
{
    struct source *source = context;
    const struct codes *codes = source->codes;
    size_t left = codes->count - source->at, count = left < max ? left : max;
    memcpy(out_codes, codes->codes + source->at * codes->words,
           count * codes->words * sizeof *out_codes);
    memcpy(out_payloads, codes->payloads + source->at, count * sizeof *out_payloads);
    source->at += count;
    return count;
}

void source_rewind(void *context)
{
    ((struct source *)context)->at = 0;
}

static bool collect(void *context, const struct doppel_index_hit *hit)
{
    hit_array *out = context;
    return array_push(out, *hit);
}

static void request(const struct engine *engine, const struct doppel_index_request *request,
                    hit_array *out)
{
    struct doppel_error error;
    need_ok(doppel_index_search(engine->index, request, collect, out, &error), &error);
}

static void search_all(void *self, const uint64_t *queries, size_t count, uint32_t radius,
                       hit_array *out)
{
    struct doppel_index_request asked = {.queries = queries, .count = count, .radius = radius};
    request(self, &asked, out);
}

static void search(void *self, const uint64_t *query, uint32_t radius, hit_array *out)
{
    search_all(self, query, 1, radius, out);
}

static void nearest(void *self, const uint64_t *query, size_t k, hit_array *out)
{
    struct engine *engine = self;
    struct doppel_index_request asked = {
        .queries = query, .count = 1, .radius = engine->bits, .nearest = k};
    request(engine, &asked, out);
}

static void release(void *self)
{
    struct engine *engine = self;
    doppel_index_free(engine->index);
    free(engine);
}

struct finder finder_of_index(struct doppel_index *index, uint32_t bits)
{
    struct engine *engine = need(malloc(sizeof *engine));
    *engine = (struct engine){index, bits};
    return (struct finder){
        .name = "doppel",
        .self = engine,
        .search = search,
        .search_all = search_all,
        .nearest = nearest,
        .free = release,
        .bytes = doppel_index_info(index).bytes,
    };
}

struct finder finder_index(const struct codes *codes, uint32_t design_radius, bool compact)
{
    struct doppel_index_options options = doppel_index_options_default();
    struct source source = {codes, 0};
    struct doppel_index_load load = {
        .count = codes->count, .read = source_read, .rewind = source_rewind, .context = &source};
    struct doppel_index *index;
    struct doppel_error error;
    options.bits = codes->bits;
    options.design_radius = design_radius;
    options.compact = compact;
    double start = thread_seconds();
    need_ok(doppel_index_new(&options, &index, &error), &error);
    need_ok(doppel_index_bulk(index, &load, &error), &error);
    double spent = thread_seconds() - start;
    struct finder finder = finder_of_index(index, codes->bits);
    finder.build_seconds = spent;
    return finder;
}
