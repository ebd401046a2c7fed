/* Building the array: nodes in the order of their values, each at the first base at which its
 * children fit. */
#include "embed/tokenizer/trie.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/try.h"

enum {
    BLOCK = 256, /* a node's children lie in one block */
    OPEN_BLOCKS =
        16 /* so many of the last blocks are looked into; what is left free before stays */
};

/* Keys from `begin` to `end` share `depth` bytes, which lead to the node whose cell this is. */
struct trie_node {
    uint32_t begin, end, depth, cell;
    uint32_t least; /* of the keys' values */
};

struct trie_builder {
    const struct trie_key *keys;
    ARRAY(uint64_t) cells;
    ARRAY(uint8_t) based; /* whether a cell's number is the base of a node */
    ARRAY(uint8_t) taken;
    ARRAY(struct trie_node) nodes; /* to be placed: a heap, the least value first */
    size_t first_open;             /* cell */
};

static int compare_keys(const void *left, const void *right)
{
    const struct trie_key *a = left, *b = right;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    if (order)
        return order;
    return (a->size > b->size) - (a->size < b->size);
}

static bool keys_are_equal(const struct trie_key *a, const struct trie_key *b)
{
    return compare_keys(a, b) == 0;
}

static bool add_trie_block(struct trie_builder *builder)
{
    for (int i = 0; i < BLOCK; i++)
        if (!array_push(&builder->cells, 0) || !array_push(&builder->based, false) ||
            !array_push(&builder->taken, false))
            return false;
    if (builder->cells.count > (size_t)OPEN_BLOCKS * BLOCK)
        builder->first_open = builder->cells.count - (size_t)OPEN_BLOCKS * BLOCK;
    if (builder->first_open < BLOCK)
        builder->first_open = BLOCK;
    return true;
}

static bool children_fit(const struct trie_builder *builder, size_t base, const uint8_t *bytes,
                         size_t count)
{
    if (builder->based.items[base])
        return false;
    for (size_t i = 0; i < count; i++)
        if (builder->taken.items[base ^ bytes[i]])
            return false;
    return true;
}

/* A base for children by these bytes: of a block at the end, or of a new one. */
static enum doppel_status find_base(struct trie_builder *builder, const uint8_t *bytes,
                                    size_t count, uint32_t *out)
{
    for (size_t cell = builder->first_open; cell < builder->cells.count; cell++) {
        const uint8_t *open = memchr(builder->taken.items + cell, 0, builder->cells.count - cell);
        if (!open)
            break;
        cell = (size_t)(open - builder->taken.items);
        if (!children_fit(builder, cell ^ bytes[0], bytes, count))
            continue;
        *out = (uint32_t)(cell ^ bytes[0]);
        return DOPPEL_OK;
    }
    if (builder->cells.count > UINT32_MAX - BLOCK)
        return DOPPEL_E_LIMIT;
    size_t base = builder->cells.count;
    if (!add_trie_block(builder))
        return DOPPEL_E_MEMORY;
    *out = (uint32_t)base;
    return DOPPEL_OK;
}

/* The bytes that follow in the keys of a node, each once; ascending. */
static size_t bytes_of_children(const struct trie_builder *builder, const struct trie_node *node,
                                uint8_t bytes[256])
{
    size_t count = 0;
    for (uint32_t i = node->begin; i < node->end; i++) {
        const struct trie_key *key = &builder->keys[i];
        if (key->size == node->depth)
            continue;
        uint8_t byte = (uint8_t)key->bytes[node->depth];
        if (!count || bytes[count - 1] != byte)
            bytes[count++] = byte;
    }
    return count;
}

/* ---- the heap ---- */

static bool is_placed_before(const struct trie_node *a, const struct trie_node *b)
{
    return a->least != b->least ? a->least < b->least : a->depth > b->depth;
}

static void swap_nodes(struct trie_node *a, struct trie_node *b)
{
    struct trie_node held = *a;
    *a = *b;
    *b = held;
}

static bool push_node(struct trie_builder *builder, struct trie_node node)
{
    if (!array_push(&builder->nodes, node))
        return false;
    struct trie_node *nodes = builder->nodes.items;
    for (size_t at = builder->nodes.count - 1;
         at && is_placed_before(&nodes[at], &nodes[(at - 1) / 2]); at = (at - 1) / 2)
        swap_nodes(&nodes[at], &nodes[(at - 1) / 2]);
    return true;
}

