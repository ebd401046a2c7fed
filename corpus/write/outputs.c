/* A file for each file of a corpus, under hidden names until all are whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/array.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "corpus/write/output_names.h"
#include "corpus/write/packer.h"

/* One that was begun. */
struct corpus_output {
    char *path;
    char *part; /* its hidden name */
};

struct doppel_corpus_outputs {
    const char *folder;
    uint32_t threads;
    struct output_names names;
    ARRAY(char *) made; /* folders, outer ones first */
    ARRAY(struct corpus_output) begun;
    struct packer *packer; /* of the last one; NULL: none is open */
    int lock;              /* the folder, held; -1: not */
    bool finished;
};

static enum doppel_status no_memory_for_output(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to write a corpus");
}

static enum doppel_status fail_output(const char *path, int reason, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(reason), "%s cannot be written: %s", path,
                       strerror(reason));
}

/* ---- folders ---- */

/* What was made is kept in mind, to be removed if nothing comes of it. */
static enum doppel_status make_output_folder(struct doppel_corpus_outputs *outputs,
                                             const char *path, struct doppel_error *error)
{
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? DOPPEL_OK : fail_output(path, errno, error);
    char *made = strdup(path);
    if (made && array_push(&outputs->made, made))
        return DOPPEL_OK;
    free(made);
    return no_memory_for_output(error);
}

/* The folders on the way to what follows the last slash. */
static enum doppel_status make_way(struct doppel_corpus_outputs *outputs, const char *path,
                                   struct doppel_error *error)
{
    char *way = strdup(path);
    enum doppel_status status = way ? DOPPEL_OK : no_memory_for_output(error);
    for (char *slash = way; !status && (slash = strchr(slash + 1, '/')); *slash = '/') {
        *slash = '\0';
        status = make_output_folder(outputs, way, error);
    }
    free(way);
    return status;
}

