/**
 * doppel/embed_vectors.h: vectors that other programs have made, read from their files. Part of
 * doppel/embed.h.
 *
 * - `.npy` of NumPy, versions 1 to 3: two dimensions, C order, little-endian float16, float32 or
 *   float64; and `.npz`, which holds several.
 * - safetensors: a tensor of rows and columns, of F16, BF16, F32 or F64.
 * - `.fvecs`: of each vector its dimension, in 32 bits, and float32, little-endian. Known by its
 *   name alone; all else by what it begins with.
 * - JSON Lines: {"id":"a","vector":[0.5,1,…]} on each line, the id a text or a whole number; either
 *   all have one, or none. Other members are passed over.
 */
#ifndef DOPPEL_EMBED_VECTORS_H
#define DOPPEL_EMBED_VECTORS_H

#include <stdint.h>

#include <doppel/core.h>
#include <doppel/run.h>
#include <doppel/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Strings are borrowed for the call. */
struct doppel_vector_file_options {
    const char *path;   /**< "-": standard input; of a pipe JSON Lines alone */
    const char *ids;    /**< a file with the id of row i on line i; NULL: none. "-" likewise */
    const char *tensor; /**< the name of a tensor of safetensors, or of an array of .npz; NULL: the
                           only one (of safetensors, of rows and columns) */
};

struct doppel_vector_file;

/**
 * Read vectors. Rows of float32 are mapped as they lie in the file, which must not change until
 * they are closed; others are converted or unpacked into a temporary file without a name (of the
 * run), which is mapped. Ids lie in such files, too: memory does not grow with their number.
 *
 * Every number is looked at. Rows of zeros are told by a notice of the run, as they are in no pair.
 *
 * @param run borrowed: temporary folder, progress ("vectors"), cancelling
 * @param out given (doppel_vector_file_close); untouched on failure. It has at least one row, and
 *     numbers that are finite
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND; DOPPEL_E_EMPTY: no vectors; DOPPEL_E_FORMAT: none of these
 *     formats, or a line that is wrong; DOPPEL_E_UNSUPPORTED: another type, order or shape of
 *     numbers; DOPPEL_E_CORRUPT: cut short, or sizes that do not fit together, or what is no
 *     number; DOPPEL_E_LIMIT: a dimension over DOPPEL_VECTOR_DIMENSION_MAX, 2^32 vectors, or a
 * vector whose largest number is not from 1e-15 to 1e13; DOPPEL_E_ARGUMENT: ids for what has ids,
 * or several tensors; DOPPEL_E_IO; DOPPEL_E_NO_SPACE; DOPPEL_E_MEMORY; DOPPEL_E_CANCELLED
 *
 * Thread-safe. Sources: NumPy's NEP 1 and numpy.lib.format; PKWARE's APPNOTE for .npz; safetensors'
 * README, "Format"; corpus-texmex.irisa.fr for fvecs.
 */
DOPPEL_API enum doppel_status doppel_vector_file_open(
    const struct doppel_vector_file_options *options, struct doppel_run *run,
    struct doppel_vector_file **out, struct doppel_error *error);
DOPPEL_API void doppel_vector_file_close(struct doppel_vector_file *file);

/** The rows; borrowed for the life of the file. Thread-safe. */
DOPPEL_API const struct doppel_vectors *doppel_vector_file_vectors(
    const struct doppel_vector_file *file);

/** The id of a row, as it was written (any bytes but NUL); NULL: there are none, its number is its
 * id. Borrowed for the life of the file. Thread-safe. */
DOPPEL_API const char *doppel_vector_file_id(const struct doppel_vector_file *file, size_t row);

#ifdef __cplusplus
}
#endif

#endif
