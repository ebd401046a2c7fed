/* Texts by their meaning, as a reader of the library has them. */
#ifndef DOPPEL_SERVE_MEANING_H
#define DOPPEL_SERVE_MEANING_H

#include <doppel/search_semantic.h>

#include "serve/inputs.h"

/* Zeroed, nothing is open. Of one thread at a time. */
struct reader_meaning {
    struct doppel_embedder *embedder;
    struct doppel_semantic *semantic; /* NULL: nothing is open */
    double max_fp_rate, min_cosine;   /* with which it was opened; 0: not given */
};

/* Open the vectors of a library and the model that they are of, unless both are open with these
 * thresholds. DOPPEL_E_NOT_FOUND: there are no vectors, or the model is not here; as
 * doppel_semantic_new */
enum doppel_status reader_meaning_want(const struct service *service,
                                       struct doppel_library *library,
                                       const struct reader_meaning *wanted,
                                       struct reader_meaning *meaning, struct doppel_error *error);
void reader_meaning_close(struct reader_meaning *meaning);

/* What means the same as a text that was sent, or the text of a file: its first megabyte. @param
 * results replaced. As doppel_semantic_search */
enum doppel_status input_meaning(const struct service *service, struct reader_meaning *meaning,
                                 const struct request_input *input,
                                 struct doppel_semantic_results *results,
                                 struct doppel_error *error);

#endif
