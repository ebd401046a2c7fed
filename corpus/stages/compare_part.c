/*
 * The stage "compare": each record of a range is compared with the first records of its bands, as
 * these are most likely to be the representatives of their groups. That is a guess at the pairs
 * that the replay will need. The replay compares all others itself, so no decision depends on the
 * guess.
 */
#include <stdlib.h>
#include <string.h>

#include "core/ordered.h"
#include "core/try.h"
#include "corpus/dedup/judge.h"
#include "corpus/stages/stage_file.h"

_Static_assert(sizeof(struct compared_pair) == 40, "docs/formats.md");

enum { COMPARED_PIECE = 256, COMPARE_CACHE_BYTES = 8 << 20 };

typedef ARRAY(struct compared_pair) pair_array;

/* Of one thread at a time. */
struct compare_slot {
    struct judge judge;
    pair_array pairs;
    struct doppel_error error;
};

struct compared_part {
    struct doppel_stages *stages;
    struct dedup dedup;
    uint32_t parts, *starts; /* of the signing */
    struct record_span span;
    uint32_t *firsts; /* of each record of the span and band; NO_RECORD: none */
    uint8_t *wanted;  /* a bit a record of the run */
    struct compare_slot *slots;
    pair_array pairs;
    struct doppel_error *error;
    enum doppel_status status;
};

static enum doppel_status no_memory_to_compare(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory to compare a part");
}

/* ---- who is compared with whom ---- */

static uint32_t *firsts_of(const struct compared_part *comparison, uint32_t number)
{
    return comparison->firsts + (size_t)(number - comparison->span.from) * comparison->dedup.bands;
}

static void want_record(const struct compared_part *comparison, uint32_t number)
{
    comparison->wanted[number / 8] |= (uint8_t)(1 << number % 8);
}

static bool take_first(void *context, uint32_t number, uint32_t band, uint32_t first)
{
    const struct compared_part *comparison = context;
    if (number < comparison->span.from || number >= comparison->span.to)
        return true;
    firsts_of(comparison, number)[band] = first;
    want_record(comparison, number);
    want_record(comparison, first);
    return true;
}

static enum doppel_status find_firsts(struct compared_part *comparison, struct doppel_error *error)
{
    uint32_t records = comparison->starts[comparison->parts];
    size_t cells = (size_t)(comparison->span.to - comparison->span.from) * comparison->dedup.bands;
    comparison->firsts = malloc((cells + 1) * sizeof *comparison->firsts);
    comparison->wanted = calloc(records / 8 + 1, 1);
    if (!comparison->firsts || !comparison->wanted)
        return no_memory_to_compare(error);
    memset(comparison->firsts, 0xff, cells * sizeof *comparison->firsts);
    return joined_visit(comparison->stages, &comparison->dedup, records, take_first, comparison,
                        error);
}

/* Ascending, each once. @return how many */
static uint32_t sort_firsts(uint32_t *firsts, uint32_t bands)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bands; i++) {
        uint32_t first = firsts[i], at = count;
        while (at && firsts[at - 1] > first)
            at--;
        if (first == NO_RECORD || (at && firsts[at - 1] == first))
            continue;
        memmove(firsts + at + 1, firsts + at, (count - at) * sizeof *firsts);
        firsts[at] = first;
        count++;
    }
    return count;
}

/* ---- comparing ---- */

static bool put_compared(struct compare_slot *slot, uint32_t number, uint32_t earlier,
                         const struct doppel_match *match, bool matches)
{
    struct compared_pair pair = {.number = number, .earlier = earlier, .matches = matches};
    if (matches) {
        pair.similarity = match->similarity;
        pair.query_coverage = match->query_coverage;
        pair.item_coverage = match->item_coverage;
        pair.distance = (uint16_t)match->distance;
        pair.relation = (uint8_t)match->relation;
        pair.verified = (uint8_t)match->verified;
        pair.has_coverage = match->has_coverage;
    }
    return array_push(&slot->pairs, pair);
}

/* Whether its content came before: then the replay does not compare it. */
static bool has_content_of_a_first(const struct dedup *dedup, uint32_t number,
                                   const uint32_t *firsts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(dedup_digest_of(dedup, number), dedup_digest_of(dedup, firsts[i]),
                   sizeof(struct doppel_digest)) == 0)
            return true;
    return false;
}

