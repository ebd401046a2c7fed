/* From paths to records: each file that a walk yields is stamped, looked up in the cache, probed,
 * digested and, where its content is new, sent to the workers. Files come out in the order of the
 * walk, whatever the number of workers. */
#ifndef DOPPEL_INTAKE_READER_H
#define DOPPEL_INTAKE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <doppel/core.h>
#include <doppel/library.h>
#include <doppel/run.h>
#include <doppel/worker.h>

#include "intake/exact_digests.h"
#include "intake/read_options.h"
#include "intake/walk.h"

struct intake;

/* A file that was read. */
struct intake_file {
    char *path;      /* given: intake_file_free */
    uint32_t source; /* number of the PATH argument that it came from */
    bool known; /* unchanged, says the caller's `known` or `fails`: it was not read, `record` is
                   empty but for its error */
    struct doppel_file_stamp stamp;
    struct doppel_record record; /* error.status is DOPPEL_OK, unless failures are asked for; of a
                                    file that is `listed` it has the digest alone */
    struct doppel_exact_digests
        exact; /* of the kinds that were asked for, where the file was read */
};

void intake_file_free(struct intake_file *file);

/* Whether a file that has not changed may be left unread. */
typedef bool intake_known(void *context, const char *path, const struct doppel_file_stamp *stamp);

/* Whether a file that has not changed could not be read before, and why. */
typedef bool intake_fails(void *context, const char *path, const struct doppel_file_stamp *stamp,
                          struct doppel_error *out);

/* A file could not be read, by the path of the walk; unless `fails` said so. */
typedef void intake_failed(void *context, const char *path, const struct doppel_file_stamp *stamp,
                           const struct doppel_error *reason);

/* What is known of bytes of a kind that is wanted, so that they need not be decoded, or looked up
 * in the cache. @param out given; only filled where it is true */
typedef bool intake_recall(void *context, const struct doppel_digest *digest,
                           struct doppel_record *out);

/* A name of a file that has come, or will come, by another one. */
typedef void intake_same_file(void *context, const char *path, const struct stat *stat);

/* A file was left out by the options of the walk: a glob, its size, extension or age. */
typedef void intake_left_out(void *context);

/* Which digests of other makes are wanted of the next file, as bits 1 << enum doppel_exact; what
 * the cache knows of a file by its path is passed by for them. */
typedef unsigned intake_exact_kinds(void *context);

/* Whether by those digests enough is known of bytes: then they are not decoded. */
typedef bool intake_listed(void *context, const struct doppel_digest *digest,
                           const struct doppel_exact_digests *exact);

struct intake_options {
    struct doppel_read_options read;
    struct doppel_run *run;
    const struct doppel_walk_options *walk;
    struct doppel_cache *cache; /* NULL: nothing is recalled or kept */
    bool attachments;    /* load them into the records */
    bool places;         /* of texts with all words and their places, past the cache */
    bool failures;       /* files that could not be read are handed out, too, and not reported */
    intake_known *known; /* may be NULL, as the next ones */
    intake_fails *fails;
    intake_recall *recall;
    intake_exact_kinds *exact_kinds;
    intake_listed *listed;
    intake_failed *failed; /* of those that are reported */
    intake_same_file *same_file;
    intake_left_out *left_out;
    void *known_context; /* of all of these */
};

/**
 * Starts no worker before one is needed.
 * @param options borrowed for the life of the intake
 * @param out     given (intake_free)
 */
enum doppel_status intake_new(const struct intake_options *options, struct intake **out,
                              struct doppel_error *error);
void intake_free(struct intake *intake);

/**
 * The next file that could be read; the others are reported on the way, and what is of no kind that
 * is wanted (nor named as such, nor named on the command line) is passed over.
 *
 * @param out given (intake_file_free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND at the end; DOPPEL_E_CANCELLED after a signal; others when
 *         the run cannot go on
 */
enum doppel_status intake_next(struct intake *intake, struct intake_file *out,
                               struct doppel_error *error);

/* The same, without waiting for a worker: DOPPEL_E_TIMEOUT when the next one is not ready. */
enum doppel_status intake_next_ready(struct intake *intake, struct intake_file *out,
                                     struct doppel_error *error);

/* The walk's feed has paths again: after the end more files come. */
void intake_resume(struct intake *intake);

/* Whether a name promises a video. */
bool named_as_video(const char *path);

#endif
