/* The file of a whitened model. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/files/output_file.h"
#include "core/files/read_at.h"
#include "core/files/read_beginning.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "embed/whitened/whitened.h"

static const uint8_t whitened_magic[8] = {'d', 'o', 'p', 'p', 'e', 'l', 'W', 0};
static const uint8_t static_magic[8] = {'d', 'o', 'p', 'p', 'e', 'l', 'M', 0};

enum {
    WHITENED_VERSION = 1,
    AT_VERSION = 8,
    AT_DIMENSION = 12,
    AT_LEARNED = 16,
    AT_SERVICE = 24,
    AT_NAME_SIZE = 28,
    AT_PREFIX_SIZE = 32,
    AT_BASE = 40,
    AT_REVISION = 56,
    AT_NAME = 72, /* then the prefix, the numbers, and the digest of all before */
    DIGEST_BYTES = sizeof(struct doppel_digest)
};

void whitened_free(struct whitened_model *model)
{
    free(model->probe);
    free(model->numbers);
    *model = (struct whitened_model){0};
}

enum model_file model_file_at(const char *path)
{
    uint8_t start[sizeof whitened_magic] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? MODEL_FILE_NONE : MODEL_FILE_OTHER;
    const ssize_t got = read_at(fd, start, sizeof start, 0);
    close(fd);
    if (got < (ssize_t)sizeof start)
        return MODEL_FILE_OTHER;
    if (memcmp(start, whitened_magic, sizeof start) == 0)
        return MODEL_FILE_WHITENED;
    return memcmp(start, static_magic, sizeof start) == 0 ? MODEL_FILE_STATIC : MODEL_FILE_OTHER;
}

/* ---- as bytes ---- */

static size_t count_floats(const struct whitened_model *model)
{
    const uint32_t dimension = model->info.dimension;
    return doppel_vector_whitening_size(dimension) + (model->info.of_service ? dimension : 0);
}

static void bytes_of_floats(uint8_t *out, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_f32(out + 4 * i, values[i]);
}

/* @return given (free); NULL: no memory */
static float *floats_of_bytes(const uint8_t *in, size_t count)
{
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = get_f32(in + 4 * i);
    return values;
}

bool whitened_set_revision(struct whitened_model *model)
{
    const size_t count = doppel_vector_whitening_size(model->info.dimension);
    uint8_t *bytes = malloc(DIGEST_BYTES + 4 * count);
    if (!bytes)
        return false;
    (void)doppel_hex_decode(model->base_revision, bytes, DIGEST_BYTES);
    bytes_of_floats(bytes + DIGEST_BYTES, model->numbers, count);
    const struct doppel_digest digest = doppel_digest_bytes(bytes, DIGEST_BYTES + 4 * count);
    doppel_hex_encode(digest.bytes, sizeof digest.bytes, model->info.revision);
    free(bytes);
    return true;
}

static void put_whitened_head(const struct whitened_model *model, uint8_t *out)
{
    const struct doppel_model_info *info = &model->info;
    const size_t name = strlen(info->base), prefix = strlen(info->prefix);
    memcpy(out, whitened_magic, sizeof whitened_magic);
    put_u32(out + AT_VERSION, WHITENED_VERSION);
    put_u32(out + AT_DIMENSION, info->dimension);
    put_u64(out + AT_LEARNED, info->learned_from);
    put_u32(out + AT_SERVICE, info->of_service);
    put_u32(out + AT_NAME_SIZE, (uint32_t)name);
    put_u32(out + AT_PREFIX_SIZE, (uint32_t)prefix);
    (void)doppel_hex_decode(model->base_revision, out + AT_BASE, DIGEST_BYTES);
    (void)doppel_hex_decode(info->revision, out + AT_REVISION, DIGEST_BYTES);
    memcpy(out + AT_NAME, info->base, name);
    memcpy(out + AT_NAME + name, info->prefix, prefix);
}

/* @return given (free); NULL: no memory */
static uint8_t *whitened_bytes(const struct whitened_model *model, size_t *out_size)
{
    const struct doppel_model_info *info = &model->info;
    const size_t floats = count_floats(model);
    const size_t head = AT_NAME + strlen(info->base) + strlen(info->prefix);
    const size_t probe = info->of_service ? info->dimension : 0;
    uint8_t *bytes = calloc(1, head + 4 * floats + DIGEST_BYTES);
    if (!bytes)
        return NULL;
    put_whitened_head(model, bytes);
    bytes_of_floats(bytes + head, model->probe, probe);
    bytes_of_floats(bytes + head + 4 * probe, model->numbers, floats - probe);
    const struct doppel_digest digest = doppel_digest_bytes(bytes, head + 4 * floats);
    memcpy(bytes + head + 4 * floats, digest.bytes, DIGEST_BYTES);
    *out_size = head + 4 * floats + DIGEST_BYTES;
    return bytes;
}

/* ---- writing ---- */

enum doppel_status whitened_write(const struct whitened_model *model, const char *path,
                                  struct doppel_error *error)
{
    struct output_file file;
    size_t size = 0;
    uint8_t *bytes = whitened_bytes(model, &size);
    if (!bytes)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the model");
    enum doppel_status status = output_file_open(path, NULL, &file, error);
    if (!status) {
        if (fwrite(bytes, 1, size, file.stream) != size || fflush(file.stream) != 0 ||
            fsync(fileno(file.stream)) != 0)
            status = doppel_fail(error, write_failure(errno), "%s: cannot be written (%s)", path,
                                 strerror(errno));
        status = output_file_close(&file, status, error);
    }
    free(bytes);
    return status;
}

