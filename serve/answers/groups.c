/* GET /v1/groups: the duplicates in the library, page by page. */
#include "serve/answers/page.h"

#include <doppel/group.h>

struct group_page {
    struct library_page page;
    uint64_t passed; /* groups so far */
};

static enum doppel_status put_group_on_page(void *context, const struct doppel_group *group,
                                            struct doppel_error *error)
{
    struct group_page *groups = context;
    uint64_t number = groups->passed++;
    if (number < groups->page.first)
        return DOPPEL_OK;
    if (!page_takes(&groups->page, number))
        return doppel_fail(error, DOPPEL_E_CANCELLED, "the page is full");
    doppel_group_to_json(&groups->page.exchange->json, NULL, group, DOPPEL_GROUP_DIGESTS);
    return DOPPEL_OK;
}

/* Groups are found again for each page; the number of the first one is its cursor. */
static enum doppel_status put_groups(struct exchange *exchange, struct library_reader *reader,
                                     struct doppel_error *error)
{
    struct group_page groups = {0};
    struct doppel_group_options options = doppel_group_options_default();
    options.compare = exchange->service->options->decide.search.compare;
    options.metadata = options.digests = true;
    if (!page_begin(&groups.page, exchange, reader, "groups"))
        return DOPPEL_OK;
    return page_end(&groups.page,
                    doppel_library_groups(exchange->service->run, reader->library, &options,
                                          put_group_on_page, &groups, NULL, error),
                    error);
}

enum handled answer_groups(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_groups);
}
