/* A text file to a fingerprint, and to what is kept of it beside. */
#include "worker/fingerprint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/try.h"

/* Shingles, and places of words, take more memory than the text: of those beyond this share of what
 * a worker may have, none are reported. Places beyond PLACES_MAX_BYTES are not sent. */
enum { LONG_SHARE = 8, PLACES_MAX_BYTES = 48 << 20 };

/* The file is mapped, not copied: memory does not bound how long a plain text may be. A file that
 * is cut short meanwhile ends the worker, which costs that file alone. */
struct worker_mapping {
    const char *bytes;
    size_t size;
};

static enum doppel_status map_file_worker_limits(const struct worker_limits *limits, int fd,
                                                 struct worker_mapping *out,
                                                 struct doppel_error *error)
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size < 0)
        return doppel_fail(error, DOPPEL_E_IO, "cannot be read");
    size_t size = (size_t)status.st_size;
    if (size == 0)
        return doppel_fail(error, DOPPEL_E_EMPTY, "the file is empty");
    if (limits->max_bytes && size > limits->max_bytes)
        return doppel_fail(error, DOPPEL_E_LIMIT,
                           "has %zu bytes, over the limit of %llu (--max-bytes)", size,
                           (unsigned long long)limits->max_bytes);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no room to map %zu bytes", size);
    (void)madvise(bytes, size, MADV_SEQUENTIAL);
    *out = (struct worker_mapping){bytes, size};
    return DOPPEL_OK;
}

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
    if (order->scheme == DOPPEL_SCHEME_WINNOW32 && result->key_count == 0)
        return doppel_fail(error, DOPPEL_E_FLAT,
                           "has %llu words, too few to share a passage of any length",
                           (unsigned long long)result->words);
    return DOPPEL_OK;
}

static enum doppel_status sketch_text(struct workshop *workshop,
                                      const struct worker_mapping *mapping,
                                      struct doppel_outcome *out)
{
    struct doppel_datasketch *sketch;
    uint64_t values[DOPPEL_DATASKETCH_VALUES];
    enum doppel_status status =
        doppel_datasketch_new(DOPPEL_DATASKETCH_VALUES, 1, &sketch, &out->error);
    if (status)
        return status;
    status = doppel_datasketch_text(sketch, workshop->text, mapping->bytes, mapping->size, values,
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

static enum doppel_status read_mapped(struct workshop *workshop,
                                      const struct worker_mapping *mapping,
                                      const struct doppel_order *order, struct doppel_outcome *out)
{
    struct doppel_text_result result;
    struct doppel_text_options options = options_of_order(order);
    enum doppel_status status;
    TRY(want_workspace(workshop, &options, &out->error));
    if (order->scheme == DOPPEL_SCHEME_DATASKETCH)
        TRY(sketch_text(workshop, mapping, out));
    TRY(doppel_text_read(workshop->text, mapping->bytes, mapping->size,
                         wants_of(workshop, order, mapping->size), &result, &out->error));
    TRY(check_keys(order, &result, &out->error));
    if (order->scheme != DOPPEL_SCHEME_DATASKETCH)
        TRY(doppel_text_fingerprint(order->scheme, &options, &result, &out->fingerprint,
                                    &out->error));
    bool places = order->text_places || order->scheme == DOPPEL_SCHEME_WINNOW32;
    if (!places || doppel_text_attachment_size(&result) > PLACES_MAX_BYTES)
        result.places = NULL;
    TRY(attach_text_result(&result, out));
done:
    return status;
}

enum doppel_status fingerprint_text(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out)
{
    struct worker_mapping mapping = {0};
    enum doppel_status status =
        map_file_worker_limits(&workshop->limits, fd, &mapping, &out->error);
    if (status)
        return status;
    status = read_mapped(workshop, &mapping, order, out);
    munmap((void *)mapping.bytes, mapping.size);
    out->kind = DOPPEL_KIND_TEXT;
    return status;
}
