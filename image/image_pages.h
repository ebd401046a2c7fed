/** doppel/image_pages.h: pages of documents as pictures: what a scanned page is recognised by, and
 * whether two scans show the same page. Part of doppel/image.h. */
#ifndef DOPPEL_IMAGE_PAGES_H
#define DOPPEL_IMAGE_PAGES_H

#include <stdbool.h>

#include <doppel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DOPPEL_PAGE_SIDE =
        1120, /**< pixels of the longer side that a page is drawn with: A4 at 96 dpi */
    DOPPEL_PAGE_COLUMNS = 360, /**< cells of a page that is as wide or as high */
    DOPPEL_PAGE_ROWS = 240
};

/** A page: its ink, upright, in cells. */
struct doppel_page {
    struct doppel_code code; /**< 256 bits: how the ink is spread; word 0 says it coarsely */
    uint16_t columns, rows;  /**< 1 to DOPPEL_PAGE_COLUMNS, DOPPEL_PAGE_ROWS */
    const uint8_t *ink; /**< of each cell 0 to 3, packed; NULL: the page is too empty to be told */
    size_t ink_size;
};

/**
 * What a page is recognised by.
 *
 * @param plane grey, as it is drawn or scanned, askew by 3° at most; borrowed
 * @param out   its ink is given (free); untouched on failure
 * @return DOPPEL_OK; DOPPEL_E_MEMORY
 *
 * Thread-safe, deterministic on every CPU. Source: docs/methods.md.
 */
DOPPEL_API enum doppel_status doppel_page_make(const struct doppel_plane *plane,
                                               struct doppel_page *out, struct doppel_error *error);

/** A page that others are compared with: some 400 KB. */
struct doppel_page_relief;

/** @param out given (doppel_page_relief_free). DOPPEL_OK; DOPPEL_E_CORRUPT: the ink is not packed
 * as doppel_page_make packs it; DOPPEL_E_ARGUMENT: none, or too many cells; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_page_relief_make(const struct doppel_page *page,
                                                      struct doppel_page_relief **out);
DOPPEL_API void doppel_page_relief_free(struct doppel_page_relief *relief);

/** Whether two pages are the same, place by place: of 64 blocks with ink one may differ.
 * Thread-safe. */
DOPPEL_API bool doppel_page_is_same(const struct doppel_page_relief *a,
                                    const struct doppel_page_relief *b);

/** Of word 0 of their codes so many bits of the same page differ at most, nearly always. */
enum { DOPPEL_PAGE_RADIUS = 16 };

/** So many keys a page is looked up by: of the same page one at least is the same, nearly always.
 */
enum { DOPPEL_PAGE_KEYS = 24 };

/** The keys of all pages, ascending, each once, below 2^28.
 * @param out room for DOPPEL_PAGE_KEYS × count. @return how many. Thread-safe. */
DOPPEL_API size_t doppel_pages_keys(const struct doppel_page *pages, size_t count, uint32_t *out);

/** Bytes that doppel_pages_write needs. */
DOPPEL_API size_t doppel_pages_size(const struct doppel_page *pages, size_t count);

/** Write the portable form (docs/formats.md) of pages. @param out doppel_pages_size bytes */
DOPPEL_API void doppel_pages_write(const struct doppel_page *pages, size_t count, uint8_t *out);

/** Read it; all lengths are checked. @param out an array; given (free), its ink lies in `data`
 * @return DOPPEL_OK; DOPPEL_E_CORRUPT; DOPPEL_E_MEMORY */
DOPPEL_API enum doppel_status doppel_pages_read(const uint8_t *data, size_t size,
                                                struct doppel_page **out, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
