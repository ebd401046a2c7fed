/* Pairs of vectors on stdout, as they come. */
#ifndef DOPPEL_TOOLS_OUTPUT_VECTOR_PAIRS_H
#define DOPPEL_TOOLS_OUTPUT_VECTOR_PAIRS_H

#include <stdbool.h>

#include <doppel/embed_vectors.h>

struct vector_pairs;
struct report;
struct settings;

/* Never fails: exits without memory. All are borrowed while it lives. */
struct vector_pairs *vector_pairs_new(const struct settings *settings,
                                      const struct doppel_vector_file *file, struct report *report);

/* @return false when nobody wants more: stdout failed, a pipe was closed, or a signal came */
bool vector_pairs_add(struct vector_pairs *pairs, const struct doppel_vector_pair *pair);

/* Write what is held back and free. @return false when stdout could not be written (said, unless a
 * pipe was closed) */
bool vector_pairs_finish(struct vector_pairs *pairs);

#endif
