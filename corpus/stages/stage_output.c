/* Outputs of the stage "emit": a file of the run that the caller writes, and its digest beside it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/files/read_at.h"
#include "core/try.h"
#include "corpus/stages/hidden_file.h"
#include "corpus/stages/stages_internal.h"

enum {
    MAX_OUTPUT_NAME = 32,
    OUTPUT_NAME_BYTES = STAGE_NAME_BYTES + 8,
    SUM_BYTES = 64 + OUTPUT_NAME_BYTES
};

struct doppel_stage_output {
    struct hidden_file file;
    struct digest_stream *digest;
    char *folder;
    char name[OUTPUT_NAME_BYTES];
};

static enum doppel_status name_stage_output(const char *name, struct doppel_stage_part part,
                                            char out[OUTPUT_NAME_BYTES], struct doppel_error *error)
{
    char stem[MAX_OUTPUT_NAME + 8], printed[STAGE_NAME_BYTES];
    bool good = *name && strlen(name) <= MAX_OUTPUT_NAME;
    for (const char *at = name; good && *at; at++)
        good = isalnum((unsigned char)*at);
    if (!good)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "an output of a stage is called by letters and digits, not '%s'", name);
    snprintf(stem, sizeof stem, "emit-%s", name);
    stage_file_name_print(&(struct stage_file_name){stem, part}, printed);
    snprintf(out, OUTPUT_NAME_BYTES, "%s.jsonl", printed);
    return DOPPEL_OK;
}

/* As xxh128sum prints it. */
static void print_sum(const struct doppel_digest *digest, const char name[OUTPUT_NAME_BYTES],
                      char out[SUM_BYTES])
{
    char hex[2 * sizeof digest->bytes + 1];
    doppel_hex_encode(digest->bytes, sizeof digest->bytes, hex);
    snprintf(out, SUM_BYTES, "%s  %s\n", hex, name);
}

/* Whether the file is as its digest says. */
static bool output_is_whole(const char *folder, const char *name)
{
    char wanted[SUM_BYTES], there[SUM_BYTES], *path = NULL, *sum = NULL;
    struct doppel_digest digest;
    uint64_t size;
    bool whole = false;
    int fd = -1, sum_fd = -1;
    if (asprintf(&path, "%s/%s", folder, name) < 0 || asprintf(&sum, "%s.xxh128", path) < 0)
        goto done;
    if (stage_path_open(path, &fd, NULL) || stage_path_open(sum, &sum_fd, NULL) ||
        doppel_digest_fd(fd, &digest, &size, NULL))
        goto done;
    print_sum(&digest, name, wanted);
    const ssize_t length = (ssize_t)strlen(wanted);
    whole = read_at(sum_fd, there, sizeof there, 0) == length &&
            memcmp(there, wanted, (size_t)length) == 0;
done:
    if (fd >= 0)
        close(fd);
    if (sum_fd >= 0)
        close(sum_fd);
    free(path);
    free(sum);
    return whole;
}

/* By another process, which may have been killed then. */
static enum doppel_status settle_output(const char *folder, const char *name,
                                        struct doppel_error *error)
{
    char *path = NULL, *sum = NULL;
    enum doppel_status status;
    if (asprintf(&path, "%s/%s", folder, name) < 0 || asprintf(&sum, "%s.xxh128", path) < 0)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory"));
    TRY(hidden_file_settle(path, error));
    TRY(hidden_file_settle(sum, error));
done:
    free(path);
    free(sum);
    return status;
}

enum doppel_status doppel_stage_output_new(struct doppel_stages *stages, const char *name,
                                           struct doppel_stage_part part,
                                           struct doppel_stage_output **out,
                                           struct doppel_error *error)
{
    struct doppel_stage_output *output = calloc(1, sizeof *output);
    enum doppel_status status;
    if (!output)
        return doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory");
    TRY(stages_check_part(part, DOPPEL_STAGE_MAX_PARTS, error));
    TRY(name_stage_output(name, part, output->name, error));
    *out = NULL;
    if (output_is_whole(stages->folder, output->name)) {
        status = settle_output(stages->folder, output->name, error);
        doppel_stage_output_free(output);
        return status;
    }
    output->digest = digest_stream_new();
    output->folder = strdup(stages->folder);
    if (!output->digest || !output->folder)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "not enough memory"));
    digest_stream_begin(output->digest);
    TRY(hidden_file_open(stages->folder, output->name, &output->file, error));
    *out = output;
done:
    if (status)
        doppel_stage_output_free(output);
    return status;
}

enum doppel_status doppel_stage_output_write(struct doppel_stage_output *output, const void *bytes,
                                             size_t size, struct doppel_error *error)
{
    if (!size)
        return DOPPEL_OK;
    digest_stream_add(output->digest, bytes, size);
    return fwrite(bytes, 1, size, output->file.stream) == size
               ? DOPPEL_OK
               : hidden_file_failed(&output->file, error);
}

enum doppel_status doppel_stage_output_finish(struct doppel_stage_output *output,
                                              struct doppel_error *error)
{
    char line[SUM_BYTES], name[STAGE_NAME_BYTES + 16];
    struct hidden_file sum = {0};
    const struct doppel_digest digest = digest_stream_get(output->digest);
    enum doppel_status status;
    print_sum(&digest, output->name, line);
    snprintf(name, sizeof name, "%s.xxh128", output->name);
    TRY(hidden_file_open(output->folder, name, &sum, error));
    if (fputs(line, sum.stream) < 0)
        TRY(hidden_file_failed(&sum, error));
    TRY(hidden_file_finish(&output->file, error));
    TRY(hidden_file_finish(&sum, error));
done:
    hidden_file_drop(&sum);
    return status;
}

void doppel_stage_output_free(struct doppel_stage_output *output)
{
    if (!output)
        return;
    hidden_file_drop(&output->file);
    digest_stream_free(output->digest);
    free(output->folder);
    free(output);
}
