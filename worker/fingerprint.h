/* Where media meets the fingerprint rooms. */
#ifndef DOPPEL_WORKER_FINGERPRINT_H
#define DOPPEL_WORKER_FINGERPRINT_H

#include <doppel/audio.h>
#include <doppel/media.h>
#include <doppel/text.h>

#include "worker/protocol.h"

/* What a worker keeps from file to file. */
struct workshop {
    struct worker_limits limits;
    struct doppel_text *text; /* NULL until there was a text */
    struct doppel_text_options text_options;
    struct doppel_audio *audio; /* NULL until there was a sound */
};

void workshop_close(struct workshop *workshop);

/* Decode a file and fingerprint it. @param out all but the tag; given (doppel_outcome_free) */
void fingerprint_file(struct workshop *workshop, int fd, const struct doppel_order *order,
                      struct doppel_outcome *out);

/* The worker's limits as a decoder takes them. */
struct doppel_media_limits media_limits(const struct worker_limits *limits);

/* Of a text: fingerprint and attachment. @param out freed by the caller, also on failure */
enum doppel_status fingerprint_text(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out);

/* Of a sound, or the sound of a film: an empty fingerprint, and the peaks as attachment. @param out
 * freed by the caller, also on failure */
enum doppel_status fingerprint_audio(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out);

/* The same as AcoustID's fingerprint, also of what fpcalc printed. */
enum doppel_status fingerprint_chromaprint(struct workshop *workshop, int fd,
                                           struct doppel_outcome *out);

#endif
