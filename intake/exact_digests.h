/* Digests by which others know files: MD5, SHA-1 and SHA-256, where a library has items of such. */
#ifndef DOPPEL_INTAKE_EXACT_DIGESTS_H
#define DOPPEL_INTAKE_EXACT_DIGESTS_H

#include <doppel/library.h>

/* Those of a file. */
struct exact_digests {
    unsigned kinds;                             /* which there are: 1 << enum doppel_exact */
    uint8_t bytes[DOPPEL_EXACT_SHA256 + 1][32]; /* by enum doppel_exact */
};

/* doppel_digest_fd, and in the same pass these kinds of digests.
 * @param out `kinds` says which; the rest is filled */
enum doppel_status exact_digest_fd(int fd, struct doppel_digest *out_digest,
                                   struct exact_digests *out, struct doppel_error *error);

enum { EXACT_KINDS = 3 };

/* The items that stand for the bytes, one for each make; 0: none. */
enum doppel_status exact_find_all(struct doppel_library *library,
                                  const struct exact_digests *digests,
                                  uint64_t out_ids[EXACT_KINDS], struct doppel_error *error);

/* The first of them; 0: none. */
enum doppel_status exact_find(struct doppel_library *library, const struct exact_digests *digests,
                              uint64_t *out_id, struct doppel_error *error);

#endif
