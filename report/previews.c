/* What the members of groups look like: which looks are wanted, and how they are taken. */
#include "report/previews.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/corpus.h>
#include <doppel/text.h>

#include "core/digest_map.h"
#include "intake/intake.h"
#include "tools/memory.h"
#include "report/preview.h"
#include "tools/signals.h"

void page_look_free(struct page_look *look)
{
    free(look->bytes);
    free(look->reason);
}

struct page_looks *page_looks_new(const struct settings *settings, struct report *report,
                                  const struct doppel_text_options *text)
{
    struct page_looks *looks = must_allocate(sizeof *looks);
    looks->settings = settings;
    looks->report = report;
    looks->text = text;
    return looks;
}

void page_looks_free(struct page_looks *looks)
{
    page_looks_clear(looks);
    array_free(&looks->items);
    array_free(&looks->groups);
    doppel_pool_free(looks->pool);
    free(looks->reported);
    free(looks);
}

void page_looks_clear(struct page_looks *looks)
{
    for (size_t i = 0; i < looks->items.count; i++)
        page_look_free(&looks->items.items[i]);
    looks->items.count = looks->groups.count = 0;
}

size_t page_looks_count(const struct page_looks *looks)
{
    return looks->items.count;
}

/* ---- what is wanted ---- */

static void want(struct page_looks *looks, struct page_look look)
{
    if (!array_push(&looks->items, look))
        look.reason = NULL; /* a look less */
}

static struct doppel_order order_of(enum doppel_kind kind, const struct page_item *item)
{
    struct doppel_order order = {.look = DOPPEL_LOOK_STILL, .look_size = STILL_PIXELS};
    if (kind == DOPPEL_KIND_AUDIO) {
        order.look = DOPPEL_LOOK_WAVE;
        order.look_size = WAVE_BUCKETS;
    } else if (kind == DOPPEL_KIND_TEXT) {
        order.look = DOPPEL_LOOK_PLAIN;
        order.look_size = TEXT_BYTES;
        order.text_format = item->reading ? item->reading : DOPPEL_TEXT_AUTO;
    }
    return order;
}

static struct doppel_order frame_order(double seconds, uint32_t pixels)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES64);
    return (struct doppel_order){
        .scheme = scheme->id,
        .version = scheme->version,
        .video_task = DOPPEL_VIDEO_THUMBNAIL,
        .video_no_audio = true,
        .from_ms = seconds > 0 && seconds < 4e6 ? (uint32_t)(seconds * 1000 + .5) : 0,
        .to_ms = pixels,
    };
}

/* Moments that both videos have, beside each other; of one that shares none, or of which it is not
 * known, a moment of its own. */
static void want_frames(struct page_looks *looks, const struct page_group *group, size_t member)
{
    json_t *row = json_array_get(json_object_get(group->row, "members"), member);
    struct video_shot shots[VIDEO_SHOTS];
    size_t count = page_shots_choose(row, shots);
    struct page_look look = {
        .group = group, .item = &group->items[member], .member = member, .as = member};
    for (size_t i = 0; i < count; i++)
        for (size_t side = 0; side < 2; side++) {
            look.item = &group->items[side ? 0 : member];
            look.of_kept = side == 1;
            look.seconds = shots[i].seconds[side];
            look.order = frame_order(look.seconds, FRAME_PIXELS);
            want(looks, look);
        }
    if (count)
        return;
    look.seconds = json_number_value(json_object_get(row, "duration")) * .3;
    look.order = frame_order(look.seconds, STILL_PIXELS);
    want(looks, look);
}

static const struct doppel_digest *digest_at(const void *context, uint32_t number)
{
    const struct page_group *group = context;
    return &group->items[number].digest;
}

void page_looks_want(struct page_looks *looks, const struct page_group *group)
{
    struct wanted_group wanted = {group, looks->items.count};
    struct digest_map first = {0};
    if (!array_push(&looks->groups, wanted))
        return;
    for (size_t i = 0; i < group->count; i++) {
        struct page_look look = {.group = group, .item = &group->items[i], .member = i};
        look.as =
            look.item->record.line ? i : digest_map_put(&first, (uint32_t)i, digest_at, group);
        look.order = order_of(group->kind, look.item);
        if (group->kind == DOPPEL_KIND_VIDEO && look.as == i)
            want_frames(looks, group, i);
        else
            want(looks, look);
    }
    digest_map_free(&first);
}