static enum doppel_status lock_output_folder(struct doppel_corpus_outputs *outputs,
                                             struct doppel_error *error)
{
    outputs->lock = open(outputs->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (outputs->lock < 0)
        return fail_output(outputs->folder, errno, error);
    if (flock(outputs->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return doppel_fail(error, DOPPEL_E_BUSY, "%s: another run writes there", outputs->folder);
    return DOPPEL_OK;
}

/* ---- what is there already ---- */

static char *output_path(const struct doppel_corpus_outputs *outputs, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", outputs->folder, name) < 0 ? NULL : path;
}

static bool is_an_input(const struct output_names *names, const struct stat *status)
{
    struct stat other;
    for (size_t i = 0; i < names->count; i++)
        if (stat(names->items[i].absolute, &other) == 0 && other.st_dev == status->st_dev &&
            other.st_ino == status->st_ino)
            return true;
    return false;
}

static enum doppel_status check_output_place(const struct doppel_corpus_outputs *outputs,
                                             const char *path, bool replace,
                                             struct doppel_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return DOPPEL_OK;
    if (is_an_input(&outputs->names, &status))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%s is an input, and would be overwritten: choose another folder", path);
    if (!replace || !S_ISREG(status.st_mode))
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           S_ISREG(status.st_mode) ? "%s is there already; --force replaces it"
                                                   : "%s is there, and no file",
                           path);
    return DOPPEL_OK;
}

static enum doppel_status check_output_places(const struct doppel_corpus_outputs *outputs,
                                              bool replace, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < outputs->names.count && !status; i++) {
        char *path = output_path(outputs, outputs->names.items[i].name);
        status =
            path ? check_output_place(outputs, path, replace, error) : no_memory_for_output(error);
        free(path);
    }
    return status;
}

enum doppel_status doppel_corpus_outputs_new(const struct doppel_corpus_outputs_options *options,
                                             struct doppel_corpus_outputs **out,
                                             struct doppel_error *error)
{
    struct doppel_corpus_outputs *outputs = calloc(1, sizeof *outputs);
    enum doppel_status status;
    if (!outputs)
        return no_memory_for_output(error);
    *outputs = (struct doppel_corpus_outputs){
        .folder = options->folder, .threads = options->threads, .lock = -1};
    TRY(output_names_find(options, &outputs->names, error));
    TRY(check_output_places(outputs, options->replace, error));
    TRY(make_way(outputs, options->folder, error));
    TRY(make_output_folder(outputs, options->folder, error));
    TRY(lock_output_folder(outputs, error));
    *out = outputs;
done:
    if (status)
        doppel_corpus_outputs_free(outputs);
    return status;
}

/* ---- one after the other ---- */

static enum doppel_status close_output(struct doppel_corpus_outputs *outputs,
                                       struct doppel_error *error)
{
    struct doppel_error reason;
    struct packer *packer = outputs->packer;
    outputs->packer = NULL;
    if (!packer || packer_close(packer, DOPPEL_OK, &reason) == DOPPEL_OK)
        return DOPPEL_OK;
    const char *path = outputs->begun.items[outputs->begun.count - 1].path;
    return doppel_fail(error, reason.status, "%s cannot be written: %s", path, reason.message);
}

/* Its place and its hidden name beside it. */
static enum doppel_status name_output(struct doppel_corpus_outputs *outputs, const char *name,
                                      struct corpus_output *out, struct doppel_error *error)
{
    const char *last = strrchr(name, '/');
    last = last ? last + 1 : name;
    struct corpus_output output = {.path = output_path(outputs, name)};
    if (asprintf(&output.part, "%s/%.*s.%s.part", outputs->folder, (int)(last - name), name, last) <
        0)
        output.part = NULL;
    if (output.path && output.part && array_push(&outputs->begun, output)) {
        *out = output;
        return DOPPEL_OK;
    }
    free(output.path);
    free(output.part);
    return no_memory_for_output(error);
}

enum doppel_status doppel_corpus_outputs_begin(struct doppel_corpus_outputs *outputs,
                                               const struct doppel_corpus_input *input,
                                               struct doppel_error *error)
{
    struct corpus_output output = {0};
    enum doppel_status status;
    TRY(close_output(outputs, error));
    if (!input->opened)
        return DOPPEL_OK;
    const struct output_names *names = &outputs->names;
    if (input->number >= names->count ||
        strcmp(names->items[input->number].input, input->path) != 0)
        return doppel_fail(error, DOPPEL_E_CHANGED,
                           "%s: files came and went in its folder meanwhile", input->path);
    TRY(name_output(outputs, names->items[input->number].name, &output, error));
    TRY(make_way(outputs, output.part, error));
    int fd = open(output.part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_output(output.part, errno, error);
    TRY(packer_new(fd, input->packing, outputs->threads, &outputs->packer, error));
    TRY(doppel_corpus_outputs_write(outputs, input->head, input->head_size, error));
done:
    return status;
}

enum doppel_status doppel_corpus_outputs_write(struct doppel_corpus_outputs *outputs,
                                               const void *bytes, size_t size,
                                               struct doppel_error *error)
{
    struct doppel_error reason;
    if (!outputs->packer || packer_write(outputs->packer, bytes, size, &reason) == DOPPEL_OK)
        return DOPPEL_OK;
    const char *path = outputs->begun.items[outputs->begun.count - 1].path;
    return doppel_fail(error, reason.status, "%s cannot be written: %s", path, reason.message);
}

enum doppel_status doppel_corpus_outputs_finish(struct doppel_corpus_outputs *outputs,
                                                struct doppel_error *error)
{
    enum doppel_status status;
    TRY(close_output(outputs, error));
    for (size_t i = 0; i < outputs->begun.count; i++) {
        const struct corpus_output *output = &outputs->begun.items[i];
        if (rename(output->part, output->path) != 0)
            return fail_output(output->path, errno, error);
    }
    outputs->finished = true;
done:
    return status;
}

static void remove_unfinished(struct doppel_corpus_outputs *outputs)
{
    for (size_t i = 0; i < outputs->begun.count; i++)
        unlink(outputs->begun.items[i].part);
    for (size_t i = outputs->made.count; i; i--)
        rmdir(outputs->made.items[i - 1]);
}

void doppel_corpus_outputs_free(struct doppel_corpus_outputs *outputs)
{
    if (!outputs)
        return;
    if (outputs->packer)
        packer_close(outputs->packer, DOPPEL_E_CANCELLED, NULL);
    if (!outputs->finished)
        remove_unfinished(outputs);
    for (size_t i = 0; i < outputs->begun.count; i++) {
        free(outputs->begun.items[i].path);
        free(outputs->begun.items[i].part);
    }
    for (size_t i = 0; i < outputs->made.count; i++)
        free(outputs->made.items[i]);
    array_free(&outputs->begun);
    array_free(&outputs->made);
    output_names_free(&outputs->names);
    if (outputs->lock >= 0)
        close(outputs->lock);
    free(outputs);
}
