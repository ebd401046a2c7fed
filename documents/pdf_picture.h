/* Pages of a PDF as pictures. */
#ifndef DOPPEL_DOCUMENTS_PDF_PICTURE_H
#define DOPPEL_DOCUMENTS_PDF_PICTURE_H

#include <poppler.h>
#include <stdbool.h>

#include <doppel/core.h>

struct pdf_picture {
    uint8_t *pixels; /* given (free) */
    struct doppel_plane plane;
    uint32_t dpi; /* less than was wanted where the page is huge */
};

/* Draw a page in grey, on white. Of fonts that it does not bring along those are there that
 * pdf_prepare has looked for: nothing is opened. DOPPEL_OK, DOPPEL_E_MEMORY. */
enum doppel_status pdf_draw(PopplerPage *page, uint32_t dpi, struct pdf_picture *out,
                            struct doppel_error *error);

/* The same, its longer side of so many pixels. */
enum doppel_status pdf_draw_side(PopplerPage *page, uint32_t side, struct pdf_picture *out,
                                 struct doppel_error *error);

/* Whether pictures cover the page, or most of it. */
bool pdf_page_is_picture(PopplerPage *page);

#endif
