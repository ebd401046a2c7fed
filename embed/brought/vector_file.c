/* Files of vectors: which format one has, and what holds of all. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/try.h"
#include "embed/brought/brought.h"

enum { STEP_ROWS = 4096 };

/* So that squares of floats, and sums of 4096 of them, are neither lost nor infinite. */
static const float least_largest = 1e-15F, most_largest = 1e13F;

enum doppel_status check_largest(const char *path, const char *name, double largest,
                                 struct doppel_error *error)
{
    if (largest == 0 || !isfinite(largest) ||
        (largest > (double)least_largest && largest < (double)most_largest))
        return DOPPEL_OK;
    return doppel_fail(error, DOPPEL_E_LIMIT,
                       "%s: the largest number of %s is %.3g; from 1e-15 to 1e13 a length can be "
                       "computed",
                       path, name, largest);
}

enum doppel_status check_vector_counts(const char *path, size_t count, size_t dimension,
                                       struct doppel_error *error)
{
    if (!count || !dimension)
        return doppel_fail(error, DOPPEL_E_EMPTY, "%s: holds no vectors", path);
    if (dimension > DOPPEL_VECTOR_DIMENSION_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s: vectors have up to %d dimensions, not %zu",
                           path, (int)DOPPEL_VECTOR_DIMENSION_MAX, dimension);
    if (count >= UINT32_MAX)
        return doppel_fail(error, DOPPEL_E_LIMIT, "%s: %zu vectors are too many", path, count);
    return DOPPEL_OK;
}

/* ---- rows and columns ---- */

static bool lie_as_floats(const struct tensor *matrix)
{
    static const uint16_t one = 1;
    return matrix->type == TENSOR_F32 && (uintptr_t)matrix->bytes % _Alignof(float) == 0 &&
           *(const uint8_t *)&one == 1; /* little-endian, as the file is */
}

/* As floats those of 1e-300 would be zeros. */
static enum doppel_status check_doubles(const struct vector_input *input,
                                        const struct tensor *matrix, size_t row,
                                        struct doppel_error *error)
{
    const size_t dimension = matrix->shape[1];
    double largest = 0;
    char name[32];
    for (size_t d = 0; d < dimension; d++) {
        const double number = fabs(tensor_double(matrix, row * dimension + d));
        largest = number > largest ? number : largest;
    }
    snprintf(name, sizeof name, "row %zu", row);
    return check_largest(input->path, name, largest, error);
}

