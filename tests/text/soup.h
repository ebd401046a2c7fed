/* Texts that tests make: strings, code points, and soups of what is hard to normalise. */
#ifndef DOPPEL_TESTS_SOUP_H
#define DOPPEL_TESTS_SOUP_H

#include <doppel/text.h>

struct soup {
    char *bytes; /* malloc'd */
    size_t size, room;
};

void soup_add(struct soup *soup, const void *bytes, size_t size);
void soup_add_string(struct soup *soup, const char *string);
void soup_add_point(struct soup *soup, uint32_t point);

/* One of the hard ones, mostly; or bad bytes. */
void soup_add_any(struct soup *soup);

/* The same numbers on every run, below `limit`. */
uint32_t soup_random(uint32_t limit);

enum { SOUP_OPTIONS = 16 };

/* The defaults for 0; each of the four bits turns one about. */
struct doppel_text_options soup_options(unsigned bits);

#endif
