/* The intake as callers of the library have it: a walk with the run's cache, or one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doppel/compare.h>

#include "intake/open_cache.h"
#include "intake/reader.h"
#include "core/files/write_all.h"

struct doppel_intake {
    struct doppel_walk_options walk;
    struct intake_options options;
    struct intake *intake;
};

struct doppel_read_options doppel_read_options_default(void)
{
    const struct doppel_compare_options compare = doppel_compare_options_default();
    struct doppel_read_options options = {.text = compare.text};
    memcpy(options.schemes, compare.schemes, sizeof options.schemes);
    return options;
}

void doppel_file_free(struct doppel_file *file)
{
    if (!file)
        return;
    free(file->path);
    doppel_record_free(&file->record);
    *file = (struct doppel_file){0};
}

/* ---- files, one after the other ---- */

static struct doppel_intake *make_intake(struct doppel_run *run,
                                         const struct doppel_walk_options *walk,
                                         const struct doppel_read_options *read)
{
    struct doppel_intake *intake = calloc(1, sizeof *intake);
    if (!intake)
        return NULL;
    intake->walk = *walk;
    intake->options = (struct intake_options){.read = read ? *read : doppel_read_options_default(),
                                              .run = run,
                                              .walk = &intake->walk,
                                              .attachments = true,
                                              .failures = true};
    return intake;
}

/* @param intake taken; NULL: there is no memory
 * @param cached no: of one file alone nothing is read twice, and a cache costs more than a picture
 */
static enum doppel_status start_intake(struct doppel_intake *intake, bool cached,
                                       struct doppel_intake **out, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    if (!intake)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to read files");
    if (cached)
        status = open_cache(intake->options.run, &intake->options.cache, error);
    if (!status)
        status = intake_new(&intake->options, &intake->intake, error);
    if (status)
        doppel_intake_free(intake);
    else
        *out = intake;
    return status;
}

enum doppel_status doppel_intake_open(struct doppel_run *run,
                                      const struct doppel_walk_options *walk,
                                      const struct doppel_read_options *read,
                                      struct doppel_intake **out, struct doppel_error *error)
{
    if (!walk)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no paths are named");
    return start_intake(make_intake(run, walk, read), true, out, error);
}

enum doppel_status doppel_intake_next(struct doppel_intake *intake, struct doppel_file *out,
                                      struct doppel_error *error)
{
    struct intake_file file;
    enum doppel_status status = intake_next(intake->intake, &file, error);
    if (status == DOPPEL_E_NOT_FOUND)
        return doppel_fail(error, status, "there are no more files");
    if (!status)
        *out = (struct doppel_file){file.path, file.source, file.stamp, file.record};
    return status;
}

void doppel_intake_free(struct doppel_intake *intake)
{
    if (!intake)
        return;
    intake_free(intake->intake);
    leave_cache(intake->options.run, intake->options.cache);
    free(intake);
}

/* ---- one file ---- */

/* The bytes as a file in memory, at its beginning. @return -1, with errno */
static int file_of_bytes(const void *bytes, size_t size)
{
    int fd = memfd_create("doppel", MFD_CLOEXEC);
    if (fd < 0 || (write_all(fd, bytes, size) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    close(fd);
    return -1;
}

static enum doppel_status read_one_file(struct doppel_run *run,
                                        const struct doppel_walk_options *walk,
                                        const struct doppel_read_options *read,
                                        struct doppel_record *out, struct doppel_error *error)
{
    struct doppel_intake *intake = NULL;
    struct doppel_file file;
    bool cached = doppel_run_get_options(run)->cache;
    enum doppel_status status = start_intake(make_intake(run, walk, read), cached, &intake, error);
    if (status)
        return status;
    status = doppel_intake_next(intake, &file, error);
    doppel_intake_free(intake);
    if (status == DOPPEL_E_NOT_FOUND)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no file to read");
    if (status)
        return status;
    if (file.record.error.status) {
        status = doppel_fail(error, file.record.error.status, "%s", file.record.error.message);
    } else {
        *out = file.record;
        file.record = (struct doppel_record){0};
    }
    doppel_file_free(&file);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat stat_buffer;
    return stat(path, &stat_buffer) == 0 && S_ISDIR(stat_buffer.st_mode);
}

enum doppel_status doppel_fingerprint(struct doppel_run *run, const struct doppel_input *input,
                                      const struct doppel_read_options *read,
                                      struct doppel_record *out, struct doppel_error *error)
{
    const char *const path[] = {input->path ? input->path : "-"};
    struct doppel_walk_options walk = {.paths = {path, 1}, .stdin_operand = !input->path};
    if (input->path && is_folder(input->path))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is a folder");
    if (!input->path && !input->bytes && (input->size || input->descriptor < 0))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an input has neither path, bytes nor descriptor");
    walk.descriptor = input->descriptor;
    walk.max_bytes = doppel_run_get_options(run)->limits.max_bytes;
    if (!input->path && input->bytes)
        walk.descriptor = file_of_bytes(input->bytes, input->size);
    if (walk.descriptor < 0)
        return doppel_fail(error, write_failure(errno), "temporary file: %s", strerror(errno));
    enum doppel_status status = read_one_file(run, &walk, read, out, error);
    if (!input->path && input->bytes)
        close(walk.descriptor);
    return status;
}
