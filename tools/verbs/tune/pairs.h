/* Labelled pairs to judged ones: their files read once each, and every pair compared. */
#ifndef DOPPEL_TOOLS_VERBS_TUNE_PAIRS_H
#define DOPPEL_TOOLS_VERBS_TUNE_PAIRS_H

#include "exchange/labelled_pairs.h"
#include "report/threshold_sweep.h"
#include "tools/args/options.h"
#include "tools/output/messages.h"

/* The pairs of one kind. */
struct tuned {
    enum doppel_scheme_id scheme;
    bool by_meaning; /* similarities are cosines of vectors; or with */
    bool by_rate;    /* rates in a library, as rate_of_similarity has them */
    struct scored_pairs pairs;
};

/* The rate that a similarity stands for: a step of the sweep is a tenth of a power of 10. */
double rate_of_similarity(double similarity);

enum { TUNED_KINDS = 8 }; /* more than there are kinds */

/**
 * Judge all pairs of `labels`; those that cannot be judged are reported.
 * @param label_path of the file that they come from, for what is said
 * @param out  TUNED_KINDS of them, by kind; given (tuned_free)
 * @return DOPPEL_OK; DOPPEL_E_CANCELLED after a signal; others when the run cannot go on
 */
enum doppel_status tune_pairs(const struct settings *settings, struct report *report,
                              const char *label_path, const struct labels *labels,
                              struct tuned out[TUNED_KINDS], struct doppel_error *error);
void tuned_free(struct tuned tuned[TUNED_KINDS]);

#endif
