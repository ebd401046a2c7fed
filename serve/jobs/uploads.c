/* A folder of folders of uploads. */
#include "serve/jobs/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/sync_path.h"
#include "core/files/write_all.h"
#include "core/try.h"

struct uploads {
    char *folder;
    bool durable;
    int held;        /* a descriptor of the folder, locked by all that use it */
    atomic_int lock; /* a descriptor; -1: none yet */
    atomic_uint_fast64_t drafts;
};

/* ---- names ---- */

enum { NAME_BYTES = 80 }; /* behind the folder */

/* Of a job, or a draft of one. @return false: the path is too long */
static bool upload_folder(const struct uploads *uploads, const char *kind, uint64_t id,
                          char out[PATH_MAX])
{
    return snprintf(out, PATH_MAX, "%s/%s%llu", uploads->folder, kind, (unsigned long long)id) <
           PATH_MAX - NAME_BYTES;
}
#define OF_JOB ""
#define OF_DRAFT "new-"

static void add_number(char path[PATH_MAX], uint64_t number)
{
    size_t size = strlen(path);
    snprintf(path + size, PATH_MAX - size, "/%llu", (unsigned long long)number);
}

static enum doppel_status fail_upload(const char *path, struct doppel_error *error)
{
    return doppel_fail(error, write_failure(errno), "%s: %s", path, strerror(errno));
}

/* ---- removing ---- */

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    (void)rmdir(path);
}

void uploads_drop_draft(struct uploads *uploads, uint64_t draft)
{
    char path[PATH_MAX];
    if (upload_folder(uploads, OF_DRAFT, draft, path))
        remove_folder(path);
}

void uploads_remove(const struct uploads *uploads, uint64_t job)
{
    char path[PATH_MAX];
    if (upload_folder(uploads, OF_JOB, job, path))
        remove_folder(path);
}

void uploads_remove_one(const struct uploads *uploads, uint64_t job, uint64_t number)
{
    char path[PATH_MAX];
    if (!upload_folder(uploads, OF_JOB, job, path))
        return;
    add_number(path, number);
    (void)unlink(path);
}

/* What is no job, of a service that is not alone, may become one. A job that cannot be read may
 * need its files once it can. */
static bool is_left_over(struct doppel_library *library, const char *name, bool alone)
{
    char *end;
    struct doppel_job job = {0};
    unsigned long long id = strtoull(name, &end, 10);
    if (end == name || *end)
        return alone;
    enum doppel_status status = doppel_library_get_job(library, id, &job, NULL);
    doppel_job_free(&job);
    return status == DOPPEL_E_NOT_FOUND ? alone : !status && job.ended_ns;
}

static void remove_leftovers(const struct uploads *uploads, struct doppel_library *library,
                             bool alone)
{
    char path[PATH_MAX];
    DIR *folder = opendir(uploads->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0 &&
            is_left_over(library, entry->d_name, alone) &&
            snprintf(path, sizeof path, "%s/%s", uploads->folder, entry->d_name) < PATH_MAX)
            remove_folder(path);
    if (folder)
        closedir(folder);
}

/* ---- keeping ---- */

/* The same number may be taken: by a process in another container, or one that was killed. */
static enum doppel_status make_draft(struct uploads *uploads, uint64_t *out_draft,
                                     char path[PATH_MAX], struct doppel_error *error)
{
    do {
        *out_draft = (uint64_t)getpid() << 32 | atomic_fetch_add(&uploads->drafts, 1);
        if (!upload_folder(uploads, OF_DRAFT, *out_draft, path))
            return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: the path is too long",
                               uploads->folder);
        if (!mkdir(path, 0700))
            return DOPPEL_OK;
    } while (errno == EEXIST);
    return fail_upload(path, error);
}

enum doppel_status uploads_save(struct uploads *uploads, const struct inputs *inputs,
                                uint64_t *out_draft, struct doppel_error *error)
{
    char path[PATH_MAX];
    uint64_t draft;
    enum doppel_status status = make_draft(uploads, &draft, path, error);
    if (status)
        return status;
    const size_t size = strlen(path);
    for (size_t i = 0; i < inputs->all.count; i++) {
        const struct request_input *input = &inputs->all.items[i];
        if (input->form != INPUT_FILE)
            continue;
        path[size] = '\0';
        add_number(path, i);
        TRY(large_buffer_save(input->file, path, uploads->durable, error));
    }
    path[size] = '\0';
    if (uploads->durable && !sync_path(path))
        TRY(fail_upload(path, error));
    *out_draft = draft;
done:
    if (status)
        uploads_drop_draft(uploads, draft);
    return status;
}

enum doppel_status uploads_name(struct uploads *uploads, uint64_t draft, uint64_t job,
                                struct doppel_error *error)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (!upload_folder(uploads, OF_DRAFT, draft, from) || !upload_folder(uploads, OF_JOB, job, to))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: the path is too long", uploads->folder);
    remove_folder(to); /* of an id that was given before, and taken back */
    if (rename(from, to) || (uploads->durable && !sync_path(uploads->folder)))
        return fail_upload(to, error);
    return DOPPEL_OK;
}

enum doppel_status uploads_read(const struct uploads *uploads, uint64_t job, uint64_t number,
                                struct large_buffer *out, struct doppel_error *error)
{
    char path[PATH_MAX];
    struct stat status;
    if (!upload_folder(uploads, OF_JOB, job, path))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: the path is too long", uploads->folder);
    add_number(path, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status)) {
        int reason = errno;
        if (fd >= 0)
            close(fd);
        return doppel_fail(error, reason == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO,
                           "the upload: %s", strerror(reason));
    }
    *out = (struct large_buffer){.size = (uint64_t)status.st_size, .in_file = true, .file = fd};
    return DOPPEL_OK;
}

/* ---- life ---- */

const char *uploads_folder(const struct uploads *uploads)
{
    return uploads->folder;
}

bool uploads_are_locked(const struct uploads *uploads)
{
    return uploads->lock >= 0;
}

bool uploads_lock(struct uploads *uploads)
{
    char path[PATH_MAX];
    if (uploads->lock >= 0)
        return true;
    if (snprintf(path, sizeof path, "%s/lock", uploads->folder) >= PATH_MAX)
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
        uploads->lock = fd;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

enum doppel_status uploads_open(const char *library_folder, bool durable,
                                struct doppel_library *library, struct uploads **out,
                                struct doppel_error *error)
{
    struct uploads *uploads = calloc(1, sizeof *uploads);
    enum doppel_status status = DOPPEL_OK;
    if (!uploads || asprintf(&uploads->folder, "%s/jobs", library_folder) < 0) {
        free(uploads);
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for jobs");
    }
    uploads->durable = durable;
    uploads->held = -1;
    uploads->lock = -1;
    if (mkdir(uploads->folder, 0700) && errno != EEXIST)
        TRY(fail_upload(uploads->folder, error));
    uploads->held = open(uploads->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (uploads->held < 0)
        TRY(fail_upload(uploads->folder, error));
    bool alone = !flock(uploads->held, LOCK_EX | LOCK_NB);
    if (uploads_lock(uploads))
        remove_leftovers(uploads, library, alone);
    (void)flock(uploads->held, LOCK_SH); /* until it closes */
done:
    if (status)
        uploads_close(uploads);
    else
        *out = uploads;
    return status;
}

void uploads_close(struct uploads *uploads)
{
    if (!uploads)
        return;
    if (uploads->lock >= 0)
        close(uploads->lock);
    if (uploads->held >= 0)
        close(uploads->held);
    free(uploads->folder);
    free(uploads);
}
