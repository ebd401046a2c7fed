/* Extending a seed along two texts, word by word, over replaced, inserted and dropped words. */
#ifndef DOPPEL_MATCH_TEXTS_EXTEND_H
#define DOPPEL_MATCH_TEXTS_EXTEND_H

#include <doppel/text.h>

/* Scores are doubled, so that they are whole: a matched word counts 2, a replaced one -4, one
 * inserted or dropped -5. */
enum { EXTEND_MATCH = 2, EXTEND_REPLACED = -4, EXTEND_GAP = -5, EXTEND_DROP = 12 };

/** Words of a text from a place on, or from the one before it backwards. */
struct extend_side {
    const struct doppel_text_word *place;
    int64_t turn; /* 0: onwards; -1: backwards */
    size_t count;
};

/** Word number `i` of a side; of equal words the hash is equal. */
static inline uint32_t extend_word(const struct extend_side *side, int64_t i)
{
    return side->place[i ^ side->turn].hash;
}

struct extension {
    size_t a, b;    /* words it takes of each side */
    size_t matched; /* words of these that are equal in both */
    int64_t score;
};

/**
 * The best extension of an alignment that ends where the sides begin, as long as its score does not
 * fall by more than EXTEND_DROP below the best so far.
 * @param work words that may be looked at; what was looked at is taken off; at 0 it ends early
 * Source: Zhang, Schwartz, Wagner and Miller, "A Greedy Algorithm for Aligning DNA Sequences"
 * (2000).
 */
struct extension extend(const struct extend_side *a, const struct extend_side *b, uint64_t *work);

#endif
