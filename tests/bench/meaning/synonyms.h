/* Synonyms of WordNet (Debian's wordnet-base), and texts in other words by them. */
#ifndef TESTS_BENCH_MEANING_SYNONYMS_H
#define TESTS_BENCH_MEANING_SYNONYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "../random.h"

struct synonyms;

/* @param folder as /usr/share/wordnet. @return given (synonyms_free); NULL: it is not there */
struct synonyms *synonyms_load(const char *folder);
void synonyms_free(struct synonyms *synonyms);

/* How many words of ASCII letters there were, and how many were replaced. */
struct replaced_words {
    size_t words, replaced;
};

/* Each word that has a synonym in its first sense, and is no function word, is replaced by one with
 * a probability; then all words move by up to six places.
 * @return given (free) */
char *synonyms_rewrite(const struct synonyms *synonyms, const char *text, double probability,
                       struct random *random, struct replaced_words *count);

#endif