static struct trie_node pop_node(struct trie_builder *builder)
{
    struct trie_node *nodes = builder->nodes.items, first = nodes[0];
    size_t count = --builder->nodes.count;
    nodes[0] = nodes[count];
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_placed_before(&nodes[child + 1], &nodes[child]);
        if (!is_placed_before(&nodes[child], &nodes[at]))
            break;
        swap_nodes(&nodes[child], &nodes[at]);
    }
    return first;
}

/* ---- nodes ---- */

/* The child by a byte, whose keys begin at `begin`. */
static struct trie_node child_of(const struct trie_builder *builder, const struct trie_node *node,
                                 uint32_t begin, uint8_t byte, uint32_t cell)
{
    struct trie_node child = {begin, begin, node->depth + 1, cell, UINT32_MAX};
    for (; child.end < node->end; child.end++) {
        const struct trie_key *key = &builder->keys[child.end];
        if ((uint8_t)key->bytes[node->depth] != byte)
            break;
        child.least = key->value < child.least ? key->value : child.least;
    }
    return child;
}

/* Put the children of a node into the array and the heap. */
static enum doppel_status place_children(struct trie_builder *builder, struct trie_node node,
                                         uint32_t *out_base)
{
    uint8_t bytes[256];
    size_t count = bytes_of_children(builder, &node, bytes);
    *out_base = 0;
    if (!count)
        return DOPPEL_OK;
    enum doppel_status status = find_base(builder, bytes, count, out_base);
    if (status)
        return status;
    builder->based.items[*out_base] = true;
    uint32_t at = node.begin;
    at += builder->keys[at].size == node.depth;
    for (size_t i = 0; i < count; i++) {
        struct trie_node child = child_of(builder, &node, at, bytes[i], *out_base ^ bytes[i]);
        at = child.end;
        const struct trie_key *first = &builder->keys[child.begin];
        uint64_t value = first->size == child.depth ? (uint64_t)first->value + 1 : 0;
        builder->cells.items[child.cell] = (uint64_t)bytes[i] << 32 | value << 40;
        builder->taken.items[child.cell] = true;
        if (!push_node(builder, child))
            return DOPPEL_E_MEMORY;
    }
    return DOPPEL_OK;
}

/* All that follows from the root of the keys from `begin` to `end`. The way to the key with the
 * least value is placed first, and so on: in a vocabulary these are the most frequent, and what is
 * walked most lies in few lines of the cache. */
static enum doppel_status place_trie(struct trie_builder *builder, uint32_t begin, uint32_t end,
                                     uint32_t *out_root)
{
    enum doppel_status status = DOPPEL_OK;
    TRY(place_children(builder, (struct trie_node){begin, end, 0, 0, 0}, out_root));
    while (builder->nodes.count) {
        struct trie_node node = pop_node(builder);
        uint32_t base;
        TRY(place_children(builder, node, &base));
        builder->cells.items[node.cell] |= base;
    }
done:
    return status;
}

/* A key that cannot be in a trie; NULL: there is none. */
static const struct trie_key *find_bad_key(const struct trie_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!keys[i].size || memchr(keys[i].bytes, 0, keys[i].size) ||
            (i + 1 < count && keys_are_equal(&keys[i], &keys[i + 1])))
            return &keys[i];
    return NULL;
}

enum doppel_status trie_build(struct trie_key *keys, size_t count, uint32_t *roots,
                              uint32_t root_count, struct trie *out,
                              const struct trie_key **out_bad)
{
    struct trie_builder builder = {.keys = keys};
    enum doppel_status status = DOPPEL_OK;
    if (count)
        qsort(keys, count, sizeof *keys, compare_keys);
    *out_bad = find_bad_key(keys, count);
    if (*out_bad || count > UINT32_MAX)
        return *out_bad ? DOPPEL_E_CORRUPT : DOPPEL_E_LIMIT;
    if (!add_trie_block(&builder))
        status = DOPPEL_E_MEMORY;
    for (uint32_t root = 0, at = 0; root < root_count && !status; root++) {
        uint32_t begin = at;
        while (at < count && keys[at].root == root)
            at++;
        status = place_trie(&builder, begin, at, &roots[root]);
    }
    array_free(&builder.based);
    array_free(&builder.taken);
    array_free(&builder.nodes);
    if (status)
        array_free(&builder.cells);
    else
        *out = (struct trie){builder.cells.items, builder.cells.count};
    return status;
}
