/* What a library has in numbers, its lists, marks and failures, as JSON. */
#include <doppel/json_writer.h>
#include <doppel/library.h>

#include <stdio.h>
#include <string.h>

#include "core/digest.h"

static void write_time(struct doppel_json *json, const char *key, int64_t time_ns)
{
    doppel_json_number(json, key, (double)time_ns / 1e9, 3);
}

/* ---- numbers ---- */

const char *doppel_library_share_scheme(const struct doppel_library_share *share)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(share->scheme);
    return scheme ? scheme->name : share->scheme == DOPPEL_SCHEME_NONE ? "none" : "unknown";
}

static void write_shares(struct doppel_json *json, const struct doppel_library_stats *stats)
{
    doppel_json_array_begin(json, "kinds");
    for (size_t i = 0; i < stats->share_count; i++) {
        const struct doppel_library_share *share = &stats->shares[i];
        doppel_json_object_begin(json, NULL);
        doppel_json_text(json, "kind", doppel_kind_name(share->kind));
        doppel_json_text(json, "scheme", doppel_library_share_scheme(share));
        doppel_json_integer(json, "version", share->version);
        doppel_json_integer(json, "items", share->items);
        doppel_json_boolean(json, "old", share->old);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

static void write_decisions(struct doppel_json *json,
                            const uint64_t decisions[DOPPEL_LIBRARY_DECISIONS])
{
    doppel_json_object_begin(json, "decisions");
    for (int i = 0; i < DOPPEL_LIBRARY_DECISIONS; i++)
        doppel_json_integer(json, doppel_decision_name((enum doppel_decision)i), decisions[i]);
    doppel_json_object_end(json);
}

static void write_states(struct doppel_json *json, const struct doppel_library_stats *stats)
{
    doppel_json_object_begin(json, "lists");
    for (int i = 0; i < DOPPEL_LIBRARY_STATES; i++)
        doppel_json_integer(json, doppel_list_state_name((enum doppel_list_state)i),
                            stats->lists[i]);
    doppel_json_object_end(json);
}

void doppel_library_stats_to_json(struct doppel_json *json,
                                  const struct doppel_library_stats *stats)
{
    doppel_json_integer(json, "items", stats->items);
    doppel_json_integer(json, "old_items", stats->old_items);
    write_shares(json, stats);
    doppel_json_integer(json, "records", stats->texts);
    write_decisions(json, stats->decisions);
    doppel_json_integer(json, "groups", stats->groups);
    doppel_json_integer(json, "duplicates", stats->followers);
    write_states(json, stats);
    doppel_json_integer(json, "listed", stats->listed);
    doppel_json_integer(json, "labels", stats->labels);
    doppel_json_integer(json, "sources", stats->sources);
    doppel_json_integer(json, "marks", stats->marks);
    doppel_json_integer(json, "digests", stats->digests);
    doppel_json_integer(json, "failures", stats->failures);
    doppel_json_integer(json, "log_entries", stats->log_entries);
    if (stats->oldest_ns) {
        write_time(json, "oldest", stats->oldest_ns);
        write_time(json, "newest", stats->newest_ns);
    }
    doppel_json_integer(json, "catalogue_bytes", stats->catalogue_bytes);
    doppel_json_integer(json, "sounds_bytes", stats->audio_bytes);
    doppel_json_integer(json, "videos_bytes", stats->videos_bytes);
    doppel_json_integer(json, "parts_bytes", stats->parts_bytes);
    doppel_json_integer(json, "codes_bytes", stats->codes_bytes);
}

void doppel_library_changes_to_json(struct doppel_json *json,
                                    const struct doppel_library_changes *changes)
{
    doppel_json_integer(json, "added", changes->added);
    doppel_json_integer(json, "removed", changes->removed);
    doppel_json_integer(json, "marked", changes->marked);
    write_decisions(json, changes->decisions);
}

/* ---- lists ---- */

struct list_reviews {
    struct doppel_json *json;
    const char *list;
};

static bool write_review(void *context, const struct doppel_review *review)
{
    const struct list_reviews *reviews = context;
    if (strcmp(review->list, reviews->list) != 0)
        return true;
    doppel_json_object_begin(reviews->json, NULL);
    doppel_json_integer(reviews->json, "item", review->item);
    doppel_json_text(reviews->json, "name", review->name);
    write_time(reviews->json, "since", review->since_ns);
    doppel_json_integer(reviews->json, "matches_last_day", review->matches);
    doppel_json_object_end(reviews->json);
    return true;
}

enum doppel_status doppel_list_to_json(struct doppel_json *json, struct doppel_library *library,
                                       const struct doppel_list *list, struct doppel_error *error)
{
    struct list_reviews reviews = {json, list->name};
    enum doppel_status status = DOPPEL_OK;
    doppel_json_text(json, "list", list->name);
    doppel_json_text(json, "state", doppel_list_state_name(list->state));
    doppel_json_integer(json, "items", list->items);
    if (list->rule.limit_kind == DOPPEL_LIMIT_DISTANCE)
        doppel_json_integer(json, "max_distance", (uint64_t)list->rule.limit);
    if (list->rule.limit_kind == DOPPEL_LIMIT_SIMILARITY)
        doppel_json_number(json, "min_similarity", list->rule.limit, 4);
    if (list->rule.flood)
        doppel_json_integer(json, "flood", list->rule.flood);
    doppel_json_integer(json, "matches", list->matches);
    doppel_json_integer(json, "matches_last_day", list->matches_day);
    if (list->last_match_ns)
        write_time(json, "last_match", list->last_match_ns);
    doppel_json_integer(json, "in_review", list->in_review);
    if (list->in_review) {
        doppel_json_array_begin(json, "review");
        status = doppel_library_each_review(library, write_review, &reviews, error);
        doppel_json_array_end(json);
    }
    return status;
}

/* ---- marks ---- */

/* @param key "a" or "b" */
static void write_marked_digest(struct doppel_json *json, const char *key,
                                const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1], name[16];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    snprintf(name, sizeof name, "%s_digest", key);
    doppel_json_text(json, name, hex);
}

static void write_marked(struct doppel_json *json, struct doppel_library *library, const char *key,
                         const struct doppel_digest *digest)
{
    struct doppel_item item;
    uint64_t id;
    write_marked_digest(json, key, digest);
    if (doppel_library_by_digest(library, digest, &id, NULL) ||
        doppel_library_get(library, id, false, &item, NULL))
        return;
    if (doppel_item_has_file(&item))
        doppel_json_path(json, key, item.path);
    doppel_item_free(&item);
}

void doppel_mark_to_json(struct doppel_json *json, struct doppel_library *library,
                         const struct doppel_mark *mark)
{
    doppel_json_text(json, "mark", mark->word == DOPPEL_LABEL_SAME ? "same" : "distinct");
    write_marked(json, library, "a", &mark->a);
    write_marked(json, library, "b", &mark->b);
    write_time(json, "time", mark->time_ns);
    doppel_json_text(json, "note", mark->note);
}

void doppel_kept_mark_to_json(struct doppel_json *json, struct doppel_library *library,
                              const struct doppel_kept_mark *mark)
{
    struct doppel_item item;
    doppel_json_text(json, "mark", "keep");
    doppel_json_integer(json, "item", mark->item);
    if (!doppel_library_get(library, mark->item, false, &item, NULL)) {
        if (!digest_is_none(&item.record.digest))
            write_marked_digest(json, "a", &item.record.digest);
        if (doppel_item_has_file(&item))
            doppel_json_path(json, "a", item.path);
        doppel_item_free(&item);
    }
    write_time(json, "time", mark->time_ns);
}

/* ---- failures ---- */

void doppel_failure_to_json(struct doppel_json *json, const struct doppel_failure *failure)
{
    doppel_json_path(json, "path", failure->path);
    doppel_json_text(json, "status", doppel_status_name(failure->error.status));
    doppel_json_text(json, "reason", failure->error.message);
    write_time(json, "time", failure->time_ns);
    doppel_json_integer(json, "size", (uint64_t)failure->stamp->size);
    write_time(json, "mtime", failure->stamp->mtime_ns);
}
