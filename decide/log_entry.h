/* A decision as the log of a library keeps it. */
#ifndef DOPPEL_DECIDE_LOG_ENTRY_H
#define DOPPEL_DECIDE_LOG_ENTRY_H

#include <doppel/compare.h>

#include "decide/file_decider.h"

/* What the log says of a match. All zero: there is none. */
struct decide_match {
    bool known;
    enum doppel_scheme_id scheme;
    uint16_t version;
    uint32_t distance, bits;
    double similarity, limit, false_positive_rate;
    enum doppel_limit_kind limit_kind;
    char *detail; /* given (decide_match_free) */
};

void decide_match_free(struct decide_match *match);

/* The fields of a match; given (json_decref). */
json_t *decide_match_row(const struct doppel_comparison *comparison);

/* @param row of it, for the detail; NULL: of the same bytes */
void decide_match_fill(const struct doppel_compare_options *compare,
                       const struct doppel_match *from, const json_t *row,
                       struct decide_match *out);

/* Whose bytes or pixels they are, where it follows another one. */
void decide_match_tell_same(const struct rule_answer *answer, struct decide_match *match);

/* @param path absolute. @param source or NULL */
enum doppel_status decide_log(struct doppel_library *library, const char *path, const char *source,
                              const struct file_decision *decision,
                              const struct decide_match *match, struct doppel_error *error);

#endif
