/* Two texts, word by word: what stands in both, in the first alone, in the second alone. */
#ifndef DOPPEL_REPORT_WORD_DIFF_H
#define DOPPEL_REPORT_WORD_DIFF_H

#include <stdint.h>

#include <doppel/core.h>

#include "core/array.h"
#include "core/json_writer.h"

/* A word, as it stands in its text: what lies between white space; where a script is written
 * without spaces, each character. */
struct word {
    const char *at;
    uint32_t size;
    uint32_t number; /* equal where the words are */
};

struct diff_words {
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

/* Cut two texts into words, numbered as one. @param out_a,out_b given (array_free), also without
 * success; words borrow the texts. @return false without memory */
bool words_of(const char *a, const char *b, struct diff_words *out_a, struct diff_words *out_b);

/* The runs of a shortest edit script. @param out given (array_free).
 * DOPPEL_E_LIMIT when more than `most` words are gone or new: then there are none; DOPPEL_E_MEMORY.
 * Source: Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). */
enum doppel_status word_diff(const struct diff_words *a, const struct diff_words *b, uint32_t most,
                             struct word_runs *out);

/* The difference for a report: a list of ["=" or "-" or "+", text] and, of what is left out, ["…",
 * words].
 * @param cut `a` was cut out of a longer text: what it alone has at its ends is left out
 * @return false when too much is different: then it is null */
bool word_diff_to_json(struct doppel_json *json, const char *key, const char *a, const char *b,
                       bool cut);

/* The beginning of a text. */
void word_excerpt_to_json(struct doppel_json *json, const char *key, const char *text);

/* Characters of a text, from 0. */
struct word_range {
    uint64_t start, end;
};

/* What a text says from the first of some passages on, which are marked "≈", in any order; without
 * any its beginning. */
void word_passages_to_json(struct doppel_json *json, const char *key, const char *text,
                           const struct word_range *passages, size_t count);

#endif
