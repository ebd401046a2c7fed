/* A group read back from the JSON that doppel_group_to_json wrote of it. */
#include <doppel/group.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare/json_fields.h"
#include "group/member_rules.h"
#include "group/saved_scan.h"

enum { MOST_SIZE = 1 << 30 }; /* pixels of a side */

static const double MOST_SECONDS = 1e12, LEAST_SECONDS = -0.999; /* by rounding */
static const double MOST_SHARE = 100, LEAST_SHARE = -100; /* of a picture that is shown in part */

/* ---- what a match is ---- */

static const char *relation_word(int relation)
{
    return doppel_relation_name((enum doppel_relation)relation);
}

static const char *verified_word(int verified)
{
    return doppel_verified_name((enum doppel_verified)verified);
}

static const char *reason_word(int reason)
{
    return doppel_reason_name((enum doppel_reason)reason);
}

static const char *mark_word_of(int mark)
{
    const char *name = doppel_file_mark_name((enum doppel_file_mark)mark);
    return name ? name : "";
}

static void read_transform(struct fields *fields, struct doppel_match *match)
{
    struct fields inner = {.object = json_object_get(fields->object, "transform"),
                           .error = fields->error};
    int64_t rotated = 0;
    field_bool(&inner, "mirrored", &match->transform.mirrored);
    field_bool(&inner, "cropped", &match->transform.cropped);
    field_bool(&inner, "trimmed", &match->transform.trimmed);
    field_number(&inner, "rotated", 0, 270, &rotated);
    field_real(&inner, "speed", 0, 1e6, &match->transform.speed);
    field_real(&inner, "pitch", 0, 1e6, &match->transform.pitch);
    match->transform.rotated = (uint16_t)rotated;
    fields->status = fields->status ? fields->status : inner.status;
}

static void read_segment(const json_t *object, struct fields *fields, struct doppel_segment *out)
{
    struct fields inner = {.object = object, .error = fields->error};
    out->speed = 1;
    field_real(&inner, "a_start", LEAST_SECONDS, MOST_SECONDS, &out->a_start);
    field_real(&inner, "a_end", LEAST_SECONDS, MOST_SECONDS, &out->a_end);
    field_real(&inner, "b_start", LEAST_SECONDS, MOST_SECONDS, &out->b_start);
    field_real(&inner, "b_end", LEAST_SECONDS, MOST_SECONDS, &out->b_end);
    field_real(&inner, "speed", 0, 1e6, &out->speed);
    field_bool(&inner, "repeat", &out->repeat);
    fields->status = fields->status ? fields->status : inner.status;
}

static void read_saved_segments(struct fields *fields, struct doppel_match *match)
{
    const json_t *list = json_object_get(fields->object, "segments");
    size_t count = json_array_size(list);
    struct doppel_segment *segments = count ? calloc(count, sizeof *segments) : NULL;
    if (count && !segments)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < count && segments; i++)
        read_segment(json_array_get(list, i), fields, &segments[i]);
    match->segments = segments;
    match->segment_count = segments ? count : 0;
}

static void read_picture_place(const json_t *where, const char *key, struct fields *fields,
                               struct doppel_place *out)
{
    struct fields inner = *fields;
    inner.object = json_object_get(where, key);
    field_real(&inner, "left", LEAST_SHARE, MOST_SHARE, &out->left);
    field_real(&inner, "top", LEAST_SHARE, MOST_SHARE, &out->top);
    field_real(&inner, "right", LEAST_SHARE, MOST_SHARE, &out->right);
    field_real(&inner, "bottom", LEAST_SHARE, MOST_SHARE, &out->bottom);
    field_real(&inner, "angle", 0, 360, &out->angle);
    fields->status = fields->status ? fields->status : inner.status;
}

static void read_where(struct fields *fields, struct doppel_match *match)
{
    const json_t *where = json_object_get(fields->object, "where");
    match->has_places = where != NULL;
    read_picture_place(where, "query", fields, &match->query_place);
    read_picture_place(where, "item", fields, &match->item_place);
}

static void read_match_kind(struct fields *fields, struct doppel_match *match)
{
    const char *kind = json_string_value(json_object_get(fields->object, "kind"));
    const char *scheme = json_string_value(json_object_get(fields->object, "scheme"));
    const struct doppel_scheme *known = scheme ? doppel_scheme_by_name(scheme) : NULL;
    match->kind = kind ? doppel_kind_from_name(kind) : DOPPEL_KIND_UNKNOWN;
    match->scheme = known ? known->id : DOPPEL_SCHEME_NONE;
    if (scheme && !known)
        field_is_wrong(fields, "scheme", "a scheme that is known here");
}

