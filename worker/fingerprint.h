/* Where media meets the fingerprint rooms. */
#ifndef DOPPEL_WORKER_FINGERPRINT_H
#define DOPPEL_WORKER_FINGERPRINT_H

#include <doppel/text.h>

#include "worker/protocol.h"

/* What a worker keeps from file to file. */
struct workshop {
    struct worker_limits limits;
    struct doppel_text *text; /* NULL until there was a text */
    struct doppel_text_options text_options;
};

void workshop_close(struct workshop *workshop);

/* Decode a file and fingerprint it. @param out all but the tag; given (doppel_outcome_free) */
void fingerprint_file(struct workshop *workshop, int fd, const struct doppel_order *order,
                      struct doppel_outcome *out);

/* Of a text: fingerprint and attachment. @param out freed by the caller, also on failure */
enum doppel_status fingerprint_text(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out);

#endif
