/* Decisions, written to a library. */
#include "decide/ledger.h"

#include <stdlib.h>

#include "core/try.h"

enum doppel_status ledger_log(struct doppel_library *library,
                              const struct ledger_decision *decision, struct doppel_error *error)
{
    const struct doppel_match *match = decision->match;
    struct doppel_log_entry entry = {
        .action = DOPPEL_LOG_DECIDED,
        .item = decision->item,
        .name = decision->name,
        .source = decision->source,
        .decided = true,
        .decision = (int)decision->decision,
        .of = decision->of,
        .former = decision->former,
        .reason = decision->why,
        .similarity = -1,
        .limit = -1,
        .false_positive_rate = -1,
    };
    if (match) {
        entry.has_match = true;
        entry.scheme = match->scheme;
        entry.version = decision->version;
        entry.distance = match->distance;
        entry.bits = match->bits;
        entry.similarity = match->similarity;
        entry.false_positive_rate = match->false_positive_rate;
        entry.limit_kind = decision->limit_kind;
        entry.limit = decision->limit_kind ? decision->limit : -1;
        entry.detail = decision->detail;
    }
    return doppel_library_log(library, &entry, error);
}

enum doppel_status ledger_describe(struct doppel_library *library, uint64_t item,
                                   const struct doppel_metadata *of_all,
                                   const struct doppel_metadata *own, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (of_all) {
        struct doppel_metadata about = *of_all;
        about.source = about.date = NULL; /* are its own */
        status = doppel_library_set_metadata(library, item, &about, error);
    }
    return own && !status ? doppel_library_set_metadata(library, item, own, error) : status;
}

enum doppel_status ledger_follow(struct doppel_library *library, uint64_t item, uint64_t leader,
                                 uint64_t *out_replaces, struct doppel_error *error)
{
    struct doppel_candidate candidate;
    enum doppel_keep by;
    char *name = NULL;
    enum doppel_status status;
    TRY(doppel_library_link(library, item, leader, error));
    TRY(doppel_library_candidate(library, item, &candidate, &name, error));
    TRY(doppel_library_choose_canonical(library, leader, item, &candidate, out_replaces, &by,
                                        error));
done:
    free(name);
    return status;
}
