/* GET /v1/items/REF/preview, and what was found beside what was asked about. */
#include "serve/answers/previews.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/report.h>
#include <doppel/video.h>

#include "compare/video.h"
#include "core/clock.h"
#include "core/try.h"
#include "serve/input_record.h"

/* What a member borrows. */
struct previewed_item {
    struct doppel_item item;           /* given */
    struct doppel_group_record record; /* of a text */
    char *path;                        /* of its corpus; given */
    struct doppel_match match;         /* its segments are given */
};

struct preview_group {
    enum doppel_kind kind;
    size_t count;
    struct doppel_group_member members[MOST_PREVIEWS + 1];
    struct previewed_item items[MOST_PREVIEWS + 1];
    int upload; /* a descriptor; -1: none */
    char upload_path[32];
};

enum doppel_status preview_group_new(enum doppel_kind kind, struct preview_group **out,
                                     struct doppel_error *error)
{
    struct preview_group *group = calloc(1, sizeof *group);
    if (!group)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for previews");
    group->kind = kind;
    group->upload = -1;
    *out = group;
    return DOPPEL_OK;
}

void preview_group_free(struct preview_group *group)
{
    if (!group)
        return;
    for (size_t i = 0; i < group->count; i++) {
        doppel_item_free(&group->items[i].item);
        free(group->items[i].path);
        free((void *)group->items[i].match.segments);
    }
    if (group->upload >= 0)
        close(group->upload);
    free(group);
}

/* ---- members ---- */

static uint64_t record_duration_ms(const struct doppel_record *record)
{
    struct doppel_video_track head;
    return is_video(record) && !doppel_video_track_head(record->attachment, record->attachment_size,
                                                        &head, NULL)
               ? head.duration_ms
               : 0;
}

enum doppel_status preview_group_add_input(struct preview_group *group,
                                           const struct service *service,
                                           const struct request_input *input,
                                           const struct doppel_record *record,
                                           struct doppel_error *error)
{
    struct stat status = {0};
    group->upload = request_input_open(service, input);
    bool open = group->upload >= 0 && fstat(group->upload, &status) == 0;
    if (input->form != INPUT_CODE && !open)
        return doppel_fail(error, DOPPEL_E_IO, "what was sent cannot be read again");
    /* What has no name has this one. */
    snprintf(group->upload_path, sizeof group->upload_path, "/proc/self/fd/%d", group->upload);
    group->members[group->count++] = (struct doppel_group_member){
        .is_file = open,
        .path = group->upload_path,
        .digest = record->digest,
        .reading = (uint8_t)record->reading,
        .size_bytes = status.st_size,
        .mtime_ns = timespec_ns(status.st_mtim),
        .duration_ms = record_duration_ms(record),
    };
    return DOPPEL_OK;
}

struct text_wanted {
    struct doppel_group_member *member;
    struct previewed_item *item;
    bool found, no_memory;
    struct doppel_error damage;
};

static bool take_text_member(void *context, const struct doppel_library_text *text)
{
    struct text_wanted *wanted = context;
    struct previewed_item *item = wanted->item;
    wanted->damage = text->error;
    if (text->error.status)
        return true;
    wanted->found = true;
    item->record = (struct doppel_group_record){
        .line = text->line, .offset = text->offset, .size_bytes = text->size};
    item->path = strdup(text->path ? text->path : "");
    wanted->no_memory = !item->path;
    *wanted->member = (struct doppel_group_member){
        .id = text->id,
        .path = item->path,
        .digest = text->content,
        .record = text->path && text->line ? &item->record : NULL,
    };
    return true;
}

