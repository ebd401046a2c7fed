/* Made texts for the tests of passages: words as numbers, copied with edits. */
#ifndef TESTS_MATCH_WORDS_H
#define TESTS_MATCH_WORDS_H

#include <doppel/match.h>

#include "match/images.h"

enum { WORD_STEP = 6 }; /* code points from word to word; a word has one less */

static inline void place_words(struct doppel_text_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        words[i].start = (uint32_t)(i * WORD_STEP);
        words[i].end = words[i].start + WORD_STEP - 1;
    }
}

static inline void make_words(struct doppel_text_word *words, size_t count, uint64_t vocabulary,
                              uint64_t *seed)
{
    for (size_t i = 0; i < count; i++)
        words[i].hash = (uint32_t)(random_word(seed) % vocabulary * 2654435761u);
    place_words(words, count);
}

/* Copy words; before one in `every`, at least `apart` words after the last edit, a word is
 * replaced, inserted or dropped. @param out room for 2 × count. @return how many */
static inline size_t edit_words(const struct doppel_text_word *words, size_t count, unsigned every,
                                size_t apart, struct doppel_text_word *out, uint64_t *seed)
{
    size_t made = 0, since = 0;
    for (size_t i = 0; i < count; i++, since++) {
        bool edited = since >= apart && i + apart < count && random_word(seed) % every == 0;
        unsigned how = edited ? (unsigned)(random_word(seed) % 3) : 3;
        if (edited)
            since = 0;
        if (how < 2)
            out[made++].hash = (uint32_t)random_word(seed);
        if (how == 1 || how == 3)
            out[made++] = words[i];
    }
    place_words(out, made);
    return made;
}

static inline struct doppel_passage_text text_of(const struct doppel_text_word *words, size_t count)
{
    return (struct doppel_passage_text){.words = words, .word_count = (uint32_t)count};
}

#endif
