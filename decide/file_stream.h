/* Files, decided one after the other: those of a walk, or those that come by and by. Files that
 * wait together are decided, and kept, together; recordings and videos one by one. */
#ifndef DOPPEL_DECIDE_FILE_STREAM_H
#define DOPPEL_DECIDE_FILE_STREAM_H

#include <doppel/compare.h>
#include <doppel/corpus.h>
#include <doppel/library.h>

#include "intake/intake.h"
#include "tools/output/decision_output.h"
#include "tools/args/options.h"
#include <doppel/run.h>

struct file_stream;

/* All borrowed. */
struct file_stream_options {
    const struct settings *settings;
    struct doppel_compare_options compare;
    struct doppel_run *run;
    struct doppel_library *library;
    struct decision_output *output;
    struct doppel_read_options read;
    struct walk_options walk; /* unless it is fed, of the files to decide about */
    bool fed;        /* files come by file_stream_feed; else those that the operands name */
    bool only_asked; /* nothing is remembered */
};

/* @param options borrowed for its life. @param out given (file_stream_free) */
enum doppel_status file_stream_new(const struct file_stream_options *options,
                                   struct file_stream **out, struct doppel_error *error);
void file_stream_free(struct file_stream *stream);

/* Decide of these files, in order, and tell it. DOPPEL_E_CANCELLED after a signal, or when nobody
 * reads on: what was told is kept */
enum doppel_status file_stream_feed(struct file_stream *stream,
                                    const struct doppel_ingest_file *files, size_t count,
                                    struct doppel_error *error);

/* The same of all files that the operands name. */
enum doppel_status file_stream_walk(struct file_stream *stream, struct doppel_error *error);

#endif
