/* What the members of groups look like: which previews are wanted, and how they are taken. */
#include "report/previews.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doppel/corpus.h>
#include <doppel/text.h>

#include "core/clock.h"
#include "core/digest_map.h"
#include "core/files/open_deep.h"
#include "core/files/read_at.h"
#include "report/video_chart.h"

void previews_clear(struct previews *previews)
{
    for (size_t i = 0; i < previews->items.count; i++) {
        free(previews->items.items[i].bytes);
        free(previews->items.items[i].reason);
    }
    previews->items.count = previews->groups.count = previews->taken = 0;
}

void previews_free(struct previews *previews)
{
    previews_clear(previews);
    array_free(&previews->items);
    array_free(&previews->groups);
    doppel_pool_free(previews->pool);
    free(previews->reported);
}

/* ---- what is wanted ---- */

static struct doppel_order order_of(const struct previews *previews, enum doppel_kind kind,
                                    const struct report_member *member)
{
    struct doppel_order order = {.look = DOPPEL_LOOK_STILL, .look_size = previews->still_pixels};
    if (kind == DOPPEL_KIND_AUDIO) {
        order.look = DOPPEL_LOOK_WAVE;
        order.look_size = WAVE_BUCKETS;
    } else if (kind == DOPPEL_KIND_TEXT) {
        order.look = DOPPEL_LOOK_PLAIN;
        order.look_size = TEXT_BYTES;
        order.text_format = member->reading ? member->reading : DOPPEL_TEXT_AUTO;
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
static bool want_frames(struct previews *previews, const struct report_group *group, size_t member)
{
    const struct report_member *source = &group->members[member];
    const struct doppel_match shared = {.segments = source->segments,
                                        .segment_count = source->segment_count};
    struct video_shot shots[VIDEO_SHOTS];
    size_t count = source->segment_count ? video_shots_choose(&shared, shots) : 0;
    struct preview preview = {.group = group, .member = member, .same_as = member};
    for (size_t i = 0; i < count; i++)
        for (size_t side = 0; side < 2; side++) {
            preview.source = side ? &group->members[0] : source;
            preview.of_first = side == 1;
            preview.seconds = shots[i].seconds[side];
            preview.order = frame_order(preview.seconds, FRAME_PIXELS);
            if (!array_push(&previews->items, preview))
                return false;
        }
    if (count)
        return true;
    preview.source = source;
    preview.seconds = source->duration * .3;
    preview.order = frame_order(preview.seconds, STILL_PIXELS);
    return array_push(&previews->items, preview);
}

static const struct doppel_digest *preview_digest(const void *context, uint32_t number)
{
    const struct report_group *group = context;
    return &group->members[number].digest;
}

static bool want_member(struct previews *previews, const struct report_group *group, size_t member,
                        size_t same_as)
{
    const struct report_member *source = &group->members[member];
    const struct preview preview = {.group = group,
                                    .source = source,
                                    .member = member,
                                    .same_as = same_as,
                                    .order = order_of(previews, group->kind, source)};
    if (group->kind == DOPPEL_KIND_VIDEO && same_as == member)
        return want_frames(previews, group, member);
    return array_push(&previews->items, preview);
}

bool previews_want(struct previews *previews, const struct report_group *group)
{
    struct previewed_group wanted = {group, previews->items.count};
    struct digest_map first = {0};
    bool done = array_push(&previews->groups, wanted);
    for (size_t i = 0; i < group->count && done; i++) {
        bool is_record = group->members[i].record.line != 0 || group->is_link;
        done = digest_map_reserve(&first, preview_digest, group);
        size_t same_as =
            is_record || !done ? i : digest_map_put(&first, (uint32_t)i, preview_digest, group);
        done = done && want_member(previews, group, i, same_as);
    }
    digest_map_free(&first);
    return done;
}

bool previews_want_frame(struct previews *previews, const struct report_member *source,
                         double seconds, uint32_t pixels)
{
    static const struct report_group none = {.kind = DOPPEL_KIND_VIDEO};
    const struct preview preview = {
        .group = &none, .source = source, .of_first = true, .order = frame_order(seconds, pixels)};
    return array_push(&previews->items, preview);
}

/* ---- taking it ---- */

/* What a reason is when there is no memory for one is seen in the report as an empty place. */
static void set_reason(struct preview *preview, const char *reason)
{
    free(preview->reason);
    preview->reason = strdup(reason);
}

/* What ingest read here is read here again: it needs no worker. */
static void take_preview_record(const struct previews *previews, struct preview *preview)
{
    const struct report_member *source = preview->source;
    const struct doppel_corpus_place place = {source->path, source->record.offset,
                                              source->record.size, source->digest};
    struct doppel_error error;
    char *text;
    if (!*source->path)
        set_reason(preview, "came by a stream: its text is not kept");
    else if (doppel_corpus_reread_text(&place, &previews->options->fields, previews->text,
                                       TEXT_BYTES, &text, &preview->size, &error))
        set_reason(preview, error.message);
    else
        preview->bytes = (uint8_t *)text;
}

/* @return -1, with a reason, when it is gone, or another one */
static int open_unchanged_preview(struct preview *preview)
{
    const struct report_member *source = preview->source;
    struct stat status;
    if (source->no_file) {
        set_reason(preview, "is not known: its codes are all there is");
        return -1;
    }
    int fd = open_deep(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        set_reason(preview,
                   errno == ENOENT || errno == ENOTDIR ? "is not there any more" : strerror(errno));
        return -1;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == source->size &&
        timespec_ns(status.st_mtim) == source->mtime_ns)
        return fd;
    close(fd);
    set_reason(preview, "has changed since it was read");
    return -1;
}

/* Of PDFs, and of TIFFs, which are texts where they have pages, more is read: pages are looked for
 * in it. */
static void note_whether_paged(int fd, struct preview *preview)
{
    char head[1024];
    ssize_t size = read_at(fd, head, sizeof head, 0);
    bool tiff = size > 4 && (!memcmp(head, "II", 2) || !memcmp(head, "MM", 2)) &&
                (memchr("*+", head[2], 2) || memchr("*+", head[3], 2));
    preview->has_pages = preview->order.look == DOPPEL_LOOK_PLAIN && size > 0 &&
                         (tiff || memmem(head, (size_t)size, "%PDF-", 5));
    if (preview->has_pages)
        preview->order.look_size = PAGES_TEXT_BYTES;
}

static enum doppel_status take_preview_outcome(struct previews *previews,
                                               struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status = doppel_pool_next(previews->pool, -1, &outcome, error);
    if (status)
        return status;
    struct preview *preview = &previews->items.items[outcome.tag];
    if (outcome.error.status) {
        set_reason(preview, outcome.error.message);
    } else {
        preview->bytes = outcome.attachment;
        preview->size = outcome.attachment_size;
        outcome.attachment = NULL;
        previews->page_bytes += preview->page ? preview->size : 0;
    }
    doppel_outcome_free(&outcome);
    return DOPPEL_OK;
}

static enum doppel_status submit_preview(struct previews *previews, size_t index,
                                         struct doppel_error *error)
{
    struct preview *preview = &previews->items.items[index];
    enum doppel_status status = DOPPEL_OK;
    if (preview->source->record.line) {
        take_preview_record(previews, preview);
        return doppel_run_cancelled(previews->run) ? DOPPEL_E_CANCELLED : DOPPEL_OK;
    }
    int fd = open_unchanged_preview(preview);
    if (fd < 0)
        return DOPPEL_OK;
    if (preview->same_as != preview->member || preview->group->kind == DOPPEL_KIND_UNKNOWN) {
        /* that it is there is all that was to be known */
        close(fd);
        return DOPPEL_OK;
    }
    note_whether_paged(fd, preview);
    if (!previews->pool)
        status = doppel_pool_for_run(previews->run, &previews->pool, error);
    while (!status && !doppel_pool_room(previews->pool))
        status = take_preview_outcome(previews, error);
    if (!status)
        return doppel_pool_submit(previews->pool, fd, &preview->order, index, error);
    close(fd);
    return status;
}

/* What is wanted by now. */
static enum doppel_status take_wanted(struct previews *previews, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    while (previews->taken < previews->items.count && !status)
        status = submit_preview(previews, previews->taken++, error);
    while (!status && previews->pool && doppel_pool_pending(previews->pool))
        status = take_preview_outcome(previews, error);
    return status;
}

enum doppel_status previews_take(struct previews *previews, struct doppel_error *error)
{
    enum doppel_status status = take_wanted(previews, error);
    previews->first_page = previews->items.count;
    if (status)
        return status;
    if (!previews_want_pages(previews))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for pages");
    return take_wanted(previews, error);
}

/* A corpus once, for all records in a row; of a stream nothing is wrong. */
static void report_record(struct previews *previews, const struct preview *preview)
{
    const char *path = preview->source->path;
    if (!*path || (previews->reported && strcmp(previews->reported, path) == 0))
        return;
    doppel_run_fail_input(previews->run, path, preview->reason);
    free(previews->reported);
    previews->reported = strdup(path);
}

void previews_report_failures(struct previews *previews)
{
    const struct report_member *last = NULL;
    for (size_t i = 0; i < previews->items.count; i++) {
        const struct preview *preview = &previews->items.items[i];
        if (!preview->reason || preview->of_first || preview->page || preview->source == last ||
            preview->source->no_file)
            continue;
        last = preview->source;
        if (last->record.line)
            report_record(previews, preview);
        else
            doppel_run_fail_input(previews->run, last->path, preview->reason);
    }
}
