/* Items of other schemes than the query, each asked by its own, or counted. */
#include "search/other_schemes.h"

#include <doppel/search.h>

#include <inttypes.h>

#include "core/text/printable.h"

/* vPDQ's lists and datasketch's signatures are there to be exchanged. */
static bool scheme_can_be_searched(enum doppel_scheme_id id)
{
    return id != DOPPEL_SCHEME_VPDQ && id != DOPPEL_SCHEME_DATASKETCH;
}

const struct doppel_scheme *doppel_search_scheme(struct doppel_library *library,
                                                 const struct doppel_scheme *usual)
{
    const struct doppel_scheme *only = NULL, *scheme;
    if (doppel_library_has_scheme(library, usual->id))
        return usual;
    for (int id = 1; (scheme = doppel_scheme_by_id((enum doppel_scheme_id)id)); id++) {
        if (scheme->kind != usual->kind || !scheme_can_be_searched(scheme->id) ||
            !doppel_library_has_scheme(library, scheme->id))
            continue;
        if (only)
            return usual;
        only = scheme;
    }
    return only ? only : usual;
}

void other_schemes_free(struct other_schemes *others)
{
    for (size_t i = 0; i < DOPPEL_SEARCH_SCHEMES; i++)
        doppel_search_free(others->searches[i]);
}

/* Keypoints of pictures and of videos are searched together. */
static bool searches_parts(enum doppel_scheme_id id)
{
    return id == DOPPEL_SCHEME_LOCAL || id == DOPPEL_SCHEME_FRAMES128;
}

static bool library_is_asked_by(struct doppel_library *library, enum doppel_scheme_id id)
{
    return doppel_library_has_scheme(library, id) ||
           (searches_parts(id) && (doppel_library_has_scheme(library, DOPPEL_SCHEME_LOCAL) ||
                                   doppel_library_has_scheme(library, DOPPEL_SCHEME_FRAMES128)));
}

/* A search of its own, by that scheme alone. */
static enum doppel_status want_other_search(struct other_schemes *others,
                                            const struct other_schemes_query *query,
                                            const struct doppel_scheme *scheme,
                                            struct doppel_error *error)
{
    struct doppel_search_options options = *query->options;
    options.other_schemes = false;
    if (scheme->id == DOPPEL_SCHEME_MINHASH128 || scheme->id == DOPPEL_SCHEME_MINHASH256)
        options.compare.text.lanes = scheme->id == DOPPEL_SCHEME_MINHASH256 ? 256 : 128;
    for (int kind = 0; kind <= DOPPEL_KIND_VIDEO; kind++)
        options.compare.schemes[kind].id = DOPPEL_SCHEME_NONE;
    options.compare.schemes[scheme->kind] = *scheme;
    if (searches_parts(scheme->id)) {
        options.compare.schemes[DOPPEL_KIND_IMAGE] = *doppel_scheme_by_id(DOPPEL_SCHEME_LOCAL);
        options.compare.schemes[DOPPEL_KIND_VIDEO] = *doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES128);
    }
    enum doppel_status status = DOPPEL_OK;
    if (!others->searches[scheme->id])
        status = doppel_search_new(query->run, query->library, &options,
                                   &others->searches[scheme->id], error);
    return status ? status : doppel_search_refresh(others->searches[scheme->id], error);
}

/* What is there already, by its bytes, stays. */
static enum doppel_status move_results(struct doppel_search_results *from,
                                       struct doppel_search_results *to, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < from->count && !status; i++) {
        struct doppel_search_result result = from->items[i];
        if (doppel_search_results_find(to, result.id))
            continue;
        from->items[i].comparison = (struct doppel_comparison){0};
        status = doppel_search_results_add(to, &result, error);
    }
    doppel_search_results_free(from);
    return status;
}

