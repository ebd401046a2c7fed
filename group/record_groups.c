/* The groups of records of corpora, as their library links them. */
#include "group/record_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"
#include "group/distinct_records.h"
#include "core/text/text_copy.h"

/* A search for the groups of records. */
struct record_search {
    const struct record_groups *groups;
    const struct group_receiver *receiver;
    uint64_t *number; /* of the last group */
    struct doppel_text_options text;
    struct doppel_compare_options compare; /* with the limits of the library */
    struct distinct_contents distinct;
    bool has_same; /* there is a manual label of two that are the same */
    struct doppel_error *error;
    enum doppel_status status;

    /* of the group at hand */
    ARRAY(uint64_t) ids;
    uint64_t leader;
    const struct text_view *kept; /* of the one to keep */
};

/* A member, loaded. */
struct loaded_member {
    struct record_search *search;
    bool found;
    bool damaged; /* which was reported */
    bool no_memory;
    bool has_view;
    struct text_view view;             /* text_view_free */
    struct doppel_group_member member; /* its strings are given */
    struct doppel_group_record record;
    bool is_record;
    char *name; /* of the record, or the file; given */
    struct doppel_match match;
};

/* ---- a member ---- */

static char *name_of_text_record(const struct doppel_library_text *text)
{
    char *name = NULL;
    if (text->record_id)
        return strdup(text->record_id);
    int length = text->path ? asprintf(&name, "%s:%llu", text->path, (unsigned long long)text->line)
                            : asprintf(&name, "item %llu", (unsigned long long)text->id);
    return length < 0 ? NULL : name;
}

static void load_record_member(const struct doppel_library_text *text, struct loaded_member *out)
{
    bool no_memory = false;
    out->found = out->is_record = true;
    out->record = (struct doppel_group_record){
        .record_id = copy_text(text->record_id, &no_memory),
        .line = text->line,
        .offset = text->offset,
        .size_bytes = text->size,
        .words = text->words,
        .source = copy_text(text->origin.source, &no_memory),
        .date = copy_text(text->origin.date, &no_memory),
    };
    out->member = (struct doppel_group_member){
        .id = text->id,
        .path = copy_text(text->path, &no_memory),
        .digest = text->content,
    };
    out->name = name_of_text_record(text);
    out->no_memory = no_memory || !out->name;
}

static bool take_member_text(void *context, const struct doppel_library_text *text)
{
    struct loaded_member *out = context;
    if (text->error.status) {
        doppel_run_failed(out->search->groups->run, "the library", &text->error);
        out->damaged = true;
        return true;
    }
    if (!text_view_of_record(text, &out->view)) {
        out->no_memory = true;
        return true;
    }
    out->has_view = true;
    if (text->line)
        load_record_member(text, out);
    return true;
}

static enum doppel_status load_file_member(struct loaded_member *out, uint64_t id)
{
    struct record_search *search = out->search;
    struct doppel_library *library = search->groups->library;
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, search->error);
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_NOT_FOUND) {
        doppel_run_failed(search->groups->run, "the library", search->error);
        return DOPPEL_OK;
    }
    if (status)
        return status;
    out->found = true;
    out->name = doppel_library_item_name(library, &item);
    out->member = (struct doppel_group_member){
        .is_file = doppel_item_has_file(&item),
        .id = id,
        .path = out->name ? strdup(out->name) : NULL,
        .digest = item.record.digest,
        .size_bytes = item.stamp.size,
        .mtime_ns = item.stamp.mtime_ns,
    };
    out->no_memory = !out->member.path;
    doppel_item_free(&item);
    return DOPPEL_OK;
}

/* A file has no line. @param out not `found` when it is damaged */
static enum doppel_status load_member(struct record_search *search, uint64_t id,
                                      struct loaded_member *out)
{
    const struct doppel_text_query query = {
        .first = id, .last = id, .shingles = true, .files = true};
    *out = (struct loaded_member){.search = search};
    enum doppel_status status;
    TRY(doppel_library_each_text(search->groups->library, &query, take_member_text, out,
                                 search->error));
    if (!out->damaged && !out->found)
        TRY(load_file_member(out, id));
    if (out->no_memory)
        return doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group");
done:
    return status;
}

static void loaded_member_free(struct loaded_member *loaded)
{
    text_view_free(&loaded->view);
    free((void *)loaded->member.path);
    free((void *)loaded->record.record_id);
    free((void *)loaded->record.source);
    free((void *)loaded->record.date);
    free(loaded->name);
}

/* ---- what it is to the one to keep ---- */

struct last_decision {
    uint64_t id, of;
    bool by_label;
};

