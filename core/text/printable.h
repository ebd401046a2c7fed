/* What is shown to people: UTF-8 checked, control characters made visible; times as clocks. */
#ifndef DOPPEL_CORE_TEXT_PRINTABLE_H
#define DOPPEL_CORE_TEXT_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doppel/core.h>

/**
 * The length of the UTF-8 sequence at `text`, which ends in NUL: 1 to 4; 0 when it is not UTF-8
 * (overlong, surrogates and beyond U+10FFFF included).
 *
 * @param out_point the code point; may be NULL
 */
size_t utf8_decode(const char *text, uint32_t *out_point);

/* "picture", "text", "recording", "video" or "other file"; static storage. */
const char *kind_noun(enum doppel_kind kind);

/* Whether all of `text` is UTF-8. */
bool utf8_valid(const char *text);

/* Copy with each byte that is not UTF-8 made U+FFFD; given (free). NULL without memory. */
char *utf8_repaired(const char *text);

/* As a part of an external id: the same, its end where it is long, control characters made '?';
 * given (free). NULL without memory */
char *name_for_id(const char *name);

/* Control characters as \n, \t, \x1b, U+202E and its like as \u202e; with `bytes_too`, bytes that
 * are not UTF-8 as \xff (a terminal would do who knows what). A path stays on one line. */
void print_printable(FILE *stream, const char *text, bool bytes_too);

/* The same into memory; given (free). NULL without memory. */
char *printable(const char *text, bool bytes_too);

/* Columns on a terminal. */
size_t display_width(const char *text);

/* "1:02.35", "1:02:03.35"; with 0 to 2 decimals. `size` is at least 32. */
void human_clock(double seconds, int decimals, char *out, size_t size);

#endif
