/* The texts of a library, looked up in its indexes and compared by what it keeps of them. */
#include "search/texts.h"

#include <stdlib.h>

#include "core/array.h"
#include "core/held_set.h"
#include "core/order.h"
#include "core/try.h"
#include "compare/pages.h"
#include "search/wanted.h"

/* A text that has some of the query's lowest shingles. */
struct text_sharer {
    uint64_t id;
    uint32_t shared;
};

struct search_texts {
    const struct doppel_search_options *options;
    struct doppel_library *library;
    struct doppel_run *run;
    struct text_lookup lookup;
    struct text_view last; /* whose words were loaded last */
    bool records;          /* those of corpora were read as is wanted */

    /* of the search in progress */
    const struct text_view *query;
    text_visitor *visitor;
    void *context;
    ARRAY(uint64_t) same; /* visited for their words; ascending */
    ARRAY(uint64_t) near; /* compared as they share a band; or what may be a part, or hold it */
    ARRAY(struct text_sharer) sharers;
    enum doppel_status status;
    struct doppel_error *error;
};

/* ---- life ---- */

enum doppel_status search_texts_new(const struct doppel_search_options *options,
                                    struct doppel_library *library, struct doppel_run *run,
                                    struct search_texts **out, struct doppel_error *error)
{
    struct search_texts *texts = calloc(1, sizeof *texts);
    if (!texts)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the library");
    texts->options = options;
    texts->library = library;
    texts->run = run;
    enum doppel_status status = text_lookup_make(&options->compare, &texts->lookup, error);
    if (status)
        search_texts_free(texts);
    else
        *out = texts;
    return status;
}

void search_texts_free(struct search_texts *texts)
{
    if (!texts)
        return;
    text_view_free(&texts->last);
    array_free(&texts->same);
    array_free(&texts->near);
    array_free(&texts->sharers);
    free(texts);
}

/* ---- one text ---- */

static bool take_loaded_text(void *context, const struct doppel_library_text *text)
{
    struct text_view *out = context;
    return !text->error.status && text_view_of_record(text, out);
}

static bool load_record(const struct search_texts *texts, uint64_t id, bool shingles,
                        struct text_view *out)
{
    const struct doppel_text_query query = {.first = id, .last = id, .shingles = shingles};
    return texts->records &&
           !doppel_library_each_text(texts->library, &query, take_loaded_text, out, NULL) &&
           out->kept;
}

/* An item or a record of the library. @param shingles of records, whether they are wanted
 * @param out given (text_view_free). @return false: it is not wanted, or cannot be had; what is
 * damaged is reported */
static bool load_library_text(struct search_texts *texts, uint64_t id, bool shingles,
                              struct text_view *out)
{
    struct doppel_item item;
    *out = (struct text_view){0};
    if (doppel_library_get(texts->library, id, true, &item, NULL))
        return load_record(texts, id, shingles, out);
    bool wanted = search_wants(texts->options, &item.record);
    enum doppel_status status =
        wanted ? text_view_load(&item.record, &texts->options->compare.text, out, NULL) : DOPPEL_OK;
    out->kept = wanted && !status;
    if (status == DOPPEL_E_MEMORY)
        texts->status = doppel_fail(texts->error, status, "no memory for a text of the library");
    else if (status)
        doppel_run_fail_input(texts->run, item.path, "what the library keeps of it is damaged");
    doppel_item_free(&item);
    return wanted && !status;
}

/* Whether the library's records were read as those that are wanted. */
static bool are_records_wanted(const struct search_texts *texts)
{
    struct doppel_text_options options;
    const struct doppel_scheme *scheme = texts->lookup.scheme;
    if (doppel_library_text_options(texts->library, &options, NULL, NULL))
        return false;
    enum doppel_scheme_id id =
        options.lanes == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128;
    return scheme->id == id &&
           scheme->version == doppel_text_version(doppel_scheme_by_id(id)->version, &options);
}

/* ---- the same words ---- */

