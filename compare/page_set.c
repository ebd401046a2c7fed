/* A set of documents without text: those whose pages may be alike, each verified. */
#include "compare/page_set.h"

#include <stdlib.h>

#include "compare/pages.h"
#include "core/try.h"

void page_set_free(struct page_set *set)
{
    array_free(&set->entries);
    array_free(&set->codes);
}

bool page_set_add(struct page_set *set, uint64_t id, const struct text_view *view)
{
    struct drawn_pages pages;
    if (!drawn_pages_read(&view->extra, &pages))
        return false;
    const struct page_entry entry = {id, set->codes.count, pages.telling};
    bool good = true;
    for (size_t i = 0; good && i < pages.count; i++)
        good = !pages.items[i].ink || array_push(&set->codes, pages.items[i].code.word[0]);
    drawn_pages_free(&pages);
    return good && array_push(&set->entries, entry);
}

/* Of one document: false ends the search. */
static enum doppel_status visit_page_entry(const struct page_search *search, uint64_t id,
                                           bool *go_on)
{
    struct doppel_comparison comparison = {0};
    struct text_view view;
    if (!search->load || !search->load(search->load_context, id, &view))
        return DOPPEL_OK;
    enum doppel_status status =
        drawn_pages_match(search->compare, search->query, &view, false, &comparison);
    text_view_free(&view);
    if (comparison.matches)
        *go_on = search->visitor(search->context, id, &comparison.match);
    doppel_comparison_free(&comparison);
    return status;
}

enum doppel_status page_set_find(const struct page_set *set, const struct page_search *search,
                                 struct doppel_error *error)
{
    const struct doppel_text_limits limits = text_limits_from(search->compare);
    struct drawn_pages pages = {0};
    uint64_t *codes = NULL;
    bool go_on = true;
    enum doppel_status status = DOPPEL_OK;
    if (!drawn_pages_read(&search->query->extra, &pages) ||
        !(codes = malloc((pages.telling + 1) * sizeof *codes)))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pages of a document"));
    drawn_pages_codes(&pages, codes);
    for (size_t i = 0; i < set->entries.count && go_on; i++) {
        const struct page_entry *entry = &set->entries.items[i];
        if (!drawn_pages_are_hopeful(&limits, codes, pages.telling, set->codes.items + entry->first,
                                     entry->count))
            continue;
        if (visit_page_entry(search, entry->id, &go_on))
            TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pages of a document"));
    }
    if (!go_on)
        status = doppel_fail(error, DOPPEL_E_CANCELLED, "ended early");
done:
    drawn_pages_free(&pages);
    free(codes);
    return status;
}
