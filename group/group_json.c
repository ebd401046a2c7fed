/* A group as JSON. */
#include <doppel/group.h>

#include <time.h>

#include <doppel/compare.h>

static const char *const reasons[DOPPEL_REASONS] = {
    [DOPPEL_REASON_KEPT] = "kept",
    [DOPPEL_REASON_IDENTICAL] = "identical",
    [DOPPEL_REASON_SAME_CONTENT] = "same-content",
    [DOPPEL_REASON_NEAR] = "near",
    [DOPPEL_REASON_CONTAINED] = "part",
    [DOPPEL_REASON_MARKED] = "marked",
};

const char *doppel_reason_name(enum doppel_reason reason)
{
    return (unsigned)reason < DOPPEL_REASONS ? reasons[reason] : "unknown";
}

static void put_record(struct doppel_json *json, const struct doppel_group_member *member)
{
    const struct doppel_group_record *record = member->record;
    doppel_json_text(json, "record", record->record_id);
    if (member->path)
        doppel_json_path(json, "path", member->path);
    doppel_json_integer(json, "line", record->line);
    doppel_json_integer(json, "words", record->words);
    doppel_json_text(json, "source", record->source);
    doppel_json_text(json, "date", record->date);
}

/* When, with what and where an image was taken. EXIF knows no time zone. */
static void put_origin(struct doppel_json *json, const struct doppel_image_origin *origin)
{
    char taken[40];
    time_t seconds = (time_t)origin->taken_s;
    struct tm parts;
    if (origin->taken_s && gmtime_r(&seconds, &parts) &&
        strftime(taken, sizeof taken, "%Y-%m-%dT%H:%M:%S", &parts))
        doppel_json_text(json, "taken", taken);
    doppel_json_text(json, "camera", *origin->camera ? origin->camera : NULL);
    if (origin->latitude_e7 || origin->longitude_e7) {
        doppel_json_number(json, "latitude", origin->latitude_e7 / 1e7, 7);
        doppel_json_number(json, "longitude", origin->longitude_e7 / 1e7, 7);
    }
}

