/* The groups of records of corpora, as their library links them. */
#include "group/record_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "tools/output/item_name.h"
#include "tools/memory.h"
#include "tools/output/output.h"
#include "group/record_parts.h"

struct telling {
    const struct record_groups *groups;
    const struct group_sink *sink;
    uint32_t *number; /* of the last group told */
    struct doppel_text_options text;
    struct settings settings; /* with the limits of the library in place of the command line's */
    struct told_apart apart;
    bool has_same; /* a person said of something that it is the same */
    struct doppel_error *error;
    enum doppel_status status;

    /* of the group at hand */
    ARRAY(uint64_t) ids;
    uint64_t leader;
    struct text_view kept;
};

/* A member, loaded. */
struct member {
    struct telling *telling;
    struct text_view view; /* text_view_free */
    json_t *row;           /* NULL: it is damaged, which was said */
    struct doppel_digest digest;
    struct told_record record;
    char *path; /* given */
    char *name; /* as the group's "keep" tells it; given */
    struct grouping_item file;
    bool known; /* the view */
};

/* ---- a member ---- */

static void put_known(json_t *row, const char *key, const char *text)
{
    if (text)
        put_text(row, key, text);
}

static char *name_of_record(const struct doppel_library_text *text)
{
    char *name = NULL;
    if (text->record_id)
        return must_copy(text->record_id);
    int length = text->path ? asprintf(&name, "%s:%llu", text->path, (unsigned long long)text->line)
                            : asprintf(&name, "item %llu", (unsigned long long)text->id);
    return length < 0 ? must_copy("") : name;
}

static void describe_record(const struct doppel_library_text *text, struct member *member)
{
    json_t *row = member->row = json_object();
    put_integer(row, "id", text->id);
    put_known(row, "record", text->record_id);
    if (text->path)
        put_path(row, "path", text->path);
    put_integer(row, "line", text->line);
    put_integer(row, "words", text->words);
    put_known(row, "source", text->origin.source);
    put_known(row, "date", text->origin.date);
    member->digest = text->content;
    member->record = (struct told_record){text->line, text->offset, text->size};
    member->path = must_copy(text->path ? text->path : "");
    member->name = name_of_record(text);
}

static bool take_text(void *context, const struct doppel_library_text *text)
{
    struct member *member = context;
    if (text->error.status) {
        doppel_run_fail_input(member->telling->groups->run, "the library", text->error.message);
        return true;
    }
    text_view_of_record(text, &member->view);
    member->known = true;
    if (text->line)
        describe_record(text, member);
    return true;
}

static enum doppel_status describe_file(struct member *member, uint64_t id)
{
    struct telling *telling = member->telling;
    struct doppel_library *library = telling->groups->library;
    struct doppel_item item;
    enum doppel_status status = doppel_library_get(library, id, false, &item, telling->error);
    if (status == DOPPEL_E_CORRUPT || status == DOPPEL_E_NOT_FOUND) {
        doppel_run_fail_input(telling->groups->run, "the library", telling->error->message);
        return DOPPEL_OK;
    }
    if (status)
        return status;
    member->row = json_object();
    member->name = name_of_item(library, &item);
    member->path = must_copy(member->name);
    member->digest = item.record.digest;
    member->file = (struct grouping_item){
        .size = item.stamp.size, .mtime_ns = item.stamp.mtime_ns, .no_file = !item_has_file(&item)};
    put_integer(member->row, "id", id);
    put_item_name(member->row, !member->file.no_file, member->path);
    if (!member->file.no_file) {
        put_integer(member->row, "size", (uint64_t)item.stamp.size);
        put_number(member->row, "mtime", (double)item.stamp.mtime_ns / 1e9, 3);
    }
    doppel_item_free(&item);
    return DOPPEL_OK;
}

/* A file has no line. @param out `row` is NULL when it is damaged */
static enum doppel_status load(struct telling *telling, uint64_t id, struct member *out)
{
    const struct doppel_text_query query = {
        .first = id, .last = id, .shingles = true, .files = true};
    uint64_t errors = doppel_run_failures(telling->groups->run);
    *out = (struct member){.telling = telling};
    enum doppel_status status =
        doppel_library_each_text(telling->groups->library, &query, take_text, out, telling->error);
    bool damaged = doppel_run_failures(telling->groups->run) > errors;
    return status || damaged || out->row ? status : describe_file(out, id);
}

static void member_free(struct member *member)
{
    text_view_free(&member->view);
    json_decref(member->row);
    free(member->path);
    free(member->name);
}

/* ---- what it is to the kept one ---- */

struct decided {
    uint64_t id, of;
    bool by_word;
};

