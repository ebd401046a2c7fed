/* The head of an index of bands: the signatures that share a bucket of a band's hash in a chain,
 * from the newest to the oldest. */
#include <stdlib.h>

#include "index/bands/bands_internal.h"
#include "index/head_internal.h"

/* At each growth all are put in again: so few of them. */
enum { LEAST_BUCKET_BITS = 10, GROWTH_BITS = 3 };

/* Entry number: signature × bands + band. */
struct head_bands {
    uint32_t *newest; /* of each bucket, + 1; 0: none */
    uint32_t *older;  /* of each entry, + 1 */
    uint32_t bucket_bits;
    uint32_t codes, capacity; /* signatures that are in the chains, and that there is room for */
};

void head_bands_free(struct head_bands *chains)
{
    if (!chains)
        return;
    free(chains->newest);
    free(chains->older);
    free(chains);
}

uint64_t head_bands_bytes(const struct head *head)
{
    const struct head_bands *chains = head->bands;
    return chains ? (sizeof *chains->newest << chains->bucket_bits) +
                        (uint64_t)chains->capacity * head->options.bands * sizeof *chains->older
                  : 0;
}

static uint32_t *bucket_of_head(const struct head *head, const uint64_t *signature, uint32_t band)
{
    uint64_t hash = band_hash(signature, band, head->options.rows);
    return &head->bands->newest[hash >> (64 - head->bands->bucket_bits)];
}

static const uint64_t *signature_at_head(const struct head *head, uint32_t code)
{
    return head->codes + code * head->words;
}

/* As many buckets as entries, and room for as many signatures as the head has. */
static bool make_room_head(struct head *head)
{
    struct head_bands *chains = head->bands;
    uint32_t bits = chains->bucket_bits ? chains->bucket_bits : LEAST_BUCKET_BITS;
    uint64_t entries = (uint64_t)head->count * head->options.bands;
    if (entries >= UINT32_MAX)
        return false;
    while (UINT64_C(1) << bits < entries)
        bits += GROWTH_BITS;
    if (chains->capacity < head->capacity) {
        if (!head_grow((void **)&chains->older, (size_t)head->capacity * head->options.bands,
                       sizeof *chains->older))
            return false;
        chains->capacity = head->capacity;
    }
    if (bits == chains->bucket_bits)
        return true;
    uint32_t *newest = calloc((size_t)1 << bits, sizeof *newest);
    if (!newest)
        return false;
    free(chains->newest);
    chains->newest = newest;
    chains->bucket_bits = bits;
    chains->codes = 0; /* all are put in again */
    return true;
}

bool head_bands_add(struct head *head)
{
    uint32_t bands = head->options.bands;
    if (!head->bands && (head->bands = calloc(1, sizeof *head->bands)) == NULL)
        return false;
    if (!make_room_head(head))
        return false;
    for (; head->bands->codes < head->count; head->bands->codes++)
        for (uint32_t band = 0; band < bands; band++) {
            uint32_t code = head->bands->codes, entry = code * bands + band;
            uint32_t *newest = bucket_of_head(head, signature_at_head(head, code), band);
            /* There is room for all of the head. */
            head->bands->older[entry] = *newest; // NOLINT(clang-analyzer-core.*)
            *newest = entry + 1;
        }
    return true;
}

/* ---- searching ---- */

static uint32_t lanes_that_differ(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t lanes = 0;
    for (size_t i = 0; i < words; i++)
        for (uint64_t differ = a[i] ^ b[i]; differ; differ >>= 16)
            lanes += (differ & 0xffff) != 0;
    return lanes;
}

static bool is_in_view(const struct head_view *view, uint32_t code)
{
    uint32_t death = view->head->deaths[code];
    return code < view->count && !(death && death <= view->clock);
}

static bool take_signature(const struct head *head, const struct query *query, uint32_t code)
{
    struct doppel_index_hit hit = {.payload = head->payloads[code], .query = query->number};
    hit.distance = lanes_that_differ(signature_at_head(head, code), query->code, head->words);
    return hit.distance > query->radius || array_push(query->hits, hit);
}

/* A signature that is said to share this band first. */
static bool take_head_view(const struct head_view *view, const struct query *query, uint32_t code,
                           uint32_t band)
{
    const struct head *head = view->head;
    const uint64_t *signature = signature_at_head(head, code);
    struct bands_options before = {.bands = band, .rows = head->options.rows};
    if (!is_in_view(view, code) || !band_equal(signature, query->code, band, before.rows) ||
        band_shared(signature, query->code, &before))
        return true;
    return take_signature(head, query, code);
}

/* Where the chain of each band begins. Memory is asked for before it is read. */
static void find_chains(const struct head *head, const uint64_t *signature, uint32_t *out_first)
{
    const uint32_t *buckets[BANDS_MAX_BANDS];
    for (uint32_t band = 0; band < head->options.bands; band++) {
        buckets[band] = bucket_of_head(head, signature, band);
        __builtin_prefetch(buckets[band]);
    }
    for (uint32_t band = 0; band < head->options.bands; band++) {
        uint32_t at = out_first[band] = *buckets[band];
        if (!at)
            continue;
        __builtin_prefetch(&head->bands->older[at - 1]);
        __builtin_prefetch(band_lanes(signature_at_head(head, (at - 1) / head->options.bands), band,
                                      head->options.rows));
    }
}

bool head_bands_search(const struct head_view *view, const struct query *query, uint64_t *visited)
{
    const struct head *head = view->head;
    uint32_t bands = head->options.bands;
    /* Without memory for the chains, some of the newest are not in them. */
    uint32_t chained = head->bands ? head->bands->codes : 0, first[BANDS_MAX_BANDS] = {0};
    if (chained)
        find_chains(head, query->code, first);
    for (uint32_t band = 0; band < bands; band++) {
        uint32_t at = first[band];
        for (; at; at = head->bands->older[at - 1], ++*visited)
            if ((at - 1) % bands == band && !take_head_view(view, query, (at - 1) / bands, band))
                return false;
        for (uint32_t code = chained; code < view->count; code++, ++*visited)
            if (!take_head_view(view, query, code, band))
                return false;
    }
    return true;
}

bool head_bands_scan(const struct head_view *view, const struct query *query, uint64_t *visited)
{
    const struct head *head = view->head;
    *visited += view->count;
    for (uint32_t code = 0; code < view->count; code++)
        if (is_in_view(view, code) &&
            (!query->bands->bands ||
             band_shared(signature_at_head(head, code), query->code, query->bands)) &&
            !take_signature(head, query, code))
            return false;
    return true;
}
