/* The stage "sign": a part of the input is read as a dedup reads all of it; facts, signatures and
 * keys of its records are written. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/dedup/buckets.h"
#include "corpus/stages/stage_file.h"

_Static_assert(sizeof(struct signed_range) == 16 && sizeof(struct signed_row) == 40,
               "docs/formats.md");

/* ---- what was read ---- */

static enum doppel_status write_ranges(struct stage_writer *writer, const struct dedup *dedup,
                                       const struct reader_range *ranges,
                                       struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    stage_writer_begin(writer);
    for (uint32_t i = 0; i < reader_file_count(dedup->reader) && !status; i++) {
        const uint32_t *first = &dedup->first_of_file.items[i];
        const struct signed_range range = {.file = i,
                                           .records = first[1] - first[0],
                                           .lines = reader_file_lines(dedup->reader, i)};
        if (ranges[i].from != ranges[i].to)
            status = stage_writer_add(writer, &range, sizeof range, error);
    }
    return status;
}

/* All strings of a record, in a row. */
static size_t strings_bytes(const struct dedup *dedup, const struct facts *facts)
{
    static const uint32_t flags[] = {FACT_ID, FACT_SOURCE, FACT_DATE, FACT_UNREADABLE};
    size_t size = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (facts->flags & flags[i])
            size += strlen(arena_at(&dedup->strings, facts->strings) + size) + 1;
    return size;
}

static enum doppel_status write_rows(struct stage_writer *writer, const struct dedup *dedup,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    uint64_t strings = 0;
    stage_writer_begin(writer);
    for (uint32_t i = 0; i < dedup->count && !status; i++) {
        const struct facts *facts = dedup_facts_of(dedup, i);
        const struct signed_row row = {.place = facts->place,
                                       .line = facts->line,
                                       .strings = strings,
                                       .strings_size = (uint32_t)strings_bytes(dedup, facts),
                                       .size = facts->size,
                                       .shingles = facts->shingles,
                                       .flags = facts->flags};
        strings += row.strings_size;
        status = stage_writer_add(writer, &row, sizeof row, error);
    }
    return status;
}

static enum doppel_status write_strings(struct stage_writer *writer, const struct dedup *dedup,
                                        struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    stage_writer_begin(writer);
    for (uint32_t i = 0; i < dedup->count && !status; i++) {
        const struct facts *facts = dedup_facts_of(dedup, i);
        size_t size = strings_bytes(dedup, facts);
        if (size)
            status =
                stage_writer_add(writer, arena_at(&dedup->strings, facts->strings), size, error);
    }
    return status;
}

static enum doppel_status write_chunks(struct stage_writer *writer, const struct dedup *dedup,
                                       const struct chunked *rows, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    stage_writer_begin(writer);
    for (uint32_t at = 0; at < dedup->count && !status; at += CHUNK_ROWS) {
        uint32_t count = dedup->count - at < CHUNK_ROWS ? dedup->count - at : CHUNK_ROWS;
        status = stage_writer_add(writer, row_at(rows, at), count * rows->row_bytes, error);
    }
    return status;
}

/* ---- keys of bands ---- */

/* Fence by fence, band by band. */
struct fenced_keys {
    const struct dedup *dedup;
    uint32_t *counts; /* fences × bands */
    size_t *ends;     /* where the next key of each is put */
    uint64_t *keys;
    uint32_t *numbers;
};

static bool has_keys(const struct facts *facts)
{
    return !(facts->flags & (FACT_UNREADABLE | FACT_TOO_SHORT));
}

static uint64_t key_of_band(const struct dedup *dedup, uint32_t number, uint32_t band)
{
    uint32_t rows = dedup->rows_a_band;
    return band_key(dedup_lanes_of(dedup, number) + (size_t)band * rows, rows);
}

static size_t fence_cell(const struct dedup *dedup, uint64_t key, uint32_t band)
{
    return (size_t)(key >> 56) * dedup->bands + band;
}

static bool count_keys(struct fenced_keys *fenced)
{
    const struct dedup *dedup = fenced->dedup;
    size_t cells = (size_t)STAGE_FENCES * dedup->bands, total = 0;
    fenced->counts = calloc(cells, sizeof *fenced->counts);
    fenced->ends = calloc(cells, sizeof *fenced->ends);
    if (!fenced->counts || !fenced->ends)
        return false;
    for (uint32_t i = 0; i < dedup->count; i++)
        for (uint32_t band = 0; has_keys(dedup_facts_of(dedup, i)) && band < dedup->bands; band++)
            fenced->counts[fence_cell(dedup, key_of_band(dedup, i, band), band)]++;
    for (size_t i = 0; i < cells; i++) {
        fenced->ends[i] = total;
        total += fenced->counts[i];
    }
    fenced->keys = malloc((total ? total : 1) * sizeof *fenced->keys);
    fenced->numbers = malloc((total ? total : 1) * sizeof *fenced->numbers);
    return fenced->keys && fenced->numbers;
}

