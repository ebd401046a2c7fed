/* What is kept of a text beside its fingerprint: to bytes and back, with nothing believed. */
#include <doppel/text.h>

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

/* Words, characters, bad bytes and shingles in all, u64 each, the content digest, and how many
 * shingles follow, u32, then 4 bytes 0. */
enum { HEADER_BYTES = 4 * 8 + 16 + 8, SHINGLE_BYTES = 4 };

static size_t kept_shingles(const struct doppel_text_result *result)
{
    size_t most = DOPPEL_TEXT_KEPT_SHINGLES;
    return result->shingle_count < most ? result->shingle_count : most;
}

size_t doppel_text_attachment_size(const struct doppel_text_result *result)
{
    return HEADER_BYTES + kept_shingles(result) * SHINGLE_BYTES;
}

void doppel_text_attachment_write(const struct doppel_text_result *result, uint8_t *out)
{
    size_t kept = kept_shingles(result);
    put_u64(out, result->words);
    put_u64(out + 8, result->characters);
    put_u64(out + 16, result->bad_bytes);
    put_u64(out + 24, result->shingle_count);
    memcpy(out + 32, result->digest.bytes, sizeof result->digest.bytes);
    put_u32(out + 48, (uint32_t)kept);
    put_u32(out + 52, 0);
    for (size_t i = 0; i < kept; i++)
        put_u32(out + HEADER_BYTES + i * SHINGLE_BYTES, result->shingles[i]);
}

/* The shingles ascend; given (free). */
static enum doppel_status read_shingles(const uint8_t *data, size_t count, uint32_t **out)
{
    uint32_t *shingles = malloc((count ? count : 1) * sizeof *shingles);
    if (!shingles)
        return DOPPEL_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        shingles[i] = get_u32(data + i * SHINGLE_BYTES);
        if (i && shingles[i] <= shingles[i - 1]) {
            free(shingles);
            return DOPPEL_E_CORRUPT;
        }
    }
    *out = shingles;
    return DOPPEL_OK;
}

enum doppel_status doppel_text_attachment_read(const uint8_t *data, size_t size,
                                               struct doppel_text_extra *out)
{
    if (!data || size < HEADER_BYTES || get_u32(data + 52) != 0)
        return DOPPEL_E_CORRUPT;
    struct doppel_text_extra extra = {
        .words = get_u64(data),
        .characters = get_u64(data + 8),
        .bad_bytes = get_u64(data + 16),
        .shingle_total = get_u64(data + 24),
        .shingle_count = get_u32(data + 48),
    };
    if (extra.shingle_count > DOPPEL_TEXT_KEPT_SHINGLES ||
        extra.shingle_count > extra.shingle_total ||
        size != HEADER_BYTES + extra.shingle_count * SHINGLE_BYTES)
        return DOPPEL_E_CORRUPT;
    memcpy(extra.content.bytes, data + 32, sizeof extra.content.bytes);
    enum doppel_status status =
        read_shingles(data + HEADER_BYTES, extra.shingle_count, &extra.shingles);
    if (status)
        return status;
    *out = extra;
    return DOPPEL_OK;
}

void doppel_text_extra_free(struct doppel_text_extra *extra)
{
    free(extra->shingles);
    *extra = (struct doppel_text_extra){0};
}

bool doppel_text_is_short(const struct doppel_text_options *options, uint64_t words,
                          uint64_t characters)
{
    uint64_t units = options->unit == DOPPEL_TEXT_WORDS ? words : characters;
    return words < options->min_words || units < options->shingle;
}