static void read_saved_match(struct fields *fields, struct doppel_match *match)
{
    int relation = 0, verified = 0;
    int64_t distance = 0, bits = 0;
    *match = (struct doppel_match){.false_positive_rate = -1};
    read_match_kind(fields, match);
    field_word(fields, "relation", relation_word, DOPPEL_RELATION_BURST, &relation);
    field_word(fields, "verified", verified_word, DOPPEL_VERIFIED_ALIGNMENT, &verified);
    field_number(fields, "distance", 0, UINT32_MAX, &distance);
    field_number(fields, "bits", 0, UINT32_MAX, &bits);
    field_real(fields, "similarity", 0, 1, &match->similarity);
    field_real(fields, "score", 0, 1e9, &match->score);
    field_real(fields, "false_positive_rate", 0, 1, &match->false_positive_rate);
    match->has_coverage = json_object_get(fields->object, "query_coverage") != NULL;
    field_real(fields, "query_coverage", 0, 1, &match->query_coverage);
    field_real(fields, "item_coverage", 0, 1, &match->item_coverage);
    field_bool(fields, "time_uncertain", &match->time_uncertain);
    match->relation = (enum doppel_relation)relation;
    match->verified = (enum doppel_verified)verified;
    match->distance = (uint32_t)distance;
    match->bits = (uint32_t)bits;
    read_where(fields, match);
    read_saved_segments(fields, match);
    read_transform(fields, match);
}

/* ---- a member ---- */

/* EXIF knows no time zone. */
static int64_t seconds_of_date(struct fields *fields, const char *text)
{
    struct tm parts = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (!end || *end)
        field_is_wrong(fields, "taken", "a date");
    return end && !*end ? (int64_t)timegm(&parts) : 0;
}

/* @return whether anything is said of it */
static bool read_saved_origin(struct fields *fields, struct doppel_image_origin *out)
{
    const char *taken = json_string_value(json_object_get(fields->object, "taken"));
    const char *camera = json_string_value(json_object_get(fields->object, "camera"));
    double latitude = 0, longitude = 0;
    field_real(fields, "latitude", -90, 90, &latitude);
    field_real(fields, "longitude", -180, 180, &longitude);
    *out = (struct doppel_image_origin){.taken_s = taken ? seconds_of_date(fields, taken) : 0,
                                        .latitude_e7 = (int32_t)lround(latitude * 1e7),
                                        .longitude_e7 = (int32_t)lround(longitude * 1e7)};
    if (camera)
        strncpy(out->camera, camera, sizeof out->camera - 1);
    return taken || camera || latitude != 0 || longitude != 0;
}

static void read_saved_names(struct fields *fields, struct doppel_group_member *member)
{
    const json_t *list = json_object_get(fields->object, "names");
    size_t count = json_array_size(list);
    char **names = count ? calloc(count, sizeof *names) : NULL;
    if (count && !names)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a group");
    for (size_t i = 0; i < count && names && !fields->status; i++) {
        struct fields inner = {.object = json_array_get(list, i), .error = fields->error};
        field_bytes(&inner, "path", &names[i]);
        if (!inner.status && !names[i])
            field_is_wrong(fields, "names", "a list of paths");
        fields->status = fields->status ? fields->status : inner.status;
    }
    member->names = (const char *const *)names;
    member->name_count = names ? count : 0;
}

static void read_saved_stamp(struct fields *fields, struct doppel_group_member *member)
{
    int64_t inode = 0;
    member->size_bytes = -1;
    field_number(fields, "size", 0, INT64_MAX, &member->size_bytes);
    field_number(fields, "mtime_ns", INT64_MIN, INT64_MAX, &member->mtime_ns);
    field_number(fields, "inode", INT64_MIN, INT64_MAX, &inode);
    field_digest(fields, "digest", &member->digest);
    member->inode = (uint64_t)inode; /* as doppel_json_signed wrote it */
    if (member->size_bytes < 0 || !inode || !json_object_get(fields->object, "mtime_ns") ||
        !json_object_get(fields->object, "digest"))
        field_is_wrong(fields, "members", "a list of files with size, mtime_ns, inode and digest");
}

/* @return memory for what is copied; NULL: without it, or where something is wrong */
static void *copy_if_right(struct fields *fields, const void *from, size_t size)
{
    void *copy = fields->status ? NULL : malloc(size);
    if (copy)
        memcpy(copy, from, size);
    else if (!fields->status)
        fields->status = doppel_fail(fields->error, DOPPEL_E_MEMORY, "no memory for a group");
    return copy;
}

static void read_look(struct fields *fields, struct doppel_group_member *member)
{
    struct doppel_image_origin origin;
    int64_t width = 0, height = 0, reading = 0;
    double duration = 0;
    field_number(fields, "width", 0, MOST_SIZE, &width);
    field_number(fields, "height", 0, MOST_SIZE, &height);
    field_number(fields, "reading", 0, 7, &reading);
    field_real(fields, "duration", 0, MOST_SECONDS, &duration);
    member->width = (uint32_t)width;
    member->height = (uint32_t)height;
    member->reading = (uint8_t)reading;
    member->duration_ms = (uint64_t)llround(duration * 1000);
    if (read_saved_origin(fields, &origin))
        member->origin = copy_if_right(fields, &origin, sizeof origin);
}

