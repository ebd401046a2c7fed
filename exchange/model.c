/* A library, given to a sink piece by piece. */
#include "exchange/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

struct library_walk {
    struct doppel_library *library;
    struct doppel_run *run;
    const struct doppel_exchange_filter *filter;
    const struct exchange_sink *sink;
    struct doppel_error *error;
    enum doppel_status status; /* of the sink, or of what is looked up */
    bool chosen;               /* not all is wanted */
    struct doppel_item_set wanted;
    uint64_t next, done;      /* texts below are given; how many pieces were */
    struct doppel_error said; /* why `status` is not OK: a visit only says that it was ended */
};

void exchange_item_free(struct exchange_item *item)
{
    doppel_item_free(&item->item);
    doppel_metadata_free(&item->about);
    list_says_free(&item->says);
}

static bool go_on_walking(struct library_walk *walk)
{
    doppel_run_advance(walk->run, ++walk->done);
    if (!walk->status && doppel_run_cancelled(walk->run))
        walk->status = doppel_fail(&walk->said, DOPPEL_E_CANCELLED, "interrupted");
    return !walk->status;
}

/* What the sink cannot take is reported, and ends nothing. */
static void note_sink_status(struct library_walk *walk, const char *name, enum doppel_status status)
{
    if (status == DOPPEL_E_ARGUMENT)
        doppel_run_failed(walk->run, name, &walk->said);
    else
        walk->status = status;
}

/* ---- what is wanted ---- */

static bool is_in_filter(struct library_walk *walk, uint64_t id, enum doppel_kind kind,
                         enum doppel_scheme_id scheme)
{
    const struct doppel_exchange_filter *filter = walk->filter;
    return (!filter->kind || kind == filter->kind) &&
           (!filter->scheme || scheme == filter->scheme) && doppel_item_set_has(&walk->wanted, id);
}

/* ---- items and texts ---- */

/* Whom an item follows; of a representative, who was chosen. What is damaged of it is reported. */
static void find_group(struct library_walk *walk, uint64_t id, uint64_t *leader,
                       uint64_t *canonical)
{
    struct doppel_error error;
    uint64_t first = id, chosen = 0;
    enum doppel_status status = doppel_library_leader(walk->library, id, &first, &error);
    if (!status && first == id)
        status = doppel_library_get_canonical(walk->library, id, &chosen, &error);
    if (status)
        doppel_run_failed(walk->run, "the library", &error);
    *leader = first == id ? 0 : first;
    *canonical = chosen;
}

static bool find_about(struct library_walk *walk, uint64_t id, struct doppel_metadata *out)
{
    struct doppel_error error;
    if (!doppel_library_get_metadata(walk->library, id, out, &error))
        return true;
    doppel_run_failed(walk->run, "the library", &error);
    *out = (struct doppel_metadata){0};
    return false;
}

static void give_item(struct library_walk *walk, const struct doppel_item *visited)
{
    struct doppel_error error;
    struct exchange_item carried = {0};
    if (doppel_library_get(walk->library, visited->id, true, &carried.item, &error)) {
        doppel_run_failed(walk->run, visited->path, &error);
        return;
    }
    find_about(walk, visited->id, &carried.about);
    if (carried.about.list_count &&
        list_says_load(walk->library, visited->id, &carried.says, &error))
        doppel_run_failed(walk->run, "the library", &error);
    find_group(walk, visited->id, &carried.leader, &carried.canonical);
    char *name = doppel_library_item_name(walk->library, &carried.item);
    note_sink_status(walk, name ? name : "an item",
                     walk->sink->item(walk->sink->context, &carried, &walk->said));
    free(name);
    exchange_item_free(&carried);
}

static bool visit_text(void *context, const struct doppel_library_text *text)
{
    struct library_walk *walk = context;
    struct exchange_text carried = {.text = text};
    uint64_t leader;
    if (text->error.status) {
        doppel_run_failed(walk->run, "the library", &text->error);
        return go_on_walking(walk);
    }
    if (!is_in_filter(walk, text->id, DOPPEL_KIND_TEXT,
                      text->lane_count == 256 ? DOPPEL_SCHEME_MINHASH256
                                              : DOPPEL_SCHEME_MINHASH128))
        return go_on_walking(walk);
    find_about(walk, text->id, &carried.about);
    find_group(walk, text->id, &leader, &carried.canonical);
    note_sink_status(walk, text->record_id ? text->record_id : "a text",
                     walk->sink->text(walk->sink->context, &carried, &walk->said));
    doppel_metadata_free(&carried.about);
    return go_on_walking(walk);
}

/* @param id 0: to the end */
static void give_texts_before(struct library_walk *walk, uint64_t id)
{
    const struct doppel_text_query query = {.first = walk->next, .last = id, .shingles = true};
    if (!walk->sink->text || (id && id <= walk->next))
        return;
    enum doppel_status status =
        doppel_library_each_text(walk->library, &query, visit_text, walk, walk->error);
    walk->next = id + 1;
    if (!walk->status && status)
        walk->said = *walk->error;
    if (!walk->status)
        walk->status = status;
}