/* What is no item is a text. */
static enum doppel_status add_text_member(struct doppel_library *library, uint64_t id,
                                          struct text_wanted *wanted, struct doppel_error *error)
{
    const struct doppel_text_query one = {.first = id, .last = id, .files = true};
    enum doppel_status status =
        doppel_library_each_text(library, &one, take_text_member, wanted, error);
    if (!status && wanted->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a text");
    if (!status && wanted->damage.status)
        return doppel_fail(error, wanted->damage.status, "%s", wanted->damage.message);
    return !status && !wanted->found ? doppel_fail(error, DOPPEL_E_NOT_FOUND,
                                                   "there is no item %llu", (unsigned long long)id)
                                     : status;
}

/* A copy, seen from the item. */
static enum doppel_status set_member_match(struct previewed_item *item,
                                           struct doppel_group_member *member,
                                           const struct doppel_match *match,
                                           struct doppel_error *error)
{
    if (!match)
        return DOPPEL_OK;
    item->match = *match;
    if (!copy_segments(&item->match))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for segments");
    turn_match(&item->match);
    member->match = &item->match;
    return DOPPEL_OK;
}

enum doppel_status preview_group_add_item(struct preview_group *group,
                                          struct doppel_library *library, uint64_t id,
                                          const struct doppel_match *match,
                                          struct doppel_error *error)
{
    if (group->count > MOST_PREVIEWS)
        return DOPPEL_OK;
    struct previewed_item *item = &group->items[group->count];
    struct doppel_group_member *member = &group->members[group->count];
    struct text_wanted text = {.member = member, .item = item};
    enum doppel_status status = doppel_library_get(library, id, true, &item->item, error);
    if (status == DOPPEL_E_NOT_FOUND)
        status = add_text_member(library, id, &text, error);
    else if (!status)
        *member = (struct doppel_group_member){
            .is_file = doppel_item_has_file(&item->item),
            .id = id,
            .path = item->item.path,
            .digest = item->item.record.digest,
            .reading = (uint8_t)item->item.record.reading,
            .size_bytes = item->item.stamp.size,
            .mtime_ns = item->item.stamp.mtime_ns,
            .duration_ms = item->item.duration_ms,
        };
    if (status)
        return status;
    group->count++;
    return set_member_match(item, member, match, error);
}

/* ---- what they look like ---- */

enum doppel_status preview_group_to_json(const struct preview_group *group,
                                         const struct service *service, uint32_t pixels,
                                         struct doppel_json *json, struct doppel_error *error)
{
    const struct doppel_group previewed = {.kind = group->kind,
                                           .members = group->members,
                                           .count = group->count,
                                           .text = &service->options->read.text};
    return doppel_previews_to_json(service->run, &previewed, pixels, json, error);
}

/* ---- one item ---- */

struct preview_wish {
    uint64_t id, beside; /* beside which it is shown; 0: alone */
    uint32_t pixels;
};

/* @param out `id` of what the path names, between "/v1/items/" and "/preview" */
static enum doppel_status read_preview_wish(struct exchange *exchange,
                                            struct doppel_library *library,
                                            struct preview_wish *out, struct doppel_error *error)
{
    const char *beside = exchange_argument(exchange, "beside");
    struct doppel_reference called;
    enum doppel_status status = DOPPEL_OK;
    char *name = strndup(exchange->rest, strcspn(exchange->rest, "/"));
    if (!name)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a name"));
    TRY(doppel_library_resolve(library, name, &called, error));
    out->id = called.id;
    if (beside) {
        TRY(doppel_library_resolve(library, beside, &called, error));
        out->beside = called.id;
    }
done:
    free(name);
    return status;
}

/* What a video is to the one beside which it is shown: its frames are those that both have. */
static enum doppel_status match_with_first(struct preview_group *group,
                                           const struct service *service,
                                           struct doppel_error *error)
{
    const struct doppel_record *first = &group->items[0].item.record,
                               *record = &group->items[1].item.record;
    struct doppel_comparison pair = {0};
    if (!is_video(first) || !is_video(record))
        return DOPPEL_OK;
    enum doppel_status status;
    TRY(doppel_compare(service->run, first, record, &service->options->decide.search.compare, &pair,
                       error));
    TRY(set_member_match(&group->items[1], &group->members[1], &pair.match, error));
done:
    doppel_comparison_free(&pair);
    return status;
}

static bool read_pixels(struct exchange *exchange, uint32_t *out)
{
    enum { LEAST = 16, USUAL = 480, MOST = 1024 };
    double pixels = USUAL;
    if (!read_number(exchange, "pixels", MOST, &pixels))
        return false;
    *out = pixels < LEAST ? LEAST : (uint32_t)pixels;
    return true;
}

static enum doppel_status put_item_preview(struct exchange *exchange, struct library_reader *reader,
                                           struct doppel_error *error)
{
    struct preview_wish wish = {0};
    struct preview_group *group = NULL;
    enum doppel_status status;
    if (!read_pixels(exchange, &wish.pixels))
        return DOPPEL_OK;
    TRY(read_preview_wish(exchange, reader->library, &wish, error));
    TRY(preview_group_new(DOPPEL_KIND_UNKNOWN, &group, error));
    if (wish.beside)
        TRY(preview_group_add_item(group, reader->library, wish.beside, NULL, error));
    TRY(preview_group_add_item(group, reader->library, wish.id, NULL, error));
    group->kind = group->items[0].path ? DOPPEL_KIND_TEXT : group->items[0].item.record.kind;
    if (wish.beside)
        TRY(match_with_first(group, exchange->service, error));
    TRY(preview_group_to_json(group, exchange->service, wish.pixels, &exchange->json, error));
    exchange->status = HTTP_OK;
    exchange->cached = true;
done:
    preview_group_free(group);
    return status;
}

enum handled answer_item_preview(struct exchange *exchange)
{
    return answer_by_reader(exchange, put_item_preview);
}
