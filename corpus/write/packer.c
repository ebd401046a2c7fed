/* A stream of bytes into a file, plain, gzip or zstd. */
#include "corpus/write/packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "core/try.h"
#include "core/write_all.h"

enum {
    OUT_BYTES = 1 << 18,
    IN_BYTES = 1 << 18,
    GZIP_LEVEL = 6,
    ZSTD_LEVEL = 3,
    JOB_BYTES = 4 << 20
};

struct packer {
    int fd;
    enum doppel_packing packing;
    uint8_t *in; /* lines, gathered */
    size_t in_size;
    uint8_t *out;
    z_stream gzip;
    ZSTD_CCtx *zstd;
};

static enum doppel_status begin_packer(struct packer *packer, uint32_t threads)
{
    if (packer->packing == DOPPEL_PACKING_GZIP)
        return deflateInit2(&packer->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK
                   ? DOPPEL_OK
                   : DOPPEL_E_MEMORY;
    if (packer->packing == DOPPEL_PACKING_NONE)
        return DOPPEL_OK;
    packer->zstd = ZSTD_createCCtx();
    if (!packer->zstd)
        return DOPPEL_E_MEMORY;
    ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
    long workers = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (workers > 1) { /* a library without threads refuses, and does it itself */
        ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_nbWorkers, (int)workers);
        ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_jobSize, JOB_BYTES);
    }
    return DOPPEL_OK;
}

static void free_packer(struct packer *packer)
{
    if (packer->packing == DOPPEL_PACKING_GZIP)
        deflateEnd(&packer->gzip);
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
        packer->in = malloc(IN_BYTES);
        packer->out = malloc(OUT_BYTES);
    }
    if (packer && packer->in && packer->out && begin_packer(packer, threads) == DOPPEL_OK) {
        *out = packer;
        return DOPPEL_OK;
    }
    if (packer)
        free_packer(packer);
    close(fd);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to write a corpus");
}

static enum doppel_status put_out(struct packer *packer, const void *bytes, size_t size,
                                  struct doppel_error *error)
{
    if (write_all(packer->fd, bytes, size))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_IO, "%s", strerror(errno));
}

static enum doppel_status deflate_some(struct packer *packer, const void *bytes, size_t size,
                                       bool last, struct doppel_error *error)
{
    z_stream *gzip = &packer->gzip;
    enum doppel_status status = DOPPEL_OK;
    gzip->next_in = (Bytef *)(uintptr_t)bytes;
    gzip->avail_in = (uInt)size;
    do {
        gzip->next_out = packer->out;
        gzip->avail_out = OUT_BYTES;
        deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
        TRY(put_out(packer, packer->out, OUT_BYTES - gzip->avail_out, error));
    } while (gzip->avail_out == 0);
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
        part = size - done < IN_BYTES - packer->in_size ? size - done : IN_BYTES - packer->in_size;
        memcpy(packer->in + packer->in_size, (const char *)bytes + done, part);
        packer->in_size += part;
        if (packer->in_size == IN_BYTES)
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
        status = doppel_fail(error, DOPPEL_E_IO, "%s", strerror(errno));
    free_packer(packer);
    return status;
}
