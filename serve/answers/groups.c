/* GET /v1/groups: the duplicates in the library, page by page. */
#include "serve/answers/answers.h"

#include <doppel/group.h>

enum { MOST_GROUPS = 1000, USUAL_GROUPS = 100 };

struct group_page {
    struct exchange *exchange;
    uint64_t passed, first, end; /* groups so far; those of the page */
};

static enum doppel_status put_group_on_page(void *context, const struct doppel_group *group,
                                            struct doppel_error *error)
{
    struct group_page *page = context;
    uint64_t number = page->passed++;
    if (number == page->end)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "the page is full");
    if (number >= page->first)
        doppel_group_to_json(&page->exchange->json, NULL, group, DOPPEL_GROUP_DIGESTS);
    return DOPPEL_OK;
}

/* Groups are found again for each page; the number of the first one is its cursor. */
static enum doppel_status put_groups(struct exchange *exchange, struct library_reader *reader,
                                     struct doppel_error *error)
{
    double first = 0, limit = USUAL_GROUPS;
    if (!read_number(exchange, "cursor", 1e15, &first) ||
        !read_number(exchange, "limit", MOST_GROUPS, &limit))
        return DOPPEL_OK;
    struct group_page page = {exchange, 0, (uint64_t)first, (uint64_t)first + (uint64_t)limit};
    struct doppel_group_options options = doppel_group_options_default();
    options.compare = exchange->service->options->decide.search.compare;
    options.metadata = true;
    doppel_json_object_begin(&exchange->json, NULL);
    doppel_json_array_begin(&exchange->json, "groups");
    enum doppel_status status = doppel_library_groups(
        exchange->service->run, reader->library, &options, put_group_on_page, &page, NULL, error);
    if (status && status != DOPPEL_E_CANCELLED)
        return status;
    doppel_json_array_end(&exchange->json);
    if (page.passed > page.end)
        doppel_json_integer(&exchange->json, "next", page.end);
    doppel_json_object_end(&exchange->json);
    exchange->status = HTTP_OK;
    return DOPPEL_OK;
}

enum handled answer_groups(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_groups);
}
