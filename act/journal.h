/* The journal of what was done to duplicates: JSON Lines, only ever appended to. A step is written,
 * down to the disk, before it is taken; what became of it comes after. So whatever ends a run, the
 * journal names all that may have been touched. Described in docs/formats.md. */
#ifndef DOPPEL_ACT_JOURNAL_H
#define DOPPEL_ACT_JOURNAL_H

#include <stdint.h>

#include <doppel/act.h>
#include <doppel/core.h>
#include <doppel/library.h>

#include "core/array.h"

/* What became of a step. */
enum step_end {
    STEP_OPEN, /* not known: the run was killed, or is in progress */
    STEP_DONE,
    STEP_FAILED, /* nothing was done */
    STEP_UNDONE
};

/* A step as it is written. Paths are absolute; strings are given (step_free). */
struct journal_entry {
    uint64_t run;    /* from 1 */
    uint64_t number; /* in its run, from 1 */
    enum doppel_action action;
    char *path, *kept;
    char *target;    /* of what is moved: where to; of a symlink: what it holds; or NULL */
    char *temporary; /* a name beside `path`, or NULL */
    char *other;     /* another name of its file, which the run is to come to; or NULL */
    char *made;      /* of what is moved to a folder: the first folder above `target` that was not
                        there; NULL: all were */
    struct doppel_file_stamp stamp, kept_stamp;
    uint64_t freed_bytes; /* the size of the file; 0: of a name that was not its last */
    uint32_t mode, owner, group;
    enum step_end end; /* as read */
};

void step_free(struct journal_entry *step);

/* A run as it is read. */
struct journal_run {
    uint64_t run;
    int64_t time_s; /* since 1970 */
    enum doppel_action action;
};

struct journal_content {
    ARRAY(struct journal_run) runs;
    ARRAY(struct journal_entry) steps; /* in order of the runs, and in each of their numbers */
    uint64_t unreadable;               /* lines that are none of the journal's */
};

void journal_content_free(struct journal_content *content);

struct journal;

/**
 * Open a journal to write to it, made if need be; no other process can until it is closed.
 * @param out_content what it holds, given (journal_content_free)
 * @return DOPPEL_OK; DOPPEL_E_BUSY; DOPPEL_E_FORMAT when the file is something else; DOPPEL_E_IO
 */
enum doppel_status journal_open(const char *path, struct journal **out,
                                struct journal_content *out_content, struct doppel_error *error);
/* @return DOPPEL_E_IO when not all came to the disk */
enum doppel_status journal_close(struct journal *journal, struct doppel_error *error);

/* What a journal holds. One that is not there holds nothing. */
enum doppel_status journal_read(const char *path, struct journal_content *out,
                                struct doppel_error *error);

/* Begin a run. @param out_run its number */
enum doppel_status journal_begin(struct journal *journal, enum doppel_action action,
                                 uint64_t *out_run, struct doppel_error *error);
/* Write a step that is about to be taken, down to the disk. */
enum doppel_status journal_step(struct journal *journal, const struct journal_entry *step,
                                struct doppel_error *error);
/* Write what became of it; on the disk with the next step, or the end. */
enum doppel_status journal_end(struct journal *journal, const struct journal_entry *step,
                               enum step_end end, struct doppel_error *error);

#endif
