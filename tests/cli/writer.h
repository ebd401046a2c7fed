/* Texts for the tests: words drawn from a seed. */
#ifndef DOPPEL_TESTS_WRITER_H
#define DOPPEL_TESTS_WRITER_H

#include <stdint.h>

/* `count` words, all of them different but for chance, in lines; the first words of a longer text
 * of the same seed are the same. Given (free). */
char *write_words(uint32_t seed, unsigned count);

/* Every `step`-th word becomes another one. @param text taken, and given back */
char *replace_words(char *text, unsigned step);

/* @param text taken, and given back */
char *in_capitals(char *text);

/* Write it to a file and free it. */
void keep_text(const char *path, char *text);

#endif
