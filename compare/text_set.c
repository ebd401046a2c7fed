/* A searchable set of texts: candidates from the index, verified by their shingles. */
#include "compare/text_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/index.h>

#include "core/array.h"

/* A candidate is looked at closely unless its signature is this many standard errors away from
 * every limit. */
static const double far_away = 5;

/* A view without its shingles. */
struct entry {
    uint64_t id;
    struct doppel_digest content;
    uint64_t words, shingle_total, simhash;
    bool too_short, kept;
};

struct text_set {
    const struct doppel_compare_options *compare;
    struct text_lookup lookup;
    text_loader *load;
    void *context;
    struct doppel_index *index; /* payload: number of the entry */
    ARRAY(struct entry) entries;
    uint16_t *lanes; /* lane_count of each entry */
    size_t lane_capacity;
};

/* ---- how they are looked up ---- */

/* The bits in which SimHashes of the least similarity may differ. */
static uint32_t simhash_radius(const struct doppel_compare_options *compare,
                               const struct doppel_scheme *scheme)
{
    if (compare->max_distance >= 0)
        return (uint32_t)compare->max_distance;
    if (compare->min_similarity < 0)
        return scheme->max_distance;
    uint32_t radius = 0;
    while (radius < 64 && cos(M_PI * (radius + 1) / 64) >= compare->min_similarity)
        radius++;
    return radius;
}

static enum doppel_status choose_bands(const struct doppel_compare_options *compare,
                                       struct text_lookup *lookup, struct doppel_error *error)
{
    if (compare->preset && compare->min_similarity < 0 && compare->max_distance < 0) {
        lookup->bands = compare->preset->bands;
        lookup->rows = compare->preset->rows;
        return DOPPEL_OK;
    }
    double limit = lookup->limits.min_similarity;
    if (compare->max_distance >= 0)
        limit = 1 - (double)compare->max_distance / lookup->lane_count;
    return doppel_index_bands_choose(lookup->lane_count, limit > 0 ? limit : 0,
                                     DOPPEL_INDEX_BANDS_USUAL, &lookup->bands, &lookup->rows,
                                     error);
}

enum doppel_status text_lookup_make(const struct doppel_compare_options *compare,
                                    struct text_lookup *out, struct doppel_error *error)
{
    *out = (struct text_lookup){.scheme = doppel_compare_scheme(compare, DOPPEL_KIND_TEXT),
                                .limits = text_limits_from(compare)};
    if (out->scheme->id == DOPPEL_SCHEME_SIMHASH64) {
        out->radius = simhash_radius(compare, out->scheme);
        return DOPPEL_OK;
    }
    out->radius = out->lane_count = compare->text.lanes;
    return choose_bands(compare, out, error);
}

void text_lookup_code(const struct text_view *view, uint64_t out[DOPPEL_TEXT_MAX_LANES / 4])
{
    if (!view->lane_count)
        out[0] = view->simhash;
    for (uint32_t i = 0; i < view->lane_count; i++)
        out[i / 4] = (i % 4 ? out[i / 4] : 0) | (uint64_t)view->lanes[i] << 16 * (i % 4);
}

bool text_lookup_is_hopeful(const struct text_lookup *lookup, uint64_t shingles_a,
                            uint64_t shingles_b, uint32_t distance)
{
    double lanes = lookup->lane_count, equal = 1 - distance / lanes;
    double variance = equal * (1 - equal) > 1 / lanes ? equal * (1 - equal) : 1 / lanes;
    double most = equal + far_away * sqrt(variance / lanes);
    most = most < 1 ? most : 1;
    double a = (double)shingles_a, b = (double)shingles_b;
    double smaller = a < b ? a : b;
    if (most >= lookup->limits.min_similarity || smaller == 0)
        return true;
    return most / (1 + most) * (a + b) / smaller >= lookup->limits.min_containment;
}

/* ---- life ---- */