static bool visit_item(void *context, const struct doppel_item *item)
{
    struct library_walk *walk = context;
    give_texts_before(walk, item->id);
    if (walk->status)
        return false;
    if (item->record.error.status)
        doppel_run_failed(walk->run, item->path, &item->record.error);
    else if (is_in_filter(walk, item->id, item->record.kind, item->record.scheme))
        give_item(walk, item);
    return go_on_walking(walk);
}

static enum doppel_status give_items(struct library_walk *walk)
{
    walk->next = 1;
    doppel_run_begin(walk->run, "items", 0);
    enum doppel_status status = doppel_library_each(walk->library, visit_item, walk, walk->error);
    if (!status)
        give_texts_before(walk, 0);
    return walk->status ? walk->status : status;
}

/* ---- what was set by people ---- */

static bool visit_source(void *context, const char *pattern, int64_t authority)
{
    struct library_walk *walk = context;
    note_sink_status(walk, pattern,
                     walk->sink->source(walk->sink->context, pattern, authority, &walk->said));
    return !walk->status;
}

static bool filter_has_list(const struct doppel_item_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->list_count; i++)
        if (strcmp(filter->lists[i], name) == 0)
            return true;
    return !filter->list_count;
}

static bool give_item_list(void *context, const struct doppel_list *list)
{
    struct library_walk *walk = context;
    if (filter_has_list(&walk->filter->items, list->name))
        note_sink_status(walk, list->name,
                         walk->sink->list(walk->sink->context, list, &walk->said));
    return !walk->status;
}

static bool visit_mark(void *context, const struct doppel_mark *mark)
{
    struct library_walk *walk = context;
    note_sink_status(walk, "a word", walk->sink->mark(walk->sink->context, mark, &walk->said));
    return go_on_walking(walk);
}

static bool visit_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    struct library_walk *walk = context;
    if (error->status)
        doppel_run_failed(walk->run, "the log", error);
    else
        walk->status = walk->sink->log(walk->sink->context, entry, &walk->said);
    return go_on_walking(walk);
}

/* Damage to some rows, after the others were visited, is reported, and ends nothing. */
static enum doppel_status tell_damage(struct library_walk *walk, enum doppel_status status)
{
    if (walk->status)
        return walk->status;
    if (status == DOPPEL_E_CORRUPT) {
        doppel_run_failed(walk->run, "the library", walk->error);
        return DOPPEL_OK;
    }
    return status;
}

static enum doppel_status give_policy(struct library_walk *walk)
{
    struct doppel_keep_policy policy;
    enum doppel_status status = doppel_library_policy(walk->library, &policy, walk->error);
    return status ? status : walk->sink->policy(walk->sink->context, &policy, walk->error);
}

static enum doppel_status give_text_options(struct library_walk *walk)
{
    struct doppel_text_options options;
    struct doppel_text_limits limits;
    enum doppel_status status =
        doppel_library_text_options(walk->library, &options, &limits, walk->error);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    return status ? status
                  : walk->sink->text_options(walk->sink->context, &options, &limits, walk->error);
}

static enum doppel_status give_head(struct library_walk *walk)
{
    const struct exchange_sink *sink = walk->sink;
    struct doppel_library *library = walk->library;
    enum doppel_status status = DOPPEL_OK;
    if (sink->policy && !walk->chosen)
        TRY(give_policy(walk));
    if (sink->source && !walk->chosen)
        TRY(tell_damage(walk,
                        doppel_library_each_source(library, visit_source, walk, walk->error)));
    if (sink->list)
        TRY(tell_damage(walk,
                        doppel_library_each_list(library, give_item_list, walk, walk->error)));
    if (sink->text_options)
        TRY(give_text_options(walk));
done:
    return status;
}

static enum doppel_status give_tail(struct library_walk *walk)
{
    static const struct doppel_log_query all;
    const struct exchange_sink *sink = walk->sink;
    struct doppel_library *library = walk->library;
    enum doppel_status status = DOPPEL_OK;
    if (sink->mark && !walk->chosen)
        status = tell_damage(
            walk, doppel_library_each_mark(library, NULL, visit_mark, walk, walk->error));
    if (!status && sink->log && !walk->chosen)
        status = tell_damage(
            walk, doppel_library_each_log(library, &all, visit_entry, walk, walk->error));
    return status;
}

enum doppel_status exchange_library(struct doppel_run *run, struct doppel_library *library,
                                    const struct doppel_exchange_filter *filter,
                                    const struct exchange_sink *sink, struct doppel_error *error)
{
    struct library_walk walk = {
        .library = library, .filter = filter, .run = run, .sink = sink, .error = error};
    enum doppel_status status = doppel_library_filter(library, &filter->items, &walk.wanted, error);
    walk.chosen = filter->kind || filter->scheme || walk.wanted.some;
    if (status)
        goto done;
    if ((status = give_head(&walk)) || (status = give_items(&walk)))
        goto done;
    status = give_tail(&walk);
done:
    doppel_item_set_free(&walk.wanted);
    if (walk.status)
        *error = walk.said;
    return status;
}
