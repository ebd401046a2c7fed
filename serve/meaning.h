/* Texts by their meaning: the vectors of the library, and what embeds here. */
#ifndef DOPPEL_SERVE_MEANING_H
#define DOPPEL_SERVE_MEANING_H

#include <doppel/decide.h>

#include "serve/inputs.h"

/* What a request wants to be looked at by its meaning. */
struct wanted_meaning {
    bool wanted;                    /* `semantic`; else nothing is */
    double max_fp_rate, min_cosine; /* 0: not given */
};

/* @return false: the parameters are wrong, and the reply says so */
bool read_wanted_meaning(struct exchange *exchange, struct wanted_meaning *out);

/* Of one opening of the library, and of one thread at a time. Zeroed, nothing is open. */
struct open_meaning {
    struct doppel_embedder *embedder;
    struct doppel_semantic *semantic; /* NULL: nothing is open */
    struct doppel_error problem;      /* status != OK: nothing is tried until it is wanted again */
};

/* Open the vectors of a library and what embeds, unless both are open, and search by these
 * thresholds. It is the model of the vectors, or what the service embeds by; never one that a
 * client names.
 * @param write vectors are to be added, and made if there are none
 * @return as doppel_semantic_new; DOPPEL_E_NOT_FOUND: there are no vectors, or the model is not
 *         here; DOPPEL_E_ARGUMENT: there are several models, and no vectors yet */
enum doppel_status meaning_want(const struct service *service, struct doppel_library *library,
                                const struct wanted_meaning *wanted, bool write,
                                struct open_meaning *meaning, struct doppel_error *error);
void meaning_close(struct open_meaning *meaning);

/* The same without what embeds, to compare what the library has with itself. */
enum doppel_status meaning_want_vectors(const struct service *service,
                                        struct doppel_library *library,
                                        const struct wanted_meaning *wanted,
                                        struct open_meaning *meaning, struct doppel_error *error);

/* Answer that nothing can be found by its meaning here: what is missing is no fault of the input.
 */
void exchange_fail_meaning(struct exchange *exchange, const struct doppel_error *error);

/* What means the same as a text that was sent, or the text of a file: its first megabyte. @param
 * results replaced. As doppel_semantic_search, in a sentence for the client */
enum doppel_status input_meaning(const struct service *service, struct open_meaning *meaning,
                                 const struct request_input *input,
                                 struct doppel_semantic_results *results,
                                 struct doppel_error *error);

/* Search for what was pulled last by its meaning, and set what was found, or what is in the way.
 * @param input that it is about; NULL: a line */
void find_meaning_of(const struct service *service, struct open_meaning *meaning,
                     struct doppel_decider *decider, const struct request_input *input,
                     struct doppel_decided *decided);

#endif