enum doppel_status text_set_new(const struct doppel_compare_options *compare, text_loader *load,
                                void *context, struct text_set **out, struct doppel_error *error)
{
    struct text_set *set = malloc(sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of texts");
    struct doppel_index_options options = doppel_index_options_default();
    *set = (struct text_set){.compare = compare, .load = load, .context = context};
    enum doppel_status status = text_lookup_make(compare, &set->lookup, error);
    if (set->lookup.lane_count) {
        options.table = DOPPEL_INDEX_BANDS;
        options.lanes = set->lookup.lane_count;
        options.bands = set->lookup.bands;
        options.rows = set->lookup.rows;
    } else {
        options.design_radius = set->lookup.radius;
    }
    if (!status)
        status = doppel_index_new(&options, &set->index, error);
    if (status) {
        text_set_free(set);
        return status;
    }
    *out = set;
    return DOPPEL_OK;
}

void text_set_free(struct text_set *set)
{
    if (!set)
        return;
    doppel_index_free(set->index);
    array_free(&set->entries);
    free(set->lanes);
    free(set);
}

/* ---- adding ---- */

static bool keep_lanes(struct text_set *set, const struct text_view *view, size_t number)
{
    if (!set->lookup.lane_count)
        return true;
    if (number == set->lane_capacity) {
        size_t capacity = 2 * set->lane_capacity + 64;
        uint16_t *lanes = realloc(set->lanes, capacity * set->lookup.lane_count * sizeof *lanes);
        if (!lanes)
            return false;
        set->lanes = lanes;
        set->lane_capacity = capacity;
    }
    memcpy(set->lanes + number * set->lookup.lane_count, view->lanes,
           set->lookup.lane_count * sizeof *set->lanes);
    return true;
}

enum doppel_status text_set_add(struct text_set *set, uint64_t id, const struct text_view *view,
                                struct doppel_error *error)
{
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4], number = set->entries.count;
    struct entry entry = {
        .id = id,
        .content = view->extra.content,
        .words = view->extra.words,
        .shingle_total = view->extra.shingle_total,
        .simhash = view->simhash,
        .too_short = view->too_short,
        .kept = view->kept,
    };
    if (view->too_short || view->lane_count != set->lookup.lane_count)
        return DOPPEL_OK; /* only its content tells */
    if (!keep_lanes(set, view, number) || !array_push(&set->entries, entry))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for more than %zu texts",
                           set->entries.count);
    text_lookup_code(view, code);
    return doppel_index_insert(set->index, code, &number, 1, error);
}

/* ---- finding ---- */

/* What is known of an entry without looking further. */
static struct text_view view_of(const struct text_set *set, size_t number)
{
    const struct entry *entry = &set->entries.items[number];
    struct text_view view = {
        .extra = {.words = entry->words,
                  .content = entry->content,
                  .shingle_total = entry->shingle_total},
        .scheme = set->lookup.scheme->id,
        .lane_count = set->lookup.lane_count,
        .simhash = entry->simhash,
        .too_short = entry->too_short,
        .kept = entry->kept,
    };
    if (set->lookup.lane_count)
        memcpy(view.lanes, set->lanes + number * set->lookup.lane_count,
               set->lookup.lane_count * sizeof *view.lanes);
    return view;
}

static bool matches(const struct text_set *set, const struct text_view *query,
                    const struct doppel_index_hit *hit, struct doppel_match *out)
{
    const struct entry *entry = &set->entries.items[hit->payload];
    struct text_view view;
    if (set->lookup.lane_count && !text_lookup_is_hopeful(&set->lookup, query->extra.shingle_total,
                                                          entry->shingle_total, hit->distance))
        return false;
    if (set->lookup.lane_count && query->extra.shingle_count && set->load &&
        set->load(set->context, entry->id, &view)) {
        bool within = texts_match(set->compare, query, &view, out);
        text_view_free(&view);
        return within;
    }
    view = view_of(set, hit->payload);
    return texts_match(set->compare, query, &view, out);
}

static int by_payload(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    return (a->payload > b->payload) - (a->payload < b->payload);
}

enum doppel_status text_set_find(const struct text_set *set, const struct text_view *query,
                                 text_visitor *visitor, void *context, struct doppel_error *error)
{
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    struct doppel_index_request request = {
        .queries = code, .count = 1, .radius = set->lookup.radius};
    struct doppel_index_hit *hits = NULL;
    size_t count = 0;
    if (query->too_short || query->lane_count != set->lookup.lane_count)
        return DOPPEL_OK;
    text_lookup_code(query, code);
    enum doppel_status status =
        doppel_index_search_array(set->index, &request, &hits, &count, error);
    if (status)
        return status;
    if (count)
        qsort(hits, count, sizeof *hits, by_payload);
    for (size_t i = 0; i < count && !status; i++) {
        struct doppel_match match;
        if (matches(set, query, &hits[i], &match) &&
            !visitor(context, set->entries.items[hits[i].payload].id, &match))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    free(hits);
    return status;
}
