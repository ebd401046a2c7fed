/* A text file to a fingerprint, and to what is kept of it beside. */
#include "worker/worker_text.h"

#include <stdlib.h>

#include <doppel/image_pages.h>

#include "core/try.h"

/* Shingles, and places of words, take more memory than the text: of those beyond this share of what
 * a worker may have, none are reported. Places beyond PLACES_MAX_BYTES are not sent. */
enum { LONG_SHARE = 8, PLACES_MAX_BYTES = 48 << 20 };

static struct doppel_text_options options_of_order(const struct doppel_order *order)
{
    struct doppel_text_options options = doppel_text_options_default();
    options.format = (enum doppel_text_format)order->text_format;
    options.unit = (enum doppel_text_unit)order->text_unit;
    options.shingle = order->text_shingle;
    options.nfkc = order->text_nfkc;
    options.fold_case = order->text_fold_case;
    options.drop_punctuation = order->text_drop_punctuation;
    if (order->scheme == DOPPEL_SCHEME_MINHASH256)
        options.lanes = 256;
    return options;
}

static bool same_options(const struct doppel_text_options *a, const struct doppel_text_options *b)
{
    return a->format == b->format && a->unit == b->unit && a->shingle == b->shingle &&
           a->nfkc == b->nfkc && a->fold_case == b->fold_case &&
           a->drop_punctuation == b->drop_punctuation && a->lanes == b->lanes;
}

/* The workspace for these options: that of the last text, as a rule. */
static enum doppel_status want_workspace(struct workshop *workshop,
                                         const struct doppel_text_options *options,
                                         struct doppel_error *error)
{
    if (workshop->text && same_options(options, &workshop->text_options))
        return DOPPEL_OK;
    doppel_text_free(workshop->text);
    workshop->text = NULL;
    workshop->text_options = *options;
    return doppel_text_new(options, &workshop->text, error);
}

static bool is_long(const struct workshop *workshop, size_t size)
{
    uint64_t memory = workshop->limits.max_memory;
    return memory && size > memory / LONG_SHARE;
}

static unsigned wants_of(const struct workshop *workshop, const struct doppel_order *order,
                         size_t size)
{
    unsigned want = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SIMHASH | DOPPEL_TEXT_LOOKS;
    if (order->scheme == DOPPEL_SCHEME_MINHASH128 || order->scheme == DOPPEL_SCHEME_MINHASH256)
        want |= DOPPEL_TEXT_MINHASH;
    if (order->scheme == DOPPEL_SCHEME_WINNOW32)
        want |= DOPPEL_TEXT_PASSAGES;
    else if (!is_long(workshop, size))
        want |= DOPPEL_TEXT_SHINGLES | (order->text_places ? DOPPEL_TEXT_PASSAGES : 0);
    return want;
}

/* What cannot be told by passages is no failure of other schemes. */
static enum doppel_status check_keys(const struct doppel_order *order,
                                     const struct doppel_text_result *result,
                                     struct doppel_error *error)
{
    if (order->scheme == DOPPEL_SCHEME_WINNOW32 && result->key_count == 0 && !result->drawn_size)
        return doppel_fail(error, DOPPEL_E_FLAT,
                           "has %llu words, too few to share a passage of any length",
                           (unsigned long long)result->words);
    return DOPPEL_OK;
}

static enum doppel_status sketch_text(struct workshop *workshop, const struct worker_text *source,
                                      struct doppel_outcome *out)
{
    struct doppel_datasketch *sketch;
    uint64_t values[DOPPEL_DATASKETCH_VALUES];
    enum doppel_status status =
        doppel_datasketch_new(DOPPEL_DATASKETCH_VALUES, 1, &sketch, &out->error);
    if (status)
        return status;
    status = doppel_datasketch_text(sketch, workshop->text, source->bytes, source->size, values,
                                    &out->error);
    doppel_datasketch_free(sketch);
    return status ? status
                  : doppel_datasketch_fingerprint(&workshop->text_options, values,
                                                  &out->fingerprint, &out->error);
}

static enum doppel_status attach_text_result(const struct doppel_text_result *result,
                                             struct doppel_outcome *out)
{
    size_t size = doppel_text_attachment_size(result);
    out->attachment = malloc(size);
    if (!out->attachment)
        return doppel_fail(&out->error, DOPPEL_E_MEMORY, "no memory for %zu shingles",
                           result->shingle_count);
    out->attachment_size = size;
    doppel_text_attachment_write(result, out->attachment);
    return DOPPEL_OK;
}

/* @param out given (free); NULL: it has none */
static enum doppel_status write_drawn_pages(const struct document *document, uint8_t **out,
                                            size_t *out_size, struct doppel_error *error)
{
    if (!document->drawn_count)
        return DOPPEL_OK;
    size_t size = doppel_pages_size(document->drawn, document->drawn_count);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu pages",
                           document->drawn_count);
    doppel_pages_write(document->drawn, document->drawn_count, bytes);
    *out = bytes;
    *out_size = size;
    return DOPPEL_OK;
}

static enum doppel_status read_text_source(struct workshop *workshop,
                                           const struct worker_text *source,
                                           const struct doppel_order *order,
                                           struct doppel_outcome *out)
{
    struct doppel_text_result result;
    struct doppel_text_options options = options_of_order(order);
    uint32_t *pages = NULL;
    uint8_t *drawn = NULL;
    enum doppel_status status;
    options.format = source->format;
    TRY(want_workspace(workshop, &options, &out->error));
    if (order->scheme == DOPPEL_SCHEME_DATASKETCH && source->document.drawn_count)
        TRY(doppel_fail(&out->error, DOPPEL_E_EMPTY, "the document holds no text"));
    if (order->scheme == DOPPEL_SCHEME_DATASKETCH)
        TRY(sketch_text(workshop, source, out));
    TRY(doppel_text_read(workshop->text, source->bytes, source->size,
                         wants_of(workshop, order, source->size), &result, &out->error));
    TRY(worker_text_pages(source, &pages, &out->error));
    result.pages = pages;
    result.page_count = pages ? source->document.page_count : 0;
    if (source->document.text || source->document.drawn_count)
        result.reading = source->reading;
    TRY(write_drawn_pages(&source->document, &drawn, &result.drawn_size, &out->error));
    result.drawn = drawn;
    TRY(check_keys(order, &result, &out->error));
    if (order->scheme != DOPPEL_SCHEME_DATASKETCH)
        TRY(doppel_text_fingerprint(order->scheme, &options, &result, &out->fingerprint,
                                    &out->error));
    bool places = order->text_places || order->scheme == DOPPEL_SCHEME_WINNOW32;
    if (!places || doppel_text_attachment_size(&result) > PLACES_MAX_BYTES)
        result.places = NULL;
    TRY(attach_text_result(&result, out));
done:
    free(pages);
    free(drawn);
    return status;
}

enum doppel_status fingerprint_text(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out)
{
    struct worker_text source = {0};
    enum doppel_status status = worker_text_open(
        workshop, fd, (enum doppel_text_format)order->text_format, &source, &out->error);
    if (!status)
        status = read_text_source(workshop, &source, order, out);
    worker_text_close(&source);
    out->kind = DOPPEL_KIND_TEXT;
    return status;
}