/* ---- reading ---- */

/* Of what is whole, and so was written so, or by somebody who knows how. */
static bool take_whitened_head(const uint8_t *in, size_t size, struct whitened_model *out)
{
    struct doppel_model_info *info = &out->info;
    const uint32_t name = get_u32(in + AT_NAME_SIZE), prefix = get_u32(in + AT_PREFIX_SIZE);
    info->tokens = DOPPEL_MODEL_WHITENED;
    info->dimension = get_u32(in + AT_DIMENSION);
    info->learned_from = get_u64(in + AT_LEARNED);
    info->size_bytes = size;
    if (!info->dimension || info->dimension > DOPPEL_MODEL_MAX_DIMENSION || !name ||
        name > DOPPEL_MODEL_MAX_BASE || prefix > DOPPEL_MODEL_MAX_PREFIX ||
        get_u32(in + AT_SERVICE) > 1)
        return false;
    info->of_service = get_u32(in + AT_SERVICE) == 1;
    if (size != AT_NAME + name + prefix + 4 * count_floats(out) + DIGEST_BYTES)
        return false;
    memcpy(info->base, in + AT_NAME, name);
    memcpy(info->prefix, in + AT_NAME + name, prefix);
    doppel_hex_encode(in + AT_BASE, DIGEST_BYTES, out->base_revision);
    doppel_hex_encode(in + AT_REVISION, DIGEST_BYTES, info->revision);
    return strlen(info->base) == name && strlen(info->prefix) == prefix;
}

static enum doppel_status take_whitened_numbers(const uint8_t *in, struct whitened_model *out)
{
    const struct doppel_model_info *info = &out->info;
    const uint8_t *at = in + AT_NAME + strlen(info->base) + strlen(info->prefix);
    char revision[33];
    memcpy(revision, info->revision, sizeof revision);
    if (info->of_service) {
        out->probe = floats_of_bytes(at, info->dimension);
        at += 4 * (size_t)info->dimension;
    }
    out->numbers = floats_of_bytes(at, doppel_vector_whitening_size(info->dimension));
    if ((info->of_service && !out->probe) || !out->numbers || !whitened_set_revision(out))
        return DOPPEL_E_MEMORY;
    return strcmp(revision, info->revision) == 0 ? DOPPEL_OK : DOPPEL_E_CORRUPT;
}

static enum doppel_status take_whitened(const uint8_t *in, size_t size, struct whitened_model *out)
{
    if (size < sizeof whitened_magic || memcmp(in, whitened_magic, sizeof whitened_magic) != 0)
        return DOPPEL_E_FORMAT;
    if (size < AT_NAME + DIGEST_BYTES)
        return DOPPEL_E_CORRUPT;
    if (get_u32(in + AT_VERSION) != WHITENED_VERSION)
        return DOPPEL_E_VERSION;
    const struct doppel_digest digest = doppel_digest_bytes(in, size - DIGEST_BYTES);
    if (memcmp(in + size - DIGEST_BYTES, digest.bytes, DIGEST_BYTES) != 0 ||
        !take_whitened_head(in, size, out))
        return DOPPEL_E_CORRUPT;
    return take_whitened_numbers(in, out);
}

/* What is longer than one can be is read so far that this is seen. */
static enum doppel_status load_file(const char *path, char **out, size_t *out_size,
                                    struct doppel_error *error)
{
    const size_t most =
        AT_NAME + DOPPEL_MODEL_MAX_BASE + DOPPEL_MODEL_MAX_PREFIX + DIGEST_BYTES +
        4 * (doppel_vector_whitening_size(DOPPEL_MODEL_MAX_DIMENSION) + DOPPEL_MODEL_MAX_DIMENSION);
    struct doppel_error reason;
    const enum doppel_status status = read_file_beginning(path, most + 1, out, out_size, &reason);
    if (!status)
        return DOPPEL_OK;
    return status == DOPPEL_E_NOT_FOUND
               ? doppel_fail(error, status, "%s: there is no such model", path)
               : doppel_fail(error, status, "%s", reason.message);
}

enum doppel_status whitened_read(const char *path, const char *name, struct whitened_model *out,
                                 struct doppel_error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    enum doppel_status status = load_file(path, &bytes, &size, error);
    if (status)
        return status;
    status = take_whitened((const uint8_t *)bytes, size, out);
    free(bytes);
    if (status)
        whitened_free(out);
    else
        snprintf(out->info.name, sizeof out->info.name, "%s", name);
    if (status == DOPPEL_E_MEMORY)
        return doppel_fail(error, status, "no memory for the model");
    if (status == DOPPEL_E_VERSION)
        return doppel_fail(error, status,
                           "%s: a whitened model of another version of doppel; remove it, and make "
                           "it again with 'doppel model whiten'",
                           path);
    if (status)
        return doppel_fail(error, status, "%s: %s", path,
                           status == DOPPEL_E_FORMAT
                               ? "no whitened model of doppel"
                               : "is damaged; remove it, and make it again with 'doppel model "
                                 "whiten'");
    return DOPPEL_OK;
}
