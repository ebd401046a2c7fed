/* Inside of pages: cells, packed and not, and their relief, block by block. */
#ifndef DOPPEL_IMAGE_PAGE_H
#define DOPPEL_IMAGE_PAGE_H

#include <doppel/image_pages.h>

/* Blocks of cells that are compared: some letters of a line. */
enum {
    BLOCK_WIDTH = 24,
    BLOCK_HEIGHT = 6,
    PAGE_MOST_BLOCKS = (DOPPEL_PAGE_COLUMNS / BLOCK_WIDTH) * (DOPPEL_PAGE_ROWS / BLOCK_HEIGHT),
    PAGE_LEAST_BLOCKS = 6, /* with fewer a page cannot be told */
    PAGE_MOST_CELLS = DOPPEL_PAGE_COLUMNS * DOPPEL_PAGE_ROWS
};

/* The ink of the cells against what lies left and right of them: the lines of texts are alike,
 * their letters are not. */
struct doppel_page_relief {
    int columns, rows;
    int16_t cells[PAGE_MOST_CELLS];
    int32_t energy[PAGE_MOST_CELLS]; /* of the block that begins there */
    float by_column[DOPPEL_PAGE_COLUMNS], by_row[DOPPEL_PAGE_ROWS]; /* ink, less its mean */
};

/* Four cells are a byte; of eight bytes those that are not 0 follow a byte that says which.
 * @param out room for page_packed_most(count) bytes. @return how many */
size_t page_pack(const uint8_t *cells, size_t count, uint8_t *out);
size_t page_packed_most(size_t count);

/* @param out room for `count` cells. False: it is not packed so. */
bool page_unpack(const uint8_t *packed, size_t size, size_t count, uint8_t *out);

/* @param cells columns × rows of them */
void page_relief_fill(const uint8_t *cells, int columns, int rows, struct doppel_page_relief *out);

/* How many blocks can be compared. */
size_t page_relief_blocks(const struct doppel_page_relief *relief);

#endif
