/* What came of all clips, and the table of it. */
#ifndef BENCH_AUDIO_RESULTS_H
#define BENCH_AUDIO_RESULTS_H

#include "ask.h"
#include "edits.h"

/** A clip of an indexed track. */
struct outcome {
    struct answer answer;
    bool right;          /**< the best candidate is its track */
    double offset_error; /**< seconds */
    bool peer_right;
};

/** A clip of a track that is held out. */
struct stranger {
    struct answer answer;
    const struct track *track;
    double start;
    double alike;  /**< to what was found (heard.h); 0: not tried */
    double chance; /**< likewise, to a place of a track of another package */
};

/** Unrelated items by what is done to them. */
enum { STRANGER_KINDS = 9 };
struct stranger_kind {
    const char *name;
    edit_function *apply;
    double amount, seconds; /**< 0 seconds: whole tracks, each once */
};
extern const struct stranger_kind stranger_kinds[STRANGER_KINDS];

/** The clean unrelated items of that length. */
int kind_of_length(double seconds);

struct results {
    struct outcome *outcomes[32]; /**< by cell */
    size_t outcome_counts[32];
    struct stranger *strangers[STRANGER_KINDS];
    size_t stranger_counts[STRANGER_KINDS];
    bool has_peer;
};

void results_add(struct results *results, int cell, const struct outcome *outcome);
void results_add_stranger(struct results *results, int kind, const struct stranger *stranger);
void results_free(struct results *results);

/** Print recall, offsets and false positives, and the unrelated items that came nearest. */
void report(const struct tracks *tracks, const struct results *results, double stated);

#endif
