/* Linear scans for several queries, block by block. */
#include "index/scan_codes.h"

#include <string.h>

#include "core/scratch.h"

enum {
    BLOCK_BYTES = 16 << 10, /* half of the smallest level-1 cache */
    BLOCK_CODES_MAX = BLOCK_BYTES / sizeof(uint64_t),
    SLACK = 64 /* hits beyond k that are gathered before the k nearest are sorted out */
};

/* Keep k hits when they have become many, and look no farther than the last of them. */
static void prune(struct query *query, size_t k)
{
    hits_keep_nearest(query->hits, k);
    if (query->hits->count == k && query->hits->items[k - 1].distance < query->radius)
        query->radius = query->hits->items[k - 1].distance;
}

/* Scan the codes from `start`, `count` of them, for one query. */
static bool scan_block(const struct scan_codes *codes, scan_kernel *kernel, size_t start,
                       size_t count, struct query *query, size_t k)
{
    size_t words = code_words(codes->bits);
    /* Only the low half of a word counts of 32-bit codes, which are kept with a high half of 0. */
    uint64_t low_half = query->code[0] & UINT32_MAX;
    SCRATCH struct scan_hit found[BLOCK_CODES_MAX];
    size_t n = kernel(codes->groups + start * words, (count + SCAN_GROUP - 1) / SCAN_GROUP,
                      codes->bits == 32 ? &low_half : query->code, query->radius, found);
    for (size_t i = 0; i < n && found[i].position < count; i++) {
        size_t at = start + found[i].position;
        struct doppel_index_hit hit = {.distance = found[i].distance, .query = query->number};
        if (!scan_is_alive(codes, at))
            continue;
        if (codes->segment)
            segment_touch(codes->segment, scan_payload_at(codes, at), sizeof(uint32_t));
        hit.payload = scan_payload(codes, at);
        if (!array_push(query->hits, hit))
            return false;
        if (k && query->hits->count >= 2 * k + SLACK)
            prune(query, k);
    }
    if (k && query->hits->count >= k)
        prune(query, k);
    return true;
}

static bool scan_code_block(const struct scan_codes *codes, struct query *queries, size_t count,
                            size_t k)
{
    size_t words = code_words(codes->bits), block = BLOCK_CODES_MAX / words;
    scan_kernel *kernel = scan_choose(codes->bits);
    for (size_t start = 0; start < codes->count; start += block) {
        size_t codes_left = codes->count - start, n = codes_left < block ? codes_left : block;
        if (codes->segment)
            segment_touch(codes->segment, codes->groups + start * words, n * words * 8);
        for (size_t i = 0; i < count; i++)
            if (!scan_block(codes, kernel, start, n, &queries[i], k))
                return false;
    }
    return true;
}

struct scan_codes scan_codes_share(const struct scan_codes *codes, size_t part, size_t parts)
{
    const size_t groups = (codes->count + SCAN_GROUP - 1) / SCAN_GROUP;
    const size_t first = groups * part / parts * SCAN_GROUP;
    const size_t end = groups * (part + 1) / parts * SCAN_GROUP;
    struct scan_codes share = *codes;
    share.groups = codes->groups + scan_place(first, code_words(codes->bits));
    share.payloads = scan_payload_at(codes, first);
    share.deaths = codes->deaths ? codes->deaths + first : NULL;
    share.count = (end < codes->count ? end : codes->count) - first;
    return share;
}

static const struct scan_block *block_of_code(const struct scan_codes *codes, size_t i)
{
    return &codes->blocks[i / SCAN_BLOCK_RECORDS];
}

/* All but what lies in blocks is checked. */
static void get_checked(const struct scan_codes *codes, size_t i, uint64_t *out_code,
                        uint64_t *out_payload)
{
    const size_t words = codes->blocks ? 1 : code_words(codes->bits);
    const uint64_t *at = codes->groups + scan_place(i, words);
    for (size_t word = 0; word < words; word++) {
        if (codes->segment)
            segment_touch(codes->segment, at + word * SCAN_GROUP, sizeof *at);
        out_code[word] = at[word * SCAN_GROUP];
    }
    if (codes->blocks) {
        const struct scan_record *record =
            &block_of_code(codes, i)->records[i % SCAN_BLOCK_RECORDS];
        memcpy(out_code + 1, record->words, sizeof record->words);
        *out_payload = record->payload;
        return;
    }
    if (codes->segment)
        segment_touch(codes->segment, scan_payload_at(codes, i), sizeof(uint32_t));
    *out_payload = scan_payload(codes, i);
}

void scan_get(const struct scan_codes *codes, size_t i, uint64_t *out_code, uint64_t *out_payload)
{
    const struct scan_block *block = codes->blocks ? block_of_code(codes, i) : NULL;
    if (block && codes->segment && scan_block_sum(block) != block->sum)
        segment_found_damaged(codes->segment);
    get_checked(codes, i, out_code, out_payload);
}

void scan_read(const struct scan_codes *codes, size_t i, uint64_t *out_code, uint64_t *out_payload)
{
    if (codes->blocks && codes->segment)
        segment_touch(codes->segment, block_of_code(codes, i), sizeof *codes->blocks);
    get_checked(codes, i, out_code, out_payload);
}

/* Codes whose words lie apart are made to be scanned by word 0, not searched: one by one. */
static bool scan_records(const struct scan_codes *codes, struct query *queries, size_t count)
{
    for (size_t at = 0; at < codes->count; at++) {
        uint64_t code[4], payload;
        scan_read(codes, at, code, &payload);
        for (size_t i = 0; i < count; i++) {
            struct doppel_index_hit hit = {.payload = payload, .query = queries[i].number};
            for (size_t word = 0; word < 4; word++)
                hit.distance += (uint32_t)__builtin_popcountll(code[word] ^ queries[i].code[word]);
            if (hit.distance <= queries[i].radius && !array_push(queries[i].hits, hit))
                return false;
        }
    }
    return true;
}

bool scan_within(const struct scan_codes *codes, struct query *queries, size_t count)
{
    return codes->blocks ? scan_records(codes, queries, count)
                         : scan_code_block(codes, queries, count, 0);
}

bool scan_nearest(const struct scan_codes *codes, struct query *queries, size_t count, size_t k)
{
    if (codes->blocks ? !scan_records(codes, queries, count)
                      : !scan_code_block(codes, queries, count, k))
        return false;
    for (size_t i = 0; i < count; i++)
        hits_keep_nearest(queries[i].hits, k);
    return true;
}
