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

#endif
