/* Temporary files that are written and then mapped; ids in two of them. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/files/nameless_file.h"
#include "core/files/write_all.h"
#include "core/try.h"
#include "embed/brought/brought.h"

/* ---- mapping ---- */

enum doppel_status vector_map_file(int fd, size_t size, const char *path, struct vector_map *out,
                                   struct doppel_error *error)
{
    void *map = size ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
    if (map == MAP_FAILED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "%s: cannot be mapped (%s)", path,
                           strerror(errno));
    *out = (struct vector_map){map, size};
    return DOPPEL_OK;
}

void vector_map_free(struct vector_map *map)
{
    if (map->bytes)
        munmap((void *)map->bytes, map->size);
    *map = (struct vector_map){0};
}

/* ---- writing ---- */

static enum doppel_status fail_spool(const struct vector_spool *spool, struct doppel_error *error)
{
    int reason = errno;
    return doppel_fail(error, write_failure(reason), "a temporary file in %s: %s", spool->folder,
                       strerror(reason));
}

enum doppel_status vector_spool_open(const struct doppel_run *run, struct vector_spool *out,
                                     struct doppel_error *error)
{
    const char *folder = doppel_run_get_options(run)->temporary;
    struct vector_spool spool = {.folder = folder ? folder : "/tmp"};
    int fd = nameless_file(spool.folder);
    if (fd < 0)
        return fail_spool(&spool, error);
    spool.stream = fdopen(fd, "w+b");
    if (!spool.stream) {
        enum doppel_status status = fail_spool(&spool, error);
        close(fd);
        return status;
    }
    *out = spool;
    return DOPPEL_OK;
}

enum doppel_status vector_spool_put(struct vector_spool *spool, const void *bytes, size_t size,
                                    struct doppel_error *error)
{
    if (fwrite(bytes, 1, size, spool->stream) != size)
        return fail_spool(spool, error);
    spool->size += size;
    return DOPPEL_OK;
}

enum doppel_status vector_spool_map(struct vector_spool *spool, struct vector_map *out,
                                    struct doppel_error *error)
{
    enum doppel_status status;
    if (fflush(spool->stream) != 0)
        return fail_spool(spool, error);
    TRY(vector_map_file(fileno(spool->stream), spool->size, spool->folder, out, error));
    vector_spool_close(spool);
done:
    return status;
}

void vector_spool_close(struct vector_spool *spool)
{
    if (spool->stream)
        (void)fclose(spool->stream);
    spool->stream = NULL;
}

/* ---- ids ---- */

enum doppel_status id_spool_open(const struct doppel_run *run, struct id_spool *out,
                                 struct doppel_error *error)
{
    struct id_spool spool = {0};
    enum doppel_status status;
    TRY(vector_spool_open(run, &spool.bytes, error));
    TRY(vector_spool_open(run, &spool.places, error));
done:
    if (status)
        id_spool_close(&spool);
    else
        *out = spool;
    return status;
}

enum doppel_status id_spool_put(struct id_spool *spool, const char *id, size_t size,
                                struct doppel_error *error)
{
    const uint64_t place = spool->bytes.size;
    enum doppel_status status;
    TRY(vector_spool_put(&spool->places, &place, sizeof place, error));
    TRY(vector_spool_put(&spool->bytes, id, size, error));
    TRY(vector_spool_put(&spool->bytes, "", 1, error));
done:
    return status;
}

void id_spool_close(struct id_spool *spool)
{
    vector_spool_close(&spool->bytes);
    vector_spool_close(&spool->places);
}

enum doppel_status take_ids(struct id_spool *spool, struct doppel_vector_file *file,
                            struct doppel_error *error)
{
    enum doppel_status status;
    TRY(vector_spool_map(&spool->bytes, &file->id_bytes, error));
    TRY(vector_spool_map(&spool->places, &file->id_places, error));
done:
    return status;
}
