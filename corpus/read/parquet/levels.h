/* Parquet's runs of small numbers: repeated ones, and packed ones. */
#ifndef DOPPEL_CORPUS_READ_PARQUET_LEVELS_H
#define DOPPEL_CORPUS_READ_PARQUET_LEVELS_H

#include "corpus/read/parquet/thrift.h"

struct parquet_levels {
    struct thrift bytes;
    unsigned width; /* bits of a number, at most 32 */
    uint64_t left;  /* of the run */
    bool packed;    /* else all are `repeated` */
    uint32_t repeated;
    const uint8_t *numbers; /* of a packed run */
    uint64_t bit;           /* within them, of the next */
};

/* The next number; bytes.broken where there is none. */
uint32_t parquet_levels_next(struct parquet_levels *levels);

#endif
