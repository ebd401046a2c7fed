/* Reading a text: from bytes to plain text, through the normaliser, into what is wanted. */
#include "text/text_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "text/sketch.h"

struct doppel_text {
    struct doppel_text_options options;
    struct normaliser *normaliser;
    struct passages *passages; /* made when they are first wanted */
    struct digest_stream *digest;
    struct sketcher *sketcher;
    struct plain_text utf8, plain, normalised;
    enum doppel_text_format reading; /* of the last text */
};

static enum doppel_status check_options_text_options(const struct doppel_text_options *options,
                                                     struct doppel_error *error)
{
    if (options->shingle < 1 || options->shingle > DOPPEL_TEXT_MAX_SHINGLE)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a shingle of %u, but 1 to %d can be",
                           options->shingle, DOPPEL_TEXT_MAX_SHINGLE);
    if (options->lanes != 128 && options->lanes != 256)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%u lanes, but only 128 or 256 can be",
                           options->lanes);
    if ((unsigned)options->unit > DOPPEL_TEXT_BY_SCRIPT ||
        (unsigned)options->format > DOPPEL_TEXT_AUTO)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such unit or format of a text");
    return DOPPEL_OK;
}

enum doppel_status doppel_text_new(const struct doppel_text_options *options,
                                   struct doppel_text **out, struct doppel_error *error)
{
    struct doppel_text_options defaults = doppel_text_options_default();
    options = options ? options : &defaults;
    enum doppel_status status = check_options_text_options(options, error);
    if (status)
        return status;
    struct doppel_text *text = calloc(1, sizeof *text);
    if (!text)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read texts");
    text->options = *options;
    text->digest = digest_stream_new();
    text->sketcher = sketcher_new();
    status = normaliser_new(options, &text->normaliser, error);
    if (!status && (!text->digest || !text->sketcher))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read texts");
    if (status)
        doppel_text_free(text);
    else
        *out = text;
    return status;
}

void doppel_text_free(struct doppel_text *text)
{
    if (!text)
        return;
    normaliser_free(text->normaliser);
    passages_free(text->passages);
    digest_stream_free(text->digest);
    sketcher_free(text->sketcher);
    free(text->utf8.bytes);
    free(text->plain.bytes);
    free(text->normalised.bytes);
    free(text);
}

enum doppel_status doppel_text_plain(struct doppel_text *text, const void *bytes, size_t size,
                                     const char **out, size_t *out_size, struct doppel_error *error)
{
    enum doppel_text_format format = text->options.format;
    enum doppel_status status = DOPPEL_OK;
    if (is_utf16(bytes, size)) {
        text->utf8.size = 0;
        status = utf16_to_text(bytes, size, &text->utf8, error);
        bytes = text->utf8.bytes;
        size = text->utf8.size;
    }
    if (status)
        return status;
    if (format == DOPPEL_TEXT_AUTO)
        format = looks_like_html(bytes, size) ? DOPPEL_TEXT_HTML : DOPPEL_TEXT_PLAIN;
    text->reading = format;
    text->plain.size = 0;
    if (format == DOPPEL_TEXT_HTML)
        status = html_to_text(bytes, size, &text->plain, error);
    else if (format == DOPPEL_TEXT_MARKDOWN)
        status = markdown_to_text(bytes, size, &text->plain, error);
    if (status)
        return status;
    *out = format == DOPPEL_TEXT_PLAIN ? bytes : text->plain.bytes;
    *out_size = format == DOPPEL_TEXT_PLAIN ? size : text->plain.size;
    return DOPPEL_OK;
}

/* The normalised text is the blocks without the space after the last word of all. */
static void add_digest(struct digest_stream *digest, const struct text_block *block, bool first)
{
    if (!first)
        digest_stream_add(digest, " ", 1);
    digest_stream_add(digest, block->bytes, block->size - 1);
}

static enum doppel_status read_blocks(struct doppel_text *text, unsigned want,
                                      struct doppel_error *error)
{
    struct text_block block;
    bool first = true;
    while (normaliser_next(text->normaliser, &block)) {
        if (!block.words)
            continue;
        if (want & DOPPEL_TEXT_DIGEST)
            add_digest(text->digest, &block, first);
        first = false;
        enum doppel_status status = sketcher_add(text->sketcher, &block, error);
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

static bool too_short(const struct doppel_text_options *options,
                      const struct doppel_text_result *result)
{
    uint64_t units = options->unit == DOPPEL_TEXT_CHARACTERS ? result->characters : result->words;
    return result->words < options->min_words || units < options->shingle;
}

static enum doppel_status read_passages(struct doppel_text *text, const void *bytes, size_t size,
                                        struct doppel_text_result *out, struct doppel_error *error)
{
    enum doppel_status status = text->passages ? DOPPEL_OK : passages_new(&text->passages, error);
    return status ? status
                  : passages_read(text->passages, text->normaliser, bytes, size, out, error);
}

enum doppel_status doppel_text_read(struct doppel_text *text, const void *bytes, size_t size,
                                    unsigned want, struct doppel_text_result *out,
                                    struct doppel_error *error)
{
    const char *plain;
    enum doppel_status status = doppel_text_plain(text, bytes, size, &plain, &size, error);
    if (status)
        return status;
    struct doppel_text_result result = {.reading = text->reading};
    normaliser_begin(text->normaliser, plain, size);
    sketcher_begin(text->sketcher, &text->options, want);
    digest_stream_begin(text->digest);
    status = read_blocks(text, want, error);
    if (status)
        return status;
    result.bad_bytes = normaliser_bad_bytes(text->normaliser);
    sketcher_end(text->sketcher, &result);
    result.too_short = too_short(&text->options, &result);
    result.looks_like_ocr = (want & DOPPEL_TEXT_LOOKS) && doppel_text_looks_like_ocr(plain, size);
    if (want & DOPPEL_TEXT_DIGEST)
        result.digest = digest_stream_get(text->digest);
    if (want & DOPPEL_TEXT_PASSAGES)
        status = read_passages(text, plain, size, &result, error);
    if (!status)
        *out = result;
    return status;
}

const struct doppel_text_options *text_options(const struct doppel_text *text)
{
    return &text->options;
}

enum doppel_status doppel_text_normalise(struct doppel_text *text, const void *bytes, size_t size,
                                         const char **out, size_t *out_size,
                                         struct doppel_error *error)
{
    const char *plain;
    enum doppel_status status = doppel_text_plain(text, bytes, size, &plain, &size, error);
    struct text_block block;
    text->normalised.size = 0;
    if (!status)
        normaliser_begin(text->normaliser, plain, size);
    while (!status && normaliser_next(text->normaliser, &block))
        if (!plain_text_append(&text->normalised, block.bytes, block.size))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text of %zu bytes", size);
    if (status)
        return status;
    *out = text->normalised.bytes ? text->normalised.bytes : "";
    *out_size = text->normalised.size ? text->normalised.size - 1 : 0;
    return DOPPEL_OK;
}
