/*
 * The stage "join": it finds, in some fences of the keys, which records have the same key of a
 * band. Each record but the first of a key is written with that first one: its cell, as buckets.c
 * fills it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/ordered.h"
#include "core/try.h"
#include "corpus/dedup/buckets.h"
#include "corpus/stages/stage_file.h"

/* A key, and the number of its record. */
enum { KEY_BYTES = sizeof(uint64_t) + sizeof(uint32_t) };

/* The keys of one fence, band by band, and the cells that they give. */
struct fence_join {
    struct doppel_error error;
    struct stage_bytes keys; /* of a part, as it was read */
    struct keyed *keyed, *pieces;
    size_t *ends; /* of each band's keys */
    size_t *piece_ends;
    size_t capacity, piece_capacity;
    ARRAY(uint32_t) cells; /* how many there are of each band; then number and first of each */
};

/* A part of the stage "sign". */
struct join_input {
    struct stage_file file;
    struct stage_bytes counts;
};

struct stage_join {
    struct doppel_stages *stages;
    struct join_input *inputs;
    const uint32_t *starts;
    uint32_t parts, bands, first_fence;
    size_t fences;
    struct fence_join *slots;
    struct stage_writer *writer;
    struct doppel_error *error;
    enum doppel_status status;
};

static enum doppel_status no_memory_to_join(struct doppel_error *error)
{
    return doppel_fail(
        error, DOPPEL_E_MEMORY,
        "not enough memory to join: a thread needs 16 bytes for each key of a fence");
}

/* ---- the keys of a fence ---- */

static const uint32_t *counts_of_fence(const struct stage_join *join, uint32_t part, uint32_t fence)
{
    const char *counts = join->inputs[part].counts.items;
    return (const uint32_t *)(const void *)counts + (size_t)fence * join->bands;
}

/* Add how many keys a part has of each band; its section holds as many. */
static enum doppel_status count_part(const struct stage_join *join, struct fence_join *fence,
                                     uint32_t number, uint32_t part)
{
    const struct stage_file *file = &join->inputs[part].file;
    const uint32_t *counts = counts_of_fence(join, part, number);
    uint64_t bytes = 0;
    for (uint32_t band = 0; band < join->bands; band++) {
        fence->ends[band] += counts[band];
        bytes += counts[band] * (uint64_t)KEY_BYTES;
    }
    return bytes == file->sections[SIGNED_KEYS + number].size
               ? DOPPEL_OK
               : stage_file_is_odd(file, &fence->error);
}

/* Where each band's keys begin, from how many there are in all parts. */
static enum doppel_status count_fence(const struct stage_join *join, struct fence_join *fence,
                                      uint32_t number)
{
    size_t total = 0;
    memset(fence->ends, 0, (join->bands + 1) * sizeof *fence->ends);
    for (uint32_t part = 0; part < join->parts; part++) {
        const enum doppel_status status = count_part(join, fence, number, part);
        if (status)
            return status;
    }
    for (uint32_t band = 0; band < join->bands; band++) {
        size_t count = fence->ends[band];
        fence->ends[band] = total;
        total += count;
    }
    fence->ends[join->bands] = total;
    if (fence->keyed && total <= fence->capacity)
        return DOPPEL_OK;
    free(fence->keyed);
    fence->keyed = malloc((total + 1) * sizeof *fence->keyed);
    fence->capacity = fence->keyed ? total : 0;
    return fence->keyed ? DOPPEL_OK : no_memory_to_join(&fence->error);
}

/* The keys of one band in a section. */
struct band_keys {
    const char *keys, *numbers;
    uint32_t count, records, start;
};

/* A record has one key of a band, so numbers ascend. */
static bool take_band_keys(const struct band_keys *from, uint32_t fence, struct keyed *out)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t number;
        memcpy(&out[i].key, from->keys + i * sizeof out->key, sizeof out->key);
        memcpy(&number, from->numbers + i * sizeof number, sizeof number);
        if (number < least || number >= from->records || out[i].key >> 56 != fence)
            return false;
        out[i].number = from->start + number;
        least = number + 1;
    }
    return true;
}

/* Append the keys of one part, band by band. */
static enum doppel_status gather_part(const struct stage_join *join, struct fence_join *fence,
                                      uint32_t number, uint32_t part)
{
    const struct stage_file *file = &join->inputs[part].file;
    enum doppel_status status;
    TRY(stage_file_read(file, SIGNED_KEYS + number, &fence->keys, &fence->error));
    size_t at = 0;
    for (uint32_t band = 0; band < join->bands; band++) {
        uint32_t count = counts_of_fence(join, part, number)[band];
        const char *keys = fence->keys.items + at;
        const struct band_keys from = {keys, keys + count * sizeof(uint64_t), count,
                                       join->starts[part + 1] - join->starts[part],
                                       join->starts[part]};
        if (!take_band_keys(&from, number, fence->keyed + fence->ends[band]))
            TRY(stage_file_is_odd(file, &fence->error));
        fence->ends[band] += count;
        at += count * (size_t)KEY_BYTES;
    }
done:
    return status;
}

