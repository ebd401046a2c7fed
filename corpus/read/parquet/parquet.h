/* Parquet files as lines of JSON: a line a row, a field for each column of texts, numbers, truths
 * or dates on the outermost level. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_PARQUET_H
#define DOPPEL_CORPUS_READ_PARQUET_PARQUET_H

#include <doppel/corpus.h>

struct parquet;

/** @param fd of a regular file; borrowed for its life. @param fields that must be read, when the
 * file has them; NULL: none. @param out given (parquet_free). DOPPEL_E_UNSUPPORTED: one of them
 * cannot be; DOPPEL_E_CORRUPT; DOPPEL_E_LIMIT; DOPPEL_E_IO; DOPPEL_E_MEMORY */
enum doppel_status parquet_new(int fd, const struct doppel_corpus_fields *fields,
                               struct parquet **out, struct doppel_error *error);
void parquet_free(struct parquet *parquet);

/** As source_read, of the lines. DOPPEL_E_CORRUPT or another: the rest is not read. */
enum doppel_status parquet_read(struct parquet *parquet, char *buffer, size_t size,
                                size_t *out_size, struct doppel_error *error);

/** Bytes of the file up to which groups of rows were read. */
uint64_t parquet_bytes_read(const struct parquet *parquet);

#endif
