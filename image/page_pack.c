/* Pages packed, in the attachment of a document; and the keys they are looked up by. */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/mix64.h"
#include "core/order.h"
#include "image/page.h"

enum { CELLS_A_BYTE = 4, BYTES_A_MASK = 8, KEY_BITS = 12 };

/* Of each page: columns and rows, u16, the bytes of its ink, u32, and its code. */
enum { COUNT_BYTES = 4, PAGE_HEAD_BYTES = 2 + 2 + 4 + 32, CODE_WORDS = 4 };

static size_t bytes_of_cells(size_t count)
{
    return (count + CELLS_A_BYTE - 1) / CELLS_A_BYTE;
}

size_t page_packed_most(size_t count)
{
    size_t bytes = bytes_of_cells(count);
    return bytes + (bytes + BYTES_A_MASK - 1) / BYTES_A_MASK;
}

size_t page_pack(const uint8_t *cells, size_t count, uint8_t *out)
{
    const size_t bytes = bytes_of_cells(count);
    uint8_t *at = out, *mask = out;
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        for (size_t j = 0; j < CELLS_A_BYTE && i * CELLS_A_BYTE + j < count; j++)
            byte |= (unsigned)cells[i * CELLS_A_BYTE + j] << 2 * j;
        if (i % BYTES_A_MASK == 0) {
            mask = at++;
            *mask = 0;
        }
        if (!byte)
            continue;
        *mask = (uint8_t)(*mask | 1u << i % BYTES_A_MASK);
        *at++ = (uint8_t)byte;
    }
    return (size_t)(at - out);
}

bool page_unpack(const uint8_t *packed, size_t size, size_t count, uint8_t *out)
{
    const size_t bytes = bytes_of_cells(count);
    size_t at = 0;
    unsigned mask = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (i % BYTES_A_MASK == 0) {
            if (at == size)
                return false;
            mask = packed[at++];
        }
        bool there = mask >> i % BYTES_A_MASK & 1;
        if (there && at == size)
            return false;
        unsigned byte = there ? packed[at++] : 0;
        for (size_t j = 0; j < CELLS_A_BYTE && i * CELLS_A_BYTE + j < count; j++)
            out[i * CELLS_A_BYTE + j] = byte >> 2 * j & 3;
    }
    return at == size;
}

/* ---- of a document ---- */

size_t doppel_pages_size(const struct doppel_page *pages, size_t count)
{
    size_t size = COUNT_BYTES + count * PAGE_HEAD_BYTES;
    for (size_t i = 0; i < count; i++)
        size += pages[i].ink_size;
    return size;
}

void doppel_pages_write(const struct doppel_page *pages, size_t count, uint8_t *out)
{
    uint8_t *ink = out + COUNT_BYTES + count * PAGE_HEAD_BYTES;
    put_u32(out, (uint32_t)count);
    out += COUNT_BYTES;
    for (size_t i = 0; i < count; i++, out += PAGE_HEAD_BYTES) {
        const struct doppel_page *page = &pages[i];
        put_u32(out, page->columns | (uint32_t)page->rows << 16);
        put_u32(out + 4, (uint32_t)page->ink_size);
        for (size_t word = 0; word < CODE_WORDS; word++)
            put_u64(out + 8 + 8 * word, page->code.word[word]);
        if (page->ink_size)
            memcpy(ink, page->ink, page->ink_size);
        ink += page->ink_size;
    }
}

/* @param ink what is left of it. False: no page is so. */
static bool read_page_head(const uint8_t *data, const uint8_t **ink, size_t *ink_left,
                           struct doppel_page *out)
{
    const uint32_t sides = get_u32(data);
    *out = (struct doppel_page){
        .columns = (uint16_t)sides, .rows = (uint16_t)(sides >> 16), .ink_size = get_u32(data + 4)};
    for (size_t word = 0; word < CODE_WORDS; word++)
        out->code.word[word] = get_u64(data + 8 + 8 * word);
    if (!out->columns || out->columns > DOPPEL_PAGE_COLUMNS || !out->rows ||
        out->rows > DOPPEL_PAGE_ROWS || out->ink_size > *ink_left)
        return false;
    out->ink = out->ink_size ? *ink : NULL;
    *ink += out->ink_size;
    *ink_left -= out->ink_size;
    return true;
}

enum doppel_status doppel_pages_read(const uint8_t *data, size_t size, struct doppel_page **out,
                                     size_t *out_count)
{
    const size_t count = size >= COUNT_BYTES ? get_u32(data) : 0;
    if (!count || count > (size - COUNT_BYTES) / PAGE_HEAD_BYTES)
        return DOPPEL_E_CORRUPT;
    struct doppel_page *pages = malloc(count * sizeof *pages);
    if (!pages)
        return DOPPEL_E_MEMORY;
    const uint8_t *head = data + COUNT_BYTES, *ink = head + count * PAGE_HEAD_BYTES;
    size_t ink_left = size - COUNT_BYTES - count * PAGE_HEAD_BYTES;
    bool good = true;
    for (size_t i = 0; good && i < count; i++, head += PAGE_HEAD_BYTES)
        good = read_page_head(head, &ink, &ink_left, &pages[i]);
    if (!good || ink_left) {
        free(pages);
        return DOPPEL_E_CORRUPT;
    }
    *out = pages;
    *out_count = count;
    return DOPPEL_OK;
}

/* ---- keys ---- */

/* Each key has some bits of word 0, others each. */
static uint32_t key_of_page(const struct doppel_page *page, uint64_t key)
{
    uint64_t chosen = 0;
    for (uint64_t draw = 1; __builtin_popcountll(chosen) < KEY_BITS; draw++)
        chosen |= UINT64_C(1) << (mix64(key << 32 | draw) & 63);
    return (uint32_t)(mix64((page->code.word[0] & chosen) ^ mix64(~key)) >> 36);
}

size_t doppel_pages_keys(const struct doppel_page *pages, size_t count, uint32_t *out)
{
    size_t keys = 0, once = 0;
    for (size_t i = 0; i < count; i++)
        for (uint64_t key = 0; pages[i].ink && key < DOPPEL_PAGE_KEYS; key++)
            out[keys++] = key_of_page(&pages[i], key);
    if (keys)
        qsort(out, keys, sizeof *out, compare_u32);
    for (size_t i = 0; i < keys; i++)
        if (!once || out[once - 1] != out[i])
            out[once++] = out[i];
    return once;
}