/* Compare up to the first that it matches, as the replay does. */
static enum doppel_status compare_record(const struct compared_part *comparison,
                                         struct compare_slot *slot, uint32_t number)
{
    uint32_t *firsts = firsts_of(comparison, number);
    uint32_t count = sort_firsts(firsts, comparison->dedup.bands);
    bool near = has_content_of_a_first(&comparison->dedup, number, firsts, count);
    enum doppel_status status = DOPPEL_OK;
    for (uint32_t i = 0; i < count && !near; i++) {
        struct doppel_match match = {0};
        bool matches = false;
        TRY(judge_compare(&slot->judge, number, firsts[i], &match, &matches, &slot->error));
        if (!put_compared(slot, number, firsts[i], &match, matches))
            TRY(no_memory_to_compare(&slot->error));
        near = matches && match.relation == DOPPEL_RELATION_SAME;
    }
done:
    return status;
}

static void compare_records_of(void *context, size_t piece, size_t at)
{
    const struct compared_part *comparison = context;
    struct compare_slot *slot = &comparison->slots[at];
    uint32_t from = comparison->span.from + (uint32_t)piece * COMPARED_PIECE;
    uint32_t left = comparison->span.to - from;
    uint32_t to = from + (left < COMPARED_PIECE ? left : COMPARED_PIECE);
    slot->pairs.count = 0;
    slot->error.status = DOPPEL_OK;
    for (uint32_t i = from; i < to && !slot->error.status; i++)
        compare_record(comparison, slot, i);
}

static bool deliver_compared(void *context, size_t piece, size_t at)
{
    struct compared_part *comparison = context;
    const struct compare_slot *slot = &comparison->slots[at];
    comparison->status = slot->error.status;
    if (comparison->status && comparison->error)
        *comparison->error = slot->error;
    for (size_t i = 0; i < slot->pairs.count && !comparison->status; i++)
        if (!array_push(&comparison->pairs, slot->pairs.items[i]))
            comparison->status = no_memory_to_compare(comparison->error);
    if (!comparison->status &&
        !dedup_goes_on(&comparison->dedup, "records compared", piece * COMPARED_PIECE,
                       comparison->span.to - comparison->span.from))
        comparison->status = doppel_fail(comparison->error, DOPPEL_E_CANCELLED,
                                         "interrupted: the part was not compared");
    return !comparison->status;
}

static enum doppel_status compare_all(struct compared_part *comparison, struct doppel_error *error)
{
    uint32_t count = comparison->span.to - comparison->span.from;
    struct ordered run = {.context = comparison,
                          .threads = comparison->dedup.threads,
                          .pieces = (count + COMPARED_PIECE - 1) / COMPARED_PIECE,
                          .work = compare_records_of,
                          .deliver = deliver_compared};
    size_t slots = ordered_slots(&run);
    comparison->slots = calloc(slots, sizeof *comparison->slots);
    enum doppel_status status = comparison->slots ? DOPPEL_OK : no_memory_to_compare(error);
    for (size_t i = 0; i < slots && !status; i++)
        status =
            judge_init(&comparison->slots[i].judge, &comparison->dedup, COMPARE_CACHE_BYTES, error);
    if (!status) {
        ordered_run(&run);
        status = comparison->status;
    }
    for (size_t i = 0; comparison->slots && i < slots; i++) {
        judge_free(&comparison->slots[i].judge);
        array_free(&comparison->slots[i].pairs);
    }
    free(comparison->slots);
    return status;
}

/* ---- the part ---- */

static enum doppel_status write_compared(const struct compared_part *comparison,
                                         struct doppel_stage_part part, struct doppel_error *error)
{
    struct stage_writer writer;
    size_t count = comparison->pairs.count;
    enum doppel_status status =
        stage_writer_open(comparison->stages, DOPPEL_STAGE_COMPARE, part,
                          (uint32_t)((count + COMPARED_ROWS - 1) / COMPARED_ROWS), &writer, error);
    if (status)
        return status;
    for (size_t at = 0; at < count; at += COMPARED_ROWS) {
        size_t rows = count - at < COMPARED_ROWS ? count - at : COMPARED_ROWS;
        stage_writer_begin(&writer);
        TRY(stage_writer_add(&writer, comparison->pairs.items + at,
                             rows * sizeof *comparison->pairs.items, error));
    }
    TRY(stage_writer_finish(&writer, comparison->starts[comparison->parts], error));
done:
    stage_writer_drop(&writer);
    return status;
}