static bool take_decision(void *context, const struct doppel_log_entry *entry,
                          const struct doppel_error *error)
{
    struct decided *decided = context;
    if (error->status || entry->action != DOPPEL_LOG_DECIDED || entry->item != decided->id)
        return true;
    decided->of = entry->of;
    decided->by_word = entry->reason && strcmp(entry->reason, "marked") == 0;
    return false;
}

/* Whether a person's word put it into its group: what it was decided to follow is not whom it
 * follows now. */
static bool is_by_word(const struct telling *telling, uint64_t id)
{
    const struct doppel_log_query query = {.item = id, .newest_first = true};
    struct decided decided = {.id = id};
    if (!telling->has_same || id == telling->leader)
        return false;
    (void)doppel_library_each_log(telling->groups->library, &query, take_decision, &decided, NULL);
    return decided.by_word || decided.of != telling->leader;
}

static bool same_content(const struct text_view *a, const struct text_view *b)
{
    return memcmp(&a->extra.content, &b->extra.content, sizeof a->extra.content) == 0;
}

static void put_reason(const struct telling *telling, const struct member *member, uint64_t id,
                       uint64_t kept)
{
    struct doppel_match match;
    bool comparable = member->known && telling->kept.lane_count;
    bool near =
        comparable && texts_match(&telling->settings, &member->view, &telling->kept, &match);
    if (comparable && same_content(&member->view, &telling->kept)) {
        put_text(member->row, "reason", "same-content");
        put_integer(member->row, "distance", 0);
        put_number(member->row, "similarity", 1, 4);
    } else if (!near && (is_by_word(telling, id) || is_by_word(telling, kept))) {
        put_text(member->row, "reason", "marked");
    } else {
        put_text(member->row, "reason", "near");
        if (comparable)
            put_match(member->row, &match);
    }
}

/* ---- a group ---- */

struct group {
    json_t *rows;
    struct grouping_item *items;
    struct told_record *records;
    size_t count;
};

/* Take what is to be told of a member from it. */
static void add_member(struct group *group, uint64_t id, struct member *member)
{
    struct grouping_item *item = &group->items[group->count];
    *item = member->file;
    item->id = id;
    item->path = member->path;
    item->digest = member->digest;
    group->records[group->count++] = member->record;
    json_array_append(group->rows, member->row);
    member->path = NULL;
}

static enum doppel_status add_others(struct telling *telling, struct group *group,
                                     const uint64_t *ids, size_t first, size_t count, size_t kept)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = first; i < count && !status; i++) {
        struct member member;
        if (i == kept)
            continue;
        if (doppel_run_cancelled(telling->groups->run))
            return DOPPEL_E_CANCELLED;
        status = load(telling, ids[i], &member);
        if (!status && member.row) {
            put_reason(telling, &member, ids[i], group->items[0].id);
            add_member(group, ids[i], &member);
        }
        member_free(&member);
    }
    return status;
}

static enum doppel_status send(struct telling *telling, struct group *group, const char *kept)
{
    json_t *row = json_object();
    put_integer(row, "group", ++*telling->number);
    put_text(row, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    put_path(row, "keep", kept);
    put_integer(row, "savable", 0);
    put_value(row, "members", json_incref(group->rows));
    const struct told_group told = {row,          DOPPEL_KIND_TEXT, group->items,
                                    group->count, group->records,   &telling->text};
    enum doppel_status status = telling->sink->take(telling->sink->context, &told, telling->error);
    json_decref(row);
    return status;
}

/* The kept one first. Where it is damaged, the next one is shown in its place. */
static enum doppel_status tell_members(struct telling *telling, const uint64_t *ids, size_t count,
                                       size_t kept)
{
    struct member first = {0};
    struct group group = {.rows = json_array(),
                          .items = must_allocate(count * sizeof *group.items),
                          .records = must_allocate(count * sizeof *group.records)};
    size_t shown = kept, next = 0;
    enum doppel_status status = load(telling, ids[kept], &first);
    for (; !status && !first.row && next < count; next++)
        if (next != kept)
            status = load(telling, ids[shown = next], &first);
    if (!status && first.row) {
        telling->kept = first.view;
        put_text(first.row, "reason", "kept");
        add_member(&group, ids[shown], &first);
        status = add_others(telling, &group, ids, next, count, kept);
        if (!status && group.count > 1)
            status = send(telling, &group, first.name);
    }
    member_free(&first);
    for (size_t i = 0; i < group.count; i++)
        free((void *)group.items[i].path);
    free(group.items);
    free(group.records);
    json_decref(group.rows);
    return status;
}

/* @param canonical of the group that these are of */
static enum doppel_status tell_part(struct telling *telling, const uint64_t *ids, size_t count,
                                    uint64_t canonical)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ids[i] == canonical)
            kept = i;
    return count > 1 ? tell_members(telling, ids, count, kept) : DOPPEL_OK;
}

/* ---- the words of people ---- */

