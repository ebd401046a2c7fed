/* Reading a stream of codes into the order of table 0, identical codes together. */
#include "index/hamming_gather.h"

#include "core/array.h"
#include "index/hamming_layout.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1024, SAMPLE = 8192 };

/* A code and its payload: words + 1 words. */
struct items {
    uint64_t *words;
    size_t stride, count;
};

static uint64_t sample(struct code_stream *stream, const struct hamming_shape *shape, uint64_t *out)
{
    uint64_t codes[PIECE * WORDS_MAX], payloads[PIECE], seen = 0, taken = 0;
    uint64_t step = stream->count / SAMPLE + 1;
    stream->rewind(stream->context);
    for (size_t got; (got = stream->read(stream->context, codes, payloads, PIECE)) > 0;)
        for (size_t i = 0; i < got; i++, seen++)
            if (seen % step == 0 && taken < SAMPLE)
                memcpy(out + taken++ * shape->words, codes + i * shape->words, shape->words * 8);
    return taken;
}

static bool choose_permutation(struct code_stream *stream, struct gathered *out)
{
    const struct hamming_shape *shape = &out->shape;
    uint64_t *codes = malloc(SAMPLE * shape->words * sizeof *codes);
    bool done = codes && permutation_choose(codes, sample(stream, shape, codes), shape->bits,
                                            shape->chunks, shape->prefix, out->places);
    free(codes);
    return done;
}

/* Read all; the items are in the stream's order. @return false when the stream has more or fewer
 * than it said */
static bool read_all(struct code_stream *stream, const struct permuter *permuter,
                     struct gathered *out, struct items *items)
{
    uint64_t codes[PIECE * WORDS_MAX], payloads[PIECE];
    uint32_t words = out->shape.words;
    stream->rewind(stream->context);
    for (size_t got; (got = stream->read(stream->context, codes, payloads, PIECE)) > 0;) {
        if (got > stream->count - items->count)
            return false;
        for (size_t i = 0; i < got; i++) {
            uint64_t *item = items->words + items->count++ * items->stride;
            if (out->shape.bits == 32)
                codes[i] &= UINT32_MAX;
            permute(permuter, codes + i * words, item);
            item[words] = payloads[i];
            if (payloads[i] > out->largest_payload)
                out->largest_payload = payloads[i];
        }
    }
    return items->count == stream->count;
}

static bool sort_by_bucket(const struct hamming_shape *shape, struct items *items, uint64_t *starts)
{
    struct items sorted = *items;
    size_t buckets = (size_t)1 << shape->prefix;
    sorted.words = malloc(items->count * items->stride * sizeof *sorted.words + 8);
    if (!sorted.words)
        return false;
    for (size_t i = 0; i < items->count; i++)
        starts[chunk_value(items->words + i * items->stride, shape, 0) + 1]++;
    for (size_t i = 0; i < buckets; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < items->count; i++) {
        const uint64_t *item = items->words + i * items->stride;
        uint64_t at = starts[chunk_value(item, shape, 0)]++;
        memcpy(sorted.words + at * sorted.stride, item, sorted.stride * sizeof *item);
    }
    memmove(starts + 1, starts, buckets * sizeof *starts);
    starts[0] = 0;
    free(items->words);
    *items = sorted;
    return true;
}

static int compare_items(const void *a, const void *b, void *stride)
{
    const uint64_t *x = a, *y = b;
    for (size_t i = 0; i < *(const size_t *)stride; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Take in one more payload of the last code. */
static bool take_repeat(struct gathered *out, uint64_t payload, uint64_t *room, uint64_t *id_room)
{
    uint32_t id = (uint32_t)(out->distinct - 1);
    if (out->more_count == *room) {
        *room = *room ? *room * 2 : 64;
        uint64_t *more = realloc(out->more, *room * sizeof *more);
        if (!more)
            return false;
        out->more = more;
    }
    if (!out->repeated || out->ids[out->repeated - 1] != id) {
        if (out->repeated == *id_room) {
            *id_room = *id_room ? *id_room * 2 : 64;
            uint32_t *ids = realloc(out->ids, *id_room * sizeof *ids);
            if (ids)
                out->ids = ids;
            uint64_t *ends = realloc(out->ends, *id_room * sizeof *ends);
            if (ends)
                out->ends = ends;
            if (!ids || !ends)
                return false;
        }
        out->ids[out->repeated++] = id;
    }
    out->more[out->more_count++] = payload;
    out->ends[out->repeated - 1] = out->more_count;
    return true;
}

static bool split(struct gathered *out, struct items *items, const uint64_t *starts)
{
    uint32_t words = out->shape.words;
    uint64_t room = 0, id_room = 0;
    out->codes = malloc(items->count * words * sizeof *out->codes + 8);
    out->payloads = malloc(items->count * sizeof *out->payloads + 8);
    if (!out->codes || !out->payloads)
        return false;
    for (size_t bucket = 0; bucket < (size_t)1 << out->shape.prefix; bucket++) {
        uint64_t start = starts[bucket], end = starts[bucket + 1];
        qsort_r(items->words + start * items->stride, end - start,
                items->stride * sizeof *items->words, compare_items, &items->stride);
        for (uint64_t i = start; i < end; i++) {
            const uint64_t *item = items->words + i * items->stride;
            if (i > start && memcmp(item, item - items->stride, words * sizeof *item) == 0) {
                if (!take_repeat(out, item[words], &room, &id_room))
                    return false;
                continue;
            }
            memcpy(out->codes + out->distinct * words, item, words * sizeof *item);
            out->payloads[out->distinct++] = item[words];
        }
    }
    return true;
}

enum doppel_status gather(const struct hamming_options *options, struct code_stream *stream,
                          struct gathered *out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    *out = (struct gathered){.shape = hamming_layout(options, stream->count),
                             .codes_count = stream->count};
    if (stream->count > HAMMING_DISTINCT_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "a segment of the index holds at most %d codes",
                           HAMMING_DISTINCT_MAX);
    bool valid = false;
    struct permuter *permuter = NULL;
    struct items items = {.stride = out->shape.words + 1};
    uint64_t *starts = calloc(((size_t)1 << out->shape.prefix) + 2, sizeof *starts);
    items.words = malloc(stream->count * items.stride * sizeof *items.words + 8);
    if (starts && items.words && choose_permutation(stream, out))
        permuter = permuter_new(out->places, out->shape.bits, &valid);
    if (!permuter)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a Hamming table");
    else if (!read_all(stream, permuter, out, &items))
        status = doppel_fail(error, DOPPEL_E_IO, "codes could not be read to build an index");
    else if (!sort_by_bucket(&out->shape, &items, starts) || !split(out, &items, starts))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a Hamming table");
    permuter_free(permuter);
    free(starts);
    free(items.words);
    if (status != DOPPEL_OK)
        gathered_free(out);
    return status;
}

void gathered_free(struct gathered *gathered)
{
    free(gathered->codes);
    free(gathered->payloads);
    free(gathered->more);
    free(gathered->ends);
    free(gathered->ids);
    *gathered = (struct gathered){0};
}
