/* datasketch's signature of a text: of its shingles, as they are written. */
#include <doppel/text.h>

#include <stdbool.h>

#include "text/text_internal.h"

enum { VALUES_A_WORD = 2, VALUES_A_CODE = 8, CODE_BITS = 256 };

/* The last shingle's units, words or code points, by where they begin in the normalised text. */
struct shingle_window {
    size_t starts[DOPPEL_TEXT_MAX_SHINGLE];
    size_t count;
};

/* Where the unit that begins at `at` ends. */
static size_t end_of_unit(const char *text, size_t size, size_t at, bool words)
{
    size_t end = at + 1;
    while (end < size && (words ? text[end] != ' ' : ((unsigned char)text[end] & 0xc0) == 0x80))
        end++;
    return end;
}

enum doppel_status doppel_datasketch_text(const struct doppel_datasketch *sketch,
                                          struct doppel_text *text, const void *bytes, size_t size,
                                          uint64_t *values, struct doppel_error *error)
{
    const struct doppel_text_options *options = text_options(text);
    bool words = options->unit != DOPPEL_TEXT_CHARACTERS;
    struct shingle_window window = {0};
    const char *normal;
    enum doppel_status status = doppel_text_normalise(text, bytes, size, &normal, &size, error);
    if (status)
        return status;
    doppel_datasketch_clear(sketch, values);
    for (size_t at = 0, end; at < size; at = end + words) {
        end = end_of_unit(normal, size, at, words);
        window.starts[window.count++ % options->shingle] = at;
        if (window.count < options->shingle)
            continue;
        size_t first = window.starts[window.count % options->shingle];
        doppel_datasketch_update(sketch, normal + first, end - first, values);
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_datasketch_fingerprint(const struct doppel_text_options *options,
                                                 const uint64_t *values,
                                                 struct doppel_fingerprint *out,
                                                 struct doppel_error *error)
{
    struct doppel_scheme scheme = *doppel_scheme_by_id(DOPPEL_SCHEME_DATASKETCH);
    uint32_t count = DOPPEL_DATASKETCH_VALUES / VALUES_A_CODE;
    scheme.version = doppel_text_version(scheme.version, options);
    enum doppel_status status = doppel_fingerprint_make(&scheme, CODE_BITS, count, out, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < count; i++)
        out->positions[i] = i;
    for (uint32_t i = 0; i < DOPPEL_DATASKETCH_VALUES; i++)
        out->codes[i / VALUES_A_CODE].word[i / VALUES_A_WORD % 4] |= (values[i] & UINT32_MAX)
                                                                     << (i % 2 ? 0 : 32);
    return DOPPEL_OK;
}
