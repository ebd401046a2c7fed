/* An HTML file that appears when it is whole. */
#ifndef DOPPEL_REPORT_HTML_FILE_H
#define DOPPEL_REPORT_HTML_FILE_H

#include <stdio.h>

#include <jansson.h>

#include <doppel/core.h>

struct page_file {
    FILE *stream;
    const char *path;
    char *temporary; /* NULL: it is written in place */
};

/** @param path borrowed; "-" is standard output. @param out given (page_file_close).
 * DOPPEL_E_IO. */
enum doppel_status page_file_open(const char *path, struct page_file *out,
                                  struct doppel_error *error);

/** Whether it could be written, before there is anything to write. DOPPEL_E_IO. */
enum doppel_status page_file_try(const char *path, struct doppel_error *error);

void page_file_text(struct page_file *file, const void *text, size_t size);

/** A block of data that no browser takes for anything else, whatever its strings hold. */
void page_file_json(struct page_file *file, const char *id, const json_t *json);

/** Put it where it belongs, or with a failure `status`, which is returned then, remove it.
 * DOPPEL_E_IO. */
enum doppel_status page_file_close(struct page_file *file, enum doppel_status status,
                                   struct doppel_error *error);

#endif
