/* A library, given to a sink piece by piece. */
#include "exchange/model.h"

#include <stdlib.h>
#include <string.h>

#include "tools/output/item_name.h"
#include "tools/signals.h"

struct carrying {
    struct doppel_library *library;
    const struct settings *settings;
    struct report *report;
    const struct carry_sink *sink;
    struct doppel_error *error;
    enum doppel_status status; /* of the sink, or of what is looked up */
    bool chosen;               /* not all is wanted */
    struct doppel_item_set wanted;
    uint64_t next, done;      /* texts below are given; how many pieces were */
    struct doppel_error said; /* why `status` is not OK: a visit only says that it was ended */
};

void carried_item_free(struct carried_item *item)
{
    doppel_item_free(&item->item);
    doppel_metadata_free(&item->about);
}

static bool go_on(struct carrying *carrying)
{
    progress_update(&carrying->report->progress, ++carrying->done, carrying->report->errors);
    if (!carrying->status && signals_stopped())
        carrying->status = doppel_fail(&carrying->said, DOPPEL_E_CANCELLED, "interrupted");
    return !carrying->status;
}

/* What the sink cannot take is told, and ends nothing. */
static void settle(struct carrying *carrying, const char *name, enum doppel_status status)
{
    if (status == DOPPEL_E_ARGUMENT)
        report_input(carrying->report, name, carrying->said.message);
    else
        carrying->status = status;
}

/* ---- what is wanted ---- */

static bool is_wanted(struct carrying *carrying, uint64_t id, enum doppel_kind kind,
                      enum doppel_scheme_id scheme)
{
    const struct settings *settings = carrying->settings;
    return (!settings->kind || kind == settings->kind) &&
           (!settings->scheme_given || scheme == settings->scheme->id) &&
           doppel_item_set_has(&carrying->wanted, id);
}

/* ---- items and texts ---- */

/* Whom an item follows; of a leader, who was chosen. What is damaged of it is told. */
static void find_group(struct carrying *carrying, uint64_t id, uint64_t *leader,
                       uint64_t *canonical)
{
    struct doppel_error error;
    uint64_t first = id, chosen = 0;
    enum doppel_status status = doppel_library_leader(carrying->library, id, &first, &error);
    if (!status && first == id)
        status = doppel_library_get_canonical(carrying->library, id, &chosen, &error);
    if (status)
        report_input(carrying->report, "the library", error.message);
    *leader = first == id ? 0 : first;
    *canonical = chosen;
}

static bool find_about(struct carrying *carrying, uint64_t id, struct doppel_metadata *out)
{
    struct doppel_error error;
    if (!doppel_library_get_metadata(carrying->library, id, out, &error))
        return true;
    report_input(carrying->report, "the library", error.message);
    *out = (struct doppel_metadata){0};
    return false;
}

static void give_item(struct carrying *carrying, const struct doppel_item *visited)
{
    struct doppel_error error;
    struct carried_item carried = {0};
    if (doppel_library_get(carrying->library, visited->id, true, &carried.item, &error)) {
        report_input(carrying->report, visited->path, error.message);
        return;
    }
    find_about(carrying, visited->id, &carried.about);
    find_group(carrying, visited->id, &carried.leader, &carried.canonical);
    char *name = name_of_item(carrying->library, &carried.item);
    settle(carrying, name,
           carrying->sink->item(carrying->sink->context, &carried, &carrying->said));
    free(name);
    carried_item_free(&carried);
}

static bool visit_text(void *context, const struct doppel_library_text *text)
{
    struct carrying *carrying = context;
    struct carried_text carried = {.text = text};
    uint64_t leader;
    if (text->error.status) {
        report_input(carrying->report, "the library", text->error.message);
        return go_on(carrying);
    }
    if (!is_wanted(carrying, text->id, DOPPEL_KIND_TEXT,
                   text->lane_count == 256 ? DOPPEL_SCHEME_MINHASH256 : DOPPEL_SCHEME_MINHASH128))
        return go_on(carrying);
    find_about(carrying, text->id, &carried.about);
    find_group(carrying, text->id, &leader, &carried.canonical);
    settle(carrying, text->record_id ? text->record_id : "a text",
           carrying->sink->text(carrying->sink->context, &carried, &carrying->said));
    doppel_metadata_free(&carried.about);
    return go_on(carrying);
}

/* @param id 0: to the end */
static void give_texts_before(struct carrying *carrying, uint64_t id)
{
    const struct doppel_text_query query = {.first = carrying->next, .last = id, .shingles = true};
    if (!carrying->sink->text || (id && id <= carrying->next))
        return;
    enum doppel_status status =
        doppel_library_each_text(carrying->library, &query, visit_text, carrying, carrying->error);
    carrying->next = id + 1;
    if (!carrying->status && status)
        carrying->said = *carrying->error;
    if (!carrying->status)
        carrying->status = status;
}

static bool visit_item(void *context, const struct doppel_item *item)
{
    struct carrying *carrying = context;
    give_texts_before(carrying, item->id);
    if (carrying->status)
        return false;
    if (item->record.error.status)
        report_input(carrying->report, item->path, item->record.error.message);
    else if (is_wanted(carrying, item->id, item->record.kind, item->record.scheme))
        give_item(carrying, item);
    return go_on(carrying);
}

