/* A record of the log: codes and payloads, payloads to be removed, an item with its postings, or
 * the payloads of items whose postings the owner of the index has.
 *
 * 1 byte kind, 1 byte 0, 2 bytes a code, 4 bytes count; the arrays; 8 bytes checksum (the first
 * half of the XXH3-128 of all before it). Little-endian. */
#include "store/index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

enum { HEAD_BYTES = 8, SUM_BYTES = 8, ITEM_BYTES = 12, POSTING_BYTES = 8 };

void record_buffer_free(struct record_buffer *buffer)
{
    free(buffer->bytes);
    free(buffer->words);
    *buffer = (struct record_buffer){0};
}

size_t words_of_code(uint32_t code_bytes)
{
    return (code_bytes + 7) / 8;
}

uint32_t bytes_of_code(const struct doppel_index_options *options)
{
    switch (options->table) {
    case DOPPEL_INDEX_BANDS:
        return options->lanes * 2;
    case DOPPEL_INDEX_VECTORS: /* two floats a word */
        return (options->bits + 63) / 64 * 8;
    default:
        return options->bits / 8;
    }
}

static bool grow(void **memory, size_t *capacity, size_t wanted, size_t unit)
{
    size_t bytes;
    if (wanted <= *capacity)
        return true;
    if (!size_multiply(wanted, unit, &bytes))
        return false;
    void *grown = realloc(*memory, bytes);
    if (!grown)
        return false;
    *memory = grown;
    *capacity = wanted;
    return true;
}

/* Bytes of the arrays; counts are 32 bits and codes at most 64 KiB, so that nothing overflows. */
static uint64_t body_bytes(enum record_kind kind, uint32_t code_bytes, uint32_t count)
{
    switch (kind) {
    case RECORD_INSERT:
        return (uint64_t)count * (code_bytes + 8u);
    case RECORD_REMOVE:
    case RECORD_NAMED:
        return (uint64_t)count * 8;
    case RECORD_ITEM:
        return ITEM_BYTES + (uint64_t)count * POSTING_BYTES;
    }
    return 0;
}

static void put_sum(uint8_t *bytes, size_t size)
{
    struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    memcpy(bytes + size, digest.bytes, SUM_BYTES);
}

static bool sum_is_right(const uint8_t *bytes, size_t size)
{
    struct doppel_digest digest = doppel_digest_bytes(bytes, size);
    return memcmp(bytes + size, digest.bytes, SUM_BYTES) == 0;
}

/* ---- writing ---- */

static uint8_t *put_words(uint8_t *out, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++, out += 8)
        put_u64(out, words[i]);
    return out;
}

/* 32-bit codes are the low halves of their words. */
static uint8_t *put_codes(uint8_t *out, const struct record *record)
{
    if (record->code_bytes != 4)
        return put_words(out, record->codes, record->count * words_of_code(record->code_bytes));
    for (uint32_t i = 0; i < record->count; i++, out += 4)
        put_u32(out, (uint32_t)record->codes[i]);
    return out;
}

static void put_item(uint8_t *out, const struct record *record)
{
    put_u64(out, record->payloads[0]);
    put_u32(out + 8, record->length);
    out += ITEM_BYTES;
    for (uint32_t i = 0; i < record->count; i++, out += POSTING_BYTES) {
        put_u32(out, record->postings[i].key);
        put_u32(out + 4, record->postings[i].position);
    }
}

bool record_encode(const struct record *record, struct record_buffer *buffer, size_t *out_size)
{
    uint64_t body = body_bytes(record->kind, record->code_bytes, record->count);
    size_t size = HEAD_BYTES + body;
    if (!grow((void **)&buffer->bytes, &buffer->capacity, size + SUM_BYTES, 1))
        return false;
    uint8_t *out = buffer->bytes;
    out[0] = (uint8_t)record->kind;
    out[1] = 0;
    put_u16(out + 2, (uint16_t)record->code_bytes);
    put_u32(out + 4, record->count);
    out += HEAD_BYTES;
    if (record->kind == RECORD_INSERT)
        out = put_codes(out, record);
    if (record->kind == RECORD_ITEM)
        put_item(out, record);
    else
        put_words(out, record->payloads, record->count);
    put_sum(buffer->bytes, size);
    *out_size = size + SUM_BYTES;
    return true;
}

/* ---- reading ---- */

static const uint8_t *get_words(const uint8_t *in, uint64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++, in += 8)
        out[i] = get_u64(in);
    return in;
}

static const uint8_t *get_codes(const uint8_t *in, const struct record *record, uint64_t *out)
{
    if (record->code_bytes != 4)
        return get_words(in, out, record->count * words_of_code(record->code_bytes));
    for (uint32_t i = 0; i < record->count; i++, in += 4)
        out[i] = get_u32(in);
    return in;
}

static void get_item(const uint8_t *in, struct record *record, uint64_t *words)
{
    struct doppel_index_posting *postings = (struct doppel_index_posting *)(words + 1);
    words[0] = get_u64(in);
    record->payloads = words;
    record->length = get_u32(in + 8);
    in += ITEM_BYTES;
    for (uint32_t i = 0; i < record->count; i++, in += POSTING_BYTES)
        postings[i] = (struct doppel_index_posting){get_u32(in), get_u32(in + 4)};
    record->postings = postings;
}

static void get_codes_and_payloads(const uint8_t *in, struct record *record, uint64_t *words)
{
    size_t code_count = 0;
    if (record->kind == RECORD_INSERT) {
        code_count = record->count * words_of_code(record->code_bytes);
        in = get_codes(in, record, words);
        record->codes = words;
    }
    record->payloads = words + code_count;
    get_words(in, words + code_count, record->count);
}

enum doppel_status record_decode(const uint8_t *data, size_t size, struct record_buffer *buffer,
                                 struct record *out)
{
    if (size < HEAD_BYTES + SUM_BYTES || !sum_is_right(data, size - SUM_BYTES))
        return DOPPEL_E_CORRUPT;
    struct record record = {.kind = (enum record_kind)data[0],
                            .code_bytes = get_u16(data + 2),
                            .count = get_u32(data + 4)};
    if (record.kind < RECORD_INSERT || record.kind > RECORD_NAMED || data[1] ||
        body_bytes(record.kind, record.code_bytes, record.count) != size - HEAD_BYTES - SUM_BYTES)
        return DOPPEL_E_CORRUPT;
    size_t words = (size_t)record.count * (words_of_code(record.code_bytes) + 1) + 2;
    if (!grow((void **)&buffer->words, &buffer->word_capacity, words, sizeof *buffer->words))
        return DOPPEL_E_MEMORY;
    if (record.kind == RECORD_ITEM)
        get_item(data + HEAD_BYTES, &record, buffer->words);
    else
        get_codes_and_payloads(data + HEAD_BYTES, &record, buffer->words);
    *out = record;
    return DOPPEL_OK;
}
