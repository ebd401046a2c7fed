/* Videos that were read, looked at again, by the workers. */
#include "intake/video_previews.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/open_deep.h"
#include "intake/reader.h"

struct video_looks {
    const struct doppel_run *run;
    struct doppel_pool *pool; /* NULL: none was needed yet */
};

struct video_looks *video_looks_new(struct doppel_run *run)
{
    struct video_looks *looks = calloc(1, sizeof *looks);
    if (looks)
        looks->run = run;
    return looks;
}

void video_looks_free(struct video_looks *looks)
{
    if (!looks)
        return;
    doppel_pool_free(looks->pool);
    free(looks);
}

/* @return -1 when it is gone, or another one */
static int open_unchanged_video(const struct video_file *file)
{
    struct stat status;
    int fd = open_deep(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    struct doppel_file_stamp now = {0};
    if (fstat(fd, &status) == 0)
        now = doppel_file_stamp_of(&status);
    if (doppel_file_stamp_equal(&now, file->stamp))
        return fd;
    close(fd);
    return -1;
}

static enum doppel_status submit_look(struct video_looks *looks, const struct video_look *look,
                                      uint64_t number, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_FRAMES64);
    struct doppel_order order = {
        .scheme = scheme->id,
        .version = scheme->version,
        .video_task = (uint8_t)look->task,
        .video_no_audio = true,
        .from_ms = look->from_ms,
        .to_ms = look->to_ms,
        .video_box = {look->box.left, look->box.top, look->box.right, look->box.bottom},
    };
    int fd = open_unchanged_video(look->file);
    return fd < 0 ? DOPPEL_OK : doppel_pool_submit(looks->pool, fd, &order, number, error);
}

/* Wait for one. */
static enum doppel_status take_look(struct video_looks *looks, struct video_look *wanted,
                                    struct doppel_error *error)
{
    struct doppel_outcome outcome;
    enum doppel_status status = doppel_pool_next(looks->pool, -1, &outcome, error);
    if (status)
        return status;
    struct video_look *look = &wanted[outcome.tag];
    if (outcome.error.status == DOPPEL_OK) {
        look->bytes = outcome.attachment;
        look->size = outcome.attachment_size;
        outcome.attachment = NULL;
    }
    doppel_outcome_free(&outcome);
    return DOPPEL_OK;
}

enum doppel_status video_looks_take(struct video_looks *looks, struct video_look *wanted,
                                    size_t count, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!looks->pool)
        status = doppel_pool_for_run(looks->run, &looks->pool, error);
    for (size_t i = 0; i < count && !status; i++) {
        while (!status && !doppel_pool_room(looks->pool))
            status = take_look(looks, wanted, error);
        if (!status)
            status = submit_look(looks, &wanted[i], i, error);
    }
    while (!status && doppel_pool_pending(looks->pool))
        status = take_look(looks, wanted, error);
    return status;
}

enum doppel_status video_looks_read(struct video_looks *looks, int fd,
                                    const struct doppel_scheme *scheme, struct doppel_outcome *out,
                                    struct doppel_error *error)
{
    const struct doppel_order order = {.scheme = scheme->id, .version = scheme->version};
    enum doppel_status status = DOPPEL_OK;
    if (!looks->pool)
        status = doppel_pool_for_run(looks->run, &looks->pool, error);
    if (status)
        close(fd);
    else
        status = doppel_pool_submit(looks->pool, fd, &order, 0, error);
    return status ? status : doppel_pool_next(looks->pool, -1, out, error);
}
