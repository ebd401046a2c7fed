/* A searchable set of texts: candidates from the index, verified by their shingles. */
#include "compare/text_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/index.h>

#include "compare/page_set.h"
#include "compare/part_index.h"
#include "core/array.h"
#include "core/try.h"

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
    struct part_index *parts;   /* likewise; NULL: of SimHashes, or texts cannot be loaded */
    struct page_set drawn;      /* those without text */
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

/* Of how many lanes, or bits, the texts are. */
static struct doppel_index_options index_options_of(const struct text_lookup *lookup)
{
    struct doppel_index_options options = doppel_index_options_default();
    if (lookup->lane_count) {
        options.table = DOPPEL_INDEX_BANDS;
        options.lanes = lookup->lane_count;
        options.bands = lookup->bands;
        options.rows = lookup->rows;
    } else {
        options.design_radius = lookup->radius;
    }
    return options;
}

static enum doppel_status open_text_set(struct text_set *set, struct doppel_error *error)
{
    enum doppel_status status;
    TRY(text_lookup_make(set->compare, &set->lookup, error));
    const struct doppel_index_options options = index_options_of(&set->lookup);
    TRY(doppel_index_new(&options, &set->index, error));
    /* Who wants equal texts alone wants no parts of longer ones. */
    const bool with_parts = set->lookup.limits.min_similarity < 1;
    if (set->lookup.lane_count && set->load && with_parts && !(set->parts = part_index_new()))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of texts");
done:
    return status;
}

enum doppel_status text_set_new(const struct doppel_compare_options *compare, text_loader *load,
                                void *context, struct text_set **out, struct doppel_error *error)
{
    struct text_set *set = malloc(sizeof *set);
    if (!set)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a set of texts");
    *set = (struct text_set){.compare = compare, .load = load, .context = context};
    enum doppel_status status = open_text_set(set, error);
    if (status)
        text_set_free(set);
    else
        *out = set;
    return status;
}

void text_set_free(struct text_set *set)
{
    if (!set)
        return;
    doppel_index_free(set->index);
    part_index_free(set->parts);
    page_set_free(&set->drawn);
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
    if (view->extra.drawn_size)
        return page_set_add(&set->drawn, id, view)
                   ? DOPPEL_OK
                   : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pages of a document");
    if (view->too_short || view->lane_count != set->lookup.lane_count)
        return DOPPEL_OK; /* only its content tells */
    if (!keep_lanes(set, view, number) || !array_push(&set->entries, entry) ||
        (set->parts && !part_index_add(set->parts, (uint32_t)number, view->extra.shingles,
                                       view->extra.shingle_count)))
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

/* What shares hardly a lane is compared by its shingles, or not at all. */
static bool holds_query(const struct text_set *set, const struct text_view *query, uint32_t number,
                        struct doppel_match *out)
{
    struct text_view view;
    if (!set->load(set->context, set->entries.items[number].id, &view))
        return false;
    bool within = view.extra.shingle_count && texts_match(set->compare, query, &view, out);
    text_view_free(&view);
    return within;
}

static int by_payload(const void *left, const void *right)
{
    const struct doppel_index_hit *a = left, *b = right;
    return (a->payload > b->payload) - (a->payload < b->payload);
}

/* A candidate, and what came of comparing it. */
struct judged_text {
    uint64_t number;
    bool matches;
    struct doppel_match match;
};

/* @param parts what the query may hold, rather than what may hold it */
static enum doppel_status find_held(const struct text_set *set, const struct text_view *query,
                                    bool parts, struct part_candidates *out,
                                    struct doppel_error *error)
{
    const struct part_wish wish = {query->extra.shingles, query->extra.shingle_count,
                                   set->lookup.limits.min_containment, parts};
    if (!set->parts || !wish.count || part_index_find(set->parts, &wish, out))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for texts that hold others");
}

/* Candidates of both kinds, in order of number. */
struct text_candidates {
    struct doppel_index_hit *near;
    size_t near_count;
    struct part_candidates parts;
};

static enum doppel_status find_text_candidates(const struct text_set *set,
                                               const struct text_view *query,
                                               struct text_candidates *out,
                                               struct doppel_error *error)
{
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    struct doppel_index_request request = {
        .queries = code, .count = 1, .radius = set->lookup.radius};
    text_lookup_code(query, code);
    enum doppel_status status =
        doppel_index_search_array(set->index, &request, &out->near, &out->near_count, error);
    if (status)
        return status;
    if (out->near_count)
        qsort(out->near, out->near_count, sizeof *out->near, by_payload);
    return find_held(set, query, false, &out->parts, error);
}

/* The next in order of number, each once, and whether it matches. @return false at the end */
static bool judge_next(const struct text_set *set, const struct text_view *query,
                       const struct text_candidates *list, size_t at[2], struct judged_text *out)
{
    bool near = at[0] < list->near_count, part = at[1] < list->parts.count;
    uint64_t first = near ? list->near[at[0]].payload : UINT64_MAX;
    uint64_t second = part ? list->parts.items[at[1]] : UINT64_MAX;
    if (!near && !part)
        return false;
    out->number = first < second ? first : second;
    at[0] += first <= second;
    at[1] += second <= first;
    out->matches = first <= second && matches(set, query, &list->near[at[0] - 1], &out->match);
    if (!out->matches && second <= first)
        out->matches = holds_query(set, query, (uint32_t)second, &out->match);
    return true;
}

enum doppel_status text_set_find(const struct text_set *set, const struct text_view *query,
                                 text_visitor *visitor, void *context, struct doppel_error *error)
{
    struct text_candidates list = {0};
    struct judged_text judged;
    size_t at[2] = {0};
    const struct page_search pages = {set->compare, query,   set->load,
                                      set->context, visitor, context};
    if (query->extra.drawn_size)
        return page_set_find(&set->drawn, &pages, error);
    if (query->too_short || query->lane_count != set->lookup.lane_count)
        return DOPPEL_OK;
    enum doppel_status status = find_text_candidates(set, query, &list, error);
    while (!status && judge_next(set, query, &list, at, &judged))
        if (judged.matches &&
            !visitor(context, set->entries.items[judged.number].id, &judged.match))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    free(list.near);
    free(list.parts.items);
    return status;
}

enum doppel_status text_set_find_parts(const struct text_set *set, const struct text_view *query,
                                       bool (*visitor)(void *context, uint64_t id), void *context,
                                       struct doppel_error *error)
{
    struct part_candidates list = {0};
    if (query->too_short || query->lane_count != set->lookup.lane_count)
        return DOPPEL_OK;
    enum doppel_status status = find_held(set, query, true, &list, error);
    for (size_t i = 0; i < list.count && !status; i++)
        if (!visitor(context, set->entries.items[list.items[i]].id))
            status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    free(list.items);
    return status;
}