/* @param out_asked false: the query has no fingerprint of that scheme */
static enum doppel_status ask_by_other_scheme(struct other_schemes *others,
                                              const struct other_schemes_query *query,
                                              struct doppel_scheme scheme,
                                              struct doppel_search_results *results,
                                              bool *out_asked, struct doppel_error *error)
{
    struct doppel_search_results found = {0};
    struct doppel_record record = {0};
    if (scheme.kind == DOPPEL_KIND_TEXT)
        scheme.version = doppel_text_version(scheme.version, &query->options->compare.text);
    enum doppel_status status = query->options->fingerprint(
        query->options->fingerprint_context, query->record, query->name, &scheme, &record, error);
    if (status)
        return status == DOPPEL_E_MEMORY || status == DOPPEL_E_CANCELLED ? status : DOPPEL_OK;
    *out_asked = record.scheme == scheme.id;
    if (*out_asked)
        status = want_other_search(others, query, &scheme, error);
    if (!status && *out_asked)
        status =
            doppel_search_record(others->searches[scheme.id], &record, query->name, &found, error);
    if (!status)
        status = move_results(&found, results, error);
    doppel_search_results_free(&found);
    doppel_record_free(&record);
    return status;
}

/* Once for each kind: who looks at no JSON is told all the same. */
static void report_not_compared(struct other_schemes *others,
                                const struct other_schemes_query *query,
                                const struct doppel_search_results *results)
{
    const struct doppel_scheme *named = NULL;
    uint64_t count = 0;
    for (int id = 1; id < DOPPEL_SEARCH_SCHEMES; id++) {
        count += results->not_compared[id];
        if (results->not_compared[id] && !named)
            named = doppel_scheme_by_id((enum doppel_scheme_id)id);
    }
    bool *reported = &others->reported[query->scheme->kind];
    if (!named || *reported)
        return;
    *reported = true;
    const char *plural = count == 1 ? "" : "s", *were = count == 1 ? "was" : "were",
               *them = count == 1 ? "it" : "them";
    if (scheme_can_be_searched(named->id))
        doppel_run_notice(query->run,
                          "%" PRIu64
                          " %s%s of another scheme %s not compared; '--scheme %s' compares %s",
                          count, kind_noun(named->kind), plural, were, named->name, them);
    else
        doppel_run_notice(query->run, "%" PRIu64 " %s%s of scheme '%s' %s not compared", count,
                          kind_noun(named->kind), plural, named->name, were);
}

enum doppel_status other_schemes_search(struct other_schemes *others,
                                        const struct other_schemes_query *query,
                                        struct doppel_search_results *results,
                                        struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    const struct doppel_scheme *scheme;
    for (int i = 1; !status && (scheme = doppel_scheme_by_id((enum doppel_scheme_id)i)); i++) {
        bool asked = false;
        if (scheme->kind != query->scheme->kind || scheme->id == query->scheme->id ||
            !library_is_asked_by(query->library, scheme->id))
            continue;
        if (query->record && query->options->fingerprint && scheme_can_be_searched(scheme->id))
            status = ask_by_other_scheme(others, query, *scheme, results, &asked, error);
        struct doppel_scheme_count count = {0};
        if (!status && !asked && !others->counts[i] &&
            !doppel_library_count_scheme(query->library, scheme, &count, NULL))
            others->counts[i] = count.all;
        results->not_compared[i] = asked ? 0 : others->counts[i];
    }
    if (!status)
        report_not_compared(others, query, results);
    return status;
}

void doppel_not_compared_to_json(struct doppel_json *json,
                                 const uint64_t counts[DOPPEL_SEARCH_SCHEMES])
{
    bool any = false;
    for (int i = 1; i < DOPPEL_SEARCH_SCHEMES; i++) {
        if (counts[i] && !any)
            doppel_json_object_begin(json, "not_compared");
        any |= counts[i] > 0;
        if (counts[i])
            doppel_json_integer(json, doppel_scheme_by_id((enum doppel_scheme_id)i)->name,
                                counts[i]);
    }
    if (any)
        doppel_json_object_end(json);
}

void other_versions_report(const struct doppel_search_options *options,
                           struct doppel_library *library, struct doppel_run *run)
{
    uint64_t others = 0;
    for (int kind = DOPPEL_KIND_TEXT; kind <= DOPPEL_KIND_VIDEO; kind++) {
        uint64_t versions = 0;
        const struct doppel_scheme *scheme =
            doppel_compare_scheme(&options->compare, (enum doppel_kind)kind);
        if (scheme && !doppel_library_count_versions(library, scheme, &versions, NULL))
            others += versions;
    }
    if (others)
        doppel_run_notice(
            run,
            "%" PRIu64 " item%s of another version of the scheme, or of other options, left out; "
            "'doppel add --refresh' recomputes %s",
            others, others == 1 ? "" : "s", others == 1 ? "it" : "them");
}
