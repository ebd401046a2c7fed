/* GET /v1/groups?semantic=1: the groups of the library, and after them links of texts that mean the
 * same. */
#include "serve/answers/links.h"

#include <stdio.h>
#include <stdlib.h>

#include <doppel/group.h>

#include "serve/answers/page.h"

struct linked_page {
    struct library_page page;
    uint64_t passed;                             /* groups, and then links, so far */
    ARRAY(struct doppel_semantic_grouped) texts; /* where they are */
    struct open_meaning meaning;
};

static enum doppel_status linked_page_is_full(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_CANCELLED, "the page is full");
}

static bool note_grouped_texts(struct linked_page *groups, const struct doppel_group *group)
{
    for (size_t i = 0; i < group->count && group->kind == DOPPEL_KIND_TEXT; i++)
        if (!array_push(&groups->texts,
                        ((struct doppel_semantic_grouped){group->members[i].id, group->number})))
            return false;
    return true;
}

static enum doppel_status put_linked_group(void *context, const struct doppel_group *group,
                                           struct doppel_error *error)
{
    struct linked_page *groups = context;
    uint64_t number = groups->passed++;
    if (!note_grouped_texts(groups, group))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the texts of the groups");
    if (number < groups->page.first)
        return DOPPEL_OK;
    if (!page_takes(&groups->page, number))
        return linked_page_is_full(error);
    doppel_group_to_json(&groups->page.exchange->json, NULL, group, DOPPEL_GROUP_DIGESTS);
    return DOPPEL_OK;
}

/* ---- what means the same ---- */

static enum doppel_status put_link_on_page(void *context, const struct doppel_semantic_pair *pair,
                                           struct doppel_error *error)
{
    struct linked_page *groups = context;
    uint64_t number = groups->passed++;
    if (number < groups->page.first)
        return DOPPEL_OK;
    if (!page_takes(&groups->page, number))
        return linked_page_is_full(error);
    doppel_semantic_pair_to_json(&groups->page.exchange->json, pair);
    return DOPPEL_OK;
}

static int compare_noted_items(const void *a, const void *b)
{
    const struct doppel_semantic_grouped *x = a, *y = b;
    return x->item != y->item ? (x->item > y->item) - (x->item < y->item)
                              : (x->group > y->group) - (x->group < y->group);
}

/* A file that follows a record is in a group of files, too: the first one counts. */
static void sort_noted_texts(struct linked_page *groups)
{
    struct doppel_semantic_grouped *items = groups->texts.items;
    size_t kept = 0;
    if (groups->texts.count)
        qsort(items, groups->texts.count, sizeof *items, compare_noted_items);
    for (size_t i = 0; i < groups->texts.count; i++)
        if (!kept || items[i].item != items[kept - 1].item)
            items[kept++] = items[i];
    groups->texts.count = kept;
}

static enum doppel_status put_notice(struct linked_page *groups, struct doppel_error *error)
{
    struct doppel_semantic_state state;
    char notice[256];
    enum doppel_status status = doppel_semantic_state(groups->meaning.semantic, &state, error);
    if (status || state.min_cosine <= 1)
        return status;
    snprintf(notice, sizeof notice,
             "the library has vectors of %llu passages, too few to tell such a rate, which takes "
             "%llu: nothing is found by its meaning until then; give 'min_cosine', or a higher "
             "'max_fp_rate'",
             (unsigned long long)state.vectors, (unsigned long long)state.wanted);
    doppel_json_text(&groups->page.exchange->json, "notice", notice);
    return DOPPEL_OK;
}

/* Behind all groups: all of them are known then. */
static enum doppel_status put_links(struct linked_page *groups, enum doppel_status status,
                                    struct doppel_error *error)
{
    struct doppel_json *json = &groups->page.exchange->json;
    doppel_json_array_end(json);
    if (!status)
        status = put_notice(groups, error);
    doppel_json_array_begin(json, "links");
    if (status)
        return status;
    sort_noted_texts(groups);
    const struct doppel_semantic_links_options options = {.grouped = groups->texts.items,
                                                          .grouped_count = groups->texts.count};
    return doppel_semantic_links(groups->meaning.semantic, &options, put_link_on_page, groups,
                                 error);
}

/* ---- a page ---- */

/* @return false: the reply says what is in the way */
static bool open_linked_page(struct linked_page *groups, struct exchange *exchange,
                             struct library_reader *reader, struct wanted_meaning *wanted)
{
    struct doppel_error error;
    if (!read_wanted_meaning(exchange, wanted))
        return false;
    if (!meaning_want_vectors(exchange->service, reader->library, wanted, &groups->meaning, &error))
        return page_begin(&groups->page, exchange, reader, "groups");
    exchange_fail_meaning(exchange, &error);
    return false;
}

/* Both are found again for each page; the number of the first entry is its cursor. */
enum doppel_status put_groups_and_links(struct exchange *exchange, struct library_reader *reader,
                                        struct doppel_error *error)
{
    struct linked_page groups = {0};
    struct doppel_group_options options = doppel_group_options_default();
    enum doppel_status status = DOPPEL_OK;
    options.compare = exchange->service->options->decide.search.compare;
    options.metadata = options.digests = true;
    struct wanted_meaning wanted;
    if (open_linked_page(&groups, exchange, reader, &wanted)) {
        if (wanted.max_fp_rate > 0)
            options.compare.max_false_positives = wanted.max_fp_rate;
        status = doppel_library_groups(exchange->service->run, reader->library, &options,
                                       put_linked_group, &groups, NULL, error);
        status = put_links(&groups, status, error);
        status = page_end(&groups.page, status, error);
    }
    array_free(&groups.texts);
    meaning_close(&groups.meaning);
    return status;
}
