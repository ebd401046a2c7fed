/* The members of an archive: ZIP, TAR (plain, .gz, .bz2, .xz, .zst), 7z, RAR; and messages of an
 * mbox. */
#ifndef DOPPEL_DOCUMENTS_MEMBERS_H
#define DOPPEL_DOCUMENTS_MEMBERS_H

#include "documents/documents.h"

struct archive_member {
    const char *name; /* as the archive has it; of a message "#12" */
    int64_t mtime_s;  /* 0: it does not say */
    uint64_t size;
    int fd;                           /* its bytes, sealed, in memory; -1 where there are none: */
    const struct doppel_error *error; /* why */
};

/* Return false to end it. The member and its descriptor are borrowed. */
typedef bool archive_visitor(void *context, const struct archive_member *member);

/* Visit the files of an archive, in its order; what else it holds (folders, links) is passed over.
 *
 * @param fd     borrowed; its offset is not used
 * @param limits of all that is unpacked
 * @param most   bytes of one member; longer ones are visited with an error
 * @return DOPPEL_OK; DOPPEL_E_FORMAT: it is no archive; _CORRUPT, _LIMIT, _UNSUPPORTED (encrypted;
 * this build cannot read it), _CANCELLED, _MEMORY, _IO: it goes no further */
enum doppel_status archive_visit(int fd, const struct document_limits *limits, uint64_t most,
                                 archive_visitor *visitor, void *context,
                                 struct doppel_error *error);

#endif
