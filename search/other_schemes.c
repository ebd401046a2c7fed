/* What is passed over for its scheme is reported, so that nobody takes it for not found. */
#include "search/other_schemes.h"

#include <inttypes.h>

#include "core/printable.h"

void other_schemes_count(struct other_schemes *kinds, const struct doppel_compare_options *compare,
                         const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    const struct doppel_scheme *wanted = doppel_compare_scheme(compare, record->kind);
    struct other_schemes *kind = &kinds[record->kind];
    if (!wanted || record->scheme == DOPPEL_SCHEME_NONE)
        return;
    if (record->scheme == wanted->id) {
        kind->wanted++;
        return;
    }
    bool listed = !doppel_item_has_file(item);
    if (!kind->others || (listed && !kind->without_file))
        kind->scheme = record->scheme;
    kind->others++;
    kind->without_file += listed;
}

void other_schemes_report(struct other_schemes *kinds, enum doppel_kind kind,
                          struct doppel_run *run)
{
    struct other_schemes *others = &kinds[kind];
    const struct doppel_scheme *scheme = doppel_scheme_by_id(others->scheme);
    uint64_t count = others->wanted ? others->without_file : others->others;
    if (others->reported || !count || !scheme)
        return;
    others->reported = true;
    doppel_run_notice(
        run, "%" PRIu64 " %s%s of another scheme %s not compared; '--scheme %s' compares %s", count,
        kind_noun(kind), count == 1 ? "" : "s", count == 1 ? "was" : "were", scheme->name,
        count == 1 ? "it" : "them");
}