static bool visit_words(void *context, uint64_t id, uint32_t distance)
{
    struct search_texts *texts = context;
    struct text_view view;
    struct doppel_match match;
    (void)distance;
    if (!load_library_text(texts, id, false, &view))
        return true;
    bool same = same_words(&view, texts->query);
    text_view_free(&view);
    if (!same)
        return true;
    if (!array_push(&texts->same, id)) {
        texts->status = doppel_fail(texts->error, DOPPEL_E_MEMORY, "no memory for the matches");
        return false;
    }
    (void)texts_match(&texts->options->compare, texts->query, texts->query, &match);
    return texts->visitor(texts->context, id, &match);
}

static bool has_same_words(const struct search_texts *texts, uint64_t id)
{
    return texts->same.count &&
           bsearch(&id, texts->same.items, texts->same.count, sizeof id, compare_u64);
}

/* ---- near ones ---- */

/* SimHashes, and a signature alone, tell by themselves. */
static bool text_is_near(const struct search_texts *texts, struct text_view *view,
                         uint32_t distance, struct doppel_match *out)
{
    const struct text_lookup *lookup = &texts->lookup;
    const struct text_view *query = texts->query;
    if (view->too_short || view->lane_count != lookup->lane_count)
        return false; /* only its content tells */
    if (lookup->lane_count && !text_lookup_is_hopeful(lookup, query->extra.shingle_total,
                                                      view->extra.shingle_total, distance))
        return false;
    if (!lookup->lane_count || !query->extra.shingle_count)
        view->extra.shingle_count = 0;
    return texts_match(&texts->options->compare, query, view, out);
}

static bool visit_near(void *context, uint64_t id, uint32_t distance)
{
    struct search_texts *texts = context;
    struct text_view view;
    struct doppel_match match;
    if (has_same_words(texts, id) || !load_library_text(texts, id, true, &view))
        return !doppel_run_cancelled(texts->run);
    bool near = text_is_near(texts, &view, distance, &match);
    if (!array_push(&texts->near, id))
        texts->status = doppel_fail(texts->error, DOPPEL_E_MEMORY, "no memory for the matches");
    text_view_free(&view);
    return !near || texts->visitor(texts->context, id, &match);
}

static enum doppel_status find_near(struct search_texts *texts, struct doppel_error *error)
{
    const struct text_lookup *how = &texts->lookup;
    const struct text_view *query = texts->query;
    uint64_t code[DOPPEL_TEXT_MAX_LANES / 4];
    const struct doppel_text_lookup lookup = {.scheme = how->scheme->id,
                                              .code = code,
                                              .radius = how->radius,
                                              .bands = how->bands,
                                              .rows = how->rows,
                                              .followers = !texts->options->representatives};
    if (query->too_short || query->lane_count != how->lane_count)
        return DOPPEL_OK;
    text_lookup_code(query, code);
    return doppel_library_near_texts(texts->library, &lookup, visit_near, texts, error);
}

/* ---- what holds it, and what it holds, however much longer ---- */

static bool take_text_sharer(void *context, uint64_t id, uint32_t shared)
{
    struct search_texts *texts = context;
    return array_push(&texts->sharers, ((struct text_sharer){id, shared}));
}

static bool was_compared(const struct search_texts *texts, uint64_t id)
{
    for (size_t i = 0; i < texts->near.count; i++)
        if (texts->near.items[i] == id)
            return true;
    return has_same_words(texts, id);
}

static bool leads_if_wanted(const struct search_texts *texts, uint64_t id)
{
    uint64_t leader = id;
    return !texts->options->representatives ||
           (!doppel_library_leader(texts->library, id, &leader, NULL) && leader == id);
}

static size_t count_held_shingles(const struct text_view *view)
{
    size_t count = 0;
    while (count < view->extra.shingle_count &&
           view->extra.shingles[count] < DOPPEL_TEXT_HELD_BELOW)
        count++;
    return count;
}