static void read_match_of_member(struct fields *fields, struct doppel_group_member *member)
{
    struct doppel_match match;
    if (!json_object_get(fields->object, "relation"))
        return;
    read_saved_match(fields, &match);
    member->match = copy_if_right(fields, &match, sizeof match);
    if (!member->match)
        free((void *)match.segments);
}

static enum doppel_status read_member(const json_t *object, bool first,
                                      struct doppel_group_member *member,
                                      struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    int reason = -1, mark = DOPPEL_FILE_UNMARKED;
    char *path = NULL;
    member->is_file = true;
    field_bytes(&fields, "path", &path);
    member->path = path;
    if (!path || !*path)
        field_is_wrong(&fields, "path", "the path of a file");
    field_word(&fields, "reason", reason_word, DOPPEL_REASONS - 1, &reason);
    if ((reason == DOPPEL_REASON_KEPT) != first || reason < 0)
        field_is_wrong(&fields, "reason", "\"kept\" of the first member, and of it alone");
    field_word(&fields, "mark", mark_word_of, DOPPEL_FILE_KEEP, &mark);
    field_bool(&fields, "reference", &member->reference);
    field_bool(&fields, "burst", &member->burst);
    member->reason = reason < 0 ? DOPPEL_REASON_NEAR : (enum doppel_reason)reason;
    member->mark = (enum doppel_file_mark)mark;
    read_saved_stamp(&fields, member);
    read_look(&fields, member);
    read_saved_names(&fields, member);
    read_match_of_member(&fields, member);
    return fields.status;
}

/* ---- a group ---- */

bool members_have_same_bytes(const struct doppel_group_member *a,
                             const struct doppel_group_member *b)
{
    return a->size_bytes == b->size_bytes && memcmp(&a->digest, &b->digest, sizeof a->digest) == 0;
}

void group_count_bytes(struct doppel_group *group, struct doppel_group_member *members)
{
    for (size_t i = 0; i < group->count; i++) {
        size_t same = 0;
        while (same < i && !members_have_same_bytes(&members[same], &members[i]))
            same++;
        members[i].same_bytes = same;
    }
    group->savable_bytes = group_savable_bytes(members, group->count);
}

static enum doppel_status read_members(const json_t *list, struct doppel_group *group,
                                       struct doppel_error *error)
{
    size_t count = json_array_size(list);
    struct doppel_group_member *members = count < 2 ? NULL : calloc(count, sizeof *members);
    if (count < 2)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "\"members\" is not a list of two files or more");
    if (!members)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group of %zu", count);
    group->members = members;
    group->count = count;
    for (size_t i = 0; i < count; i++) {
        enum doppel_status status =
            read_member(json_array_get(list, i), i == 0, &members[i], error);
        if (status)
            return status;
    }
    group->keep = members[0].path;
    for (size_t i = 0; i < count; i++)
        members[i].freed_bytes = (uint64_t)members[i].size_bytes;
    group_count_bytes(group, members);
    return DOPPEL_OK;
}

static enum doppel_status read_group(const json_t *object, struct doppel_group *group,
                                     struct doppel_error *error)
{
    struct fields fields = {.object = object, .error = error};
    const char *kind = json_string_value(json_object_get(object, "kind"));
    int64_t number = 0;
    char *reason = NULL;
    field_number(&fields, "group", 1, INT64_MAX, &number);
    field_bytes(&fields, "keep_reason", &reason);
    group->kind = kind ? doppel_kind_from_name(kind) : DOPPEL_KIND_UNKNOWN;
    group->number = (uint64_t)number;
    group->keep_reason = reason;
    if (!number || !group->kind)
        field_is_wrong(&fields, number ? "kind" : "group", "that of a group");
    return fields.status ? fields.status
                         : read_members(json_object_get(object, "members"), group, error);
}

static void free_member(const struct doppel_group_member *member)
{
    for (size_t i = 0; i < member->name_count; i++)
        free((char *)member->names[i]);
    free((void *)member->names);
    free((char *)member->path);
    free((void *)member->origin);
    if (member->match)
        free((void *)member->match->segments);
    free((void *)member->match);
}

void doppel_group_free(struct doppel_group *group)
{
    if (!group)
        return;
    for (size_t i = 0; i < group->count; i++)
        free_member(&group->members[i]);
    free((void *)group->members);
    free((char *)group->keep_reason);
    free(group);
}

enum doppel_status doppel_group_from_json(const char *text, size_t size, struct doppel_group **out,
                                          struct doppel_error *error)
{
    struct doppel_group *group = calloc(1, sizeof *group);
    json_t *object = json_loadb(text, size, 0, NULL);
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (!group)
        doppel_fail(error, status, "no memory for a group");
    else
        status = json_is_object(object)
                     ? read_group(object, group, error)
                     : doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no object in JSON");
    json_decref(object);
    if (status)
        doppel_group_free(group);
    else
        *out = group;
    return status;
}
