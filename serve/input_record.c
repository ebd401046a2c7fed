/* What is known of an input: by a worker, from an upload, a text or an allowed path. */
#include "serve/input_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/absolute_path.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "intake/exact_digests.h"
#include "serve/readers.h"
#include "serve/service.h"

/* ---- paths ---- */

static bool is_path_allowed(const struct service *service, const char *real)
{
    const struct doppel_strings *folders = &service->options->allow_paths;
    for (size_t i = 0; i < folders->count; i++)
        if (lies_below(real, folders->items[i]))
            return true;
    return false;
}

/* Found first (what is no file is not opened: that alone may do something), then the kernel is
 * asked what it is that was found: so links cannot be changed in between.
 * @param real its path. @return a descriptor to read it, given; -1: it is no file that may be read
 */
static int open_allowed_path(const struct service *service, const char *path, char real[PATH_MAX])
{
    char link[64];
    struct stat status;
    int found = path[0] == '/' ? open(path, O_PATH | O_CLOEXEC) : -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", found);
    ssize_t size = found < 0 ? -1 : readlink(link, real, PATH_MAX - 1);
    real[size > 0 ? size : 0] = '\0';
    bool allowed = size > 0 && is_path_allowed(service, real) && !fstat(found, &status) &&
                   S_ISREG(status.st_mode);
    int fd = allowed ? open(link, O_RDONLY | O_CLOEXEC) : -1;
    if (found >= 0)
        close(found);
    return fd;
}

/* What is not there, and what may not be named, are one sentence: nobody finds out by it what there
 * is. */
static enum doppel_status fail_path(struct doppel_error *error)
{
    return doppel_fail(error, DOPPEL_E_ARGUMENT, "it is no file below a folder of --allow-paths");
}

void input_name_path(const struct service *service, struct request_input *input, const char *path)
{
    char real[PATH_MAX];
    int fd = open_allowed_path(service, path, real);
    if (fd < 0) {
        fail_path(&input->error);
        return;
    }
    close(fd);
    input->path = strdup(real);
    if (!input->path)
        doppel_fail(&input->error, DOPPEL_E_MEMORY, "no memory for a path");
}

/* ---- records ---- */

enum doppel_status upload_record(const struct service *service, const struct large_buffer *file,
                                 const struct doppel_read_options *read, struct doppel_record *out,
                                 struct doppel_error *error)
{
    int fd = large_buffer_open(file);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "a temporary file: %s", strerror(errno));
    const struct doppel_input input = {.descriptor = fd};
    enum doppel_status status = doppel_fingerprint(service->run, &input, read, out, error);
    close(fd);
    return status;
}

static enum doppel_status fingerprint_path(const struct service *service, const char *path,
                                           const struct doppel_read_options *read,
                                           struct doppel_record *out, struct doppel_error *error)
{
    char real[PATH_MAX];
    const struct doppel_input input = {.descriptor = open_allowed_path(service, path, real)};
    if (input.descriptor < 0)
        return fail_path(error);
    enum doppel_status status = doppel_fingerprint(service->run, &input, read, out, error);
    close(input.descriptor);
    return status;
}

static struct doppel_record record_of_code(struct request_input *input)
{
    enum { BEST_QUALITY = 100 };
    const struct doppel_fingerprint code = input->fingerprint;
    input->fingerprint = (struct doppel_fingerprint){0};
    return (struct doppel_record){.kind = doppel_scheme_by_id(code.scheme)->kind,
                                  .scheme = code.scheme,
                                  .version = code.version,
                                  .quality = BEST_QUALITY,
                                  .fingerprint = code};
}

enum doppel_status input_record(struct service *service, struct request_input *input,
                                struct doppel_record *out, struct doppel_error *error)
{
    struct doppel_read_options read = service->options->read;
    struct doppel_input given = {0};
    if (input->error.status) {
        *error = input->error;
        return error->status;
    }
    if (input->form == INPUT_FILE)
        return upload_record(service, input->file, &read, out, error);
    if (input->form == INPUT_RECORD) {
        *out = *input->record;
        *input->record = (struct doppel_record){0};
        return DOPPEL_OK;
    }
    if (input->form == INPUT_CODE || input->form == INPUT_SIGNATURE) {
        *out = record_of_code(input);
        return DOPPEL_OK;
    }
    if (input->form == INPUT_DIGESTS)
        return doppel_fail(error, DOPPEL_E_FORMAT, "its digests are known alone");
    if (input->form == INPUT_PATH)
        return fingerprint_path(service, input->path, &read, out, error);
    given.bytes = input->text;
    given.size = input->text_size;
    read.kind = DOPPEL_KIND_TEXT;
    return doppel_fingerprint(service->run, &given, &read, out, error);
}

