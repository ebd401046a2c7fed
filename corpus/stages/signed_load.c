/* Reading what the parts of the stage "sign" wrote, for the stages after it. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "corpus/stages/stage_file.h"

/* Its head against the table, before memory is taken for so many records. */
static enum doppel_status check_signed_records(const struct stage_file *file,
                                               struct doppel_error *error)
{
    const uint64_t bytes = file->sections[SIGNED_ROWS].size;
    const bool fit = bytes % sizeof(struct signed_row) == 0 &&
                     bytes / sizeof(struct signed_row) == file->head.records;
    return fit ? DOPPEL_OK : stage_file_is_odd(file, error);
}

enum doppel_status signed_starts(const struct doppel_stages *stages, uint32_t parts, uint32_t **out,
                                 struct doppel_error *error)
{
    uint32_t *starts = calloc((size_t)parts + 1, sizeof *starts);
    enum doppel_status status = DOPPEL_OK;
    if (!starts)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    for (uint32_t i = 0; i < parts; i++) {
        struct stage_file file;
        TRY(stage_file_open(stages, DOPPEL_STAGE_SIGN, (struct doppel_stage_part){i + 1, parts},
                            SIGNED_SECTIONS, &file, error));
        uint64_t next = starts[i] + file.head.records;
        status = check_signed_records(&file, error);
        stage_file_close(&file);
        TRY(status);
        if (next >= NO_RECORD)
            TRY(doppel_fail(error, DOPPEL_E_LIMIT, "more than %u records", NO_RECORD - 1));
        starts[i + 1] = (uint32_t)next;
    }
    *out = starts;
done:
    if (status)
        free(starts);
    return status;
}

/* A part, and what is wanted of it. */
struct signed_part {
    struct stage_file file;
    struct stage_bytes ranges, rows, strings, digests, lanes;
    size_t range_count;
    struct record_span wanted; /* rows of it */
};

struct signed_loading {
    struct dedup *dedup;
    const struct signed_wish *wish;
    uint64_t *lines; /* of each file, in the parts before */
};

static void free_signed_part(struct signed_part *part)
{
    stage_file_close(&part->file);
    free(part->ranges.items);
    free(part->rows.items);
    free(part->strings.items);
    free(part->digests.items);
    free(part->lanes.items);
}

static const struct signed_range *range_of_part(const struct signed_part *part, size_t number)
{
    return (const struct signed_range *)(const void *)part->ranges.items + number;
}

static const struct signed_row *row_of_part(const struct signed_part *part, size_t number)
{
    return (const struct signed_row *)(const void *)part->rows.items + number;
}

static enum doppel_status check_ranges(const struct signed_loading *loading,
                                       const struct signed_part *part, struct doppel_error *error)
{
    uint64_t records = 0;
    size_t files = reader_file_count(loading->dedup->reader);
    for (size_t i = 0; i < part->range_count; i++) {
        const struct signed_range *range = range_of_part(part, i);
        if (range->file >= files || (i && range->file <= range[-1].file))
            return stage_file_is_odd(&part->file, error);
        records += range->records;
    }
    return records == part->file.head.records ? DOPPEL_OK : stage_file_is_odd(&part->file, error);
}

static enum doppel_status read_signed_part(const struct signed_loading *loading,
                                           struct signed_part *part, struct doppel_error *error)
{
    size_t rows, digests, lanes;
    const struct stage_file *file = &part->file;
    const struct dedup *dedup = loading->dedup;
    enum doppel_status status;
    TRY(stage_file_read_rows(file, SIGNED_RANGES, sizeof(struct signed_range), &part->ranges,
                             &part->range_count, error));
    TRY(check_ranges(loading, part, error));
    if (part->wanted.from == part->wanted.to)
        goto done;
    TRY(stage_file_read_rows(file, SIGNED_ROWS, sizeof(struct signed_row), &part->rows, &rows,
                             error));
    if (rows != part->file.head.records)
        TRY(stage_file_is_odd(file, error));
    TRY(stage_file_read(file, SIGNED_STRINGS, &part->strings, error));
    if (!loading->wish->signatures)
        goto done;
    TRY(stage_file_read_rows(file, SIGNED_DIGESTS, dedup->digests.row_bytes, &part->digests,
                             &digests, error));
    TRY(stage_file_read_rows(file, SIGNED_LANES, dedup->lanes_of.row_bytes, &part->lanes, &lanes,
                             error));
    if (digests != rows || lanes != rows)
        TRY(stage_file_is_odd(file, error));
done:
    return status;
}

/* ---- records ---- */

/* Whether its strings are as many as its flags name, and fill their bytes. */
static bool strings_are_whole(const struct signed_part *part, const struct signed_row *row)
{
    uint32_t named = 0, ended = 0;
    if (row->strings > part->strings.size || row->strings_size > part->strings.size - row->strings)
        return false;
    const char *strings = part->strings.items + row->strings;
    for (uint32_t flag = FACT_ID; flag <= FACT_UNREADABLE; flag <<= 1)
        named += (row->flags & flag) != 0;
    for (uint32_t i = 0; i < row->strings_size; i++)
        ended += !strings[i];
    return ended == named && (!named || !strings[row->strings_size - 1]);
}

