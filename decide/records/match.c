/* What the decider asks: comparing the record at hand with representatives of the library. */
#include "decide/records/ingest_internal.h"

#include <string.h>

/* The text of the record at hand, from its line. */
static bool find_text(struct ingest *ingest, const char **out, size_t *out_size)
{
    const struct line_block *block = &ingest->batch->block;
    struct doppel_corpus_record record;
    parser_line(ingest->parser, block->bytes + (ingest->record->offset - block->offset),
                ingest->record->size, &record);
    return !record.error.status &&
           !record_text(&record, reader_file_path(ingest->reader, block->file),
                        ingest->options.files.max_line_bytes, &ingest->file, out, out_size, NULL);
}

/* Its shingles, from the text that is still at hand. */
enum doppel_status ingest_load_shingles(struct ingest *ingest, struct doppel_error *error)
{
    struct doppel_text_result result;
    static const uint32_t none; /* an empty set is known, too */
    const char *text = pool_string(&ingest->batch->strings, ingest->record->text);
    size_t size = ingest->record->text_size;
    if (ingest->tried)
        return DOPPEL_OK;
    ingest->tried = true;
    if (!text && !find_text(ingest, &text, &size))
        return DOPPEL_OK;
    enum doppel_status status = doppel_text_read(
        ingest->text, text, size, DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES, &result, error);
    if (status == DOPPEL_OK &&
        memcmp(&result.digest, &ingest->record->content, sizeof result.digest) == 0) {
        ingest->shingles = result.shingle_count ? result.shingles : &none;
        ingest->shingle_count = result.shingle_count;
    }
    return status == DOPPEL_E_MEMORY ? status : DOPPEL_OK;
}

const uint16_t *ingest_lanes(const struct ingest *ingest)
{
    return (const uint16_t *)(const void *)(ingest->batch->lanes.items + ingest->record->lanes);
}

const char *ingest_source(const struct ingest *ingest)
{
    const char *source = pool_string(&ingest->batch->strings, ingest->record->source);
    return source ? source : ingest->options.source;
}

static struct doppel_text_evidence own_evidence(const struct ingest *ingest)
{
    return (struct doppel_text_evidence){
        .content = ingest->record->content,
        .too_short = ingest->record->too_short,
        .lanes = ingest_lanes(ingest),
        .lane_count = ingest->options.text.lanes,
        .shingles = ingest->shingles,
        .shingle_count = ingest->shingle_count,
    };
}

/* ---- what the decider asks ---- */

/* The sizes of both sets, found out where they can be: the sieve is the same whatever was read
 * before. */
static enum doppel_status know_sizes(struct ingest *ingest, uint32_t earlier,
                                     struct doppel_error *error)
{
    const struct leader *leader;
    struct ingest_memory *memory = &ingest->memory;
    enum doppel_status status = ingest_load_shingles(ingest, error);
    if (status || memory->sizes.items[earlier])
        return status;
    status = leaders_get(ingest->leaders, memory->ids.items[earlier], true, &leader, error);
    if (!status)
        memory->sizes.items[earlier] = (uint32_t)leader->shingle_count;
    return status;
}

/* Whether a closer look at a representative is worth it. */
static enum doppel_status sift(struct ingest *ingest, uint32_t earlier, bool *out_passes,
                               struct doppel_error *error)
{
    const struct ingest_memory *memory = &ingest->memory;
    enum doppel_status status = know_sizes(ingest, earlier, error);
    *out_passes = !status &&
                  sieve_passes_equal(&ingest->sieve, memory_equal_lanes(memory, earlier),
                                     (uint32_t)ingest->shingle_count, memory->sizes.items[earlier]);
    return status;
}

static enum doppel_status compare_with_leader(struct ingest *ingest, uint32_t earlier,
                                              struct doppel_match *out, bool *out_matches,
                                              struct doppel_error *error)
{
    const struct leader *leader;
    enum doppel_status status = ingest_load_shingles(ingest, error);
    if (!status)
        status =
            leaders_get(ingest->leaders, ingest->memory.ids.items[earlier], true, &leader, error);
    if (status)
        return status;
    struct doppel_text_evidence item = leader_evidence(leader), record = own_evidence(ingest);
    *out_matches =
        doppel_match_texts(&record, &item, &ingest->options.limits, out) && !leader->missing;
    return DOPPEL_OK;
}

/* What leads is a candidate; of others a description is wanted. */
static enum doppel_status match_texts(void *context, uint32_t number, uint32_t earlier,
                                      struct doppel_match *out, bool *out_matches,
                                      struct doppel_error *error)
{
    struct ingest *ingest = context;
    bool passes = true;
    enum doppel_status status = DOPPEL_OK;
    (void)number; /* always the record at hand */
    if (decider_leads(ingest->memory.decider, earlier))
        status = sift(ingest, earlier, &passes, error);
    if (status || !passes) {
        *out_matches = false;
        return status;
    }
    return compare_with_leader(ingest, earlier, out, out_matches, error);
}

static struct doppel_origin origin_of_record(void *context, uint32_t number)
{
    struct ingest *ingest = context;
    const struct leader *leader;
    if (number >= ingest->memory.ids.count) {
        const struct bytes_pool *strings = &ingest->batch->strings;
        return (struct doppel_origin){ingest_source(ingest),
                                      pool_string(strings, ingest->record->date)};
    }
    if (leaders_get(ingest->leaders, ingest->memory.ids.items[number], false, &leader, NULL))
        return (struct doppel_origin){0};
    return (struct doppel_origin){leader->source, leader->date};
}

struct decider_host ingest_host(struct ingest *ingest)
{
    return (struct decider_host){
        .match = match_texts,
        .origin = origin_of_record,
        .context = ingest,
        .lanes = ingest->options.text.lanes,
        .state = people_state,
        .was_benign = people_were_benign,
        .marked = people_marked,
    };
}
