/* Blocks of lines to facts, digests and signatures. */
#include "corpus/dedup/sign.h"

#include <stdlib.h>
#include <string.h>

#include "core/held_set.h"
#include "corpus/read/record_text.h"

struct signer {
    const struct dedup *dedup;
    struct parser *parser;
    struct doppel_text *text;
    struct file_text file;
    struct batch *batch;       /* that is being filled */
    struct doppel_error error; /* that ends the run */
};

bool bytes_append(struct bytes *bytes, const void *more, size_t size)
{
    if (bytes->capacity - bytes->count < size) {
        size_t wanted = bytes->capacity ? bytes->capacity : 4096;
        while (wanted - bytes->count < size)
            wanted *= 2;
        char *grown = realloc(bytes->items, wanted);
        if (!grown)
            return false;
        bytes->items = grown;
        bytes->capacity = wanted;
    }
    if (size)
        memcpy(bytes->items + bytes->count, more, size);
    bytes->count += size;
    return true;
}

void batch_free(struct batch *batch)
{
    line_block_free(&batch->block);
    array_free(&batch->records);
    free(batch->strings.items);
    free(batch->lanes.items);
    free(batch->shingles.items);
    *batch = (struct batch){0};
}

enum doppel_status signer_new(const struct dedup *dedup, struct signer **out,
                              struct doppel_error *error)
{
    struct signer *signer = calloc(1, sizeof *signer);
    if (!signer)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    signer->dedup = dedup;
    signer->parser = parser_new(&dedup->options->fields);
    enum doppel_status status = signer->parser
                                    ? doppel_text_new(&dedup->options->text, &signer->text, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    if (status) {
        signer_free(signer);
        return status;
    }
    *out = signer;
    return DOPPEL_OK;
}

void signer_free(struct signer *signer)
{
    if (!signer)
        return;
    parser_free(signer->parser);
    doppel_text_free(signer->text);
    file_text_free(&signer->file);
    free(signer);
}

static bool add_string_batch(struct batch *batch, struct facts *facts, const char *string,
                             uint32_t flag)
{
    if (!string)
        return true;
    facts->flags |= flag;
    return bytes_append(&batch->strings, string, strlen(string) + 1);
}

/* How many shingles it has is known, so that a pair that cannot match is not read again for it. */
static unsigned wanted_of(const struct signer *signer, const struct doppel_corpus_record *record,
                          const struct facts *facts)
{
    const struct doppel_dedup_options *options = signer->dedup->options;
    bool kept = !(facts->flags & FACT_PLAIN) && options->keep_shingles;
    return DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH |
           (kept || options->parts ? DOPPEL_TEXT_SHINGLES : DOPPEL_TEXT_COUNT) |
           (options->looks ? record_looks(record) : 0);
}

/* All of a record that cannot be read again; and where parts are looked for, the lowest of each. */
static bool keep_shingles(struct signer *signer, const struct doppel_text_result *result,
                          struct signed_record *out)
{
    const struct doppel_dedup_options *options = signer->dedup->options;
    struct bytes *shingles = &signer->batch->shingles;
    const bool all = options->keep_shingles && !(out->facts.flags & FACT_PLAIN);
    if (options->parts && !result->too_short)
        out->held =
            (uint32_t)held_set_of(result->shingles, result->shingle_count, DOPPEL_TEXT_HELD_BELOW)
                .count;
    out->facts.flags |= all ? FACT_KEPT : 0;
    out->shingles_at = shingles->count;
    return bytes_append(shingles, result->shingles,
                        (all ? result->shingle_count : out->held) * sizeof *result->shingles);
}

/* @return a failure of this record, or DOPPEL_E_MEMORY */
static enum doppel_status sign_text(struct signer *signer,
                                    const struct doppel_corpus_record *record,
                                    struct signed_record *out, struct doppel_error *error)
{
    const char *bytes;
    size_t size;
    struct doppel_text_result result;
    const struct dedup *dedup = signer->dedup;
    const unsigned want = wanted_of(signer, record, &out->facts);
    enum doppel_status status =
        record_text(record, &dedup->options->fields, reader_file_path(dedup->reader, record->file),
                    dedup->options->files.max_line_bytes, &signer->file, &bytes, &size, error);
    if (!status)
        status = doppel_text_read(signer->text, bytes, size, want, &result, error);
    if (status)
        return status;
    count_looks(&signer->batch->looks, want, &result);
    out->digest = result.digest;
    out->facts.shingles = (uint32_t)result.shingle_count;
    if (result.too_short)
        out->facts.flags |= FACT_TOO_SHORT;
    if (!keep_shingles(signer, &result, out))
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    memcpy(signer->batch->lanes.items + signer->batch->lanes.count, result.lanes,
           dedup->lanes * sizeof *result.lanes);
    return DOPPEL_OK;
}

static bool out_of_memory_signer(struct signer *signer)
{
    doppel_fail(&signer->error, DOPPEL_E_MEMORY, "not enough memory");
    return false;
}

static bool sign_record(void *context, const struct doppel_corpus_record *record)
{
    static const uint16_t no_lanes[DOPPEL_TEXT_MAX_LANES];
    struct signer *signer = context;
    const struct dedup *dedup = signer->dedup;
    struct batch *batch = signer->batch;
    struct signed_record out = {
        .facts = {.place = record->offset,
                  .line = record->line,
                  .strings = batch->strings.count,
                  .size = record->size < UINT32_MAX ? (uint32_t)record->size : UINT32_MAX}};
    if (reader_file_is_plain(dedup->reader, record->file) && out.facts.size < UINT32_MAX)
        out.facts.flags |= FACT_PLAIN;
    else if (reader_file_is_regular(dedup->reader, record->file) && !dedup->options->keep_shingles)
        out.facts.flags |= FACT_AGAIN;
    size_t lanes_bytes = dedup->lanes * sizeof *no_lanes;
    if (!bytes_append(&batch->lanes, no_lanes, lanes_bytes))
        return out_of_memory_signer(signer);
    batch->lanes.count -= lanes_bytes;
    struct doppel_error error = record->error;
    if (!error.status && sign_text(signer, record, &out, &error) == DOPPEL_E_MEMORY) {
        signer->error = error;
        return false;
    }
    batch->lanes.count += lanes_bytes;
    if (record->lacks_text)
        out.facts.flags |= FACT_NO_TEXT;
    out.strings_size = batch->strings.count;
    if (!add_string_batch(batch, &out.facts, record->id, FACT_ID) ||
        !add_string_batch(batch, &out.facts, record->source, FACT_SOURCE) ||
        !add_string_batch(batch, &out.facts, record->date, FACT_DATE) ||
        !add_string_batch(batch, &out.facts, error.status ? error.message : NULL,
                          FACT_UNREADABLE) ||
        !array_push(&batch->records, out))
        return out_of_memory_signer(signer);
    struct signed_record *last = &batch->records.items[batch->records.count - 1];
    last->strings_size = batch->strings.count - last->strings_size;
    return true;
}

enum doppel_status signer_sign(struct signer *signer, struct batch *batch,
                               struct doppel_error *error)
{
    batch->records.count = 0;
    batch->strings.count = batch->lanes.count = batch->shingles.count = 0;
    batch->looks = (struct doppel_text_looks){0};
    signer->batch = batch;
    signer->error.status = DOPPEL_OK;
    parser_block(signer->parser, &batch->block, sign_record, signer);
    if (signer->error.status && error)
        *error = signer->error;
    return signer->error.status;
}
