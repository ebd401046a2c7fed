/* Files, decided one after the other as they are asked for: those of a walk, or those that come by
 * and by. Files that wait together are decided, and kept, together; recordings and videos one by
 * one. */
#ifndef DOPPEL_DECIDE_FILE_STREAM_H
#define DOPPEL_DECIDE_FILE_STREAM_H

#include "decide/records/ingest.h"
#include "decide/file_decider.h"
#include "intake/reader.h"

struct file_stream;

/* A file that was decided about. Borrowed until the next call. */
struct decided_file {
    const struct intake_file *file;
    const struct record_file *record; /* that names it; NULL: none does */
    const struct file_decision *decision;
};

/* All borrowed. */
struct file_stream_options {
    struct file_decider_options decider;
    struct doppel_walk_options walk; /* unless it is fed, of the files to decide about */
    bool fed;                        /* files come by file_stream_feed */

    /* What else is written with each decision, in its transaction; NULL: nothing. */
    enum doppel_status (*on_keep)(void *context, const struct decided_file *file,
                                  struct doppel_error *error);
    void *on_keep_context;
};

/* @param options borrowed for its life. @param out given (file_stream_free) */
enum doppel_status file_stream_new(const struct file_stream_options *options,
                                   struct file_stream **out, struct doppel_error *error);
void file_stream_free(struct file_stream *stream);

/* These files come next, in order, once those before were all decided about. @param files borrowed
 * until file_stream_next is at its end. */
void file_stream_feed(struct file_stream *stream, const struct record_file *files, size_t count);

/* The walk may have a file again, after the end of it was reported. */
void file_stream_resume(struct file_stream *stream);

/* The next file. What is given is kept. DOPPEL_E_NOT_FOUND at the end of the walk, or of what was
 * fed; DOPPEL_E_CANCELLED after what was gathered before a signal */
enum doppel_status file_stream_next(struct file_stream *stream, struct decided_file *out,
                                    struct doppel_error *error);

/* How many the next calls give at once. */
size_t file_stream_waiting(const struct file_stream *stream);

#endif
