/* The normaliser from the inside. Source bytes become normalised words in two passes over a block:
 *
 *     clean   all that Unicode decides: bad bytes, NFKC, case and separators beyond ASCII
 *     split   all that ASCII needs: case, separators to single spaces, ends of words
 *
 * Split reads the cleaned bytes; source that is ASCII goes to it straight. */
#ifndef DOPPEL_TEXT_NORMALISER_H
#define DOPPEL_TEXT_NORMALISER_H

#include <doppel/text.h>

#include <endian.h>
#include <string.h>
#include <utf8proc.h>

#include "text/room.h"

enum {
    TABLE_POINTS = 0x20000, /* code points whose mapping is remembered: two planes */
    CLEAN_BYTES = 4 * BLOCK_BYTES,
    PIECE_POINTS = 31, /* a longer sequence that might compose is normalised in such pieces */
    POINT_EXPANSION = 18,
    PIECE_EXPANDED = PIECE_POINTS * POINT_EXPANSION,
    PIECE_BYTES = 6 * PIECE_EXPANDED /* with spaces around */
};

/* What a code point comes to when nothing that follows changes it. 0: not asked yet. */
enum {
    MAPPED_BYTES = 0xffffff,   /* up to three bytes, first lowest; then spaces */
    MAPPED_LENGTH_SHIFT = 24,  /* two bits: how many */
    MAPPED_ALONE = 1 << 26,    /* a word of its own */
    MAPPED_BOUNDARY = 1 << 27, /* what stands before it does not change with it */
    MAPPED_WHOLE = 1 << 28,    /* a boundary, and the bytes are all there is to it */
    MAPPED_KNOWN = 1 << 29
};

struct mapping;

/* Where the first pass stands. The last code point is kept in mind: a mark behind it takes it back.
 * At the end of a piece there is none to take back, and last_at is at. */
struct cursor {
    size_t at, end; /* in the source; the block ends at the first boundary from `end` on */
    size_t last_at;
    uint8_t *out, *last_out, *out_end;
};

/** `count` bytes of ASCII stand at the cursor's `out`: pass them. */
static inline void cursor_copied(struct cursor *cursor, size_t count)
{
    cursor->at += count;
    cursor->out += count;
    if (count) {
        cursor->last_at = cursor->at - 1;
        cursor->last_out = cursor->out - 1;
    }
}

/** Take what is simple from the cursor on, not beyond `end`, and stop anywhere; 64 bytes more than
 * needed may be written. */
typedef void clean_kernel(const struct mapping *mapping, const uint8_t *bytes,
                          struct cursor *cursor);
clean_kernel clean_portable, clean_avx512;
clean_kernel *clean_choose(void);

/* What the options make of text, and what is known of code points so far. */
struct mapping {
    utf8proc_option_t how;
    bool drop_punctuation, unspaced_alone;
    clean_kernel *clean;
    uint8_t ascii[256]; /* for split: what a byte becomes; separators a space */
    uint32_t points[TABLE_POINTS];
};

void mapping_begin(struct mapping *mapping, const struct doppel_text_options *options);

/** The mapping of a code point, looked up or found out. */
uint32_t mapping_of(struct mapping *mapping, uint32_t point);

/** Write a MAPPED_WHOLE, a word of its own between spaces. @param out 6 bytes of room
 * @return bytes written */
static inline size_t mapped_write(uint32_t mapped, uint8_t *out)
{
    size_t alone = mapped / MAPPED_ALONE & 1, size = mapped >> MAPPED_LENGTH_SHIFT & 3;
    uint32_t bytes = htole32(mapped & MAPPED_BYTES);
    *out = ' ';
    memcpy(out + alone, &bytes, sizeof bytes);
    out[alone + size] = ' ';
    return size + 2 * alone;
}

/** The first code point of some bytes: U+FFFD where they are no UTF-8. @return bytes taken, at
 * least 1 */
size_t decode(const uint8_t *bytes, size_t size, uint32_t *out_point, bool *out_bad);

struct source {
    const uint8_t *bytes;
    size_t size;
    uint64_t bad_bytes;
};

/** Normalise the piece that begins at `at`: a code point and those that are no boundaries.
 * @param out PIECE_BYTES of room; ASCII in it may still be upper case or a separator
 * @param out_written bytes in `out`
 * @param out_points  code points of the source taken
 * @return where the next piece begins */
size_t clean_piece(struct mapping *mapping, struct source *source, size_t at, uint8_t *out,
                   size_t *out_written, uint32_t *out_points);

/** Clean from `at` to about `at + BLOCK_BYTES`. @param out CLEAN_BYTES of room and 16.
 * @return where to go on, a boundary */
size_t clean_block(struct mapping *mapping, struct source *source, size_t at, uint8_t *out,
                   size_t *out_written);

/* Where split writes. */
struct split {
    uint8_t *bytes; /* 64 more than needed may be written */
    uint32_t *ends; /* 64 more likewise */
    size_t size, words;
    bool after_space; /* the last byte was a separator, or there was none */
    bool long_word;   /* there may be a word over the limit */
};

/** Words of cleaned bytes, appended. @return whether all of them were ASCII */
typedef bool split_kernel(struct split *split, const uint8_t table[256], const uint8_t *bytes,
                          size_t size);
split_kernel split_portable, split_avx512;
split_kernel *split_choose(void);

struct normaliser {
    struct mapping *mapping;
    split_kernel *split;
    struct source source;
    size_t at;       /* in the source */
    size_t consumed; /* of `block`: given out before */
    bool done;
    bool ascii; /* the last block was: the next will be */
    struct split out;
    uint8_t cleaned[CLEAN_BYTES + BLOCK_SLACK];
    uint8_t block[BLOCK_SLACK + BLOCK_MAX_BYTES + 2 * BLOCK_SLACK];
    uint8_t spare[BLOCK_MAX_BYTES];
    uint32_t ends[BLOCK_MAX_WORDS + BLOCK_SLACK];
};

#endif
