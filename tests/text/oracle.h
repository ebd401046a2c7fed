/* A text's sketches the slow and obvious way, from its normalised bytes. */
#ifndef TESTS_TEXT_ORACLE_H
#define TESTS_TEXT_ORACLE_H

#include <doppel/text.h>

/* The hash of `size` bytes as docs/methods.md has it. */
uint64_t oracle_word_hash(const uint8_t *word, size_t size);

struct oracle {
    uint64_t *hashes; /* of the shingles, in order */
    size_t count;
    uint16_t lanes[DOPPEL_TEXT_MAX_LANES];
    uint64_t simhash;
    uint32_t *set;
    size_t set_count;
    uint64_t words, characters;
};

/* Of `size` bytes of normalised text: words with one space between. */
void oracle_make(struct oracle *out, const struct doppel_text_options *options,
                 const uint8_t *bytes, size_t size);
void oracle_free(struct oracle *oracle);

#endif
