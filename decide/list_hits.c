/* The items on lists that an input matched. */
#include "decide/list_hits.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"

/* So many items of lists are looked at for one input. */
enum { MAX_HITS = 64 };

struct hit_ids {
    uint64_t items[MAX_HITS];
    size_t count;
};

static void take_hit(struct hit_ids *ids, uint64_t id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->items[i] == id)
            return;
    if (id && ids->count < MAX_HITS)
        ids->items[ids->count++] = id;
}

/* Those that decided first, then all others that matched. */
static void take_list_hits(const struct list_query *query, struct hit_ids *ids)
{
    const struct rule_answer *answer = query->answer;
    if (answer->decision == DOPPEL_DECISION_UNREADABLE || rule_keeps_out(answer))
        return;
    take_hit(ids, answer->same_as);
    if (!answer->former || answer->of != answer->former)
        take_hit(ids, answer->of);
    for (size_t i = 0; i < query->count; i++)
        if (query->candidates[i].state != DOPPEL_LIST_DISABLED &&
            query->candidates[i].word != DOPPEL_LABEL_DISTINCT)
            take_hit(ids, query->candidates[i].id);
}

/* @param from its names are taken, or freed. @return false without memory */
static bool move_names(char **from, size_t count, char ***to, size_t *to_count)
{
    char **names = count ? realloc(*to, (*to_count + count) * sizeof *names) : *to;
    if (count && !names)
        return false;
    *to = names;
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t j = 0; j < *to_count && !there; j++)
            there = strcmp(names[j], from[i]) == 0;
        if (there)
            continue;
        names[(*to_count)++] = from[i];
        from[i] = NULL;
    }
    return true;
}

/* @param out_active it is on a list that is active, and so decides */
static enum doppel_status take_item(struct doppel_library *library, uint64_t id,
                                    struct list_hits *hits, bool *out_active,
                                    struct doppel_error *error)
{
    struct doppel_metadata about = {0};
    enum doppel_status status = doppel_library_get_metadata(library, id, &about, error);
    if (status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT)
        return DOPPEL_OK;
    TRY(status);
    *out_active = about.list_count && about.state == DOPPEL_LIST_ACTIVE;
    if (about.list_count &&
        (!move_names(about.lists, about.list_count, &hits->lists, &hits->list_count) ||
         !move_names(about.labels, about.label_count, &hits->labels, &hits->label_count)))
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what lists say");
done:
    doppel_metadata_free(&about);
    return status;
}

enum doppel_status list_hits_gather(struct doppel_library *library, const struct list_query *query,
                                    struct list_hits *out, struct doppel_error *error)
{
    struct list_hits hits = {0};
    struct hit_ids ids = {.count = 0};
    size_t active = 0, reviewed = 0;
    enum doppel_status status = DOPPEL_OK;
    take_list_hits(query, &ids);
    if (!ids.count || !doppel_library_has_lists(library))
        return DOPPEL_OK;
    if (query->counts)
        TRY(doppel_library_count_matches(library, ids.items, ids.count, error));
    for (size_t i = 0; i < ids.count; i++) {
        bool is_active = false, is_reviewed = false;
        TRY(take_item(library, ids.items[i], &hits, &is_active, error));
        if (is_active)
            TRY(doppel_library_is_reviewed(library, ids.items[i], &is_reviewed, error));
        active += is_active;
        reviewed += is_reviewed;
    }
    hits.review = active && reviewed == active;
done:
    if (status)
        list_hits_free(&hits);
    else
        *out = hits;
    return status;
}

void list_hits_free(struct list_hits *hits)
{
    for (size_t i = 0; i < hits->list_count; i++)
        free(hits->lists[i]);
    for (size_t i = 0; i < hits->label_count; i++)
        free(hits->labels[i]);
    free(hits->lists);
    free(hits->labels);
    *hits = (struct list_hits){0};
}