/* A file that has more names than one. */
static void put_names(struct doppel_json *json, const struct doppel_group_member *member)
{
    if (member->links < 2)
        return;
    doppel_json_integer(json, "links", member->links);
    if (!member->freed_bytes)
        doppel_json_integer(json, "frees", 0);
    if (!member->name_count)
        return;
    doppel_json_array_begin(json, "names");
    for (size_t i = 0; i < member->name_count; i++) {
        doppel_json_object_begin(json, NULL);
        doppel_json_path(json, "path", member->names[i]);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

static void put_library_member(struct doppel_json *json, const struct doppel_group *group,
                               const struct doppel_group_member *member)
{
    bool timed = group->kind == DOPPEL_KIND_AUDIO || group->kind == DOPPEL_KIND_VIDEO;
    if (member->is_file) {
        doppel_json_path(json, "path", member->path);
        doppel_json_integer(json, "size", (uint64_t)member->size_bytes);
        doppel_json_number(json, "mtime", (double)member->mtime_ns / 1e9, 3);
        put_names(json, member);
        if (member->gone)
            doppel_json_boolean(json, "gone", true);
    } else {
        doppel_json_text(json, "name", member->path);
    }
    if (timed)
        doppel_json_number(json, "duration", (double)member->duration_ms / 1000.0, 3);
    if (member->width) {
        doppel_json_integer(json, "width", member->width);
        doppel_json_integer(json, "height", member->height);
    }
    if (member->origin)
        put_origin(json, member->origin);
    if (member->tags)
        doppel_json_audio_tags(json, member->tags);
}

/* The first member of its shot; NULL: it is that, or has no companions. */
static const struct doppel_group_member *companion_of(const struct doppel_group *group,
                                                      const struct doppel_group_member *member)
{
    const struct doppel_group_member *first = group->members;
    while (member->shot && first < member && first->shot != member->shot)
        first++;
    return member->shot && first < member ? first : NULL;
}

static void put_member_reason(struct doppel_json *json, const struct doppel_group *group,
                              const struct doppel_group_member *member)
{
    if (member->reference)
        doppel_json_boolean(json, "reference", true);
    doppel_json_text(json, "reason", doppel_reason_name(member->reason));
    const struct doppel_group_member *companion = companion_of(group, member);
    if (companion)
        doppel_json_path(json, "companion_of", companion->path);
    if (member->burst)
        doppel_json_boolean(json, "burst", true);
    doppel_json_text(json, "mark", doppel_file_mark_name(member->mark));
    if (member->reason == DOPPEL_REASON_IDENTICAL || member->reason == DOPPEL_REASON_SAME_CONTENT) {
        doppel_json_integer(json, "distance", 0);
        doppel_json_number(json, "similarity", 1, 4);
    }
    if (member->match)
        doppel_match_to_json(json, member->match);
}

/* As jansson reads it, which knows no integers beyond 63 bits. */
static void put_stamp_of_member(struct doppel_json *json, const struct doppel_group_member *member)
{
    doppel_json_signed(json, "mtime_ns", member->mtime_ns);
    doppel_json_signed(json, "inode", (int64_t)member->inode);
    if (member->reading)
        doppel_json_integer(json, "reading", member->reading);
}

static void put_digest(struct doppel_json *json, const struct doppel_digest *digest)
{
    char hex[2 * sizeof digest->bytes + 1];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    doppel_json_text(json, "digest", hex);
}

static void put_member(struct doppel_json *json, const struct doppel_group *group, size_t number,
                       unsigned parts)
{
    const struct doppel_group_member *member = &group->members[number];
    doppel_json_object_begin(json, NULL);
    if (member->id)
        doppel_json_integer(json, "id", member->id);
    if (member->record)
        put_record(json, member);
    else
        put_library_member(json, group, member);
    put_member_reason(json, group, member);
    if (member->same_bytes != number && member->reason != DOPPEL_REASON_IDENTICAL)
        doppel_json_path(json, "identical_to", group->members[member->same_bytes].path);
    doppel_json_texts(json, "lists", member->lists, member->list_count);
    doppel_json_texts(json, "labels", member->labels, member->label_count);
    if (parts & DOPPEL_GROUP_STAMPS && member->is_file)
        put_stamp_of_member(json, member);
    if (parts & DOPPEL_GROUP_DIGESTS)
        put_digest(json, &member->digest);
    doppel_json_object_end(json);
}

void doppel_group_near_to_json(struct doppel_json *json, const struct doppel_group_near *near)
{
    doppel_json_object_begin(json, NULL);
    doppel_json_boolean(json, "near_miss", true);
    doppel_json_path(json, "path", near->path);
    doppel_json_path(json, "of_path", near->of_path);
    doppel_match_to_json(json, near->match);
    doppel_json_object_end(json);
}

static bool is_burst(const struct doppel_group *group)
{
    bool burst = false;
    for (size_t i = 0; i < group->count; i++)
        burst |= group->members[i].burst;
    return burst;
}

void doppel_group_to_json(struct doppel_json *json, const char *key,
                          const struct doppel_group *group, unsigned parts)
{
    doppel_json_object_begin(json, key);
    doppel_json_integer(json, "group", group->number);
    doppel_json_text(json, "kind", doppel_kind_name(group->kind));
    doppel_json_path(json, "keep", group->keep);
    doppel_json_integer(json, "savable", group->savable_bytes);
    doppel_json_text(json, "keep_reason", group->keep_reason);
    if (is_burst(group))
        doppel_json_boolean(json, "burst", true);
    doppel_json_array_begin(json, "members");
    for (size_t i = 0; i < group->count; i++)
        put_member(json, group, i, parts);
    doppel_json_array_end(json);
    doppel_json_object_end(json);
}
