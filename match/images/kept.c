/* All that matches one picture of those whose codes lie in tables that others keep. */
#include <stdlib.h>

#include "core/order.h"
#include "core/try.h"
#include "match/images/images_internal.h"
#include "match/images/pair.h"

typedef ARRAY(uint64_t) id_array;

/* 16 of 64 bits: a table of look-ups is no quicker than a scan, which an index designed for one
 * more always is. */
enum { VIEW_TABLE_RADIUS = DOPPEL_IMAGE_CANDIDATE_RADIUS + 1 };

bool doppel_image_table_options(enum doppel_scheme_id scheme, enum doppel_image_table table,
                                struct doppel_index_options *out)
{
    const struct doppel_scheme *known = doppel_scheme_by_id(scheme);
    const bool views = scheme == DOPPEL_SCHEME_PHASH64;
    if (!known || known->kind != DOPPEL_KIND_IMAGE || (table != DOPPEL_IMAGE_TABLE_CODES && !views))
        return false;
    *out = doppel_index_options_default();
    out->bits = table == DOPPEL_IMAGE_TABLE_FULL ? 256 : known->code_bits;
    out->design_radius = table == DOPPEL_IMAGE_TABLE_FULL ? DOPPEL_IMAGE_FULL_RADIUS
                         : views                          ? VIEW_TABLE_RADIUS
                                                          : known->max_distance;
    return true;
}

size_t doppel_image_table_codes(enum doppel_image_table table, const struct doppel_match_item *item,
                                uint64_t out[DOPPEL_IMAGE_TABLE_WORDS])
{
    const struct doppel_match_options all = doppel_match_options_default();
    const struct doppel_fingerprint *fingerprint = item->fingerprint;
    if (!is_distinctive(item) || !fingerprint->count)
        return 0;
    switch (table) {
    case DOPPEL_IMAGE_TABLE_CODES:
        return lookups_of_item(fingerprint, &all, out);
    case DOPPEL_IMAGE_TABLE_ASKS:
        return lookups_of_query(fingerprint, &all, out);
    default:
        return lookups_of_full(fingerprint, out);
    }
}

/* ---- candidates ---- */

static bool note_candidate(void *context, const struct doppel_index_hit *hit)
{
    return array_push((id_array *)context, hit->payload);
}

static enum doppel_status look_up_codes(const struct doppel_index *table, const uint64_t *codes,
                                        size_t count, const struct doppel_image_request *request,
                                        uint32_t radius, id_array *candidates,
                                        struct doppel_error *error)
{
    const struct doppel_index_request search = {
        .queries = codes, .count = count, .radius = radius, .threads = request->threads};
    enum doppel_status status =
        doppel_index_search(table, &search, note_candidate, candidates, error);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the candidates of a search")
               : status;
}

/* Tables hold codes that were turned; codes that are not to be turned meet them in some of the
 * ways in which both may have been turned alike. */
static size_t turn_all(const uint64_t *codes, size_t count, uint64_t *out)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned o = 0; o < DOPPEL_IMAGE_ORIENTATIONS; o++) {
            const struct doppel_code code = {{codes[i]}};
            out[all++] = doppel_image_orient(&code, o).word[0];
        }
    return all;
}

typedef size_t lookup_codes(const struct doppel_fingerprint *fingerprint,
                            const struct doppel_match_options *options,
                            uint64_t out[MAX_LOOKUP_WORDS]);

static enum doppel_status look_up_views(const struct doppel_index *table, lookup_codes *lookups,
                                        const struct doppel_image_request *request, uint32_t radius,
                                        id_array *candidates, struct doppel_error *error)
{
    uint64_t codes[MAX_LOOKUP_WORDS], turned[MAX_LOOKUPS * DOPPEL_IMAGE_ORIENTATIONS];
    const struct doppel_fingerprint *fingerprint = request->query->fingerprint;
    const bool turn =
        fingerprint->scheme == DOPPEL_SCHEME_PHASH64 && !request->options->image.orientations;
    size_t count = lookups(fingerprint, request->options, codes);
    if (turn)
        count = turn_all(codes, count, turned);
    return look_up_codes(table, turn ? turned : codes, count, request, radius, candidates, error);
}

static enum doppel_status look_up_tables(const struct doppel_image_request *request,
                                         id_array *candidates, struct doppel_error *error)
{
    const struct doppel_fingerprint *fingerprint = request->query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    const struct doppel_match_options *options = request->options;
    const uint32_t radius = lookup_radius(scheme, options);
    const uint32_t full_radius = lookup_full_radius(scheme, options);
    uint64_t full[4];
    enum doppel_status status;
    TRY(look_up_views(request->tables[DOPPEL_IMAGE_TABLE_CODES], lookups_of_query, request, radius,
                      candidates, error));
    if (lookups_go_both_ways(scheme, options))
        TRY(look_up_views(request->tables[DOPPEL_IMAGE_TABLE_ASKS], lookups_of_item, request,
                          radius, candidates, error));
    if (full_radius && lookups_of_full(fingerprint, full))
        TRY(look_up_codes(request->tables[DOPPEL_IMAGE_TABLE_FULL], full, 1, request, full_radius,
                          candidates, error));
done:
    return status;
}

static void sort_ids(id_array *ids)
{
    size_t kept = 0;
    if (ids->count)
        qsort(ids->items, ids->count, sizeof *ids->items, compare_u64);
    for (size_t i = 0; i < ids->count; i++)
        if (!i || ids->items[i] != ids->items[i - 1])
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* ---- judging ---- */

static bool judge_kept(const struct doppel_image_request *request,
                       const struct doppel_match_item *item, struct doppel_found *out)
{
    const struct doppel_match_options *options = request->options;
    if (!is_distinctive(item) || !lookups_meet(request->query, item, options))
        return false;
    bool matches = doppel_match_pair(request->query, item, options, &out->match);
    out->borderline =
        !matches && options->check_pixels && doppel_match_borderline(&out->match, options);
    return matches || out->borderline;
}

/* An item that cannot be had is none that could be found. */
static enum doppel_status judge_candidates(const struct doppel_image_request *request,
                                           const id_array *candidates, found_array *found,
                                           struct doppel_error *error)
{
    for (size_t i = 0; i < candidates->count; i++) {
        struct doppel_fingerprint fingerprint = {0};
        struct doppel_match_item item = {&fingerprint, 0};
        struct doppel_found one = {.id = candidates->items[i]};
        if (!request->source(request->context, one.id, &fingerprint, &item.quality))
            continue;
        bool is_found = judge_kept(request, &item, &one);
        doppel_fingerprint_free(&fingerprint);
        if (is_found && !array_push(found, one))
            return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a search");
    }
    return DOPPEL_OK;
}

enum doppel_status doppel_images_find(const struct doppel_image_request *request,
                                      doppel_found_visitor *visitor, void *context,
                                      struct doppel_error *error)
{
    id_array candidates = {0};
    found_array found = {0};
    if (!is_distinctive(request->query))
        return DOPPEL_OK;
    enum doppel_status status;
    TRY(look_up_tables(request, &candidates, error));
    sort_ids(&candidates);
    TRY(judge_candidates(request, &candidates, &found, error));
    TRY(found_visit_ranked(&found, visitor, context, error));
done:
    array_free(&candidates);
    array_free(&found);
    return status;
}