/* ---- equal keys ---- */

static bool make_piece_room(struct fence_join *fence, size_t count, size_t pieces)
{
    if (count > fence->piece_capacity) {
        free(fence->pieces);
        free(fence->piece_ends);
        fence->pieces = malloc(count * sizeof *fence->pieces);
        fence->piece_ends = malloc((2 * count + 32) * sizeof *fence->piece_ends);
        fence->piece_capacity = fence->pieces && fence->piece_ends ? count : 0;
    }
    if (fence->piece_capacity < count)
        return false;
    memset(fence->piece_ends, 0, pieces * sizeof *fence->piece_ends);
    return true;
}

static uint32_t piece_bits_of(size_t count)
{
    uint32_t bits = 0;
    while (bits < 24 && count >> bits > 8)
        bits++;
    return bits;
}

/* By the bits below the fence's; afterwards piece p ends at piece_ends[p]. */
static bool scatter_keys(struct fence_join *fence, const struct keyed *keys, size_t count,
                         uint32_t bits)
{
    size_t pieces = (size_t)1 << bits, mask = pieces - 1, total = 0;
    uint32_t shift = 56 - bits;
    if (!make_piece_room(fence, count, pieces))
        return false;
    for (size_t i = 0; i < count; i++)
        fence->piece_ends[keys[i].key >> shift & mask]++;
    for (size_t i = 0; i < pieces; i++) {
        size_t here = fence->piece_ends[i];
        fence->piece_ends[i] = total;
        total += here;
    }
    for (size_t i = 0; i < count; i++)
        fence->pieces[fence->piece_ends[keys[i].key >> shift & mask]++] = keys[i];
    return true;
}

static bool put_cells(struct fence_join *fence, const struct keyed *keys, size_t count)
{
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (keys[i].key != keys[first].key)
            first = i;
        else if (!array_push(&fence->cells, keys[i].number) ||
                 !array_push(&fence->cells, keys[first].number))
            return false;
    return true;
}

static bool join_band(struct fence_join *fence, uint32_t band)
{
    size_t from = band ? fence->ends[band - 1] : 0, count = fence->ends[band] - from;
    uint32_t bits = piece_bits_of(count);
    size_t before = fence->cells.count;
    if (!count)
        return true;
    if (!scatter_keys(fence, fence->keyed + from, count, bits))
        return false;
    for (size_t i = 0, begin = 0; i < (size_t)1 << bits; i++) {
        size_t end = fence->piece_ends[i];
        keyed_sort(fence->pieces + begin, end - begin);
        if (!put_cells(fence, fence->pieces + begin, end - begin))
            return false;
        begin = end;
    }
    fence->cells.items[band] = (uint32_t)((fence->cells.count - before) / 2);
    return true;
}

static enum doppel_status join_fence(const struct stage_join *join, struct fence_join *fence,
                                     uint32_t number)
{
    enum doppel_status status;
    fence->cells.count = 0;
    for (uint32_t band = 0; band < join->bands; band++)
        if (!array_push(&fence->cells, 0))
            return no_memory_to_join(&fence->error);
    TRY(count_fence(join, fence, number));
    for (uint32_t part = 0; part < join->parts; part++)
        TRY(gather_part(join, fence, number, part));
    for (uint32_t band = 0; band < join->bands; band++)
        TRY(join_band(fence, band) ? DOPPEL_OK : no_memory_to_join(&fence->error));
done:
    return status;
}

/* ---- the part ---- */

struct record_span fences_of_part(struct doppel_stage_part part)
{
    return (struct record_span){STAGE_FENCES * (part.number - 1) / part.count,
                                STAGE_FENCES * part.number / part.count};
}

static void work_on_fence(void *context, size_t piece, size_t slot)
{
    struct stage_join *join = context;
    struct fence_join *fence = &join->slots[slot];
    fence->error.status = DOPPEL_OK;
    join_fence(join, fence, join->first_fence + (uint32_t)piece);
}

static bool deliver_fence(void *context, size_t piece, size_t slot)
{
    struct stage_join *join = context;
    const struct fence_join *fence = &join->slots[slot];
    const struct doppel_dedup_options *options = &join->stages->options;
    join->status = fence->error.status;
    if (join->status && join->error)
        *join->error = fence->error;
    if (!join->status && options->progress &&
        !options->progress(options->context, "keys joined", piece, join->fences))
        join->status =
            doppel_fail(join->error, DOPPEL_E_CANCELLED, "interrupted: the part was not joined");
    if (join->status)
        return false;
    stage_writer_begin(join->writer);
    join->status = stage_writer_add(join->writer, fence->cells.items,
                                    fence->cells.count * sizeof *fence->cells.items, join->error);
    return !join->status;
}

