/* Digests by which others know files: MD5, SHA-1 and SHA-256, where a library has items of such. */
#ifndef DOPPEL_INTAKE_EXACT_DIGESTS_H
#define DOPPEL_INTAKE_EXACT_DIGESTS_H

#include <doppel/library.h>

/* doppel_digest_fd, and in the same pass these kinds of digests.
 * @param out `kinds` says which; the rest is filled */
enum doppel_status exact_digest_fd(int fd, struct doppel_digest *out_digest,
                                   struct doppel_exact_digests *out, struct doppel_error *error);

#endif
