/* All blocks of a corpus, worked on by several threads, delivered in order. */
#ifndef DOPPEL_CORPUS_READ_BLOCKS_H
#define DOPPEL_CORPUS_READ_BLOCKS_H

#include "corpus/read/reader.h"

struct blocks_run {
    struct reader *reader;
    uint32_t threads; /* from 1 */
    /** Work on a block and leave the result in place `slot`; on any thread. */
    void (*work)(void *context, size_t slot, const struct line_block *block);
    /** Hand over the result in `slot`; in order of the blocks, on the calling thread. */
    enum doppel_status (*deliver)(void *context, size_t slot, struct doppel_error *error);
    void *context;
};

/** How many slots such a run needs. */
size_t blocks_slots(uint32_t threads);

/** DOPPEL_OK; what reader_next or `deliver` fails with; DOPPEL_E_MEMORY. */
enum doppel_status blocks_run(const struct blocks_run *run, struct doppel_error *error);

#endif
