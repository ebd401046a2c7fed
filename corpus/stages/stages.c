/* Opening a run in stages, and the names of its parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/sync_path.h"
#include "core/try.h"
#include "corpus/stages/stage_file.h"
#include "corpus/stages/stages_internal.h"

const char *doppel_stage_name(enum doppel_stage stage)
{
    static const char *const names[] = {
        [DOPPEL_STAGE_SIGN] = "sign",       [DOPPEL_STAGE_JOIN] = "join",
        [DOPPEL_STAGE_COMPARE] = "compare", [DOPPEL_STAGE_DECIDE] = "decide",
        [DOPPEL_STAGE_EMIT] = "emit",
    };
    return names[stage];
}

void stage_file_name_print(const struct stage_file_name *name, char out[STAGE_NAME_BYTES])
{
    snprintf(out, STAGE_NAME_BYTES, "%.40s-%04u-of-%04u", name->stem, name->part.number,
             name->part.count);
}

enum doppel_status stage_path_open(const char *path, int *out_fd, struct doppel_error *error)
{
    struct stat file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "%s cannot be opened: %s", path, strerror(errno));
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        return doppel_fail(error, DOPPEL_E_IO, "%s is no regular file", path);
    }
    *out_fd = fd;
    return DOPPEL_OK;
}

enum doppel_status stages_check_part(struct doppel_stage_part part, uint32_t most,
                                     struct doppel_error *error)
{
    if (part.count && part.count <= most && part.number && part.number <= part.count)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "there is no part %u/%u: parts are 1/N to N/N, and N is at most %u",
                       part.number, part.count, most);
}

/* By another process, which may have been killed then. */
static enum doppel_status settle_part(const struct doppel_stages *stages,
                                      const struct stage_task *task, struct doppel_error *error)
{
    char name[STAGE_NAME_BYTES], *path;
    stage_file_name_print(&(struct stage_file_name){doppel_stage_name(task->stage), task->part},
                          name);
    if (asprintf(&path, "%s/%s", stages->folder, name) < 0)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    enum doppel_status status = hidden_file_settle(path, error);
    free(path);
    return status;
}

enum doppel_status stages_do_part(struct doppel_stages *stages, const struct stage_task *task,
                                  bool *out_was_there, struct doppel_error *error)
{
    enum doppel_status status = stages_check_part(task->part, task->most_parts, error);
    if (status)
        return status;
    const bool there = stage_file_is_whole(stages, task->stage, task->part);
    status = there ? settle_part(stages, task, error) : task->work(stages, task->part, error);
    if (!status && out_was_there)
        *out_was_there = there;
    return status;
}

struct record_span record_span_of(uint32_t records, struct doppel_stage_part part)
{
    uint64_t all = records;
    return (struct record_span){(uint32_t)(all * (part.number - 1) / part.count),
                                (uint32_t)(all * part.number / part.count)};
}

/* ---- what stages cannot do ---- */

static enum doppel_status check_stage_options(const struct doppel_dedup_options *options,
                                              struct doppel_error *error)
{
    const char *given = options->against         ? "--against, a library,"
                        : options->semantic      ? "--semantic"
                        : options->keep_shingles ? "--keep-shingles"
                        : options->parts         ? "--parts"
                                                 : NULL;
    if (!given)
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_ARGUMENT,
                       "%s does not go with stages: use 'dedup' without them", given);
}

static enum doppel_status check_stage_input(const struct dedup *dedup, uint32_t file,
                                            struct doppel_error *error)
{
    const struct doppel_corpus_input input = reader_file_input(dedup->reader, file);
    if (!reader_file_is_regular(dedup->reader, file))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s cannot be read by parts: stages want files", input.path);
    if (input.format != DOPPEL_CORPUS_JSONL)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s is a table: stages want JSON Lines",
                           input.path);
    return DOPPEL_OK;
}

static char *absolute_name(const char *path)
{
    return realpath(path, NULL);
}