/* Of what is gone meanwhile, or damaged, nothing was said. */
static enum doppel_status load_contents(struct telling *telling, struct doppel_digest *out)
{
    for (size_t i = 0; i < telling->ids.count; i++) {
        struct doppel_name name;
        out[i] = (struct doppel_digest){0};
        enum doppel_status status = doppel_library_name(
            telling->groups->library, telling->ids.items[i], &name, telling->error);
        if (status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT)
            continue;
        if (status)
            return status;
        out[i] = name.content;
        doppel_name_free(&name);
    }
    return DOPPEL_OK;
}

static enum doppel_status tell_parts(struct telling *telling, uint64_t canonical)
{
    size_t count = telling->ids.count;
    struct doppel_digest *contents = must_allocate(count * sizeof *contents);
    uint32_t *leaders = must_allocate(count * sizeof *leaders);
    uint64_t *ids = must_allocate(count * sizeof *ids);
    enum doppel_status status = load_contents(telling, contents);
    if (!status)
        told_apart_lead(&telling->apart, contents, count, leaders);
    for (size_t leader = 0; leader < count && !status; leader++) {
        size_t used = 0;
        for (size_t i = leader; i < count && leaders[leader] == leader; i++)
            if (leaders[i] == leader)
                ids[used++] = telling->ids.items[i];
        status = tell_part(telling, ids, used, canonical);
    }
    free(contents);
    free(leaders);
    free(ids);
    return status;
}

/* ---- the groups ---- */

/* Those that are wanted; around what is benign there is no group, and what is disabled is in none.
 */
static enum doppel_status choose_members(struct telling *telling, const uint64_t *ids, size_t count)
{
    const struct record_groups *groups = telling->groups;
    bool states = doppel_library_has_states(groups->library);
    telling->ids.count = 0;
    for (size_t i = 0; i < count; i++) {
        enum doppel_list_state state = DOPPEL_LIST_ACTIVE;
        enum doppel_status status =
            states ? doppel_library_state_of(groups->library, ids[i], &state, telling->error)
                   : DOPPEL_OK;
        if (status)
            return status;
        if (!doppel_item_set_has(groups->wanted, ids[i]) || state == DOPPEL_LIST_DISABLED)
            continue;
        if (state == DOPPEL_LIST_BENIGN) {
            telling->ids.count = 0;
            return DOPPEL_OK;
        }
        if (!array_push(&telling->ids, ids[i]))
            return doppel_fail(telling->error, DOPPEL_E_MEMORY, "no memory for a group");
    }
    return DOPPEL_OK;
}

static bool take_group(void *context, const uint64_t *ids, size_t count)
{
    struct telling *telling = context;
    uint64_t canonical = telling->leader = ids[0];
    enum doppel_status status = choose_members(telling, ids, count);
    if (!status && telling->ids.count > 1) {
        status =
            doppel_library_canonical(telling->groups->library, ids[0], &canonical, telling->error);
        if (status == DOPPEL_E_CORRUPT) {
            doppel_run_fail_input(telling->groups->run, "the library", telling->error->message);
            status = DOPPEL_OK;
        }
        if (!status && told_apart_any(&telling->apart))
            status = tell_parts(telling, canonical);
        else if (!status)
            status = tell_part(telling, telling->ids.items, telling->ids.count, canonical);
    }
    telling->status = status;
    return !status && !doppel_run_cancelled(telling->groups->run);
}

/* What is near is near by the limits that it was linked by. */
static enum doppel_status use_limits(struct telling *telling)
{
    struct doppel_text_limits limits;
    enum doppel_status status = doppel_library_text_options(
        telling->groups->library, &telling->text, &limits, telling->error);
    if (!status)
        telling->settings.text_similarity = limits.min_similarity;
    telling->settings.max_distance = -1;
    return status;
}

enum doppel_status record_groups_tell(void *context, uint32_t *number,
                                      const struct group_sink *sink, struct doppel_error *error)
{
    const struct record_groups *groups = context;
    struct telling telling = {.groups = groups,
                              .sink = sink,
                              .number = number,
                              .settings = *groups->settings,
                              .error = error};
    enum doppel_status status = use_limits(&telling);
    if (status) /* it has no records */
        return status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    told_apart_begin(&telling.apart, groups->marks);
    for (size_t i = 0; i < groups->marks->items.count; i++)
        telling.has_same |= groups->marks->items.items[i].word == DOPPEL_LABEL_SAME;
    status = doppel_library_each_text_group(groups->library, take_group, &telling, error);
    told_apart_end(&telling.apart);
    array_free(&telling.ids);
    if (telling.status)
        return telling.status;
    if (status != DOPPEL_E_CORRUPT)
        return status;
    doppel_run_fail_input(groups->run, "the library", error->message);
    return DOPPEL_OK;
}
