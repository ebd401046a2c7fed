/* A trie of bytes in one array: a step from a node is one look at one cell.
 *
 * A cell has the base of its node in the low half, the byte that leads to it in bits 32 to 39, and
 * above these 1 + a value, or 0. The child of a node by a byte is the cell at (base ^ byte), if
 * that cell has this byte; no two nodes have the same base. Byte 0 leads nowhere. Cells 0 to 255
 * are empty, so a base of 0 has no children.
 *
 * Source: Aoe, "An Efficient Digital Search Algorithm by Using a `Double-Array` Structure" (1989);
 * bases that are combined by exclusive or are as in Yata's darts-clone. */
#ifndef DOPPEL_EMBED_TOKENIZER_TRIE_H
#define DOPPEL_EMBED_TOKENIZER_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doppel/core.h>

/* The cell of a child; 0: there is none. Any base is fine. */
static inline uint64_t trie_step(const uint64_t *cells, size_t count, uint32_t base, uint8_t byte)
{
    uint32_t at = base ^ byte;
    if (at >= count || !byte)
        return 0;
    uint64_t cell = cells[at];
    return (uint8_t)(cell >> 32) == byte ? cell : 0;
}

static inline uint32_t trie_base(uint64_t cell)
{
    return (uint32_t)cell;
}

/* 1 + the value; 0: the node has none. */
static inline uint32_t trie_value(uint64_t cell)
{
    return (uint32_t)(cell >> 40);
}

/* A key of the trie to be; `bytes` have no 0 among them. */
struct trie_key {
    const char *bytes; /* borrowed */
    uint32_t size;
    uint32_t root;  /* number of the trie that it belongs to */
    uint32_t value; /* below 2^24 - 1 */
};

struct trie {
    uint64_t *cells; /* given (free) */
    size_t count;
};

/**
 * Build some tries in one array.
 *
 * @param keys  sorted by this call
 * @param roots bases of `root_count` tries
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT: a key is there twice, whose values are *out_twice; with a 0
 * in it; or empty; DOPPEL_E_LIMIT: more than 2^32 cells; DOPPEL_E_MEMORY
 */
enum doppel_status trie_build(struct trie_key *keys, size_t count, uint32_t *roots,
                              uint32_t root_count, struct trie *out,
                              const struct trie_key **out_bad);

#endif
