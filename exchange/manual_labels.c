/* Words about two contents: whom they are about, and what follows from them. */
#include "exchange/manual_labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/try.h"
#include "group/marks.h"

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
    enum doppel_status status;
    TRY(doppel_library_leader(library, a, &leader_a, error));
    TRY(doppel_library_leader(library, b, &leader_b, error));
    if (leader_a == leader_b)
        return DOPPEL_OK;
    uint64_t first = leader_a < leader_b ? leader_a : leader_b, later = leader_a ^ leader_b ^ first;
    TRY(doppel_library_get_canonical(library, first, &chosen, error));
    TRY(doppel_library_get_canonical(library, later, &other, error));
    TRY(doppel_library_link(library, later, first, error));
    if (!chosen && other == later)
        TRY(doppel_library_set_canonical(library, first, other, error));
done:
    return status;
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
    enum doppel_status status;
    TRY(doppel_library_mark(library, &a->digest, &b->digest, ids, word, note, error));
    bool items = a->id && b->id && a->id != b->id;
    if (items && word == DOPPEL_LABEL_SAME)
        TRY(join_groups(library, a->id, b->id, error));
    if (items && word == DOPPEL_LABEL_DISTINCT)
        TRY(part_groups(library, a, b, error));
done:
    return status;
}

/* ---- the one to keep ---- */

enum doppel_status mark_chosen(struct doppel_library *library, uint64_t id,
                               struct doppel_error *error)
{
    uint64_t leader;
    enum doppel_status status = doppel_library_leader(library, id, &leader, error);
    return status ? status : doppel_library_set_canonical(library, leader, id, error);
}

enum doppel_status mark_unchosen(struct doppel_library *library, uint64_t id,
                                 struct doppel_error *error)
{
    uint64_t leader, chosen = 0;
    enum doppel_status status;
    TRY(doppel_library_leader(library, id, &leader, error));
    TRY(doppel_library_get_canonical(library, leader, &chosen, error));
    if (chosen == id)
        TRY(doppel_library_set_canonical(library, leader, 0, error));
done:
    return status;
}

/* ---- lines ---- */

static enum doppel_kind kind_of(struct doppel_library *library, uint64_t id)
{
    struct doppel_name name;
    if (!id || doppel_library_name(library, id, &name, NULL))
        return DOPPEL_KIND_UNKNOWN;
    enum doppel_kind kind = name.kind;
    doppel_name_free(&name);
    return kind;
}

/* An item or file that a line names: by its digest, else by its path. */
static enum doppel_status find_named_content(struct doppel_library *library,
                                             const struct named_file *file, struct marked *out,
                                             struct doppel_error *error)
{
    struct marked marked = {.digest = file->digest};
    if (!file->has_digest)
        return marked_named(library, file->path, out, error);
    if (doppel_library_by_digest(library, &marked.digest, &marked.id, NULL))
        marked.id = 0;
    marked.kind = kind_of(library, marked.id);
    *out = marked;
    return DOPPEL_OK;
}

/* Files of the same bytes are distinguished by their paths. */
static enum doppel_status find_named_item(struct doppel_library *library,
                                          const struct named_file *file, struct marked *out,
                                          struct doppel_error *error)
{
    struct doppel_item item;
    if (!file->path || doppel_library_find_item(library, file->path, false, &item, error))
        return find_named_content(library, file, out, error);
    *out = (struct marked){.id = item.id};
    doppel_item_free(&item);
    return DOPPEL_OK;
}

/* One that was not chosen, which need not follow anybody, is not chosen any more. */
static enum doppel_status unchoose_member(struct doppel_library *library,
                                          const struct named_file *member, uint64_t kept,
                                          struct doppel_error *error)
{
    struct marked other;
    if (find_named_item(library, member, &other, NULL) || !other.id || other.is_text ||
        other.id == kept) /* gone meanwhile, or the same bytes */
        return DOPPEL_OK;
    return mark_unchosen(library, other.id, error);
}

static enum doppel_status import_canonical(struct doppel_library *library,
                                           const struct mark_line *line, struct doppel_error *error)
{
    struct marked marked;
    enum doppel_status status = find_named_item(library, &line->a, &marked, error);
    if (status)
        return status;
    if (!marked.id || marked.is_text)
        return doppel_fail(error, DOPPEL_E_NOT_FOUND,
                           "what is to be kept is no file of the library: add it first, or give "
                           "the marks to 'scan --marks', which needs no library");
    status = mark_chosen(library, marked.id, error);
    for (size_t i = 0; i < line->over.count && !status; i++)
        status = unchoose_member(library, &line->over.items[i], marked.id, error);
    return status;
}

static enum doppel_status import_pair(struct doppel_library *library, const struct mark_line *line,
                                      struct doppel_error *error)
{
    struct marked a, b;
    enum doppel_status status;
    TRY(find_named_content(library, &line->a, &a, error));
    TRY(find_named_content(library, &line->b, &b, error));
    TRY(mark_say(library, &a, &b,
                 line->word == MARK_SAME ? DOPPEL_LABEL_SAME : DOPPEL_LABEL_DISTINCT, line->note,
                 error));
done:
    return status;
}

enum doppel_status mark_line(struct doppel_library *library, const char *text, bool *out_acts,
                             struct doppel_error *error)
{
    struct mark_line line;
    enum doppel_status status = mark_line_read(text, strlen(text), &line, error);
    if (status)
        return status;
    *out_acts = line.word == MARK_REMOVE || line.word == MARK_LEAVE;
    if (line.word >= MARK_SAME)
        status = import_pair(library, &line, error);
    else if (line.word == MARK_KEEP)
        status = import_canonical(library, &line, error);
    mark_line_free(&line);
    return status;
}
