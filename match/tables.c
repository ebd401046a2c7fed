/* The indexes in which pictures are searched for: made, filled, emptied. */
#include "match/matcher_room.h"

static enum doppel_status make_index(uint32_t bits, struct doppel_index **out,
                                     struct doppel_error *error)
{
    struct doppel_index_options options = doppel_index_options_default();
    options.bits = bits;
    return doppel_index_new(&options, out, error);
}

enum doppel_status tables_make(const struct doppel_matcher *matcher, bool queries,
                               struct tables *out, struct doppel_error *error)
{
    uint32_t bits = matcher->scheme->code_bits;
    *out = (struct tables){0};
    enum doppel_status status = make_index(bits, &out->codes, error);
    if (!status && queries)
        status = make_index(bits, &out->queries, error);
    if (!status && matcher->full_radius)
        status = make_index(256, &out->full, error);
    if (status)
        tables_free(out);
    return status;
}

void tables_free(struct tables *tables)
{
    doppel_index_free(tables->codes);
    doppel_index_free(tables->queries);
    doppel_index_free(tables->full);
    *tables = (struct tables){0};
}

void tables_reserve(struct tables *tables, size_t pictures, size_t codes)
{
    doppel_index_reserve(tables->codes, codes);
    if (tables->queries)
        doppel_index_reserve(tables->queries, codes);
    if (tables->full)
        doppel_index_reserve(tables->full, pictures);
}

enum doppel_status tables_insert(struct tables *tables, const struct doppel_matcher *matcher,
                                 uint32_t slot, uint64_t payload, struct doppel_error *error)
{
    struct unpacked picture;
    uint64_t words[MAX_LOOKUP_WORDS], payloads[MAX_LOOKUPS];
    matcher_unpack(matcher, slot, &picture);
    for (size_t i = 0; i < MAX_LOOKUPS; i++)
        payloads[i] = payload;
    size_t count = lookups_of_item(&picture.fingerprint, &matcher->options, words);
    enum doppel_status status = doppel_index_insert(tables->codes, words, payloads, count, error);
    if (!status && tables->queries) {
        count = lookups_of_query(&picture.fingerprint, &matcher->options, words);
        status = doppel_index_insert(tables->queries, words, payloads, count, error);
    }
    if (!status && tables->full)
        status = doppel_index_insert(tables->full, picture.fingerprint.codes[0].word, payloads, 1,
                                     error);
    return status;
}

void tables_remove(struct tables *tables, uint64_t payload)
{
    doppel_index_remove(tables->codes, payload);
    if (tables->queries)
        doppel_index_remove(tables->queries, payload);
    if (tables->full)
        doppel_index_remove(tables->full, payload);
}
