/* Where a plain text can be cut: what ends before each of its letters. */
#ifndef DOPPEL_TEXT_SENTENCES_H
#define DOPPEL_TEXT_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ends before a letter; the best place to cut is the highest. */
enum cut {
    CUT_MARK, /* nothing: it belongs to the character before it */
    CUT_POINT,
    CUT_SPACE,
    CUT_LINE,
    CUT_SENTENCE,
    CUT_PARAGRAPH
};

/* A walk through letters, which are code points but white space. */
struct letter_walk {
    const uint8_t *bytes;
    size_t size;
    size_t at;          /* of the letter, in bytes; size: the end */
    uint64_t character; /* its number */
    uint32_t point;
    uint32_t weight; /* how many letters it counts as */
    uint64_t recent; /* the last eight letters before it, a byte of each */

    size_t next;           /* byte behind it */
    bool blank, line, gap; /* what white space stands before it */
    uint32_t before, run;  /* the letter before it, and letters since white space */
    uint8_t sentence_by;   /* what ended one before it: enum sentence_mark */
};

/** Go to the first letter from a byte on. @return false: there is none */
bool letters_begin(struct letter_walk *walk, const char *text, size_t size, size_t at,
                   uint64_t character);
/** Go to the next letter; at the end `at` is size, and `character` what the text has. */
bool letters_next(struct letter_walk *walk);

/** What ends before the letter of a walk. */
enum cut letters_cut(const struct letter_walk *walk);

#endif
