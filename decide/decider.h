/* One stream of decisions: records and the files among them, or the files of a walk, in order of
 * input. */
#ifndef DOPPEL_DECIDE_DECIDER_H
#define DOPPEL_DECIDE_DECIDER_H

#include <doppel/corpus.h>

#include "decide/file_stream.h"

struct decider_options {
    struct file_stream_options files; /* how they are read and decided about */
    struct doppel_ingest_options records;
    bool streams; /* of records, among which files may be */
};

/* What was decided of the next input. Borrowed until the next call. */
struct decided {
    bool is_file;
    struct decided_file file;
    struct doppel_dedup_decision record;
};

struct doppel_decider;

/**
 * Where options.records.files has none, the files of options.files.walk are decided about.
 * @param options borrowed for its life. @param out given (doppel_decider_free)
 */
enum doppel_status doppel_decider_new(const struct decider_options *options,
                                      struct doppel_decider **out, struct doppel_error *error);
void doppel_decider_free(struct doppel_decider *decider);

/**
 * What is given is kept. Inputs that wait together are decided in one transaction; one that waits
 * alone is answered at once.
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end; _CANCELLED after what was decided before;
 * others when the run cannot go on
 */
enum doppel_status doppel_decider_pull(struct doppel_decider *decider, struct decided *out,
                                       struct doppel_error *error);

/* How many decisions the next pulls give at once. */
size_t doppel_decider_waiting(const struct doppel_decider *decider);

#endif
