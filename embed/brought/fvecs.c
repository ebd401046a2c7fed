/* Vectors one after the other, each behind its dimension. Source: corpus-texmex.irisa.fr, "Vector
 * file format". */
#include <stdlib.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/brought/brought.h"

enum { STEP_ROWS = 4096 };

static enum doppel_status convert_fvecs(const struct vector_input *input,
                                        const struct vector_map *source, size_t count,
                                        uint32_t dimension, struct vector_spool *spool,
                                        struct doppel_error *error)
{
    const size_t bytes = dimension * sizeof(float), stride = bytes + 4;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = source->bytes + i * stride;
        enum doppel_status status;
        if (get_u32(row) != dimension)
            return doppel_fail(error, DOPPEL_E_CORRUPT,
                               "%s: row %zu has %u dimensions, where others have %u", input->path,
                               i, get_u32(row), dimension);
        if (i % STEP_ROWS == 0 && doppel_run_cancelled(input->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        status = vector_spool_put(spool, row + 4, bytes, error);
        if (status)
            return status;
    }
    return DOPPEL_OK;
}

enum doppel_status read_fvecs(const struct vector_input *input, struct doppel_vector_file *file,
                              struct doppel_error *error)
{
    const size_t size = file->source.size;
    struct vector_spool spool = {0};
    enum doppel_status status;
    if (size < 4)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "%s: is cut short", input->path));
    const uint32_t dimension = get_u32(file->source.bytes);
    TRY(check_vector_counts(input->path, 1, dimension, error));
    const size_t stride = 4 + (size_t)dimension * 4;
    if (size % stride)
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT,
                        "%s: has %zu bytes, no whole number of vectors of %u dimensions",
                        input->path, size, dimension));
    TRY(check_vector_counts(input->path, size / stride, dimension, error));
    TRY(vector_spool_open(input->run, &spool, error));
    TRY(convert_fvecs(input, &file->source, size / stride, dimension, &spool, error));
    TRY(vector_spool_map(&spool, &file->rows, error));
    file->vectors.rows = (const float *)(const void *)file->rows.bytes;
    file->vectors.count = size / stride;
    file->vectors.dimension = dimension;
done:
    vector_spool_close(&spool);
    return status;
}
