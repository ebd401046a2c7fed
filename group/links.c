/* Texts that mean the same, as a saved scan and a report have them: to JSON, and back. */
#include <doppel/group.h>

#include <stdlib.h>
#include <string.h>

#include "compare/json_fields.h"
#include "group/saved_scan.h"

static const double most_expected = 1e15; /* of any number of texts */
static const double no_link_score = 9;    /* above all */

/* ---- to JSON ---- */

/* As jansson reads it, which knows no integers beyond 63 bits. */
static void put_linked_stamp(struct doppel_json *json, const struct doppel_group_linked *linked)
{
    doppel_json_signed(json, "size", linked->size_bytes);
    doppel_json_signed(json, "mtime_ns", linked->mtime_ns);
    doppel_json_signed(json, "inode", (int64_t)linked->inode);
}

void doppel_group_link_to_json(struct doppel_json *json, const struct doppel_group_link *link,
                               unsigned parts)
{
    const bool stamps = (parts & DOPPEL_GROUP_STAMPS) != 0;
    doppel_json_object_begin(json, NULL);
    doppel_json_text(json, "kind", doppel_kind_name(DOPPEL_KIND_TEXT));
    doppel_json_path(json, "path", link->text.path);
    if (link->text.group)
        doppel_json_integer(json, "in_group", link->text.group);
    if (stamps)
        put_linked_stamp(json, &link->text);
    doppel_json_object_begin(json, "semantic");
    doppel_json_path(json, "of_path", link->of.path);
    if (link->of.group)
        doppel_json_integer(json, "of_group", link->of.group);
    doppel_semantic_link_to_json(json, &link->link);
    doppel_json_object_end(json);
    if (stamps) {
        doppel_json_object_begin(json, "of_file");
        put_linked_stamp(json, &link->of);
        doppel_json_object_end(json);
    }
    doppel_json_object_end(json);
}

/* ---- and back ---- */

static const char *tier_word(int tier)
{
    return tier ? doppel_semantic_tier_name((enum doppel_semantic_tier)tier) : "";
}

static const char *extent_word(int relation)
{
    return doppel_relation_name((enum doppel_relation)relation);
}

static void read_linked_stamp(struct fields *fields, struct doppel_group_linked *linked)
{
    int64_t inode = 0;
    linked->size_bytes = -1;
    field_number(fields, "size", 0, INT64_MAX, &linked->size_bytes);
    field_number(fields, "mtime_ns", INT64_MIN, INT64_MAX, &linked->mtime_ns);
    field_number(fields, "inode", INT64_MIN, INT64_MAX, &inode);
    linked->inode = (uint64_t)inode;
    if (linked->size_bytes < 0 || !inode || !json_object_get(fields->object, "mtime_ns"))
        field_is_wrong(fields, "semantic", "between files with size, mtime_ns and inode");
}

static void read_linked_file(struct fields *fields, const char *path_key, const char *group_key,
                             struct doppel_group_linked *linked)
{
    char *path = NULL;
    int64_t group = 0;
    field_bytes(fields, path_key, &path);
    field_number(fields, group_key, 1, INT64_MAX, &group);
    linked->path = path;
    linked->group = (uint64_t)group;
    if (!path || !*path)
        field_is_wrong(fields, path_key, "the path of a file");
}

static void read_place_in_text(struct fields *fields, const char *key, uint64_t *out)
{
    int64_t place = -1;
    field_number(fields, key, 0, INT64_MAX, &place);
    if (place < 0)
        field_is_wrong(fields, key, "a place in a text");
    *out = place < 0 ? 0 : (uint64_t)place;
}

static void read_link_segment(const json_t *object, struct fields *fields,
                              struct doppel_semantic_segment *out)
{
    struct fields inner = {object, fields->error, fields->status};
    double cosine = 0;
    read_place_in_text(&inner, "a_start", &out->a_start);
    read_place_in_text(&inner, "a_end", &out->a_end);
    read_place_in_text(&inner, "b_start", &out->b_start);
    read_place_in_text(&inner, "b_end", &out->b_end);
    field_real(&inner, "cosine", -1, 1, &cosine);
    out->cosine = (float)cosine;
    fields->status = inner.status;
}

static void read_link_segments(struct fields *fields, struct doppel_semantic_link *link)
{
    const json_t *list = json_object_get(fields->object, "segments");
    const size_t count = json_array_size(list);
    struct doppel_semantic_segment *segments = count ? calloc(count, sizeof *segments) : NULL;
    if (count && !segments)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a text");
    for (size_t i = 0; i < count && segments; i++)
        read_link_segment(json_array_get(list, i), fields, &segments[i]);
    link->segments = segments;
    link->segment_count = segments ? count : 0;
}

static void read_link_values(struct fields *fields, struct doppel_semantic_link *link)
{
    int tier = 0, extent = -1;
    double cosine = -2, score = no_link_score;
    field_word(fields, "tier", tier_word, DOPPEL_SEMANTIC_RELATED, &tier);
    field_word(fields, "extent", extent_word, DOPPEL_RELATION_OVERLAPS, &extent);
    field_real(fields, "cosine", -1, 1, &cosine);
    field_real(fields, "score", -2, 2, &score);
    field_real(fields, "false_positive_rate", 0, 1, &link->false_positive_rate);
    field_real(fields, "expected", 0, most_expected, &link->expected);
    field_real(fields, "query_coverage", 0, 1, &link->query_coverage);
    field_real(fields, "item_coverage", 0, 1, &link->item_coverage);
    if (cosine < -1 || extent < 0)
        field_is_wrong(fields, extent < 0 ? "extent" : "cosine", "there");
    link->tier = (enum doppel_semantic_tier)tier;
    link->extent = extent < 0 ? DOPPEL_RELATION_OVERLAPS : (enum doppel_relation)extent;
    link->cosine = (float)cosine;
    link->has_score = score < no_link_score;
    link->score = link->has_score ? (float)score : 0;
    read_link_segments(fields, link);
}

static enum doppel_status read_link(const json_t *object, struct doppel_group_link *link,
                                    struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    struct fields semantic = {.object = json_object_get(object, "semantic"), .error = error};
    struct fields of_file = {.object = json_object_get(object, "of_file"), .error = error};
    read_linked_file(&fields, "path", "in_group", &link->text);
    read_linked_stamp(&fields, &link->text);
    semantic.status = fields.status;
    read_linked_file(&semantic, "of_path", "of_group", &link->of);
    read_link_values(&semantic, &link->link);
    of_file.status = semantic.status;
    read_linked_stamp(&of_file, &link->of);
    link->link.of_path = link->of.path;
    return of_file.status;
}

void saved_link_free(struct doppel_group_link *link)
{
    free((char *)link->text.path);
    free((char *)link->of.path);
    free((void *)link->link.segments);
    *link = (struct doppel_group_link){0};
}

enum doppel_status saved_link_from_json(const char *text, size_t size,
                                        struct doppel_group_link *out, struct doppel_error *error)
{
    struct doppel_group_link link = {0};
    json_t *object = json_loadb(text, size, 0, NULL);
    enum doppel_status status =
        json_is_object(object) ? read_link(object, &link, error)
                               : doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no object in JSON");
    json_decref(object);
    if (status)
        saved_link_free(&link);
    else
        *out = link;
    return status;
}
