/* Videos that were read, looked at again: a stretch frame by frame, or a picture of a moment. */
#ifndef DOPPEL_INTAKE_VIDEO_PREVIEWS_H
#define DOPPEL_INTAKE_VIDEO_PREVIEWS_H

#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/video.h>
#include <doppel/worker.h>

struct video_looks;

/* Starts no worker before one is needed. @param run borrowed. Given (video_looks_free); NULL
 * without memory */
struct video_looks *video_looks_new(struct doppel_run *run);
void video_looks_free(struct video_looks *looks);

/* A video, by the file that it was read from. Borrowed. */
struct video_file {
    const char *path;
    const struct doppel_file_stamp *stamp;
};

/* One look: what is wanted, and what came of it. */
struct video_look {
    const struct video_file *file;
    enum doppel_video_task task;
    uint32_t from_ms, to_ms;     /* of THUMBNAIL, to_ms: the longest side, in pixels */
    struct doppel_video_box box; /* of CLOSE */
    uint8_t *bytes;              /* the attachment; given (free); NULL: it could not be had */
    size_t size;
};

/* Have all of them; what cannot be had is left out. DOPPEL_E_CANCELLED; others when the run cannot
 * go on. */
enum doppel_status video_looks_take(struct video_looks *looks, struct video_look *wanted,
                                    size_t count, struct doppel_error *error);

/* Read a file's bytes by a scheme of images, while no look is in progress.
 * @param fd taken @param out given (doppel_outcome_free); its error says what is wrong with the
 * bytes. DOPPEL_E_CANCELLED; others when the run cannot go on */
enum doppel_status video_looks_read(struct video_looks *looks, int fd,
                                    const struct doppel_scheme *scheme, struct doppel_outcome *out,
                                    struct doppel_error *error);

#endif
