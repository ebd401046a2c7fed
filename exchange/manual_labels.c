/* Words about two contents: whom they are about, and what follows from them. */
#include "exchange/manual_labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "core/array.h"

static bool take_content(void *context, const struct doppel_library_text *text)
{
    *(struct marked *)context = (struct marked){
        .kind = DOPPEL_KIND_TEXT, .digest = text->content, .id = text->id, .is_text = true};
    return true;
}

static enum doppel_status digest_file(const char *path, struct marked *out,
                                      struct doppel_error *error)
{
    struct marked marked = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           "%s: neither an item of the library nor a file that can be read: %s",
                           path, strerror(errno));
    enum doppel_status status = doppel_digest_fd(fd, &marked.digest, NULL, error);
    close(fd);
    if (status)
        return doppel_fail(error, status, "%s: the file cannot be read", path);
    *out = marked;
    return DOPPEL_OK;
}

enum doppel_status marked_named(struct doppel_library *library, const char *name,
                                struct marked *out, struct doppel_error *error)
{
    struct doppel_item item;
    enum doppel_status status = doppel_library_find_item(library, name, false, &item, error);
    if (status == DOPPEL_OK) {
        *out =
            (struct marked){.kind = item.record.kind, .digest = item.record.digest, .id = item.id};
        doppel_item_free(&item);
        return DOPPEL_OK;
    }
    if (status != DOPPEL_E_NOT_FOUND)
        return status;
    if (!doppel_library_find_text(library, name, take_content, out, error))
        return DOPPEL_OK;
    return digest_file(name, out, error);
}

/* ---- what follows ---- */

/* The later group joins the earlier one; if its representative was chosen, so it stays, unless
 * another is.
 */
static enum doppel_status join_groups(struct doppel_library *library, uint64_t a, uint64_t b,
                                      struct doppel_error *error)
{
    uint64_t leader_a = a, leader_b = b, chosen = 0, other = 0;
    enum doppel_status status = doppel_library_leader(library, a, &leader_a, error);
    if (!status)
        status = doppel_library_leader(library, b, &leader_b, error);
    if (status || leader_a == leader_b)
        return status;
    uint64_t first = leader_a < leader_b ? leader_a : leader_b, later = leader_a ^ leader_b ^ first;
    status = doppel_library_get_canonical(library, first, &chosen, error);
    if (!status)
        status = doppel_library_get_canonical(library, later, &other, error);
    if (!status)
        status = doppel_library_link(library, later, first, error);
    return status || chosen || other != later
               ? status
               : doppel_library_set_canonical(library, first, other, error);
}

/* The members of a group that have this content. */
struct leaving {
    struct doppel_library *library;
    const struct doppel_digest *content;
    ARRAY(uint64_t) ids;
};

static bool take_group_member(void *context, uint64_t id)
{
    struct leaving *leaving = context;
    struct doppel_name name;
    if (doppel_library_name(leaving->library, id, &name, NULL))
        return true;
    bool leaves = memcmp(&name.content, leaving->content, sizeof name.content) == 0;
    doppel_name_free(&name);
    return !leaves || array_push(&leaving->ids, id);
}

/* What has this content follows `leader` no longer: the first is on its own, the others follow it.
 */
static enum doppel_status leave_group(struct doppel_library *library,
                                      const struct doppel_digest *content, uint64_t leader,
                                      struct doppel_error *error)
{
    struct leaving leaving = {.library = library, .content = content};
    enum doppel_status status =
        doppel_library_each_follower(library, leader, 0, take_group_member, &leaving, error);
    for (size_t i = 0; i < leaving.ids.count && !status; i++)
        status = i ? doppel_library_link(library, leaving.ids.items[i], *leaving.ids.items, error)
                   : doppel_library_unlink(library, *leaving.ids.items, error);
    array_free(&leaving.ids);
    return status == DOPPEL_E_CANCELLED
               ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a group")
               : status;
}

/* Of two in one group the one that does not lead it leaves, of two followers the later one. */
static enum doppel_status part_groups(struct doppel_library *library, const struct marked *a,
                                      const struct marked *b, struct doppel_error *error)
{
    struct doppel_name name;
    uint64_t leader, other = 0;
    enum doppel_status status = doppel_library_leader(library, a->id, &leader, error);
    if (!status)
        status = doppel_library_leader(library, b->id, &other, error);
    if (status || leader != other)
        return status;
    status = doppel_library_name(library, leader, &name, error);
    if (status)
        return status;
    bool leads_a = memcmp(&name.content, &a->digest, sizeof a->digest) == 0;
    bool leads_b = memcmp(&name.content, &b->digest, sizeof b->digest) == 0;
    doppel_name_free(&name);
    const struct marked *leaving = leads_a || (!leads_b && a->id < b->id) ? b : a;
    return leave_group(library, &leaving->digest, leader, error);
}

/* Of what is not known it may be. A video may be known by its audio. */
static bool may_be_same(enum doppel_kind a, enum doppel_kind b)
{
    bool tracks = a >= DOPPEL_KIND_AUDIO && b >= DOPPEL_KIND_AUDIO;
    return a == b || !a || !b || tracks;
}

