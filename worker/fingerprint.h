/* Where media meets the fingerprint rooms. */
#ifndef DOPPEL_WORKER_FINGERPRINT_H
#define DOPPEL_WORKER_FINGERPRINT_H

#include <doppel/audio.h>
#include <doppel/media.h>
#include <doppel/text.h>

#include "worker/progress.h"
#include "worker/protocol.h"

struct ocr;

/* What a worker keeps from file to file. */
struct workshop {
    struct worker_limits limits;
    struct doppel_text *text; /* NULL until there was a text */
    struct doppel_text_options text_options;
    struct doppel_audio *audio;     /* NULL until there was a recording */
    struct progress_page *progress; /* borrowed; may be NULL */
    struct ocr *ocr;                /* borrowed; NULL: scanned pages are not read */
};

void workshop_close(struct workshop *workshop);

/* Decode a file and fingerprint it. @param out all but the tag; given (doppel_outcome_free) */
void fingerprint_file(struct workshop *workshop, int fd, const struct doppel_order *order,
                      struct doppel_outcome *out);

/* What a file is, by its bytes. @param out_format of a picture or a document, else UNKNOWN */
enum doppel_kind probe_file(int fd, enum doppel_format *out_format);

/* The worker's limits as a decoder of recordings and videos takes them, or one of pictures. */
struct doppel_media_limits media_limits(const struct worker_limits *limits);
struct doppel_media_limits image_limits(const struct worker_limits *limits);

/* What an order says of a recording as media takes it. */
struct doppel_samples_options samples_options(const struct worker_limits *limits,
                                              const struct doppel_order *order);

/* What a file is shown by, as attachment. @param out freed by the caller, also on failure */
enum doppel_status make_preview(struct workshop *workshop, int fd, const struct doppel_order *order,
                                struct doppel_outcome *out);

/* Of a text: fingerprint and attachment. @param out freed by the caller, also on failure */
enum doppel_status fingerprint_text(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out);

/* Of a video: an empty fingerprint and its track as attachment, or a thumbnail. With DOPPEL_OK the
 * error may have a remark. @param out freed by the caller, also on failure */
enum doppel_status fingerprint_video(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out);

/* Of a video: an empty fingerprint and the keypoints of frames as attachment. @param out freed by
 * the caller, also on failure */
enum doppel_status fingerprint_parts(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out);

/* Of a video, or a list made of one: an empty fingerprint, and vPDQ's list as attachment. */
enum doppel_status fingerprint_vpdq(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out);

/* What an order says of a video as media takes it. */
struct doppel_frames_options frames_options(const struct worker_limits *limits,
                                            const struct doppel_order *order);

/* The peaks of a recording, or of a video's, as doppel_audio_track_write makes them. @param out
 * given (free) */
enum doppel_status hear_audio(struct workshop *workshop, int fd, const struct doppel_order *order,
                              uint8_t **out, size_t *out_size, struct doppel_error *error);

/* Of a recording, or the audio of a video: an empty fingerprint, and the peaks as attachment.
 * @param out freed by the caller, also on failure */
enum doppel_status fingerprint_audio(struct workshop *workshop, int fd,
                                     const struct doppel_order *order, struct doppel_outcome *out);

/* A text that another program printed: the whole file. @param most bytes are too many
 * @param what of the sentences, "a Chromaprint". @param out given (free) */
enum doppel_status read_printed(int fd, size_t most, const char *what, char **out, size_t *out_size,
                                struct doppel_error *error);

/* The same as AcoustID's fingerprint, also of what fpcalc printed. */
enum doppel_status fingerprint_chromaprint(struct workshop *workshop, int fd,
                                           struct doppel_outcome *out);

#endif