static enum doppel_status take_signed_row(const struct signed_loading *loading,
                                          const struct signed_part *part, size_t number,
                                          uint64_t lines_before, struct doppel_error *error)
{
    static const uint32_t known = FACT_ID | FACT_SOURCE | FACT_DATE | FACT_UNREADABLE |
                                  FACT_TOO_SHORT | FACT_PLAIN | FACT_AGAIN | FACT_NO_TEXT;
    struct dedup *dedup = loading->dedup;
    const struct signed_row *row = row_of_part(part, number);
    struct facts facts = {.place = row->place,
                          .line = row->line ? lines_before + row->line : 0,
                          .size = row->size,
                          .shingles = row->shingles,
                          .flags = row->flags,
                          .content = dedup->count,
                          .parent = dedup->count,
                          .former = NO_RECORD,
                          .holder = NO_RECORD};
    enum doppel_status status = DOPPEL_OK;
    if (row->flags & ~known || !strings_are_whole(part, row))
        TRY(stage_file_is_odd(&part->file, error));
    if (row->strings_size)
        TRY(arena_add(&dedup->strings, &dedup->space, part->strings.items + row->strings,
                      row->strings_size, &facts.strings, error));
    if (loading->wish->signatures) {
        size_t digest = dedup->digests.row_bytes, lanes = dedup->lanes_of.row_bytes;
        struct doppel_digest *content = row_at(&dedup->digests, dedup->count);
        memcpy(content, part->digests.items + number * digest, digest);
        facts.digest_head = digest_head(content);
        memcpy(row_at(&dedup->lanes_of, dedup->count), part->lanes.items + number * lanes, lanes);
    }
    *dedup_facts_of(dedup, dedup->count) = facts;
    dedup->count++;
done:
    return status;
}

static bool is_wished(const struct signed_wish *wish, uint32_t number)
{
    return !wish->some || wish->some[number / 8] >> number % 8 & 1;
}

static enum doppel_status begin_loaded_file(struct dedup *dedup, uint32_t file,
                                            struct doppel_error *error)
{
    while (dedup->first_of_file.count <= file)
        if (!array_push(&dedup->first_of_file, dedup->count))
            return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    return DOPPEL_OK;
}

static enum doppel_status take_signed_part(const struct signed_loading *loading,
                                           const struct signed_part *part,
                                           struct doppel_error *error)
{
    struct dedup *dedup = loading->dedup;
    size_t number = 0;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < part->range_count; i++) {
        const struct signed_range *range = range_of_part(part, i);
        TRY(begin_loaded_file(dedup, range->file, error));
        for (size_t end = number + range->records; number < end; number++)
            if (number < part->wanted.from || number >= part->wanted.to)
                continue;
            else if (is_wished(loading->wish, dedup->count))
                TRY(take_signed_row(loading, part, number, loading->lines[range->file], error));
            else
                dedup->count++;
        loading->lines[range->file] += range->lines;
    }
done:
    return status;
}

/* ---- all parts ---- */

static enum doppel_status make_loading_room(const struct signed_loading *loading, size_t count,
                                            struct doppel_error *error)
{
    struct dedup *dedup = loading->dedup;
    if (loading->wish->signatures)
        return dedup_reserve_records(dedup, count, error);
    return chunked_grow(&dedup->facts, &dedup->space, count, error);
}

/* Load a part; of one before the first wanted record, only how many lines it has. */
static enum doppel_status load_signed_part(const struct doppel_stages *stages,
                                           const struct signed_loading *loading,
                                           struct doppel_stage_part which,
                                           struct record_span wanted, struct doppel_error *error)
{
    struct signed_part part = {.wanted = wanted};
    enum doppel_status status;
    TRY(stage_file_open(stages, DOPPEL_STAGE_SIGN, which, SIGNED_SECTIONS, &part.file, error));
    TRY(read_signed_part(loading, &part, error));
    TRY(take_signed_part(loading, &part, error));
done:
    free_signed_part(&part);
    return status;
}

/* Of a part that begins at `start`, up to `end`, the rows that are wanted. */
static struct record_span clip_span(struct record_span span, uint32_t start, uint32_t end)
{
    uint32_t from = span.from > start ? span.from : start;
    uint32_t to = span.to < end ? span.to : end;
    return from < to ? (struct record_span){from - start, to - start} : (struct record_span){0, 0};
}

enum doppel_status signed_load(const struct doppel_stages *stages, struct dedup *dedup,
                               const uint32_t *starts, uint32_t parts,
                               const struct signed_wish *wish, struct doppel_error *error)
{
    size_t files = reader_file_count(dedup->reader);
    struct signed_loading loading = {
        .dedup = dedup, .wish = wish, .lines = calloc(files + 1, sizeof *loading.lines)};
    enum doppel_status status = DOPPEL_OK;
    if (!loading.lines)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    TRY(make_loading_room(&loading, wish->span.to - wish->span.from, error));
    for (uint32_t i = 0; i < parts && starts[i] <= wish->span.to; i++)
        TRY(load_signed_part(stages, &loading, (struct doppel_stage_part){i + 1, parts},
                             clip_span(wish->span, starts[i], starts[i + 1]), error));
    TRY(begin_loaded_file(dedup, (uint32_t)files, error));
done:
    free(loading.lines);
    return status;
}
