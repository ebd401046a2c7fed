/* Files in files, by libarchive: opened from a descriptor, and unpacked within limits. */
#ifndef DOPPEL_DOCUMENTS_UNPACK_H
#define DOPPEL_DOCUMENTS_UNPACK_H

#include <archive.h>
#include <archive_entry.h>

#include "documents/documents.h"

/* An archive that is being read. */
struct unpacking {
    int fd; /* borrowed */
    uint64_t size, at;
    struct archive *archive;
    struct document_limits limits;
    uint64_t unpacked; /* bytes, of all members so far */
    uint32_t members;
    char block[64 << 10];
};

/* Begin with an archive whose formats are chosen.
 * @param archive taken, also on failure. @param out given (unpacking_free) */
enum doppel_status unpacking_open(int fd, struct archive *archive,
                                  const struct document_limits *limits, struct unpacking **out,
                                  struct doppel_error *error);
void unpacking_free(struct unpacking *unpacking);

/* The next member. DOPPEL_E_NOT_FOUND at the end; DOPPEL_E_CORRUPT; _LIMIT. */
enum doppel_status unpacking_next(struct unpacking *unpacking, struct archive_entry **out,
                                  struct doppel_error *error);

/* Count what was unpacked: DOPPEL_E_LIMIT where that is too much. */
enum doppel_status count_unpacked(struct unpacking *unpacking, size_t size,
                                  struct doppel_error *error);

/* Why libarchive went no further. */
enum doppel_status describe_archive(struct archive *archive, struct doppel_error *error);

/* The bytes of this member. @param out given (free), with a NUL after it */
enum doppel_status unpack_member(struct unpacking *unpacking, char **out, size_t *out_size,
                                 struct doppel_error *error);

#endif
