/* Where each run of SEED_WORDS words occurs in a text. */
#ifndef DOPPEL_MATCH_TEXTS_GRAMS_H
#define DOPPEL_MATCH_TEXTS_GRAMS_H

#include "match/texts/align.h"

struct grams {
    const struct words *words; /* borrowed */
    uint32_t *heads;           /* by hash: the first place + 1 … */
    uint32_t *next;            /* … and from each place on to the next, + 1 */
    uint32_t bits;             /* of the hash */
};

/** @param words at least SEED_WORDS. False without memory. */
bool grams_make(const struct words *words, struct grams *out);
void grams_free(struct grams *grams);

/** The first places of the run that begins at `words`, ascending, at most `max`. @return how many;
 * all of them, unless there are very many. */
size_t grams_find(const struct grams *grams, const struct doppel_text_word *words, uint32_t *out,
                  size_t max);

#endif
