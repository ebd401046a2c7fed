/* A stream of bytes into a file, plain, gzip or zstd. */
#ifndef DOPPEL_CORPUS_WRITE_PACKER_H
#define DOPPEL_CORPUS_WRITE_PACKER_H

#include <doppel/corpus.h>

struct packer;

/** @param fd taken. @param threads that may compress; 0: one a processor. DOPPEL_OK;
 * DOPPEL_E_MEMORY */
enum doppel_status packer_new(int fd, enum doppel_packing packing, uint32_t threads,
                              struct packer **out, struct doppel_error *error);

/** DOPPEL_E_IO, with the reason alone as the sentence; DOPPEL_E_MEMORY. After a failure nothing but
 * packer_close. */
enum doppel_status packer_write(struct packer *packer, const void *bytes, size_t size,
                                struct doppel_error *error);

/** Write the rest and free. @param status a failure that came before: then nothing is written, and
 * it is returned */
enum doppel_status packer_close(struct packer *packer, enum doppel_status status,
                                struct doppel_error *error);

#endif