enum doppel_status mark_say(struct doppel_library *library, const struct marked *a,
                            const struct marked *b, enum doppel_manual_label word, const char *note,
                            struct doppel_error *error)
{
    if (word == DOPPEL_LABEL_SAME && !may_be_same(a->kind, b->kind))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s and %s are never compared, so they cannot be the same",
                           doppel_kind_name(a->kind), doppel_kind_name(b->kind));
    const uint64_t ids[] = {a->id, b->id};
    enum doppel_status status =
        doppel_library_mark(library, &a->digest, &b->digest, ids, word, note, error);
    bool items = a->id && b->id && a->id != b->id;
    if (!status && items && word == DOPPEL_LABEL_SAME)
        status = join_groups(library, a->id, b->id, error);
    if (!status && items && word == DOPPEL_LABEL_DISTINCT)
        status = part_groups(library, a, b, error);
    return status;
}

/* ---- lines ---- */

static int hex_value(char digit)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, digit | 0x20);
    return digit && at ? (int)(at - digits) : -1;
}

static bool read_digest(const char *hex, struct doppel_digest *out)
{
    if (strlen(hex) != 2 * sizeof out->bytes)
        return false;
    for (size_t i = 0; i < sizeof out->bytes; i++) {
        int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum doppel_kind kind_of(struct doppel_library *library, uint64_t id)
{
    struct doppel_name name;
    if (!id || doppel_library_name(library, id, &name, NULL))
        return DOPPEL_KIND_UNKNOWN;
    enum doppel_kind kind = name.kind;
    doppel_name_free(&name);
    return kind;
}

/* `key` is "a" or "b". */
static enum doppel_status read_side(struct doppel_library *library, const json_t *object,
                                    const char *key, const char *digest_key, struct marked *out,
                                    struct doppel_error *error)
{
    const char *path = json_string_value(json_object_get(object, key));
    const char *hex = json_string_value(json_object_get(object, digest_key));
    if (!path && !hex)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it has neither \"%s\" nor \"%s\"", key,
                           digest_key);
    if (!hex)
        return marked_named(library, path, out, error);
    struct marked marked = {0};
    if (!read_digest(hex, &marked.digest))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "\"%s\" is no digest: '%.80s'", digest_key,
                           hex);
    if (doppel_library_by_digest(library, &marked.digest, &marked.id, NULL))
        marked.id = 0;
    marked.kind = kind_of(library, marked.id);
    *out = marked;
    return DOPPEL_OK;
}

/* Files of the same bytes are distinguished by their paths. */
static enum doppel_status read_file(struct doppel_library *library, const json_t *object,
                                    const char *key, const char *digest_key, struct marked *out,
                                    struct doppel_error *error)
{
    struct doppel_item item;
    const char *path = json_string_value(json_object_get(object, key));
    if (!path || doppel_library_find_item(library, path, false, &item, error) != DOPPEL_OK)
        return read_side(library, object, key, digest_key, out, error);
    *out = (struct marked){.id = item.id};
    doppel_item_free(&item);
    return DOPPEL_OK;
}

/* The other members of a group, which need not follow anybody, are not chosen any more. */
static enum doppel_status unchoose_members(struct doppel_library *library, const json_t *over,
                                           uint64_t kept, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    size_t i;
    json_t *member;
    json_array_foreach(over, i, member)
    {
        struct marked other;
        uint64_t leader, chosen = 0;
        if (read_file(library, member, "path", "digest", &other, NULL) || !other.id ||
            other.is_text || other.id == kept) /* gone meanwhile, or the same bytes */
            continue;
        status = doppel_library_leader(library, other.id, &leader, error);
        if (!status)
            status = doppel_library_get_canonical(library, leader, &chosen, error);
        if (!status && chosen == other.id)
            status = doppel_library_set_canonical(library, leader, 0, error);
        if (status)
            return status;
    }
    return status;
}

static enum doppel_status import_canonical(struct doppel_library *library, const json_t *object,
                                           struct doppel_error *error)
{
    struct marked marked;
    uint64_t leader;
    enum doppel_status status = read_file(library, object, "a", "a_digest", &marked, error);
    if (status)
        return status;
    if (!marked.id || marked.is_text)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           "what is to be kept is no file of the library: add it first");
    status = doppel_library_leader(library, marked.id, &leader, error);
    if (!status)
        status = doppel_library_set_canonical(library, leader, marked.id, error);
    return status ? status
                  : unchoose_members(library, json_object_get(object, "over"), marked.id, error);
}

static enum doppel_status say_object(struct doppel_library *library, const json_t *object,
                                     struct doppel_error *error)
{
    const char *mark = json_string_value(json_object_get(object, "mark"));
    const char *note = json_string_value(json_object_get(object, "note"));
    struct marked a, b;
    if (mark && strcmp(mark, "keep") == 0)
        return import_canonical(library, object, error);
    bool same = mark && strcmp(mark, "same") == 0;
    if (!same && (!mark || strcmp(mark, "distinct") != 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "\"mark\" is to be \"same\", \"distinct\" or \"keep\"");
    enum doppel_status status = read_side(library, object, "a", "a_digest", &a, error);
    if (!status)
        status = read_side(library, object, "b", "b_digest", &b, error);
    return status ? status
                  : mark_say(library, &a, &b, same ? DOPPEL_LABEL_SAME : DOPPEL_LABEL_DISTINCT,
                             note, error);
}

enum doppel_status mark_line(struct doppel_library *library, const char *line,
                             struct doppel_error *error)
{
    json_error_t wrong;
    json_t *object = json_loads(line, 0, &wrong);
    if (!json_is_object(object)) {
        json_decref(object);
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no object in JSON");
    }
    enum doppel_status status = say_object(library, object, error);
    json_decref(object);
    return status;
}
