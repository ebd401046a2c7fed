/* The right word nearest to a mistyped one. */
#ifndef DOPPEL_TOOLS_ARGS_NEAREST_H
#define DOPPEL_TOOLS_ARGS_NEAREST_H

#include <stddef.h>

/**
 * Edits between two words: a letter put in, left out, replaced, or two neighbours swapped.
 * Words over 63 bytes are as far as can be (SIZE_MAX).
 *
 * Source: optimal string alignment, the restricted Damerau–Levenshtein distance.
 */
size_t word_distance(const char *a, const char *b);

/* The word of `words` nearest to `typed`, the first of equals; NULL when none is near enough to be
 * what was meant. NULLs among `words` are passed over. */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

#endif