/* ---- taking it ---- */

/* What ingest read here is read here again: it needs no worker. */
static void take_record(const struct page_looks *looks, struct page_look *look)
{
    struct doppel_corpus_fields fields = doppel_corpus_fields_default();
    const struct page_item *item = look->item;
    const struct doppel_corpus_place place = {item->path, item->record.offset, item->record.size,
                                              item->digest};
    struct doppel_error error;
    char *text;
    fields.text = looks->settings->text_field;
    fields.path = looks->settings->path_field;
    if (!*item->path)
        look->reason = must_copy("came by a stream: its text is not kept");
    else if (doppel_corpus_reread_text(&place, &fields, looks->text, TEXT_BYTES, &text, &look->size,
                                       &error))
        look->reason = must_copy(error.message);
    else
        look->bytes = (uint8_t *)text;
}

/* @return -1, with a reason, when it is gone, or another one */
static int open_unchanged(struct page_look *look)
{
    struct stat status;
    if (look->item->no_file) {
        look->reason = must_copy("is not known: its codes are all there is");
        return -1;
    }
    int fd = open(look->item->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        look->reason = must_copy(errno == ENOENT || errno == ENOTDIR ? "is not there any more"
                                                                     : strerror(errno));
        return -1;
    }
    struct doppel_file_stamp now = {0};
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        now = stamp_of(&status);
    if (now.size == look->item->size && now.mtime_ns == look->item->mtime_ns)
        return fd;
    close(fd);
    look->reason = must_copy("has changed since it was read");
    return -1;
}

static enum doppel_status take(struct page_looks *looks, struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status = doppel_pool_next(looks->pool, -1, &outcome, error);
    if (status)
        return status;
    struct page_look *look = &looks->items.items[outcome.tag];
    if (outcome.error.status) {
        look->reason = must_copy(outcome.error.message);
    } else {
        look->bytes = outcome.attachment;
        look->size = outcome.attachment_size;
        outcome.attachment = NULL;
    }
    doppel_outcome_free(&outcome);
    return DOPPEL_OK;
}

static enum doppel_status submit(struct page_looks *looks, size_t index, struct doppel_error *error)
{
    struct page_look *look = &looks->items.items[index];
    enum doppel_status status = DOPPEL_OK;
    if (look->item->record.line) {
        take_record(looks, look);
        return signals_stopped() ? DOPPEL_E_CANCELLED : DOPPEL_OK;
    }
    int fd = open_unchanged(look);
    if (fd < 0)
        return DOPPEL_OK;
    if (look->as != look->member || look->group->kind == DOPPEL_KIND_UNKNOWN) {
        /* that it is there is all that was to be known */
        close(fd);
        return DOPPEL_OK;
    }
    if (!looks->pool)
        status = pool_from(looks->settings, &looks->pool, error);
    while (!status && !doppel_pool_room(looks->pool))
        status = take(looks, error);
    if (!status)
        return doppel_pool_submit(looks->pool, fd, &look->order, index, error);
    close(fd);
    return status;
}

/* A corpus once, for all records in a row; of a stream nothing is wrong. */
static void report_record(struct page_looks *looks, const struct page_look *look)
{
    const char *path = look->item->path;
    if (!*path || (looks->reported && strcmp(looks->reported, path) == 0))
        return;
    report_input(looks->report, path, look->reason);
    free(looks->reported);
    looks->reported = must_copy(path);
}

/* A file is reported once, by the first of its looks that failed. */
static void report_failures(struct page_looks *looks)
{
    const struct page_item *last = NULL;
    for (size_t i = 0; i < looks->items.count; i++) {
        const struct page_look *look = &looks->items.items[i];
        if (!look->reason || look->of_kept || look->item == last || look->item->no_file)
            continue;
        last = look->item;
        if (last->record.line)
            report_record(looks, look);
        else
            report_input(looks->report, last->path, look->reason);
    }
}

enum doppel_status page_looks_take(struct page_looks *looks, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < looks->items.count && !status; i++)
        status = submit(looks, i, error);
    while (!status && looks->pool && doppel_pool_pending(looks->pool))
        status = take(looks, error);
    if (!status)
        report_failures(looks);
    return status;
}
