/* What the header of a WARC record says, and which part of its content is a page. */
#ifndef DOPPEL_CORPUS_READ_WARC_HEADER_H
#define DOPPEL_CORPUS_READ_WARC_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of something larger; NULL: there are none. */
struct byte_span {
    const char *bytes;
    size_t size;
};

struct warc_header {
    bool is_page;                                 /* what was fetched, or the text of it */
    bool has_http;                                /* its content begins with a header of HTTP */
    uint64_t size;                                /* of its content */
    struct byte_span address, record, date, type; /* the record's id without <urn:uuid:…> */
};

/* Bytes of a header up to and with its empty line; 0: that is not there. */
size_t warc_header_size(const char *bytes, size_t size);

/* False: it is none, or does not say how long its content is. */
bool warc_header_of(struct byte_span raw, struct warc_header *out);

/* The host of an address. */
struct byte_span warc_host(struct byte_span address);

struct warc_page {
    struct byte_span content; /* NULL: it is packed in a way that is not read */
    bool is_html;
};

/* The page in a record, by what HTTP says of it. @param content of header->size; pieces of it are
 * put together in their place. @return false: it is no text */
bool warc_page_of(const struct warc_header *header, char *content, struct warc_page *out);

#endif