static enum doppel_status give_items(struct carrying *carrying)
{
    carrying->next = 1;
    progress_begin(&carrying->report->progress, "items", 0);
    enum doppel_status status =
        doppel_library_each(carrying->library, visit_item, carrying, carrying->error);
    if (!status)
        give_texts_before(carrying, 0);
    return carrying->status ? carrying->status : status;
}

/* ---- what the library was told ---- */

static bool visit_source(void *context, const char *pattern, int64_t authority)
{
    struct carrying *carrying = context;
    settle(carrying, pattern,
           carrying->sink->source(carrying->sink->context, pattern, authority, &carrying->said));
    return !carrying->status;
}

static bool has_name(const struct strings *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static bool visit_list(void *context, const struct doppel_list *list)
{
    struct carrying *carrying = context;
    if (!carrying->settings->lists.count || has_name(&carrying->settings->lists, list->name))
        settle(carrying, list->name,
               carrying->sink->list(carrying->sink->context, list->name, list->state,
                                    &carrying->said));
    return !carrying->status;
}

static bool visit_mark(void *context, const struct doppel_mark *mark)
{
    struct carrying *carrying = context;
    settle(carrying, "a word",
           carrying->sink->mark(carrying->sink->context, mark, &carrying->said));
    return go_on(carrying);
}

static bool visit_entry(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    struct carrying *carrying = context;
    if (error->status)
        report_input(carrying->report, "the log", error->message);
    else
        carrying->status = carrying->sink->log(carrying->sink->context, entry, &carrying->said);
    return go_on(carrying);
}

/* Damage to some rows, after the others were visited, is told, and ends nothing. */
static enum doppel_status tell_damage(struct carrying *carrying, enum doppel_status status)
{
    if (carrying->status)
        return carrying->status;
    if (status == DOPPEL_E_CORRUPT) {
        report_input(carrying->report, "the library", carrying->error->message);
        return DOPPEL_OK;
    }
    return status;
}

static enum doppel_status give_policy(struct carrying *carrying)
{
    struct doppel_keep_policy policy;
    enum doppel_status status = doppel_library_policy(carrying->library, &policy, carrying->error);
    return status ? status
                  : carrying->sink->policy(carrying->sink->context, &policy, carrying->error);
}

static enum doppel_status give_text_options(struct carrying *carrying)
{
    struct doppel_text_options options;
    struct doppel_text_limits limits;
    enum doppel_status status =
        doppel_library_text_options(carrying->library, &options, &limits, carrying->error);
    if (status == DOPPEL_E_NOT_FOUND)
        return DOPPEL_OK;
    return status ? status
                  : carrying->sink->text_options(carrying->sink->context, &options, &limits,
                                                 carrying->error);
}

static enum doppel_status give_head(struct carrying *carrying)
{
    const struct carry_sink *sink = carrying->sink;
    struct doppel_library *library = carrying->library;
    enum doppel_status status = DOPPEL_OK;
    if (sink->policy && !carrying->chosen)
        status = give_policy(carrying);
    if (!status && sink->source && !carrying->chosen)
        status = tell_damage(
            carrying, doppel_library_each_source(library, visit_source, carrying, carrying->error));
    if (!status && sink->list)
        status = tell_damage(
            carrying, doppel_library_each_list(library, visit_list, carrying, carrying->error));
    if (!status && sink->text_options)
        status = give_text_options(carrying);
    return status;
}

static enum doppel_status give_tail(struct carrying *carrying)
{
    static const struct doppel_log_query all;
    const struct carry_sink *sink = carrying->sink;
    struct doppel_library *library = carrying->library;
    enum doppel_status status = DOPPEL_OK;
    if (sink->mark && !carrying->chosen)
        status = tell_damage(carrying, doppel_library_each_mark(library, NULL, visit_mark, carrying,
                                                                carrying->error));
    if (!status && sink->log && !carrying->chosen)
        status = tell_damage(carrying, doppel_library_each_log(library, &all, visit_entry, carrying,
                                                               carrying->error));
    return status;
}

enum doppel_status carry(struct doppel_library *library, const struct settings *settings,
                         struct report *report, const struct carry_sink *sink,
                         struct doppel_error *error)
{
    struct carrying carrying = {
        .library = library, .settings = settings, .report = report, .sink = sink, .error = error};
    const struct doppel_item_filter filter = {.lists = settings->lists.items,
                                              .list_count = settings->lists.count,
                                              .labels = settings->labels.items,
                                              .label_count = settings->labels.count,
                                              .where = settings->where};
    enum doppel_status status = doppel_library_filter(library, &filter, &carrying.wanted, error);
    carrying.chosen = settings->kind || settings->scheme_given || carrying.wanted.some;
    if (!status)
        status = give_head(&carrying);
    if (!status)
        status = give_items(&carrying);
    if (!status)
        status = give_tail(&carrying);
    doppel_item_set_free(&carrying.wanted);
    if (carrying.status)
        *error = carrying.said;
    return status;
}
