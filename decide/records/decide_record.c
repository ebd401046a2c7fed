/* The record at hand: decided, and kept in the library, with what is to be told of it. */
#include "decide/records/ingest_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "decide/upstream.h"

static enum doppel_status add_to_library(struct ingest *ingest, const struct decider_answer *answer,
                                         uint64_t *out_id, struct doppel_error *error)
{
    const struct prepared_record *record = ingest->record;
    const struct bytes_pool *strings = &ingest->batch->strings;
    struct doppel_library_text text = {
        .record_id = pool_string(strings, record->id),
        .origin = {ingest_source(ingest), pool_string(strings, record->date)},
        .path = ingest->path,
        .line = record->line,
        .offset = record->offset,
        .size = record->size,
        .content = record->content,
        .words = record->words,
        .simhash = record->simhash,
        .too_short = record->too_short,
        .decision = answer->decision,
        .leads = answer->leads,
        .leader = answer->leader,
        .lanes = ingest_lanes(ingest),
        .lane_count = ingest->options.text.lanes,
    };
    if (ingest->options.keep_shingles && !record->too_short) {
        enum doppel_status status = ingest_load_shingles(ingest, error);
        if (status)
            return status;
        text.shingles = ingest->shingles;
    }
    text.shingle_total = ingest->shingle_count;
    return doppel_library_add_text(ingest->library, &text, out_id, error);
}

/* What the record is reported to be a duplicate, a part or a revision of. */
static enum doppel_status describe_of(struct ingest *ingest, uint64_t of, struct told *told,
                                      struct doppel_error *error)
{
    const struct leader *leader;
    told->of_item = of;
    enum doppel_status status = leaders_get(ingest->leaders, told->of_item, false, &leader, error);
    if (status)
        return status;
    told->of = pool_add_string(&ingest->strings, leader->record_id);
    bool here = leader->path && ingest->path && strcmp(leader->path, ingest->path) == 0;
    told->of_path = pool_add_string(
        &ingest->strings, here ? ingest_file_path(ingest, ingest->path_file) : leader->path);
    told->of_line = leader->line;
    return DOPPEL_OK;
}

static enum doppel_status describe_replaced(struct ingest *ingest, uint64_t id, struct told *told,
                                            struct doppel_error *error)
{
    const struct leader *text;
    enum doppel_status status = leaders_get(ingest->leaders, id, false, &text, error);
    if (!status)
        told->replaces = pool_add_string(&ingest->strings, text->record_id);
    return status;
}

/* Of one record. */
struct outcome {
    uint64_t item;     /* 0: it was not added */
    uint64_t replaced; /* the text that was to be kept of its group so far; 0: it stays */
    uint64_t same_id;
};

static enum doppel_status tell_once_kept(struct ingest *ingest, const struct decider_answer *answer,
                                         const struct outcome *outcome, struct doppel_error *error)
{
    struct told told = {
        .batch = ingest->batch,
        .record = ingest->record,
        .decision = answer->decision,
        .reason = answer->reason,
        .item = answer->replayed ? answer->known : outcome->item,
        .same_id = outcome->same_id,
        .replayed = answer->replayed,
        .of = SIZE_MAX,
        .of_path = SIZE_MAX,
        .replaces = SIZE_MAX,
        .why = SIZE_MAX,
        .upstream = SIZE_MAX,
        .unique =
            (answer->kept || answer->replayed) && answer->decision != DOPPEL_DECISION_DUPLICATE,
        .has_match = answer->has_match,
        .match = answer->match,
    };
    enum doppel_status status = DOPPEL_OK;
    if (answer->of)
        TRY(describe_of(ingest, answer->of, &told, error));
    if (answer->replaces)
        told.replaces = told.of;
    if (outcome->replaced)
        TRY(describe_replaced(ingest, outcome->replaced, &told, error));
    if (!array_push(&ingest->told, told))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for decisions");
done:
    return status;
}

/* What was decided is remembered, and how it came to that. */
static enum doppel_status keep_record(struct ingest *ingest, const struct decider_answer *answer,
                                      uint64_t *out_item, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    uint64_t item = 0;
    if (answer->kept)
        TRY(add_to_library(ingest, answer, &item, error));
    if (!answer->replayed)
        TRY(ingest_log(ingest, answer, item, error));
    if (item && answer->decision == DOPPEL_DECISION_NEW)
        TRY(upstream_queue(ingest->upstream, item, error));
    if (item || answer->known)
        TRY(people_tell(ingest, item ? item : answer->known, error));
done:
    if (item)
        leaders_forget(ingest->leaders, answer->replaces);
    *out_item = item;
    return status;
}

static enum doppel_status ask_decider(struct ingest *ingest, struct decider_answer *out,
                                      struct doppel_error *error)
{
    enum doppel_status status = decider_decide(ingest, out, error);
    const struct doppel_error *people = &ingest->people_error;
    return status || !people->status ? status
                                     : doppel_fail(error, people->status, "%s", people->message);
}

enum doppel_status ingest_decide_record(struct ingest *ingest, const struct prepared_record *record,
                                        struct doppel_error *error)
{
    struct decider_answer answer;
    struct outcome outcome = {0};
    ingest->record = record;
    ingest->shingles = NULL;
    ingest->shingle_count = 0;
    ingest->tried = false;
    enum doppel_status status;
    TRY(ask_decider(ingest, &answer, error));
    TRY(people_same_id(ingest, &answer, &outcome.same_id, error));
    if (!ingest->options.check)
        TRY(keep_record(ingest, &answer, &outcome.item, error));
    TRY(canonical_choose(ingest, &answer, outcome.item, &outcome.replaced, error));
    TRY(tell_once_kept(ingest, &answer, &outcome, error));
done:
    return status;
}
