/* Reading a stream of codes into the order of table 0, in three passes: to choose a permutation, to
 * count, to place. */
#include "index/hamming/gather.h"

#include <stdlib.h>
#include <string.h>

#include "core/large_pages.h"
#include "index/hamming/layout.h"

enum { PIECE = 512, SAMPLE = 8192 };

/* A pass over the stream, its codes permuted if there is a permuter. */
struct pass_over {
    struct code_stream *stream;
    const struct permuter *permuter;
    struct hamming_shape shape;
    uint64_t left;
    uint64_t codes[PIECE * WORDS_MAX], payloads[PIECE];
};

static void pass_begin(struct pass_over *pass)
{
    pass->left = pass->stream->count;
    pass->stream->rewind(pass->stream->context);
}

/* @return codes read; 0 at the end; SIZE_MAX: more or fewer than the stream had said */
static size_t pass_next(struct pass_over *pass)
{
    size_t words = pass->shape.words;
    size_t got = pass->stream->read(pass->stream->context, pass->codes, pass->payloads, PIECE);
    if (got > pass->left || (got == 0 && pass->left))
        return SIZE_MAX;
    pass->left -= got;
    if (pass->shape.bits == 32)
        for (size_t i = 0; i < got; i++)
            pass->codes[i] &= UINT32_MAX;
    if (pass->permuter && !permuter_idle(pass->permuter))
        for (size_t i = 0; i < got; i++)
            permute(pass->permuter, pass->codes + i * words, pass->codes + i * words);
    return got;
}

static enum doppel_status no_memory_to_gather(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to build a Hamming table");
}

static enum doppel_status unread(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_IO, "codes could not be read to build an index");
}

static enum doppel_status choose_permutation(struct pass_over *pass, struct gathered *out,
                                             struct doppel_error *error)
{
    size_t words = out->shape.words, taken = 0, got;
    uint64_t step = out->count / SAMPLE + 1, seen = 0;
    uint64_t *sample = malloc(SAMPLE * words * sizeof *sample);
    if (!sample)
        return no_memory_to_gather(error);
    pass_begin(pass);
    while ((got = pass_next(pass)) > 0 && got != SIZE_MAX) {
        for (size_t i = (size_t)((step - seen % step) % step); i < got; i += step)
            memcpy(sample + taken++ * words, pass->codes + i * words, words * sizeof *sample);
        seen += got;
    }
    enum doppel_status status = got ? unread(error) : DOPPEL_OK;
    if (!got && !permutation_choose(sample, taken, out->shape.bits, out->shape.chunks,
                                    out->shape.prefix, out->places))
        status = no_memory_to_gather(error);
    free(sample);
    return status;
}

/* Where the partitions of table 0 begin. */
static enum doppel_status find_partitions(struct pass_over *pass, uint64_t *starts,
                                          struct doppel_error *error)
{
    const struct hamming_shape shape = pass->shape;
    uint32_t shift = partition_shift(&shape);
    size_t got;
    pass_begin(pass);
    while ((got = pass_next(pass)) > 0 && got != SIZE_MAX)
        for (size_t i = 0; i < got; i++)
            starts[(chunk_value(pass->codes + i * shape.words, &shape, 0) >> shift) + 1]++;
    for (uint32_t i = 0; i < partition_count(&shape); i++)
        starts[i + 1] += starts[i];
    return got ? unread(error) : DOPPEL_OK;
}

static enum doppel_status scatter_pass_over(struct pass_over *pass, const uint64_t *starts,
                                            uint64_t *items, struct doppel_error *error)
{
    const struct hamming_shape shape = pass->shape;
    uint32_t shift = partition_shift(&shape);
    uint64_t next[PARTITIONS_MAX];
    size_t got;
    memcpy(next, starts, partition_count(&shape) * sizeof *next);
    pass_begin(pass);
    while ((got = pass_next(pass)) > 0 && got != SIZE_MAX)
        for (size_t i = 0; i < got; i++) {
            const uint64_t *code = pass->codes + i * shape.words;
            uint32_t partition = chunk_value(code, &shape, 0) >> shift;
            if (next[partition] == starts[partition + 1]) /* a stream that changes */
                return unread(error);
            uint64_t *item = items + next[partition]++ * (shape.words + 1);
            for (uint32_t word = 0; word < shape.words; word++)
                item[word] = code[word];
            item[shape.words] = pass->payloads[i];
        }
    return got ? unread(error) : DOPPEL_OK;
}

/* The three passes. */
static enum doppel_status read_all_pass_over(struct pass_over *pass, struct gathered *out,
                                             uint64_t *starts, struct doppel_error *error)
{
    bool valid;
    struct permuter *permuter = NULL;
    enum doppel_status status = choose_permutation(pass, out, error);
    if (status != DOPPEL_OK)
        return status;
    pass->permuter = permuter = permuter_new(out->places, out->shape.bits, &valid);
    if (!permuter)
        return no_memory_to_gather(error);
    status = find_partitions(pass, starts, error);
    if (status == DOPPEL_OK)
        status = scatter_pass_over(pass, starts, out->items, error);
    permuter_free(permuter);
    return status;
}

enum doppel_status gather(const struct hamming_options *options, struct code_stream *stream,
                          struct gathered *out, struct doppel_error *error)
{
    if (stream->count > HAMMING_DISTINCT_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "a segment of the index holds at most %d codes",
                           HAMMING_DISTINCT_MAX);
    *out =
        (struct gathered){.shape = hamming_layout(options, stream->count), .count = stream->count};
    uint64_t starts[PARTITIONS_MAX + 1] = {0};
    struct pass_over *pass = malloc(sizeof *pass);
    out->items = large_pages_alloc(out->count * (out->shape.words + 1) * sizeof *out->items);
    enum doppel_status status;
    if (!pass || !out->items) {
        status = no_memory_to_gather(error);
    } else {
        pass->stream = stream;
        pass->permuter = NULL;
        pass->shape = out->shape;
        status = read_all_pass_over(pass, out, starts, error);
        if (status == DOPPEL_OK && !gathered_order(out, starts))
            status = no_memory_to_gather(error);
    }
    free(pass);
    if (status != DOPPEL_OK)
        gathered_free(out);
    return status;
}

void gathered_free(struct gathered *gathered)
{
    free(gathered->items);
    array_free(&gathered->again);
    *gathered = (struct gathered){0};
}
