/* Pictures of text to text, by Tesseract, which is loaded where it is wanted. */
#ifndef DOPPEL_DOCUMENTS_OCR_H
#define DOPPEL_DOCUMENTS_OCR_H

#include <doppel/core.h>

/* Belongs to one thread. */
struct ocr;

/* Load the library and what it knows of some languages: before the sandbox.
 * @param languages as "eng+hin". @param out given (ocr_close). DOPPEL_E_UNSUPPORTED: this machine
 * is without it; DOPPEL_E_NOT_FOUND: one of the languages is not installed */
enum doppel_status ocr_open(const char *languages, struct ocr **out, struct doppel_error *error);
void ocr_close(struct ocr *ocr);

/* The lines of a page, without words that it is unsure of.
 * @param dpi 0: not known, and estimated
 * @param out given (free); "" of a page without text */
enum doppel_status ocr_read(struct ocr *ocr, const struct doppel_plane *plane, uint32_t dpi,
                            char **out, struct doppel_error *error);

#endif
