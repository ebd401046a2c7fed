/* PDFs written by hand: pages of text in Helvetica, and whatever else a test puts in. */
#ifndef TESTS_DOCUMENTS_PDF_FILE_H
#define TESTS_DOCUMENTS_PDF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDF_MOST_OBJECTS = 20000 };

/* Objects 1 and 2 are the catalogue and the list of pages, 3 the font. */
struct pdf_file {
    char *bytes;
    size_t size, room;
    size_t starts[PDF_MOST_OBJECTS]; /* of object i + 1; 0: it is not written yet */
    size_t objects;
    uint32_t pages[PDF_MOST_OBJECTS]; /* their objects */
    size_t page_count;
    const char *trailer; /* what the trailer has beside its size and root; NULL: nothing */
};

/* Given (pdf_free). */
struct pdf_file *pdf_new(void);
void pdf_free(struct pdf_file *pdf);

/* An object of the next number, which is returned. @param more of a dictionary; may be NULL */
uint32_t pdf_object(struct pdf_file *pdf, const char *text);
uint32_t pdf_stream(struct pdf_file *pdf, const char *more, const void *bytes, size_t size);

/* A page with some drawing, its box in points. @param resources may be NULL: the font F1 alone */
void pdf_page(struct pdf_file *pdf, const char *drawing, size_t size, const char *box,
              const char *resources);

/* A page of A4 with lines, which '\n' ends. */
void pdf_text_page(struct pdf_file *pdf, const char *lines);

/* A page of A4 with a grey picture and no text. */
void pdf_picture_page(struct pdf_file *pdf, const uint8_t *grey, uint32_t width, uint32_t height);

/* Write the list of pages, the table of objects and the trailer: then it is a whole file. */
void pdf_end(struct pdf_file *pdf);

#endif