static void free_fence(struct fence_join *fence)
{
    free(fence->keys.items);
    free(fence->keyed);
    free(fence->pieces);
    free(fence->ends);
    free(fence->piece_ends);
    array_free(&fence->cells);
}

static enum doppel_status join_fences(struct stage_join *join, uint32_t threads,
                                      struct doppel_error *error)
{
    struct ordered run = {.context = join,
                          .threads = threads,
                          .pieces = join->fences,
                          .work = work_on_fence,
                          .deliver = deliver_fence};
    size_t slots = ordered_slots(&run);
    join->slots = calloc(slots, sizeof *join->slots);
    enum doppel_status status = join->slots ? DOPPEL_OK : no_memory_to_join(error);
    for (size_t i = 0; i < slots && !status; i++) {
        join->slots[i].ends = calloc(join->bands + 1, sizeof *join->slots[i].ends);
        status = join->slots[i].ends ? DOPPEL_OK : no_memory_to_join(error);
    }
    if (!status) {
        ordered_run(&run);
        status = join->status;
    }
    for (size_t i = 0; join->slots && i < slots; i++)
        free_fence(&join->slots[i]);
    free(join->slots);
    return status;
}

static enum doppel_status open_join_input(const struct stage_join *join, uint32_t part,
                                          struct doppel_error *error)
{
    struct join_input *input = &join->inputs[part];
    size_t count;
    enum doppel_status status;
    TRY(stage_file_open(join->stages, DOPPEL_STAGE_SIGN,
                        (struct doppel_stage_part){part + 1, join->parts}, SIGNED_SECTIONS,
                        &input->file, error));
    TRY(stage_file_read_rows(&input->file, SIGNED_COUNTS, sizeof(uint32_t), &input->counts, &count,
                             error));
    if (count != (size_t)STAGE_FENCES * join->bands)
        TRY(stage_file_is_odd(&input->file, error));
done:
    return status;
}

static enum doppel_status open_join_inputs(struct stage_join *join, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    join->inputs = calloc(join->parts, sizeof *join->inputs);
    if (!join->inputs)
        return no_memory_to_join(error);
    for (uint32_t i = 0; i < join->parts && !status; i++)
        status = open_join_input(join, i, error);
    return status;
}

static void close_join_inputs(struct stage_join *join)
{
    for (uint32_t i = 0; join->inputs && i < join->parts; i++) {
        stage_file_close(&join->inputs[i].file);
        free(join->inputs[i].counts.items);
    }
    free(join->inputs);
}

static enum doppel_status write_joined(struct stage_join *join, struct doppel_stage_part part,
                                       uint32_t threads, struct doppel_error *error)
{
    struct stage_writer writer;
    enum doppel_status status = stage_writer_open(join->stages, DOPPEL_STAGE_JOIN, part,
                                                  (uint32_t)join->fences, &writer, error);
    if (status)
        return status;
    join->writer = &writer;
    TRY(join_fences(join, threads, error));
    TRY(stage_writer_finish(&writer, join->starts[join->parts], error));
done:
    stage_writer_drop(&writer);
    return status;
}

static enum doppel_status join_part(struct doppel_stages *stages, struct doppel_stage_part part,
                                    struct doppel_error *error)
{
    struct dedup dedup;
    uint32_t *starts = NULL;
    struct stage_join join = {.stages = stages,
                              .first_fence = fences_of_part(part).from,
                              .fences = fences_of_part(part).to - fences_of_part(part).from,
                              .error = error};
    enum doppel_status status;
    dedup_init(&dedup, &stages->options);
    TRY(dedup_begin(&dedup, error));
    join.bands = dedup.bands;
    TRY(stages_parts_of(stages, DOPPEL_STAGE_SIGN, &join.parts, error));
    TRY(signed_starts(stages, join.parts, &starts, error));
    join.starts = starts;
    TRY(open_join_inputs(&join, error));
    TRY(write_joined(&join, part, dedup.threads, error));
done:
    close_join_inputs(&join);
    free(starts);
    dedup_end(&dedup);
    return status;
}

enum doppel_status doppel_stages_join(struct doppel_stages *stages, struct doppel_stage_part part,
                                      bool *out_was_there, struct doppel_error *error)
{
    const struct stage_task task = {DOPPEL_STAGE_JOIN, part, DOPPEL_STAGE_MAX_JOIN_PARTS,
                                    join_part};
    return stages_do_part(stages, &task, out_was_there, error);
}
