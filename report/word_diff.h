/* Two texts, word by word: what stands in both, in the first alone, in the second alone. */
#ifndef DOPPEL_REPORT_WORD_DIFF_H
#define DOPPEL_REPORT_WORD_DIFF_H

#include <stdint.h>

#include <jansson.h>

#include "core/array.h"

/* A word, as it stands in its text: what lies between white space; where a script is written
 * without spaces, each character. */
struct word {
    const char *at;
    uint32_t size;
    uint32_t number; /* equal where the words are */
};

struct words {
    ARRAY(struct word) items;
};

enum word_edit { WORDS_SAME, WORDS_GONE, WORDS_NEW };

/* Some words in a row; of those that are the same, `a` and `b` are the first. */
struct word_run {
    enum word_edit edit;
    uint32_t a, b, count;
};

struct word_runs {
    ARRAY(struct word_run) items;
};

/* Beyond so many words that are not in both no two texts are compared. */
enum { WORD_MAX_EDITS = 2000 };

/* Cut two texts into words, numbered as one. @param out_a,out_b given (array_free); words borrow
 * the texts */
void words_of(const char *a, const char *b, struct words *out_a, struct words *out_b);

/* The runs of a shortest edit script. @param out given (array_free). @return false when more than
 * `most` words are gone or new: then none are told. Source: Myers, "An O(ND) Difference Algorithm
 * and Its Variations" (1986). */
bool word_diff(const struct words *a, const struct words *b, uint32_t most, struct word_runs *out);

/* The difference for a page: a list of ["=" or "-" or "+", text] and, of what is left out, ["…",
 * words]; null when too much is different. Given. */
json_t *word_diff_json(const char *a, const char *b);

/* The beginning of a text. Given. */
json_t *word_excerpt_json(const char *text);

#endif