static bool take_decision(void *context, const struct doppel_log_entry *entry,
                          const struct doppel_error *error)
{
    struct last_decision *decided = context;
    if (error->status || entry->action != DOPPEL_LOG_DECIDED || entry->item != decided->id)
        return true;
    decided->of = entry->of;
    decided->by_label = entry->reason && strcmp(entry->reason, "marked") == 0;
    return false;
}

/* Whether a manual label put it into its group: what it was decided to follow is not whom it
 * follows now. */
static bool is_labelled(const struct record_search *search, uint64_t id)
{
    const struct doppel_log_query query = {.item = id, .newest_first = true};
    struct last_decision decided = {.id = id};
    if (!search->has_same || id == search->leader)
        return false;
    (void)doppel_library_each_log(search->groups->library, &query, take_decision, &decided, NULL);
    return decided.by_label || decided.of != search->leader;
}

static bool same_content(const struct text_view *a, const struct text_view *b)
{
    return memcmp(&a->extra.content, &b->extra.content, sizeof a->extra.content) == 0;
}

static void find_record_reason(const struct record_search *search, struct loaded_member *loaded,
                               uint64_t kept)
{
    struct doppel_group_member *member = &loaded->member;
    bool comparable = loaded->has_view && search->kept->lane_count;
    bool near =
        comparable && texts_match(&search->compare, &loaded->view, search->kept, &loaded->match);
    if (comparable && same_content(&loaded->view, search->kept))
        member->reason = DOPPEL_REASON_SAME_CONTENT;
    else if (!near && (is_labelled(search, member->id) || is_labelled(search, kept)))
        member->reason = DOPPEL_REASON_MARKED;
    else
        member->reason = DOPPEL_REASON_NEAR;
    if (comparable && member->reason == DOPPEL_REASON_NEAR)
        member->match = &loaded->match;
}

/* ---- a group ---- */

/* The members that were found, the one to keep first. */
struct record_members {
    struct loaded_member *loaded;
    size_t count;
};

static enum doppel_status add_others(struct record_search *search, struct record_members *members,
                                     const uint64_t *ids, size_t first, size_t count, size_t kept)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = first; i < count && !status; i++) {
        struct loaded_member *loaded = &members->loaded[members->count];
        if (i == kept)
            continue;
        if (doppel_run_cancelled(search->groups->run))
            return DOPPEL_E_CANCELLED;
        status = load_member(search, ids[i], loaded);
        if (!status && loaded->found) {
            find_record_reason(search, loaded, members->loaded[0].member.id);
            text_view_free(&loaded->view);
            loaded->view = (struct text_view){0};
            members->count++;
        } else {
            loaded_member_free(loaded);
        }
    }
    return status;
}

static enum doppel_status visit_group(struct record_search *search,
                                      const struct record_members *members)
{
    struct doppel_group_member *list = calloc(members->count, sizeof *list);
    if (!list)
        return doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < members->count; i++) {
        list[i] = members->loaded[i].member;
        list[i].same_bytes = i;
        list[i].record = members->loaded[i].is_record ? &members->loaded[i].record : NULL;
    }
    const struct doppel_group group = {
        .number = ++*search->number,
        .kind = DOPPEL_KIND_TEXT,
        .keep = members->loaded[0].name,
        .members = list,
        .count = members->count,
        .text = &search->text,
    };
    enum doppel_status status =
        search->receiver->visit(search->receiver->context, &group, search->error);
    free(list);
    return status;
}

/* The one to keep first. Where it is damaged, the next one is shown in its place. */
static enum doppel_status find_record_members(struct record_search *search, const uint64_t *ids,
                                              size_t count, size_t kept)
{
    struct record_members members = {.loaded = calloc(count, sizeof *members.loaded)};
    size_t next = 0;
    if (!members.loaded)
        return doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group");
    struct loaded_member *first = &members.loaded[0];
    enum doppel_status status;
    members.count = 1;
    TRY(load_member(search, ids[kept], first));
    for (; !first->found && next < count; next++)
        if (next != kept) {
            loaded_member_free(first);
            TRY(load_member(search, ids[next], first));
        }
    if (first->found) {
        search->kept = &first->view;
        TRY(add_others(search, &members, ids, next, count, kept));
        if (members.count > 1)
            TRY(visit_group(search, &members));
    }
done:
    for (size_t i = 0; i < members.count; i++)
        loaded_member_free(&members.loaded[i]);
    free(members.loaded);
    return status;
}

/* @param canonical of the group that these are of */
static enum doppel_status find_part(struct record_search *search, const uint64_t *ids, size_t count,
                                    uint64_t canonical)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ids[i] == canonical)
            kept = i;
    return count > 1 ? find_record_members(search, ids, count, kept) : DOPPEL_OK;
}

/* ---- manual labels ---- */

