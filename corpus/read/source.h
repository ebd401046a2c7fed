/* The bytes of one corpus file, as decompressed: plain, gzip or zstd by its first bytes. */
#ifndef DOPPEL_CORPUS_READ_SOURCE_H
#define DOPPEL_CORPUS_READ_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <doppel/corpus.h>

struct corpus_source;

/** @param fd taken. @param stop looked at while a pipe gives nothing: true ends the waiting; NULL:
 * wait for ever. DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_UNSUPPORTED (another compression);
 * DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY */
enum doppel_status source_new(int fd, const atomic_bool *stop, struct corpus_source **out,
                              struct doppel_error *error);
/** Whole lines of a plain file, from a place on. @param fd taken. DOPPEL_OK; DOPPEL_E_IO;
 * DOPPEL_E_MEMORY */
enum doppel_status source_new_part(int fd, uint64_t from, uint64_t size, struct corpus_source **out,
                                   struct doppel_error *error);
void source_free(struct corpus_source *source);
enum doppel_packing source_packing(const struct corpus_source *source);

/** Read some bytes, at most `size`; 0 of them: the end. DOPPEL_OK; DOPPEL_E_IO; DOPPEL_E_CORRUPT;
 * DOPPEL_E_LIMIT (zstd's window); DOPPEL_E_CANCELLED; DOPPEL_E_MEMORY. */
enum doppel_status source_read(struct corpus_source *source, char *buffer, size_t size,
                               size_t *out_size, struct doppel_error *error);

/** The file itself, for who reads it in another order; borrowed. */
int source_descriptor(const struct corpus_source *source);
/** Bytes read of the file itself. */
uint64_t source_bytes_read(const struct corpus_source *source);

#endif
