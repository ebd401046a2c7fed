/* Codes of a file or of standard input, a piece at a time: hex, one a line, or raw. */
#ifndef DOPPEL_EXCHANGE_CODE_READER_H
#define DOPPEL_EXCHANGE_CODE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>
#include <doppel/run.h>

struct code_reader;

enum code_layout {
    LAYOUT_HEX,  /* the most significant digit first, word 0 of a code first */
    LAYOUT_RAW,  /* the same numbers, their least significant byte first */
    LAYOUT_WORDS /* as they are in memory */
};

/* 64-bit words of a code of this many bits; one of 32 bits is the low half of its word. */
static inline size_t words_of_bits(uint32_t bits)
{
    return (bits + 63) / 64;
}

/**
 * @param run   says when to stop; borrowed while the reader lives
 * @param path  a file, or "-"; likewise
 * @param out   given (code_reader_close)
 * @return DOPPEL_OK; DOPPEL_E_NOT_FOUND, _IO, _MEMORY; _FORMAT (raw: a size that is no whole number
 * of codes)
 */
enum doppel_status code_reader_open(const struct doppel_run *run, const char *path, uint32_t bits,
                                    enum code_layout layout, struct code_reader **out,
                                    struct doppel_error *error);
void code_reader_close(struct code_reader *reader);

/** Read at most `max` codes; *out_count is 0 at the end. DOPPEL_E_FORMAT says in which line.
 * DOPPEL_E_CANCELLED. */
enum doppel_status code_reader_next(struct code_reader *reader, uint64_t *codes, size_t max,
                                    size_t *out_count, struct doppel_error *error);

/** Codes of a regular file that is not hex; else false. */
bool code_reader_count(const struct code_reader *reader, uint64_t *out);

/** To the beginning again, of a regular file. */
void code_reader_rewind(struct code_reader *reader);

/** In a form that can be counted and read again: itself, or the codes in a nameless file of
 * `folder`. @param reader taken; @param out given; may be its own place */
enum doppel_status code_reader_settle(struct code_reader *reader, const char *folder,
                                      struct code_reader **out, struct doppel_error *error);

#endif
