/* What a text is to one that came before it. */
#include <doppel/library.h>

#include <string.h>

#include "library/items/date.h"

const char *doppel_decision_name(enum doppel_decision decision)
{
    static const char *const names[] = {"new",       "duplicate",  "revision", "part",
                                        "too_short", "unreadable", "conflict", "ignored"};
    size_t index = (size_t)decision;
    return index < sizeof names / sizeof *names ? names[index] : "unknown";
}

const char *doppel_decision_reason_name(enum doppel_decision_reason reason)
{
    static const char *const names[] = {
        NULL,   "known", "moved", "same-path", "same-id",  "identical", "same-content", "marked",
        "near", "newer", "part",  "contained", "contains", "overlaps",  "benign",       "upstream"};
    size_t index = (size_t)reason;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

enum doppel_decision_reason doppel_decision_reason_of(const char *name)
{
    enum doppel_decision_reason reason = DOPPEL_BECAUSE_UPSTREAM;
    while (reason != DOPPEL_BECAUSE_NONE &&
           !(name && strcmp(name, doppel_decision_reason_name(reason)) == 0))
        reason--;
    return reason;
}

static bool is_newer_of_same_source(const struct doppel_origin *record,
                                    const struct doppel_origin *item)
{
    struct date_span later, earlier;
    return record->source && item->source && strcmp(record->source, item->source) == 0 &&
           record->date && item->date && date_read(record->date, &later) &&
           date_read(item->date, &earlier) && date_is_later(&later, &earlier);
}

/* Coverages are shares of the same common part: the smaller text is covered more. */
static bool is_half_or_less(const struct doppel_match *match)
{
    return match->item_coverage * 2 <= match->query_coverage;
}

enum doppel_decision doppel_decide(const struct doppel_match *match,
                                   const struct doppel_origin *record,
                                   const struct doppel_origin *item)
{
    if (match->relation == DOPPEL_RELATION_SAME)
        return is_newer_of_same_source(record, item) ? DOPPEL_DECISION_REVISION
                                                     : DOPPEL_DECISION_DUPLICATE;
    bool part = match->relation == DOPPEL_RELATION_CONTAINED && is_half_or_less(match);
    return part ? DOPPEL_DECISION_PART : DOPPEL_DECISION_REVISION;
}
