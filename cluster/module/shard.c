/* The codes of a shard. */
#include "cluster/module/shard.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/module/redis.h"
#include "core/order.h"
#include "core/try.h"

enum { FIRST_CODES = 64 };

uint32_t shard_code_bits(const struct node_family_options *options)
{
    return options->index.table == DOPPEL_INDEX_HAMMING ? options->index.bits
                                                        : (uint32_t)node_code_words(options) * 64;
}

enum doppel_status shard_new(struct node *node, const struct node_family_options *options,
                             uint32_t number, struct shard **out, struct doppel_error *error)
{
    struct shard *shard = redis.Alloc(sizeof *shard);
    *shard = (struct shard){
        .options = *options, .number = number, .words = (shard_code_bits(options) + 63) / 64};
    const enum doppel_status status = node_join(node, options, number, &shard->member, error);
    if (status)
        redis.Free(shard);
    else
        *out = shard;
    return status;
}

void shard_free(struct shard *shard)
{
    if (!shard)
        return;
    node_leave(shard->member, shard->payloads, shard->count);
    redis.Free(shard->codes);
    redis.Free(shard->payloads);
    redis.Free(shard);
}

/* Redis ends when it has none. */
static void resize_shard(struct shard *shard, size_t capacity)
{
    shard->codes = redis.Realloc(shard->codes, capacity * shard->words * sizeof *shard->codes);
    shard->payloads = redis.Realloc(shard->payloads, capacity * sizeof *shard->payloads);
    shard->capacity = capacity;
}

static void reserve_codes(struct shard *shard, size_t count)
{
    if (shard->count + count <= shard->capacity)
        return;
    size_t capacity = shard->capacity + shard->capacity / 4;
    capacity = capacity < FIRST_CODES ? FIRST_CODES : capacity;
    resize_shard(shard, capacity < shard->count + count ? shard->count + count : capacity);
}

/* What is removed from a full node makes room. */
static void give_back_codes(struct shard *shard)
{
    const size_t kept = shard->count < FIRST_CODES ? FIRST_CODES : shard->count;
    if (shard->capacity / 2 > kept)
        resize_shard(shard, kept + kept / 4);
}

enum doppel_status shard_add(struct shard *shard, const uint64_t *codes, const uint64_t *payloads,
                             size_t count, struct doppel_error *error)
{
    const enum doppel_status status = node_add(shard->member, codes, payloads, count, error);
    if (status || !count)
        return status;
    reserve_codes(shard, count);
    memcpy(shard->codes + shard->count * shard->words, codes, count * shard->words * sizeof *codes);
    memcpy(shard->payloads + shard->count, payloads, count * sizeof *payloads);
    shard->count += count;
    return DOPPEL_OK;
}

static bool is_among_payloads(const uint64_t *sorted, size_t count, uint64_t payload)
{
    return payload >= sorted[0] && payload <= sorted[count - 1] &&
           bsearch(&payload, sorted, count, sizeof *sorted, compare_u64);
}

enum doppel_status shard_remove(struct shard *shard, uint64_t *payloads, size_t count,
                                size_t *out_removed, struct doppel_error *error)
{
    size_t kept = 0;
    *out_removed = 0;
    if (!count || !shard->count)
        return DOPPEL_OK;
    qsort(payloads, count, sizeof *payloads, compare_u64);
    for (; kept < shard->count; kept++)
        if (is_among_payloads(payloads, count, shard->payloads[kept]))
            break;
    if (kept == shard->count)
        return DOPPEL_OK;
    const enum doppel_status status = node_remove(shard->member, payloads, count, error);
    if (status)
        return status;
    for (size_t i = kept; i < shard->count; i++) {
        if (is_among_payloads(payloads, count, shard->payloads[i]))
            continue;
        memcpy(shard->codes + kept * shard->words, shard->codes + i * shard->words,
               shard->words * sizeof *shard->codes);
        shard->payloads[kept++] = shard->payloads[i];
    }
    *out_removed = shard->count - kept;
    shard->count = kept;
    give_back_codes(shard);
    return DOPPEL_OK;
}

size_t shard_bytes(const struct shard *shard)
{
    return sizeof *shard + shard->capacity * (shard->words + 1) * sizeof *shard->codes;
}

bool shard_takes_codes(const struct shard *shard, const uint64_t *codes, size_t count)
{
    const struct doppel_index_options *index = &shard->options.index;
    if (index->table != DOPPEL_INDEX_POSTINGS)
        return true;
    for (size_t i = 0; i < count; i++)
        if ((codes[i] & UINT32_MAX) >> index->key_bits || codes[i] >> (32 + NODE_POSITION_BITS))
            return false;
    return true;
}

bool shard_parse_code(const struct shard *shard, const char *bytes, size_t size, uint64_t *out)
{
    const uint32_t bits = shard_code_bits(&shard->options);
    struct doppel_code code = {{0}};
    char text[2 * sizeof code + 1];
    memset(out, 0, shard->words * sizeof *out);
    if (size == bits / 8) {
        memcpy(out, bytes, size);
        return shard_takes_codes(shard, out, 1);
    }
    if (size != bits / 4 || size >= sizeof text)
        return false;
    memcpy(text, bytes, size);
    text[size] = 0;
    if (doppel_code_from_hex(text, bits, &code))
        return false;
    memcpy(out, code.word, shard->words * sizeof *out);
    return shard_takes_codes(shard, out, 1);
}
