/* A video, or a list that others made of one, to vPDQ's list. */
#include "worker/fingerprint.h"

#include <stdlib.h>
#include <unistd.h>

#include <doppel/image.h>
#include <doppel/media.h>
#include <doppel/video.h>

#include "core/array.h"
#include "core/files/read_at.h"

/* A line has about 90 bytes: a list of 40 hours of a frame a second is 13 MB. */
enum { LIST_MAX = 32 << 20, LINE_MAX = 128, STEP_MS = 1000, HEAD_BYTES = 256 };

struct vpdq_list {
    ARRAY(uint8_t) text;
    struct progress_page *progress;
    struct doppel_error *error;
    enum doppel_status status;
};

static enum doppel_status append_list(struct vpdq_list *list, const struct doppel_vpdq_frame *frame)
{
    char line[LINE_MAX];
    size_t size = doppel_vpdq_print(frame, line);
    if (list->text.count + size > LIST_MAX)
        return doppel_fail(list->error, DOPPEL_E_LIMIT, "is too long for a list of vPDQ");
    for (size_t i = 0; i < size; i++)
        if (!array_push(&list->text, (uint8_t)line[i]))
            return doppel_fail(list->error, DOPPEL_E_MEMORY, "no memory for a list of vPDQ");
    return DOPPEL_OK;
}

static bool visit_vpdq_frame(void *context, const struct doppel_frame *frame)
{
    struct vpdq_list *list = context;
    struct doppel_vpdq_frame entry = {.number = (uint32_t)frame->number,
                                      .seconds = frame->time_ms / 1000.0};
    progress_report(list->progress, frame->time_ms, frame->expected_ms);
    list->status = doppel_image_pdq(&frame->plane, &entry.code, &entry.quality, list->error);
    if (list->status == DOPPEL_E_FLAT)
        list->status = DOPPEL_OK; /* quality 0: the list has it, and nobody compares it */
    if (list->status == DOPPEL_OK)
        list->status = append_list(list, &entry);
    return list->status == DOPPEL_OK;
}

static enum doppel_status make_workshop(struct workshop *workshop, int fd,
                                        const struct doppel_order *order, struct vpdq_list *list,
                                        struct doppel_outcome *out)
{
    struct doppel_frames_options options = frames_options(&workshop->limits, order);
    struct doppel_frames_info info = {0};
    struct doppel_error reason = {0};
    options.from_rgb = true;
    options.step_ms = STEP_MS;
    options.keyframes = false;
    enum doppel_status status =
        doppel_media_read_frames(fd, &options, visit_vpdq_frame, list, &info, &reason);
    if (list->status)
        return list->status;
    if (status == DOPPEL_E_FORMAT && info.has_audio)
        out->kind = DOPPEL_KIND_AUDIO;
    if (status)
        return doppel_fail(list->error, status, "%s", reason.message);
    out->width = info.width;
    out->height = info.height;
    return DOPPEL_OK;
}

static bool is_printed_vpdq(int fd)
{
    char head[HEAD_BYTES];
    ssize_t size = read_at(fd, head, sizeof head, 0);
    return size > 0 && doppel_vpdq_is_text(head, (size_t)size);
}

/* Every line is understood, and written as we write it. */
static enum doppel_status parse_printed_vpdq(int fd, struct vpdq_list *list)
{
    char *text;
    size_t size;
    struct doppel_vpdq parsed = {0};
    enum doppel_status status =
        read_printed(fd, LIST_MAX, "a list of vPDQ", &text, &size, list->error);
    if (status)
        return status;
    status = doppel_vpdq_parse(text, size, &parsed, list->error);
    free(text);
    for (size_t i = 0; i < parsed.count && !status; i++)
        status = append_list(list, &parsed.frames[i]);
    doppel_vpdq_free(&parsed);
    return status;
}

enum doppel_status fingerprint_vpdq(struct workshop *workshop, int fd,
                                    const struct doppel_order *order, struct doppel_outcome *out)
{
    struct vpdq_list list = {.progress = workshop->progress, .error = &out->error};
    enum doppel_status status = is_printed_vpdq(fd)
                                    ? parse_printed_vpdq(fd, &list)
                                    : make_workshop(workshop, fd, order, &list, out);
    if (!status)
        status = doppel_fingerprint_make(doppel_scheme_by_id(DOPPEL_SCHEME_VPDQ), 256, 0,
                                         &out->fingerprint, &out->error);
    if (status) {
        array_free(&list.text);
        return status;
    }
    out->kind = DOPPEL_KIND_VIDEO;
    out->attachment = list.text.items;
    out->attachment_size = list.text.count;
    return DOPPEL_OK;
}