/* Rows of other records take no memory: their pages are never touched. */
static enum doppel_status load_wanted(struct compared_part *comparison, struct doppel_error *error)
{
    const struct signed_wish wish = {.span = {0, comparison->starts[comparison->parts]},
                                     .signatures = true,
                                     .some = comparison->wanted};
    comparison->dedup.space.limit = 0;
    return signed_load(comparison->stages, &comparison->dedup, comparison->starts,
                       comparison->parts, &wish, error);
}

static enum doppel_status compare_part(struct doppel_stages *stages, struct doppel_stage_part part,
                                       struct doppel_error *error)
{
    struct compared_part comparison = {.stages = stages, .error = error};
    enum doppel_status status;
    TRY(stages_begin_dedup(stages, &comparison.dedup, error));
    TRY(stages_parts_of(stages, DOPPEL_STAGE_SIGN, &comparison.parts, error));
    TRY(signed_starts(stages, comparison.parts, &comparison.starts, error));
    comparison.span = record_span_of(comparison.starts[comparison.parts], part);
    TRY(find_firsts(&comparison, error));
    TRY(load_wanted(&comparison, error));
    TRY(compare_all(&comparison, error));
    TRY(write_compared(&comparison, part, error));
done:
    array_free(&comparison.pairs);
    free(comparison.firsts);
    free(comparison.wanted);
    free(comparison.starts);
    dedup_end(&comparison.dedup);
    return status;
}

enum doppel_status doppel_stages_compare(struct doppel_stages *stages,
                                         struct doppel_stage_part part, bool *out_was_there,
                                         struct doppel_error *error)
{
    const struct stage_task task = {DOPPEL_STAGE_COMPARE, part, DOPPEL_STAGE_MAX_PARTS,
                                    compare_part};
    return stages_do_part(stages, &task, out_was_there, error);
}

/* ---- for the decisions ---- */

static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

static bool pair_is_valid(const struct compared_pair *pair, uint32_t records)
{
    return pair->number < records && pair->earlier < pair->number &&
           pair->relation <= DOPPEL_RELATION_OVERLAPS &&
           pair->verified <= DOPPEL_VERIFIED_ALIGNMENT && is_share(pair->similarity) &&
           is_share(pair->query_coverage) && is_share(pair->item_coverage);
}

static bool pairs_are_valid(const pair_array *pairs, size_t from, uint32_t records)
{
    for (size_t i = from; i < pairs->count; i++) {
        const struct compared_pair *pair = &pairs->items[i];
        if (!pair_is_valid(pair, records))
            return false;
        if (i && (pair[-1].number > pair->number ||
                  (pair[-1].number == pair->number && pair[-1].earlier >= pair->earlier)))
            return false;
    }
    return true;
}

static enum doppel_status load_compared_part(const struct doppel_stages *stages,
                                             struct doppel_stage_part part, uint32_t records,
                                             pair_array *pairs, struct doppel_error *error)
{
    struct stage_file file;
    struct stage_bytes bytes = {0};
    size_t count, before = pairs->count;
    enum doppel_status status =
        stage_file_open(stages, DOPPEL_STAGE_COMPARE, part, 0, &file, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < file.head.sections; i++) {
        TRY(stage_file_read_rows(&file, i, sizeof(struct compared_pair), &bytes, &count, error));
        const struct compared_pair *rows = (const void *)bytes.items;
        for (size_t j = 0; j < count; j++)
            if (!array_push(pairs, rows[j]))
                TRY(no_memory_to_compare(error));
    }
    if (file.head.records != records || !pairs_are_valid(pairs, before, records))
        TRY(stage_file_is_odd(&file, error));
done:
    free(bytes.items);
    stage_file_close(&file);
    return status;
}

enum doppel_status compared_load(const struct doppel_stages *stages, uint32_t records,
                                 struct compared_pairs *out, struct doppel_error *error)
{
    uint32_t parts = 0;
    pair_array pairs = {0};
    enum doppel_status status;
    TRY(stages_parts_if_any(stages, DOPPEL_STAGE_COMPARE, &parts, error));
    for (uint32_t i = 0; i < parts; i++)
        TRY(load_compared_part(stages, (struct doppel_stage_part){i + 1, parts}, records, &pairs,
                               error));
    *out = (struct compared_pairs){pairs.items, pairs.count};
done:
    if (status)
        array_free(&pairs);
    return status;
}
