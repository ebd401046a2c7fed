/* The indexes in which pictures are searched for: made, filled, emptied. */
#include "match/images/images_internal.h"

#include "core/try.h"

static enum doppel_status make_index(uint32_t bits, uint32_t radius, struct doppel_index **out,
                                     struct doppel_error *error)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    options.design_radius = radius;
    return doppel_index_new(&options, out, error);
}

enum doppel_status tables_make(const struct doppel_matcher *matcher, struct tables *out,
                               struct doppel_error *error)
{
    uint32_t bits = matcher->scheme->code_bits;
    *out = (struct tables){0};
    enum doppel_status status;
    TRY(make_index(bits, matcher->radius, &out->codes, error));
    if (lookups_go_both_ways(matcher->scheme, &matcher->options))
        TRY(make_index(bits, matcher->radius, &out->asks, error));
    if (matcher->full_radius)
        TRY(make_index(256, matcher->full_radius, &out->full, error));
done:
    if (status)
        tables_free(out);
    return status;
}

void tables_free(struct tables *tables)
{
    doppel_index_free(tables->codes);
    doppel_index_free(tables->asks);
    doppel_index_free(tables->full);
    *tables = (struct tables){0};
}

enum doppel_status tables_insert(struct tables *tables, const struct doppel_matcher *matcher,
                                 uint32_t slot, uint64_t payload, struct doppel_error *error)
{
    struct unpacked image;
    uint64_t words[MAX_LOOKUP_WORDS], payloads[MAX_LOOKUPS];
    matcher_unpack(matcher, slot, &image);
    for (size_t i = 0; i < MAX_LOOKUPS; i++)
        payloads[i] = payload;
    size_t count = lookups_of_item(&image.fingerprint, &matcher->options, words);
    enum doppel_status status;
    TRY(doppel_index_insert(tables->codes, words, payloads, count, error));
    if (tables->asks) {
        count = lookups_of_query(&image.fingerprint, &matcher->options, words);
        TRY(doppel_index_insert(tables->asks, words, payloads, count, error));
    }
    if (tables->full && lookups_of_full(&image.fingerprint, words))
        TRY(doppel_index_insert(tables->full, words, payloads, 1, error));
done:
    return status;
}

enum doppel_status tables_remove(struct tables *tables, uint64_t payload)
{
    enum doppel_status status;
    TRY(doppel_index_remove(tables->codes, &payload, 1, NULL));
    if (tables->asks)
        TRY(doppel_index_remove(tables->asks, &payload, 1, NULL));
    if (tables->full)
        TRY(doppel_index_remove(tables->full, &payload, 1, NULL));
done:
    return status;
}

enum doppel_status tables_search(const struct doppel_index *table, const uint64_t *codes,
                                 size_t count, uint32_t radius, doppel_index_visitor *visitor,
                                 void *context, struct doppel_error *error)
{
    struct doppel_index_request request = {.queries = codes, .count = count, .radius = radius};
    return doppel_index_search(table, &request, visitor, context, error);
}