static enum doppel_status convert_rows(const struct vector_input *input,
                                       const struct tensor *matrix, struct vector_spool *spool,
                                       struct doppel_error *error)
{
    const size_t dimension = matrix->shape[1];
    float *row = malloc(dimension * sizeof *row);
    enum doppel_status status = DOPPEL_OK;
    if (!row)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for vectors");
    for (size_t i = 0; i < matrix->shape[0]; i++) {
        if (matrix->type == TENSOR_F64)
            TRY(check_doubles(input, matrix, i, error));
        for (size_t d = 0; d < dimension; d++)
            row[d] = tensor_float(matrix, i * dimension + d);
        if (i % STEP_ROWS == 0 && doppel_run_cancelled(input->run))
            TRY(doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted"));
        TRY(vector_spool_put(spool, row, dimension * sizeof *row, error));
    }
done:
    free(row);
    return status;
}

enum doppel_status take_vector_matrix(const struct vector_input *input, const struct tensor *matrix,
                                      struct doppel_vector_file *file, struct doppel_error *error)
{
    struct vector_spool spool = {0};
    const void *rows = matrix->bytes;
    enum doppel_status status;
    TRY(check_vector_counts(input->path, matrix->shape[0], matrix->shape[1], error));
    if (!lie_as_floats(matrix)) {
        TRY(vector_spool_open(input->run, &spool, error));
        TRY(convert_rows(input, matrix, &spool, error));
        TRY(vector_spool_map(&spool, &file->rows, error));
        rows = file->rows.bytes;
    }
    file->vectors.rows = rows;
    file->vectors.count = matrix->shape[0];
    file->vectors.dimension = (uint32_t)matrix->shape[1];
done:
    vector_spool_close(&spool);
    return status;
}

static enum doppel_status read_tensors(const struct vector_input *input,
                                       struct doppel_vector_file *file, struct doppel_error *error)
{
    struct tensor matrix;
    enum doppel_status status;
    TRY(tensor_find(file->source.bytes, file->source.size, input->path, input->tensor, &matrix,
                    error));
    if (matrix.dimensions != 2 || !tensor_is_float(&matrix))
        TRY(doppel_fail(error, DOPPEL_E_UNSUPPORTED,
                        "%s: '%s' is no tensor of rows and columns of F16, BF16, F32 or F64",
                        input->path, input->tensor ? input->tensor : "its tensor"));
    TRY(take_vector_matrix(input, &matrix, file, error));
done:
    return status;
}

/* ---- which format ---- */

static bool begins_as_tensors(const uint8_t *bytes, size_t size)
{
    return size > 8 && bytes[8] == '{' && get_u64(bytes) <= size - 8;
}

static bool path_ends_in(const char *path, const char *ending)
{
    size_t size = strlen(path), length = strlen(ending);
    return size >= length && strcmp(path + size - length, ending) == 0;
}

static enum doppel_status read_vector_map(const struct vector_input *input,
                                          struct doppel_vector_file *file,
                                          struct doppel_error *error)
{
    const uint8_t *bytes = file->source.bytes;
    const size_t size = file->source.size;
    if (!size)
        return doppel_fail(error, DOPPEL_E_EMPTY, "%s: is empty", input->path);
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return read_npy(input, bytes, size, file, error);
    if (path_ends_in(input->path, ".fvecs"))
        return read_fvecs(input, file, error);
    if (begins_as_vector_lines((const char *)bytes, size)) {
        vector_map_free(&file->source);
        return read_vector_lines(input, file, error);
    }
    if (begins_as_tensors(bytes, size))
        return read_tensors(input, file, error);
    if (size >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0)
        return read_npz(input, file, error);
    return doppel_fail(
        error, DOPPEL_E_FORMAT,
        "%s: no vectors that are known (.npy, .npz, .fvecs, safetensors, JSON Lines), "
        "or "
        "cut short",
        input->path);
}

static enum doppel_status read_opened(const struct vector_input *input,
                                      struct doppel_vector_file *file, struct doppel_error *error)
{
    struct stat stamp;
    enum doppel_status status;
    if (fstat(input->fd, &stamp) != 0)
        return doppel_fail(error, DOPPEL_E_IO, "%s: %s", input->path, strerror(errno));
    if (S_ISDIR(stamp.st_mode))
        return doppel_fail(error, DOPPEL_E_FORMAT, "%s: is a folder", input->path);
    if (!S_ISREG(stamp.st_mode))
        return read_vector_lines(input, file, error);
    TRY(vector_map_file(input->fd, (size_t)stamp.st_size, input->path, &file->source, error));
    TRY(read_vector_map(input, file, error));
done:
    return status;
}

static const char *shown_path(const struct doppel_vector_file_options *options)
{
    return strcmp(options->path, "-") == 0 ? "standard input" : options->path;
}

static enum doppel_status read_vectors(const struct doppel_vector_file_options *options,
                                       struct doppel_run *run, struct doppel_vector_file *file,
                                       struct doppel_error *error)
{
    struct vector_input input = {
        .path = shown_path(options), .tensor = options->tensor, .run = run};
    input.fd =
        input.path == options->path ? open(options->path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
    if (input.fd < 0)
        return doppel_fail(error, errno == ENOENT ? DOPPEL_E_NOT_FOUND : DOPPEL_E_IO, "%s: %s",
                           input.path, strerror(errno));
    enum doppel_status status = read_opened(&input, file, error);
    close(input.fd);
    return status;
}

/* ---- what holds of all ---- */

/* The largest number of a row, without its sign; above all others, what is none. Without branches,
 * as it looks at every number. */
static float largest_of_row(const float *row, uint32_t dimension)
{
    uint32_t most = 0;
    float largest;
    for (uint32_t d = 0; d < dimension; d++) {
        uint32_t bits;
        memcpy(&bits, &row[d], sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most; /* as the floats are ordered */
    }
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

static void describe_row(const struct doppel_vector_file *file, size_t row, char *out, size_t room)
{
    const char *id = doppel_vector_file_id(file, row);
    if (id)
        snprintf(out, room, "row %zu ('%.100s')", row, id);
    else
        snprintf(out, room, "row %zu", row);
}

static enum doppel_status refuse_row(const struct doppel_vector_file *file, size_t row,
                                     const char *path, float largest, struct doppel_error *error)
{
    char name[160];
    describe_row(file, row, name, sizeof name);
    if (!isfinite(largest))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "%s: %s holds what is no finite number", path,
                           name);
    return check_largest(path, name, (double)largest, error);
}

static enum doppel_status check_numbers(const struct doppel_vector_file *file, const char *path,
                                        struct doppel_run *run, struct doppel_error *error)
{
    const struct doppel_vectors *vectors = &file->vectors;
    size_t zeros = 0, first = 0;
    char name[160];
    for (size_t i = 0; i < vectors->count; i++) {
        const float largest =
            largest_of_row(vectors->rows + i * vectors->dimension, vectors->dimension);
        if (largest != 0 && !(largest > least_largest && largest < most_largest))
            return refuse_row(file, i, path, largest, error);
        first = largest == 0 && !zeros ? i : first;
        zeros += largest == 0;
        if (i % STEP_ROWS == 0 && doppel_run_cancelled(run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
    }
    describe_row(file, first, name, sizeof name);
    if (zeros == 1)
        doppel_run_notice(run, "%s: %s is all zeros, which is in no pair", path, name);
    else if (zeros)
        doppel_run_notice(run, "%s: %zu rows are all zeros, which are in no pair; the first is %s",
                          path, zeros, name);
    return DOPPEL_OK;
}

enum doppel_status doppel_vector_file_open(const struct doppel_vector_file_options *options,
                                           struct doppel_run *run, struct doppel_vector_file **out,
                                           struct doppel_error *error)
{
    struct doppel_vector_file *file = calloc(1, sizeof *file);
    struct doppel_error unwanted;
    enum doppel_status status;
    error = error ? error : &unwanted;
    if (!file)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for vectors");
    TRY(read_vectors(options, run, file, error));
    if (options->ids && file->id_places.bytes)
        TRY(doppel_fail(error, DOPPEL_E_ARGUMENT, "%s: has ids of its own, beside those of %s",
                        shown_path(options), options->ids));
    if (options->ids)
        TRY(read_id_lines(options->ids, run, file, error));
    TRY(check_numbers(file, shown_path(options), run, error));
    *out = file;
done:
    if (status)
        doppel_vector_file_close(file);
    return status;
}

void doppel_vector_file_close(struct doppel_vector_file *file)
{
    if (!file)
        return;
    vector_map_free(&file->source);
    vector_map_free(&file->rows);
    vector_map_free(&file->id_bytes);
    vector_map_free(&file->id_places);
    free(file);
}

const struct doppel_vectors *doppel_vector_file_vectors(const struct doppel_vector_file *file)
{
    return &file->vectors;
}

const char *doppel_vector_file_id(const struct doppel_vector_file *file, size_t row)
{
    uint64_t place;
    if (!file->id_places.bytes)
        return NULL;
    memcpy(&place, file->id_places.bytes + row * sizeof place, sizeof place);
    return (const char *)file->id_bytes.bytes + place;
}
