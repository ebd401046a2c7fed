/* Searching texts by their meaning: the vectors of the library, and the embedder of the service. */
#ifndef DOPPEL_SERVE_MEANING_H
#define DOPPEL_SERVE_MEANING_H

#include <doppel/decide.h>

#include "serve/inputs.h"

/* The parameters of a request: `semantic`, `max_fp_rate`, `min_cosine`. */
struct wanted_meaning {
    bool wanted;                    /* `semantic` */
    double max_fp_rate, min_cosine; /* 0: not given */
};

/* A parameter over 0, and 1 at most; `*out` is left where it is not given. @return false: the reply
 * says what is wrong */
bool read_limit_over_zero(struct exchange *exchange, const char *name, double *out);

/* `max_fp_rate` is also that of images, audio and videos. @return false: the parameters are wrong,
 * and the reply says so */
bool read_wanted_meaning(struct exchange *exchange, struct wanted_meaning *out);

/* Of one opening of the library, and of one thread at a time. Zeroed, nothing is open. */
struct open_meaning {
    struct doppel_embedder *embedder;
    struct doppel_semantic *semantic; /* NULL: nothing is open */
    struct doppel_error problem; /* status != OK: nothing is tried until the next meaning_want */
};

/* Open the vectors of a library and the embedder, unless both are open, and set the thresholds. The
 * model is that of the vectors, or what the service was started with; never one that a client
 * names.
 * @param write vectors are to be added; they are created if there are none
 * @return as doppel_semantic_new; DOPPEL_E_NOT_FOUND: there are no vectors, or the model is not
 *         here; DOPPEL_E_ARGUMENT: there are several models, and no vectors yet */
enum doppel_status meaning_want(const struct service *service, struct doppel_library *library,
                                const struct wanted_meaning *wanted, bool write,
                                struct open_meaning *meaning, struct doppel_error *error);
void meaning_close(struct open_meaning *meaning);

/* The same without an embedder, to compare the library's texts with each other. */
enum doppel_status meaning_want_vectors(const struct service *service,
                                        struct doppel_library *library,
                                        const struct wanted_meaning *wanted,
                                        struct open_meaning *meaning, struct doppel_error *error);

/* Answer that a search by meaning is not possible: 422 if the library has no vectors, or the
 * service not their model. */
void exchange_fail_meaning(struct exchange *exchange, const struct doppel_error *error);

/* Find what means the same as a text that was sent, or as the first megabyte of a file. @param
 * results replaced. As doppel_semantic_search; the error is a sentence for the client */
enum doppel_status input_meaning(const struct service *service, struct open_meaning *meaning,
                                 const struct request_input *input,
                                 struct doppel_semantic_results *results,
                                 struct doppel_error *error);

/* Search by its meaning for the input that was pulled last; set what was found, or why it was not
 * searched for.
 * @param input that the decision is about; NULL: a line */
void find_meaning_of(const struct service *service, struct open_meaning *meaning,
                     struct doppel_decider *decider, const struct request_input *input,
                     struct doppel_decided *decided);

#endif