/* What is gone meanwhile, or damaged, has no label. */
static enum doppel_status load_contents(struct record_search *search, struct doppel_digest *out)
{
    for (size_t i = 0; i < search->ids.count; i++) {
        struct doppel_name name;
        out[i] = (struct doppel_digest){0};
        enum doppel_status status = doppel_library_name(search->groups->library,
                                                        search->ids.items[i], &name, search->error);
        if (status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT)
            continue;
        if (status)
            return status;
        out[i] = name.content;
        doppel_name_free(&name);
    }
    return DOPPEL_OK;
}

static enum doppel_status find_parts(struct record_search *search, uint64_t canonical)
{
    size_t count = search->ids.count;
    struct doppel_digest *contents = calloc(count, sizeof *contents);
    uint32_t *leaders = calloc(count, sizeof *leaders);
    uint64_t *ids = calloc(count, sizeof *ids);
    enum doppel_status status = DOPPEL_OK;
    if (!contents || !leaders || !ids)
        TRY(doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group of %zu", count));
    TRY(load_contents(search, contents));
    if (!distinct_contents_lead(&search->distinct, contents, count, leaders))
        TRY(doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group of %zu", count));
    for (size_t leader = 0; leader < count; leader++) {
        size_t used = 0;
        for (size_t i = leader; i < count && leaders[leader] == leader; i++)
            if (leaders[i] == leader)
                ids[used++] = search->ids.items[i];
        TRY(find_part(search, ids, used, canonical));
    }
done:
    free(contents);
    free(leaders);
    free(ids);
    return status;
}

/* ---- the groups ---- */

/* Those that are wanted; around what is benign there is no group, and what is disabled is in none.
 */
static enum doppel_status choose_members(struct record_search *search, const uint64_t *ids,
                                         size_t count)
{
    const struct record_groups *groups = search->groups;
    bool states = doppel_library_has_states(groups->library);
    search->ids.count = 0;
    for (size_t i = 0; i < count; i++) {
        enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
        enum doppel_status status =
            states ? doppel_library_state_of(groups->library, ids[i], &state, search->error)
                   : DOPPEL_OK;
        if (status)
            return status;
        if ((groups->wanted && !doppel_item_set_has(groups->wanted, ids[i])) ||
            state == DOPPEL_LIST_DISABLED)
            continue;
        if (state == DOPPEL_LIST_BENIGN) {
            search->ids.count = 0;
            return DOPPEL_OK;
        }
        if (!array_push(&search->ids, ids[i]))
            return doppel_fail(search->error, DOPPEL_E_MEMORY, "no memory for a group");
    }
    return DOPPEL_OK;
}

static bool take_group(void *context, const uint64_t *ids, size_t count)
{
    struct record_search *search = context;
    uint64_t canonical = search->leader = ids[0];
    enum doppel_status status = choose_members(search, ids, count);
    if (!status && search->ids.count > 1) {
        status =
            doppel_library_canonical(search->groups->library, ids[0], &canonical, search->error);
        if (status == DOPPEL_E_CORRUPT) {
            doppel_run_failed(search->groups->run, "the library", search->error);
            status = DOPPEL_OK;
        }
        if (!status && distinct_contents_any(&search->distinct))
            status = find_parts(search, canonical);
        else if (!status)
            status = find_part(search, search->ids.items, search->ids.count, canonical);
    }
    search->status = status;
    return !status && !doppel_run_cancelled(search->groups->run);
}

/* What is near is near by the limits that it was linked by. */
static enum doppel_status use_limits(struct record_search *search)
{
    struct doppel_text_limits limits;
    enum doppel_status status =
        doppel_library_text_options(search->groups->library, &search->text, &limits, search->error);
    if (!status)
        search->compare.text_similarity = limits.min_similarity;
    search->compare.max_distance = -1;
    return status;
}

enum doppel_status record_groups_visit(void *context, uint64_t *number,
                                       const struct group_receiver *receiver,
                                       struct doppel_error *error)
{
    const struct record_groups *groups = context;
    struct record_search search = {.groups = groups,
                                   .receiver = receiver,
                                   .number = number,
                                   .compare = *groups->compare,
                                   .error = error};
    enum doppel_status status = use_limits(&search);
    if (status) /* it has no records */
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    if (!distinct_contents_init(&search.distinct, groups->labels))
        search.status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the manual labels");
    for (size_t i = 0; i < groups->labels->items.count; i++)
        search.has_same |= groups->labels->items.items[i].label == DOPPEL_LABEL_SAME;
    if (!search.status)
        status = doppel_library_each_text_group(groups->library, take_group, &search, error);
    distinct_contents_free(&search.distinct);
    array_free(&search.ids);
    if (search.status)
        return search.status;
    if (status != DOPPEL_E_CORRUPT)
        return status;
    doppel_run_failed(groups->run, "the library", error);
    return DOPPEL_OK;
}
