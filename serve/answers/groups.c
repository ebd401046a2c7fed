/* GET /v1/groups: the duplicates in the library, page by page. */
#include "serve/answers/group_cache.h"
#include "serve/answers/links.h"
#include "serve/answers/page.h"

#include <doppel/group.h>

#include "core/try.h"

/* The page that is asked for while the groups are found, and cached. */
struct group_page {
    struct library_page page;
    struct group_cache *cache;
    struct doppel_json json; /* of one group */
    double max_fp_rate;      /* 0: the service's */
    uint64_t passed;         /* groups so far */
};

static enum doppel_status put_group_on_page(void *context, const struct doppel_group *group,
                                            struct doppel_error *error)
{
    struct group_page *groups = context;
    struct doppel_json *json = &groups->json;
    const uint64_t number = groups->passed++;
    const bool shown =
        number >= groups->page.first && !groups->page.next && page_takes(&groups->page, number);
    if (!groups->cache->buffer && groups->page.next)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "the page is full");
    if (!groups->cache->buffer && !shown)
        return DOPPEL_OK;
    doppel_json_clear(json);
    doppel_group_to_json(json, NULL, group, DOPPEL_GROUP_DIGESTS);
    if (json->failed)
        return doppel_json_status(json, error);
    group_cache_put(groups->cache, json->bytes, json->size);
    if (shown)
        doppel_json_raw(&groups->page.exchange->json, NULL, json->bytes, json->size);
    return DOPPEL_OK;
}

static enum doppel_status find_groups(struct group_page *groups, struct library_reader *reader,
                                      struct doppel_error *error)
{
    const struct service *service = groups->page.exchange->service;
    struct doppel_group_options options = doppel_group_options_default();
    options.compare = service->options->decide.search.compare;
    if (groups->max_fp_rate > 0)
        options.compare.max_false_positives = groups->max_fp_rate;
    options.metadata = options.digests = true;
    enum doppel_status status = doppel_library_groups(service->run, reader->library, &options,
                                                      put_group_on_page, groups, NULL, error);
    doppel_json_free(&groups->json);
    group_cache_end(groups->cache, status, error);
    return page_end(&groups->page, status, error);
}

static enum doppel_status show_cached(struct library_page *page, const struct group_cache *cache,
                                      struct doppel_error *error)
{
    const uint64_t end = page->first + page->left;
    page->next = end < cache->count ? end : 0;
    *error = cache->damage;
    return page_end(page, cache->damage.status, error);
}

static enum doppel_status put_page(struct group_page *groups, struct library_reader *reader,
                                   struct doppel_error *error)
{
    struct group_cache *cache = groups->cache;
    struct exchange *exchange = groups->page.exchange;
    int64_t version = cache->reader == reader->number ? cache->version : 0;
    bool changed;
    enum doppel_status status;
    TRY(doppel_library_changed(reader->library, &version, &changed, error));
    if (cache->whole && !changed &&
        group_cache_page(cache, groups->page.first, groups->page.left, &exchange->json))
        return show_cached(&groups->page, cache, error);
    if (cache->of_service)
        group_cache_begin(cache, service_temporary(exchange->service));
    cache->reader = reader->number;
    cache->version = version;
    return find_groups(groups, reader, error);
done:
    return status;
}

/* The number of a page's first group is its cursor. Groups are found again when the library is
 * another one; those of another rate, and while another page is made, are not cached. */
static enum doppel_status put_groups(struct exchange *exchange, struct library_reader *reader,
                                     struct doppel_error *error)
{
    struct group_cache *of_service = exchange->service->groups, none = {0};
    struct group_page groups = {0};
    struct wanted_meaning wanted;
    if (!read_wanted_meaning(exchange, &wanted) ||
        !page_begin(&groups.page, exchange, reader, "groups"))
        return DOPPEL_OK;
    groups.max_fp_rate = wanted.max_fp_rate;
    const bool free_now =
        !(wanted.max_fp_rate > 0) && pthread_mutex_trylock(&of_service->lock) == 0;
    groups.cache = free_now ? of_service : &none;
    enum doppel_status status = put_page(&groups, reader, error);
    if (free_now)
        pthread_mutex_unlock(&of_service->lock);
    return status;
}

enum handled answer_groups(struct exchange *exchange)
{
    return answer_by_reader(exchange, exchange_wants(exchange, "semantic") ? put_groups_and_links
                                                                           : put_groups);
}
