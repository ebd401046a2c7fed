/* A stream of bytes into a file, plain, gzip or zstd. */
#include "corpus/write/packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "core/try.h"
#include "core/files/write_all.h"
#include "corpus/write/gzip_blocks.h"

enum {
    OUT_BYTES = 1 << 18,
    IN_BYTES = 1 << 18,
    MOST_THREADS = 32,
    GZIP_LEVEL = 6,
    ZSTD_LEVEL = 3,
    JOB_BYTES = 4 << 20
};

struct packer {
    int fd;
    enum doppel_packing packing;
    uint8_t *in; /* lines, gathered */
    size_t in_size, in_capacity;
    uint8_t *out; /* of zstd */
    struct gzip_blocks *gzip;
    ZSTD_CCtx *zstd;
};

static bool begin_zstd(struct packer *packer, uint32_t threads)
{
    packer->out = malloc(OUT_BYTES);
    packer->zstd = ZSTD_createCCtx();
    if (!packer->out || !packer->zstd)
        return false;
    ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
    if (threads > 1) { /* a library without threads refuses, and does it itself */
        ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_nbWorkers, (int)threads);
        ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_jobSize, JOB_BYTES);
    }
    return true;
}

static bool begin_packer(struct packer *packer, uint32_t wanted)
{
    long processors = wanted ? (long)wanted : sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads = processors < 1              ? 1
                       : processors < MOST_THREADS ? (uint32_t)processors
                                                   : MOST_THREADS;
    packer->in_capacity = IN_BYTES;
    if (packer->packing == DOPPEL_PACKING_ZSTD && !begin_zstd(packer, threads))
        return false;
    if (packer->packing == DOPPEL_PACKING_GZIP) {
        packer->gzip = gzip_blocks_new(threads);
        if (!packer->gzip)
            return false;
        packer->in_capacity = gzip_blocks_capacity(packer->gzip);
    }
    packer->in = malloc(packer->in_capacity);
    return packer->in;
}

static void free_packer(struct packer *packer)
{
    gzip_blocks_free(packer->gzip);
    ZSTD_freeCCtx(packer->zstd);
    free(packer->in);
    free(packer->out);
    free(packer);
}

enum doppel_status packer_new(int fd, enum doppel_packing packing, uint32_t threads,
                              struct packer **out, struct doppel_error *error)
{
    struct packer *packer = calloc(1, sizeof *packer);
    if (packer) {
        *packer = (struct packer){.fd = fd, .packing = packing};
        if (begin_packer(packer, threads)) {
            *out = packer;
            return DOPPEL_OK;
        }
        free_packer(packer);
    }
    close(fd);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to write a corpus");
}

static enum doppel_status put_out(struct packer *packer, const void *bytes, size_t size,
                                  struct doppel_error *error)
{
    if (write_all(packer->fd, bytes, size))
        return DOPPEL_OK;
    return doppel_fail(error, write_failure(errno), "%s", strerror(errno));
}

static enum doppel_status deflate_some(struct packer *packer, const void *bytes, size_t size,
                                       bool last, struct doppel_error *error)
{
    const uint8_t *part;
    enum doppel_status status = DOPPEL_OK;
    gzip_blocks_pack(packer->gzip, bytes, size, last);
    for (size_t i = 0, part_size; gzip_blocks_part(packer->gzip, i, &part, &part_size); i++)
        TRY(put_out(packer, part, part_size, error));
done:
    return status;
}

static enum doppel_status zstd_some(struct packer *packer, const void *bytes, size_t size,
                                    bool last, struct doppel_error *error)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    enum doppel_status status = DOPPEL_OK;
    size_t left;
    do {
        ZSTD_outBuffer out = {packer->out, OUT_BYTES, 0};
        left = ZSTD_compressStream2(packer->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return doppel_fail(error, DOPPEL_E_MEMORY, "zstd: %s", ZSTD_getErrorName(left));
        TRY(put_out(packer, packer->out, out.pos, error));
    } while (last ? left : in.pos < in.size);
done:
    return status;
}

static enum doppel_status pack(struct packer *packer, const void *bytes, size_t size, bool last,
                               struct doppel_error *error)
{
    switch (packer->packing) {
    case DOPPEL_PACKING_GZIP:
        return deflate_some(packer, bytes, size, last, error);
    case DOPPEL_PACKING_ZSTD:
        return zstd_some(packer, bytes, size, last, error);
    default:
        return put_out(packer, bytes, size, error);
    }
}

static enum doppel_status pack_gathered(struct packer *packer, bool last,
                                        struct doppel_error *error)
{
    size_t size = packer->in_size;
    packer->in_size = 0;
    return pack(packer, packer->in, size, last, error);
}

enum doppel_status packer_write(struct packer *packer, const void *bytes, size_t size,
                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (size_t done = 0, part; done < size; done += part) {
        size_t room = packer->in_capacity - packer->in_size;
        part = size - done < room ? size - done : room;
        memcpy(packer->in + packer->in_size, (const char *)bytes + done, part);
        packer->in_size += part;
        if (packer->in_size == packer->in_capacity)
            TRY(pack_gathered(packer, false, error));
    }
done:
    return status;
}

enum doppel_status packer_close(struct packer *packer, enum doppel_status status,
                                struct doppel_error *error)
{
    if (!status)
        status = pack_gathered(packer, true, error);
    if (close(packer->fd) && !status)
        status = doppel_fail(error, write_failure(errno), "%s", strerror(errno));
    free_packer(packer);
    return status;
}
