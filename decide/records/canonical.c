/* Which text of a group is to be kept: another one when a duplicate from a better source, or one
 * that the library's policy prefers, comes in. */
#include "decide/records/ingest_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

static bool stop_at_first_source(void *context, const char *pattern, int64_t authority)
{
    (void)pattern, (void)authority;
    *(bool *)context = true;
    return false;
}

enum doppel_status canonical_begin(struct ingest *ingest, struct doppel_error *error)
{
    struct canonical *canonical = &ingest->canonical;
    const struct doppel_keep_policy usual = doppel_keep_policy_default();
    bool sources = false;
    enum doppel_status status =
        doppel_library_each_source(ingest->library, stop_at_first_source, &sources, error);
    if (status == DOPPEL_E_CANCELLED || status == DOPPEL_E_CORRUPT) /* damaged: nothing was said */
        status = DOPPEL_OK;
    if (!status)
        status = doppel_library_policy(ingest->library, &canonical->policy, error);
    if (status)
        return status;
    bool own = canonical->policy.count != usual.count ||
               memcmp(canonical->policy.criteria, usual.criteria, usual.count) != 0;
    canonical->chooses = sources || own;
    if (!own)
        canonical->policy =
            (struct doppel_keep_policy){.count = 1, .criteria = {DOPPEL_KEEP_AUTHORITY}};
    return DOPPEL_OK;
}

/* The newcomer as a candidate against the one that is kept so far. Ids of records are no paths: by
 * depth and name none is better. A file has bytes, not words. */
static enum doppel_status describe(struct ingest *ingest, const struct doppel_candidate *holder,
                                   bool holder_is_file, struct doppel_candidate *out,
                                   struct doppel_error *error)
{
    const struct bytes_pool *strings = &ingest->batch->strings;
    *out = (struct doppel_candidate){
        .size = holder_is_file ? holder->size : (int64_t)ingest->record->words,
        .width = holder->width,
        .height = holder->height,
        .duration_ms = holder->duration_ms,
        .mtime_ns = doppel_date_ns(pool_string(strings, ingest->record->date)),
        .path = holder->path,
    };
    return doppel_library_authority(ingest->library, ingest_source(ingest), &out->authority, error);
}

/* What takes the place of the representative, or of the one that is kept so far, is kept from now
 * on. */
static enum doppel_status supersede(struct ingest *ingest, const struct decider_answer *answer,
                                    uint64_t item, struct doppel_error *error)
{
    const uint64_t leader = answer->leader, former = answer->replaces;
    uint64_t kept;
    enum doppel_status status = doppel_library_canonical(ingest->library, leader, &kept, error);
    if (!status && (former == leader || former == kept))
        status = doppel_library_supersede(ingest->library, leader, item,
                                          doppel_decision_reason_name(answer->reason), error);
    return status;
}

enum doppel_status canonical_choose(struct ingest *ingest, const struct decider_answer *answer,
                                    uint64_t item, uint64_t *out_replaced,
                                    struct doppel_error *error)
{
    const struct canonical *canonical = &ingest->canonical;
    struct doppel_candidate holder, newcomer;
    const struct leader *text;
    uint64_t holder_id;
    enum doppel_keep by;
    char *name = NULL;
    *out_replaced = 0;
    if (answer->follows && answer->replaces && item)
        return supersede(ingest, answer, item, error);
    if (!canonical->chooses || answer->decision != DOPPEL_DECISION_DUPLICATE || !answer->follows)
        return DOPPEL_OK;
    const uint64_t leader = answer->of;
    enum doppel_status status;
    TRY(doppel_library_canonical(ingest->library, leader, &holder_id, error));
    TRY(leaders_get(ingest->leaders, holder_id, false, &text, error));
    TRY(doppel_library_candidate(ingest->library, holder_id, &holder, &name, error));
    TRY(describe(ingest, &holder, text->line == 0, &newcomer, error));
    if (doppel_keep_compare(&canonical->policy, &newcomer, &holder, &by) < 0 &&
        by != DOPPEL_KEEP_CRITERIA)
        *out_replaced = holder_id;
done:
    if (*out_replaced && item)
        status = doppel_library_choose_canonical(ingest->library, leader, item, &newcomer,
                                                 out_replaced, &by, error);
    free(name);
    /* what cannot be read is no better, and no reason to end */
    return status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT ? DOPPEL_OK : status;
}
