/* What is passed over for its scheme is reported, so that nobody takes it for not found. */
#include "search/other_schemes.h"

#include <doppel/search.h>

#include <inttypes.h>

#include "core/printable.h"

const struct doppel_scheme *doppel_search_scheme(struct doppel_library *library,
                                                 const struct doppel_scheme *usual)
{
    const struct doppel_scheme *only = NULL, *scheme;
    if (doppel_library_has_scheme(library, usual->id))
        return usual;
    for (int id = 1; (scheme = doppel_scheme_by_id((enum doppel_scheme_id)id)); id++) {
        if (scheme->kind != usual->kind || !doppel_library_has_scheme(library, scheme->id))
            continue;
        if (only)
            return usual;
        only = scheme;
    }
    return only ? only : usual;
}

void other_schemes_report(const struct doppel_search_options *options,
                          struct doppel_library *library, enum doppel_kind kind,
                          struct doppel_run *run)
{
    const struct doppel_scheme *wanted = doppel_compare_scheme(&options->compare, kind), *scheme,
                               *named = NULL;
    const bool lists_alone = wanted && doppel_library_has_scheme(library, wanted->id);
    uint64_t count = 0;
    bool listed = false;
    for (int id = 1; wanted && (scheme = doppel_scheme_by_id((enum doppel_scheme_id)id)); id++) {
        struct doppel_scheme_count items;
        if (scheme->kind != kind || scheme->id == wanted->id ||
            doppel_library_count_scheme(library, scheme, &items, NULL) || !items.all)
            continue;
        count += lists_alone ? items.without_file : items.all;
        if (!named || (items.without_file && !listed))
            named = scheme;
        listed |= items.without_file > 0;
    }
    const bool more = count > DOPPEL_SCHEME_COUNT_MAX;
    if (more)
        count = DOPPEL_SCHEME_COUNT_MAX;
    if (count)
        doppel_run_notice(
            run, "%s%" PRIu64 " %s%s of another scheme %s not compared; '--scheme %s' compares %s",
            more ? "more than " : "", count, kind_noun(kind), count == 1 ? "" : "s",
            count == 1 ? "was" : "were", named->name, count == 1 ? "it" : "them");
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