/* Whether so many are enough of what stands for the part, whichever of the two it is. */
static bool shares_enough(const struct search_texts *texts, uint32_t shared, size_t held)
{
    return shared >= part_least_shared(texts->lookup.limits.min_containment, (double)held);
}

/* @return false: the search ends */
static bool visit_text_sharer(struct search_texts *texts, const struct text_sharer *sharer,
                              bool as_part)
{
    struct text_view view;
    struct doppel_match match;
    if (!leads_if_wanted(texts, sharer->id) || was_compared(texts, sharer->id) ||
        !load_library_text(texts, sharer->id, true, &view))
        return !texts->status && !doppel_run_cancelled(texts->run);
    bool matches = !view.too_short && view.extra.shingle_count &&
                   (!as_part || shares_enough(texts, sharer->shared, count_held_shingles(&view))) &&
                   texts_match(&texts->options->compare, texts->query, &view, &match);
    text_view_free(&view);
    if (matches && !array_push(&texts->near, sharer->id))
        texts->status = doppel_fail(texts->error, DOPPEL_E_MEMORY, "no memory for the matches");
    return !texts->status && (!matches || texts->visitor(texts->context, sharer->id, &match));
}

static int by_shared(const void *left, const void *right)
{
    const struct text_sharer *a = left, *b = right;
    if (a->shared != b->shared)
        return a->shared < b->shared ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

/* The best come first: of parts nobody knows how much is to be shared before they are read. */
static enum doppel_status visit_text_sharers(struct search_texts *texts, size_t keys, bool as_part,
                                             struct doppel_error *error)
{
    enum { MOST_PARTS = 256 };
    size_t count = texts->sharers.count;
    if (count)
        qsort(texts->sharers.items, count, sizeof *texts->sharers.items, by_shared);
    if (as_part && count > MOST_PARTS)
        count = MOST_PARTS;
    for (size_t i = 0; i < count; i++) {
        const struct text_sharer *sharer = &texts->sharers.items[i];
        if (!as_part && !shares_enough(texts, sharer->shared, keys))
            break;
        if (!visit_text_sharer(texts, sharer, as_part))
            return texts->status ? texts->status
                                 : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
    }
    return DOPPEL_OK;
}

/* By the lowest shingles of the part: the query's own; or, where it is the whole, by all that is
 * held of it. */
static enum doppel_status find_text_sharers(struct search_texts *texts, bool as_part,
                                            struct doppel_error *error)
{
    const struct text_view *query = texts->query;
    const size_t held = count_held_shingles(query);
    const struct doppel_shingle_lookup lookup = {.scheme = texts->lookup.scheme->id,
                                                 .version = texts->lookup.scheme->version,
                                                 .shingles = query->extra.shingles,
                                                 .count = as_part || held < PART_KEYS ? held
                                                                                      : PART_KEYS};
    texts->sharers.count = 0;
    enum doppel_status status =
        doppel_library_share_shingles(texts->library, &lookup, take_text_sharer, texts, error);
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches");
    return status ? status : visit_text_sharers(texts, lookup.count, as_part, error);
}

/* Who decides about a text asks what it is a part of: what it holds a little of makes it no
 * revision. */
static enum doppel_status find_held_texts(struct search_texts *texts, struct doppel_error *error)
{
    const struct text_view *query = texts->query;
    if (!texts->lookup.lane_count || query->too_short || !query->extra.shingle_count ||
        query->lane_count != texts->lookup.lane_count || texts->lookup.limits.min_containment > 1)
        return DOPPEL_OK;
    enum doppel_status status = find_text_sharers(texts, false, error);
    return status || texts->options->representatives ? status
                                                     : find_text_sharers(texts, true, error);
}

/* ---- documents without text, by their pages ---- */

/* @return false: the search ends */
static bool visit_drawn(struct search_texts *texts, uint64_t id)
{
    struct doppel_comparison comparison = {0};
    struct text_view view;
    if (!leads_if_wanted(texts, id) || !load_library_text(texts, id, true, &view))
        return !texts->status && !doppel_run_cancelled(texts->run);
    if (drawn_pages_match(&texts->options->compare, texts->query, &view, false, &comparison))
        texts->status = doppel_fail(texts->error, DOPPEL_E_MEMORY, "no memory for the matches");
    text_view_free(&view);
    bool go_on = !texts->status &&
                 (!comparison.matches || texts->visitor(texts->context, id, &comparison.match));
    doppel_comparison_free(&comparison);
    return go_on;
}

/* Those that share most of its keys. */
static enum doppel_status find_drawn(struct search_texts *texts, struct doppel_error *error)
{
    enum { MOST_DRAWN = 1000 };
    struct drawn_pages pages = {0};
    uint32_t *keys = NULL;
    enum doppel_status status = DOPPEL_OK;
    texts->sharers.count = 0;
    if (!drawn_pages_read(&texts->query->extra, &pages) ||
        !(keys = malloc((pages.count * DOPPEL_PAGE_KEYS + 1) * sizeof *keys)))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches"));
    const struct doppel_shingle_lookup lookup = {
        .scheme = texts->lookup.scheme->id,
        .version = texts->lookup.scheme->version,
        .shingles = keys,
        .count = doppel_pages_keys(pages.items, pages.count, keys)};
    TRY(doppel_library_share_shingles(texts->library, &lookup, take_text_sharer, texts, error));
    if (texts->sharers.count)
        qsort(texts->sharers.items, texts->sharers.count, sizeof *texts->sharers.items, by_shared);
    for (size_t i = 0; i < texts->sharers.count && i < MOST_DRAWN; i++)
        if (!visit_drawn(texts, texts->sharers.items[i].id))
            TRY(texts->status ? texts->status
                              : doppel_fail(error, DOPPEL_E_CANCELLED, "ended early"));
done:
    drawn_pages_free(&pages);
    free(keys);
    return status;
}

/* ---- passages ---- */

static bool give_words(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct search_texts *texts = context;
    text_view_free(&texts->last);
    if (!load_library_text(texts, id, true, &texts->last))
        return false;
    *out = passage_text_of(&texts->last);
    return true;
}

static bool visit_passages(void *context, const struct doppel_found *found)
{
    const struct search_texts *texts = context;
    return has_same_words(texts, found->id) ||
           texts->visitor(texts->context, found->id, &found->match);
}

static enum doppel_status find_passages(struct search_texts *texts, struct doppel_error *error)
{
    struct doppel_passage_text text = passage_text_of(texts->query);
    struct doppel_passage_request request = doppel_passage_request_default(&text);
    const struct doppel_passage_lookup lookup = {.request = &request,
                                                 .version = texts->lookup.scheme->version,
                                                 .followers = !texts->options->representatives};
    if (!text.key_count)
        return DOPPEL_OK;
    request.source = give_words;
    request.source_context = texts;
    return doppel_library_find_passages(texts->library, &lookup, visit_passages, texts, error);
}

/* ---- all of it ---- */

enum doppel_status search_texts_find(struct search_texts *texts, const struct text_view *query,
                                     text_visitor *visitor, void *context,
                                     struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    texts->query = query;
    texts->visitor = visitor;
    texts->context = context;
    texts->same.count = texts->near.count = 0;
    texts->status = DOPPEL_OK;
    texts->error = error;
    texts->records = are_records_wanted(texts);
    if (query->extra.drawn_size) {
        TRY(find_drawn(texts, error));
        goto done;
    }
    if (query->extra.words)
        TRY(doppel_library_texts_of(texts->library, &query->extra.content, 0, visit_words, texts,
                                    error));
    if (texts->lookup.scheme->id == DOPPEL_SCHEME_WINNOW32)
        TRY(find_passages(texts, error));
    else
        TRY(find_near(texts, error));
    if (!texts->status)
        TRY(find_held_texts(texts, error));
done:
    return texts->status                  ? texts->status
           : status == DOPPEL_E_CANCELLED ? doppel_fail(error, status, "ended early")
                                          : status;
}