/* An input in the folder is refused: outputs there would be read as inputs. */
static enum doppel_status check_stage_folder(const struct doppel_stages *stages,
                                             const struct dedup *dedup, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    char *folder = absolute_name(stages->folder);
    size_t size = folder ? strlen(folder) : 0;
    for (uint32_t i = 0; folder && i < reader_file_count(dedup->reader) && !status; i++) {
        char *path = absolute_name(reader_file_path(dedup->reader, i));
        if (path && strncmp(path, folder, size) == 0 && path[size] == '/')
            status = doppel_fail(error, DOPPEL_E_ARGUMENT,
                                 "%s lies in %s, the folder of the stages: use another one",
                                 reader_file_path(dedup->reader, i), stages->folder);
        free(path);
    }
    free(folder);
    return status;
}

enum doppel_status stages_begin_dedup(const struct doppel_stages *stages, struct dedup *out,
                                      struct doppel_error *error)
{
    enum doppel_status status;
    dedup_init(out, &stages->options);
    TRY(dedup_begin(out, error));
    for (uint32_t i = 0; i < stages->options.files.count; i++)
        if (strcmp(stages->options.files.paths[i], "-") == 0)
            TRY(doppel_fail(error, DOPPEL_E_ARGUMENT,
                            "standard input cannot be read by parts: stages want files"));
    TRY(reader_survey(out->reader, error));
    for (uint32_t i = 0; i < reader_file_count(out->reader); i++)
        TRY(check_stage_input(out, i, error));
done:
    return status;
}

/* ---- life ---- */

/* @param make whether it may be missing */
static enum doppel_status take_stage_folder(const char *folder, bool make,
                                            struct doppel_error *error)
{
    struct stat there;
    if (make && mkdir(folder, 0777) == 0) {
        (void)sync_parent(folder); /* not every file system can */
        return DOPPEL_OK;
    }
    if (make)
        return errno == EEXIST ? DOPPEL_OK
                               : doppel_fail(error, DOPPEL_E_IO, "%s cannot be made: %s", folder,
                                             strerror(errno));
    if (stat(folder, &there) == 0)
        return DOPPEL_OK;
    return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                       "%s cannot be opened: %s", folder, strerror(errno));
}

static enum doppel_status begin_run(struct doppel_stages *stages, bool make,
                                    struct doppel_error *error)
{
    struct dedup dedup;
    enum doppel_status status;
    TRY(stages_begin_dedup(stages, &dedup, error));
    TRY(take_stage_folder(stages->folder, make, error));
    TRY(check_stage_folder(stages, &dedup, error));
    TRY(stages_take_manifest(stages, &dedup, error));
    for (uint32_t i = 0; i < reader_file_count(dedup.reader); i++)
        stages->bytes += (uint64_t)reader_file_stat(dedup.reader, i)->st_size;
done:
    dedup_end(&dedup);
    return status;
}

static enum doppel_status open_run(const struct doppel_dedup_options *options, const char *folder,
                                   bool make, struct doppel_stages **out,
                                   struct doppel_error *error)
{
    struct doppel_stages *stages = NULL;
    enum doppel_status status;
    TRY(check_stage_options(options, error));
    stages = calloc(1, sizeof *stages);
    if (stages)
        stages->folder = strdup(folder);
    if (!stages || !stages->folder)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "%s: no memory", folder));
    stages->options = *options;
    TRY(begin_run(stages, make, error));
    *out = stages;
done:
    if (status)
        doppel_stages_free(stages);
    return status;
}

enum doppel_status doppel_stages_open(const struct doppel_dedup_options *options,
                                      const char *folder, struct doppel_stages **out,
                                      struct doppel_error *error)
{
    return open_run(options, folder, true, out, error);
}

enum doppel_status doppel_stages_resume(const struct doppel_dedup_options *options,
                                        const char *folder, struct doppel_stages **out,
                                        struct doppel_error *error)
{
    return open_run(options, folder, false, out, error);
}

void doppel_stages_free(struct doppel_stages *stages)
{
    if (!stages)
        return;
    free(stages->folder);
    free(stages);
}
