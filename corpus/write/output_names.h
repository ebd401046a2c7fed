/* How the outputs of the files of a corpus are called. */
#ifndef DOPPEL_CORPUS_WRITE_OUTPUT_NAMES_H
#define DOPPEL_CORPUS_WRITE_OUTPUT_NAMES_H

#include <doppel/corpus.h>

/* Of one input. */
struct output_name {
    char *input;    /* as the reader finds it */
    char *absolute; /* the same, without links */
    char *name;     /* of the output, below its folder */
};

struct output_names {
    struct output_name *items;
    size_t count;
};

/** Find the inputs, in the reader's order, and name their outputs, none of which lies below a
 * folder that is read. @param out given (output_names_free). DOPPEL_E_ARGUMENT; DOPPEL_E_MEMORY */
enum doppel_status output_names_find(const struct doppel_corpus_outputs_options *options,
                                     struct output_names *out, struct doppel_error *error);
void output_names_free(struct output_names *names);

#endif
