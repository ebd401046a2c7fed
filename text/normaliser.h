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

#include "text/text_internal.h"

enum {
    TABLE_POINTS = 0x20000, /* code points whose mapping is remembered: two planes */
    CLEAN_BYTES = 4 * BLOCK_BYTES,
    PIECE_POINTS = 31, /* a longer sequence that might compose is normalised in such pieces */
    POINT_EXPANSION = 18,
    PIECE_EXPANDED = PIECE_POINTS * POINT_EXPANSION,
    PIECE_BYTES = 6 * PIECE_EXPANDED, /* with spaces around */
    PIECE_CACHE = 512,
    PIECE_KEY_BYTES = 12,
    PIECE_OUT_BYTES = 26
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

/** Take what is simple from the cursor on, not beyond `end`: at least ASCII, if punctuation is
 * dropped. 64 bytes more than
 * needed may be written. */
typedef void clean_kernel(const struct mapping *mapping, const uint8_t *bytes,
                          struct cursor *cursor);
clean_kernel clean_portable, clean_avx512;
clean_kernel *clean_choose(void);

/* A short piece and what it comes to: the last one met of those that share its place. */
struct known_piece {
    uint8_t size, out_size; /* 0: none yet */
    uint8_t bytes[PIECE_KEY_BYTES], out[PIECE_OUT_BYTES];
};

/* What the options make of text, and what is known of code points so far. */
struct mapping {
    utf8proc_option_t how;
    bool drop_punctuation, unspaced_alone;
    clean_kernel *clean;
    uint8_t ascii[256];      /* for split: what a byte becomes; separators a space */
    uint8_t space_rows[16];  /* bit r of byte c: 16 r + c is a separator */
    uint8_t squeeze[256][8]; /* places of the set bits of a byte */
    uint32_t points[TABLE_POINTS];
    struct known_piece pieces[PIECE_CACHE];
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

/** Whether a code point is of a script that is written without spaces between words. */
bool point_is_unspaced(uint32_t point);

/* Two and three bytes, as most of the world's letters have; 0 for all else. */
static inline size_t decode_common(const uint8_t *bytes, size_t size, uint32_t *out)
{
    if (size < 3 || (bytes[1] & 0xc0) != 0x80)
        return 0;
    if (bytes[0] >= 0xc2 && bytes[0] < 0xe0) {
        *out = (uint32_t)(bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
        return 2;
    }
    *out = (uint32_t)(bytes[0] & 0xf) << 12 | (uint32_t)(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
    bool good = bytes[0] >= 0xe0 && bytes[0] < 0xf0 && (bytes[2] & 0xc0) == 0x80;
    return good && *out >= 0x800 && (*out & 0xf800) != 0xd800 ? 3 : 0;
}

/** As decode. */
static inline size_t decode_any(const uint8_t *bytes, size_t size, uint32_t *out, bool *out_bad)
{
    size_t taken = decode_common(bytes, size, out);
    *out_bad = false;
    return taken ? taken : decode(bytes, size, out, out_bad);
}

struct text_source {
    const uint8_t *bytes;
    size_t size;
    uint64_t bad_bytes;
};

/** Normalise the piece that begins at `at`: a code point and those that are no boundaries.
 * @param out PIECE_BYTES of room; ASCII in it may still be upper case or a separator
 * @param out_written bytes in `out`
 * @param out_points  code points of the source taken
 * @return where the next piece begins */
size_t clean_piece(struct mapping *mapping, struct text_source *source, size_t at, uint8_t *out,
                   size_t *out_written, uint32_t *out_points);

/** Clean from `at` to about `at + BLOCK_BYTES`. @param out CLEAN_BYTES of room and 16.
 * @return where to go on, a boundary */
size_t clean_block(struct mapping *mapping, struct text_source *source, size_t at, uint8_t *out,
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
typedef bool split_kernel(struct split *split, const struct mapping *mapping, const uint8_t *bytes,
                          size_t size);
split_kernel split_portable, split_avx2, split_avx512;
split_kernel *split_choose(void);

struct normaliser {
    struct mapping *mapping;
    split_kernel *split;
    struct text_source source;
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
