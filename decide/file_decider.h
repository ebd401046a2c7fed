/* What is to be decided of a file, from a library: the facts are gathered, stage by stage, the rule
 * is asked, and what it says is kept. */
#ifndef DOPPEL_DECIDE_FILE_DECIDER_H
#define DOPPEL_DECIDE_FILE_DECIDER_H

#include <doppel/decide.h>
#include <doppel/search.h>

#include "decide/list_hits.h"
#include "decide/upstream.h"
#include "corpus/dedup/rule.h"
#include "intake/reader.h"

struct file_decider;

/* A file, and what its record says of it. Borrowed. */
struct file_to_decide {
    const struct intake_file *file;     /* its record.error says why it could not be read */
    const char *id, *source, *date;     /* NULL: not known */
    const struct doppel_metadata *said; /* what else it says; NULL: nothing */
    bool is_nowhere;                    /* it has no path: what `file` has for one is its id */
};

struct file_decision {
    struct rule_answer answer;
    const char *why;   /* of doppel_decided; static, or the file's */
    uint64_t item;     /* its number in the library; 0: it has none */
    uint64_t replaces; /* whose place it takes, at its path or as the one to keep; 0: nobody's */
    uint64_t same_id;  /* what else is called as its record says; 0: nothing */
    struct doppel_name of;            /* what answer.of is called */
    char *of_external_id;             /* where it is nowhere; NULL: nothing */
    struct upstream_outcome upstream; /* of what was new */
    uint64_t same_as; /* the match is with this one, which follows answer.of; 0: with that */
    bool has_match;
    struct doppel_comparison match;
    struct list_hits hits;                        /* what of lists it matched */
    uint64_t not_compared[DOPPEL_SEARCH_SCHEMES]; /* as of struct doppel_search_results */
    struct doppel_unreadable unreadable;          /* likewise */
};

void file_decision_free(struct file_decision *decision);

/* All borrowed. */
struct file_decider_options {
    const struct doppel_decide_options *decide;
    struct doppel_read_options read;
    struct doppel_run *run;
    struct doppel_library *library;
    struct upstream *upstream; /* NULL: nobody is asked */
};

/* @param options borrowed for its life. @param out given (file_decider_free) */
enum doppel_status file_decider_new(const struct file_decider_options *options,
                                    struct file_decider **out, struct doppel_error *error);
void file_decider_free(struct file_decider *decider);

/* Decide, and unless it is a dry run, remember the file and why; within the transaction that the
 * caller has begun. @param out given (file_decision_free) */
enum doppel_status file_decide(struct file_decider *decider, const struct file_to_decide *file,
                               struct file_decision *out, struct doppel_error *error);

/* What the upstream made of a decision that is kept, and settled. */
enum doppel_status file_decision_take_outcome(struct file_decider *decider,
                                              struct file_decision *decision,
                                              struct doppel_error *error);

/* What was looked up of folders may be otherwise by now: to be called between groups of files. */
void file_decider_forget_folders(struct file_decider *decider);

/* Make ready for the addition of a file, before the transaction: doppel_library_prepare.
 * @param nowhere as in struct file_to_decide */
enum doppel_status file_decider_prepare(struct file_decider *decider,
                                        const struct intake_file *file, bool nowhere,
                                        bool *out_tracks, struct doppel_error *error);

/* What the library knows without a look at the content, for the intake; `context` is the decider:
 * whether the file of a path is unchanged, or still cannot be read, the record of bytes, and
 * whether they are those of an item of another make of digest that decides. */
bool file_is_known(void *context, const char *path, const struct doppel_file_stamp *stamp);
bool file_fails(void *context, const char *path, const struct doppel_file_stamp *stamp,
                struct doppel_error *out);
bool file_recall(void *context, const struct doppel_digest *digest, struct doppel_record *out);
unsigned file_exact_kinds(void *context);
bool file_is_listed(void *context, const struct doppel_digest *digest,
                    const struct doppel_exact_digests *exact);

#endif
