/* The normal form by its definition: utf8proc on the whole text, then words by category. Slow. */
#ifndef DOPPEL_TESTS_NORMAL_FORM_H
#define DOPPEL_TESTS_NORMAL_FORM_H

#include <doppel/text.h>

struct normal_form {
    char *bytes; /* words with single spaces between; malloc'd */
    size_t size, words;
    uint64_t bad_bytes;
};

/* Bytes of the first code point, or of what U+FFFD stands for. */
size_t code_point_size(const void *bytes, size_t size);

struct normal_form normal_form(const struct doppel_text_options *options, const void *bytes,
                               size_t size);

#endif
