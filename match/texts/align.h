/* From seeds, equal runs of words of two texts, to the passages that the texts share. */
#ifndef DOPPEL_MATCH_TEXTS_ALIGN_H
#define DOPPEL_MATCH_TEXTS_ALIGN_H

#include <doppel/text.h>

#include "core/array.h"

/* Words of a text. */
struct words {
    const struct doppel_text_word *items;
    uint32_t count;
};

/* A passage, by numbers of words. */
struct aligned {
    uint32_t a_first, a_end, b_first, b_end;
    uint32_t matched; /* words that are equal */
    int64_t score;    /* as of extend.h */
};

typedef ARRAY(struct aligned) aligned_array;

/** Extend a seed, some equal words or just a place, both ways. @param work as of extend() */
struct aligned align_seed(const struct words *a, const struct words *b, struct aligned seed,
                          uint64_t *work);

/**
 * Find all passages with at least `min_words` matched words: what is grown from runs of SEED_WORDS
 * words, those first that occur once. A passage that has few words that no other has on either side
 * is left out.
 * @param out appended, in the order in which they are found
 * @return false without memory
 */
enum { SEED_WORDS = 4 };
bool align_words(const struct words *a, const struct words *b, uint32_t min_words,
                 aligned_array *out);

/** Words of a text of `count` words that lie in passages. @param of_b of b, else of a. False
 * without memory. */
bool aligned_cover(const aligned_array *found, bool of_b, uint32_t count, uint32_t *out);

/** By place in a, then in b. */
void aligned_sort(aligned_array *found);

#endif