enum doppel_status input_read_again(const struct service *service,
                                    const struct request_input *input,
                                    const struct doppel_scheme *scheme, struct doppel_record *out,
                                    struct doppel_error *error)
{
    struct doppel_read_options read = service->options->read;
    read.kind = scheme->kind;
    read.schemes[scheme->kind] = *scheme;
    if (input->form == INPUT_FILE)
        return upload_record(service, input->file, &read, out, error);
    if (input->form == INPUT_PATH)
        return fingerprint_path(service, input->path, &read, out, error);
    return doppel_fail(error, DOPPEL_E_NOT_FOUND, "it cannot be read again");
}

/* ---- bytes ---- */

static int open_text(const struct request_input *input)
{
    int fd = memfd_create("doppel", MFD_CLOEXEC);
    if (fd < 0 || (write_all(fd, input->text, input->text_size) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    close(fd);
    return -1;
}

int request_input_open(const struct service *service, const struct request_input *input)
{
    char real[PATH_MAX];
    if (input->form == INPUT_FILE)
        return large_buffer_open(input->file);
    if (input->form == INPUT_TEXT)
        return open_text(input);
    return input->form == INPUT_PATH ? open_allowed_path(service, input->path, real) : -1;
}

/* @param kinds that are wanted */
static enum doppel_status keep_exact(const struct service *service, unsigned kinds,
                                     struct request_input *input, struct doppel_error *error)
{
    struct doppel_exact_digests exact = {.kinds = kinds};
    struct doppel_digest digest;
    int fd = request_input_open(service, input);
    if (fd < 0)
        return doppel_fail(error, DOPPEL_E_IO, "the input cannot be read again");
    enum doppel_status status = exact_digest_fd(fd, &digest, &exact, error);
    close(fd);
    if (status)
        return status;
    input->exact = malloc(sizeof exact);
    if (!input->exact)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the request");
    *input->exact = exact;
    return DOPPEL_OK;
}

enum doppel_status input_exact(struct service *service, struct doppel_library *library,
                               struct request_input *input, struct doppel_error *error)
{
    struct library_reader *reader = NULL;
    unsigned kinds = 0;
    if ((input->form != INPUT_FILE && input->form != INPUT_PATH) || input->exact)
        return DOPPEL_OK;
    enum doppel_status status;
    if (!library)
        TRY(reader_take(service, &reader, error));
    TRY(doppel_library_exact_kinds(library ? library : reader->library, &kinds, error));
    if (kinds)
        TRY(keep_exact(service, kinds, input, error));
done:
    if (reader)
        reader_give(reader);
    return status;
}

/* ---- what is decided about ---- */

/* Whether a list of hashes has these bytes: then nothing else need be known of them. */
static bool is_on_hash_list(struct doppel_library *library,
                            const struct doppel_exact_digests *exact)
{
    uint64_t ids[DOPPEL_EXACT_KINDS] = {0};
    bool active = false, other = false;
    if (doppel_library_by_any_exact(library, exact, ids, NULL))
        return false;
    for (size_t i = 0; i < DOPPEL_EXACT_KINDS; i++) {
        enum doppel_list_state state = DOPPEL_LIST_DISABLED;
        if (ids[i] && doppel_library_state_of(library, ids[i], &state, NULL))
            return false;
        active |= ids[i] && state == DOPPEL_LIST_ACTIVE;
        other |= ids[i] && state == DOPPEL_LIST_BENIGN;
    }
    return active && !other;
}

/* Of a file that could not be read, or is elsewhere. @param out stays where no list has it */
static enum doppel_status take_listed(struct service *service, struct doppel_library *library,
                                      const struct request_input *input, struct doppel_record *out,
                                      struct doppel_error *error)
{
    struct doppel_record listed = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!is_on_hash_list(library, input->exact))
        return DOPPEL_E_NOT_FOUND;
    if (input->form == INPUT_FILE) {
        int fd = request_input_open(service, input);
        if (fd < 0)
            return DOPPEL_E_NOT_FOUND;
        status = doppel_digest_fd(fd, &listed.digest, NULL, error);
        close(fd);
    }
    if (status)
        return status;
    doppel_record_free(out);
    *out = listed;
    return DOPPEL_OK;
}

enum doppel_status input_to_decide(struct service *service, struct request_input *input,
                                   struct doppel_record *out, struct doppel_error *error)
{
    struct library_reader *reader;
    enum doppel_status status = input_record(service, input, out, error);
    if (input->form != INPUT_FILE && input->form != INPUT_DIGESTS)
        return status;
    if (!status)
        return input_exact(service, NULL, input, error);
    if (reader_take(service, &reader, NULL))
        return status;
    if (!input_exact(service, reader->library, input, NULL) && input->exact &&
        !take_listed(service, reader->library, input, out, NULL))
        status = DOPPEL_OK;
    reader_give(reader);
    return status;
}
