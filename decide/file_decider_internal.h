/* What the files of deciding of files share. */
#ifndef DOPPEL_DECIDE_FILE_DECIDER_INTERNAL_H
#define DOPPEL_DECIDE_FILE_DECIDER_INTERNAL_H

#include "core/array.h"
#include "decide/file_decider.h"
#include "intake/other_scheme.h"

struct file_decider {
    const struct file_decider_options *options;
    const struct doppel_decide_options *decide;
    struct doppel_run *run;
    struct doppel_library *library;
    struct doppel_search *search;             /* NULL: nothing was looked for yet */
    struct other_scheme_reader other_schemes; /* of the search */
    struct doppel_search_results results;
    ARRAY(struct rule_candidate) candidates;
    ARRAY(struct doppel_metadata) abouts; /* of the candidates whose origin was asked for */

    char *folder, *real_folder; /* that the last path was in, and its absolute form; or NULL */

    /* of the file at hand */
    const struct file_to_decide *file;
    char *path;          /* absolute; or its id, where it is nowhere */
    const char *problem; /* why it cannot be read, or decided of */
    uint64_t marked;
    ARRAY(uint64_t)
    apart; /* representatives of the groups that hold what it is said to be distinct from */
    uint64_t former; /* the item whose place it takes, which is no candidate; 0: none */
};

/* What is said of the file at hand. Borrowed. */
struct doppel_metadata file_own_metadata(const struct file_decider *decider);

/* Whether nothing is known of the file at hand but its codes. */
bool file_is_code(const struct file_decider *decider);
/* Whether it is nowhere, and nothing is known of it but that a list of hashes has its bytes: then
 * there is nothing to keep by which it could be found, or moved to another library. */
bool file_is_listed_alone(const struct file_decider *decider);

/* The facts about the file at hand that cost no look at its content. */
enum doppel_status file_gather_bytes(struct file_decider *decider, struct rule_bytes *facts,
                                     struct doppel_error *error);

/* The others: what in the library is like it, and what people said of it. */
enum doppel_status file_gather_content(struct file_decider *decider, struct rule_content *facts,
                                       struct doppel_error *error);

#endif
