/* Where media meets the fingerprint rooms. */
#ifndef DOPPEL_WORKER_FINGERPRINT_H
#define DOPPEL_WORKER_FINGERPRINT_H

#include "worker/protocol.h"

/* Decode a file and fingerprint it. @param out all but the tag; given (doppel_outcome_free) */
void fingerprint_file(int fd, enum doppel_scheme_id scheme, const struct worker_limits *limits,
                      struct doppel_outcome *out);

#endif