static void share_out_keys(struct fenced_keys *fenced)
{
    const struct dedup *dedup = fenced->dedup;
    for (uint32_t i = 0; i < dedup->count; i++)
        for (uint32_t band = 0; has_keys(dedup_facts_of(dedup, i)) && band < dedup->bands; band++) {
            uint64_t key = key_of_band(dedup, i, band);
            size_t at = fenced->ends[fence_cell(dedup, key, band)]++;
            fenced->keys[at] = key;
            fenced->numbers[at] = i;
        }
}

static enum doppel_status write_fence(struct stage_writer *writer, const struct fenced_keys *fenced,
                                      uint32_t fence, struct doppel_error *error)
{
    uint32_t bands = fenced->dedup->bands;
    enum doppel_status status = DOPPEL_OK;
    stage_writer_begin(writer);
    for (uint32_t band = 0; band < bands && !status; band++) {
        size_t cell = (size_t)fence * bands + band, count = fenced->counts[cell];
        size_t from = fenced->ends[cell] - count;
        status = stage_writer_add(writer, fenced->keys + from, count * sizeof *fenced->keys, error);
        if (!status)
            status = stage_writer_add(writer, fenced->numbers + from,
                                      count * sizeof *fenced->numbers, error);
    }
    return status;
}

static enum doppel_status write_signed_keys(struct stage_writer *writer, const struct dedup *dedup,
                                            struct doppel_error *error)
{
    struct fenced_keys fenced = {.dedup = dedup};
    enum doppel_status status;
    if (!count_keys(&fenced))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory for the keys of bands"));
    share_out_keys(&fenced);
    stage_writer_begin(writer);
    TRY(stage_writer_add(writer, fenced.counts,
                         (size_t)STAGE_FENCES * dedup->bands * sizeof *fenced.counts, error));
    for (uint32_t fence = 0; fence < STAGE_FENCES; fence++)
        TRY(write_fence(writer, &fenced, fence, error));
done:
    free(fenced.counts);
    free(fenced.ends);
    free(fenced.keys);
    free(fenced.numbers);
    return status;
}

/* ---- the part ---- */

static enum doppel_status write_signed(const struct doppel_stages *stages,
                                       const struct dedup *dedup, struct doppel_stage_part part,
                                       const struct reader_range *ranges,
                                       struct doppel_error *error)
{
    struct stage_writer writer;
    enum doppel_status status =
        stage_writer_open(stages, DOPPEL_STAGE_SIGN, part, SIGNED_SECTIONS, &writer, error);
    if (status)
        return status;
    TRY(write_ranges(&writer, dedup, ranges, error));
    TRY(write_rows(&writer, dedup, error));
    TRY(write_strings(&writer, dedup, error));
    TRY(write_chunks(&writer, dedup, &dedup->digests, error));
    TRY(write_chunks(&writer, dedup, &dedup->lanes_of, error));
    TRY(write_signed_keys(&writer, dedup, error));
    TRY(stage_writer_finish(&writer, dedup->count, error));
done:
    stage_writer_drop(&writer);
    return status;
}

/* Only the first part checks whether records have texts. */
static enum doppel_status read_part_of_input(struct dedup *dedup, struct doppel_stage_part part,
                                             const struct reader_range *ranges,
                                             struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (part.number == 1)
        TRY(dedup_check_fields(dedup, error));
    reader_take_ranges(dedup->reader, ranges);
    TRY(dedup_read(dedup, error));
    if (dedup->cancelled)
        TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted: the part was not signed"));
done:
    return status;
}

static enum doppel_status sign_part(struct doppel_stages *stages, struct doppel_stage_part part,
                                    struct doppel_error *error)
{
    struct dedup dedup;
    struct reader_range *ranges = NULL;
    enum doppel_status status;
    TRY(stages_begin_dedup(stages, &dedup, error));
    TRY(stages_ranges(&dedup, part, &ranges, error));
    TRY(read_part_of_input(&dedup, part, ranges, error));
    TRY(write_signed(stages, &dedup, part, ranges, error));
done:
    free(ranges);
    dedup_end(&dedup);
    return status;
}

enum doppel_status doppel_stages_sign(struct doppel_stages *stages, struct doppel_stage_part part,
                                      bool *out_was_there, struct doppel_error *error)
{
    const struct stage_task task = {DOPPEL_STAGE_SIGN, part, DOPPEL_STAGE_MAX_PARTS, sign_part};
    return stages_do_part(stages, &task, out_was_there, error);
}
