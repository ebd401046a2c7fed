/* The steps that change a text. */
#ifndef DOPPEL_EMBED_TOKENIZER_NORMALIZE_H
#define DOPPEL_EMBED_TOKENIZER_NORMALIZE_H

#include "embed/tokenizer/step.h"

/* What a thread works with; zero-initialised it is empty. */
struct normalizing {
    struct embed_text from, to;
    int32_t *points; /* given */
    size_t point_capacity;
    const char *charsmap; /* borrowed */
    size_t charsmap_size;
    bool failed; /* no memory */
};

void normalizing_free(struct normalizing *work);

/* Take the steps, up to the end. @param out borrowed until the next call; UTF-8. */
void normalize(struct normalizing *work, const struct text_step *steps, const char *text,
               size_t size, const char **out, size_t *out_size);

/* BertNormalizer alone, appended to `out`. */
void normalize_bert(uint32_t flags, const char *text, size_t size, struct embed_text *out);

/* What sentencepiece's map has for the shortest beginning of a text that it knows; NULL: nothing.
 */
const char *charsmap_find(const char *map, size_t map_size, const char *text, size_t size,
                          size_t *out_size);

#endif
