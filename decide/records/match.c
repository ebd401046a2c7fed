/* The record at hand, compared with texts of the library. */
#include "decide/records/ingest_internal.h"

#include <string.h>

#include "core/try.h"

/* The text of the record at hand, from its line. */
static bool find_text(struct ingest *ingest, const char **out, size_t *out_size)
{
    const struct line_block *block = &ingest->batch->block;
    struct doppel_corpus_record record;
    parser_take_rows(ingest->parser, block->layout);
    parser_line(ingest->parser, block->bytes + (ingest->record->offset - block->offset),
                ingest->record->size, &record);
    return !record.error.status &&
           !record_text(&record, &ingest->options.fields,
                        reader_file_path(ingest->reader, block->file),
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

/* ---- with earlier texts ---- */

/* How many shingles the set of an earlier one has, found out where it can be: the sieve is the same
 * whatever was read before. */
static enum doppel_status find_size(struct ingest *ingest, uint64_t earlier, uint32_t *out,
                                    struct doppel_error *error)
{
    const struct leader *leader;
    enum doppel_status status;
    TRY(leaders_get(ingest->leaders, earlier, false, &leader, error));
    if (!leader->shingle_total)
        TRY(leaders_get(ingest->leaders, earlier, true, &leader, error));
    *out = (uint32_t)(leader->shingle_total ? leader->shingle_total : leader->shingle_count);
done:
    return status;
}

/* Whether a closer look at a representative is worth it. */
static enum doppel_status sift(struct ingest *ingest, const struct near_text *near,
                               bool *out_passes, struct doppel_error *error)
{
    uint32_t size = 0, equal = ingest->options.text.lanes - near->distance;
    enum doppel_status status = ingest_load_shingles(ingest, error);
    if (!status)
        status = find_size(ingest, near->id, &size, error);
    *out_passes =
        !status && sieve_passes_equal(&ingest->sieve, equal, (uint32_t)ingest->shingle_count, size);
    return status;
}

enum doppel_status match_earlier(struct ingest *ingest, uint64_t earlier, struct doppel_match *out,
                                 bool *out_matches, struct doppel_error *error)
{
    const struct leader *leader;
    enum doppel_status status = ingest_load_shingles(ingest, error);
    if (!status)
        status = leaders_get(ingest->leaders, earlier, true, &leader, error);
    if (status)
        return status;
    struct doppel_text_evidence item = leader_evidence(leader), record = own_evidence(ingest);
    *out_matches =
        doppel_match_texts(&record, &item, &ingest->options.limits, out) && !leader->missing;
    return DOPPEL_OK;
}

enum doppel_status match_near(struct ingest *ingest, const struct near_text *near,
                              struct doppel_match *out, bool *out_matches,
                              struct doppel_error *error)
{
    bool passes;
    enum doppel_status status = sift(ingest, near, &passes, error);
    *out_matches = false;
    return status || !passes ? status : match_earlier(ingest, near->id, out, out_matches, error);
}

struct doppel_origin own_origin(const struct ingest *ingest)
{
    return (struct doppel_origin){ingest_source(ingest),
                                  pool_string(&ingest->batch->strings, ingest->record->date)};
}
