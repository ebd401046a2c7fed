/* Winnowing (Schleimer, Wilkerson, Aiken 2003): of every WINNOW_WINDOW runs of WINNOW_WORDS words
 * in a row, the one with the smallest hash is chosen; of equal ones the rightmost. */
#ifndef DOPPEL_TEXT_WINNOW_H
#define DOPPEL_TEXT_WINNOW_H

#include <doppel/text.h>

enum { WINNOW_WORDS = 4, WINNOW_WINDOW = 8 };

/** Of WINNOW_WORDS words; its low 32 bits are the key. */
uint64_t winnow_hash(const struct doppel_text_word *words);

/** The keys of a text, by word. @param out room for `count`. @return how many; none of a text of
 * fewer than WINNOW_WORDS + WINNOW_WINDOW - 1 words. */
size_t winnow(const struct doppel_text_word *words, size_t count, struct doppel_text_key *out);

#endif
