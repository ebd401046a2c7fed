/* Digests by which others know files: computed in one pass, and looked up. */
#include "intake/exact_digests.h"

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>

#include "core/digest.h"

struct pass {
    unsigned kinds;
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    struct sha256_ctx sha256;
};

static bool has_kind(unsigned kinds, enum doppel_exact algorithm)
{
    return kinds >> algorithm & 1;
}

static void take_exact_item(void *context, const void *data, size_t bytes)
{
    struct pass *pass = context;
    if (has_kind(pass->kinds, DOPPEL_EXACT_MD5))
        md5_update(&pass->md5, bytes, data);
    if (has_kind(pass->kinds, DOPPEL_EXACT_SHA1))
        sha1_update(&pass->sha1, bytes, data);
    if (has_kind(pass->kinds, DOPPEL_EXACT_SHA256))
        sha256_update(&pass->sha256, bytes, data);
}

enum doppel_status exact_digest_fd(int fd, struct doppel_digest *out_digest,
                                   struct exact_digests *out, struct doppel_error *error)
{
    struct pass pass = {.kinds = out->kinds};
    if (!out->kinds)
        return doppel_digest_fd(fd, out_digest, NULL, error);
    md5_init(&pass.md5);
    sha1_init(&pass.sha1);
    sha256_init(&pass.sha256);
    enum doppel_status status = digest_fd_with(fd, take_exact_item, &pass, out_digest, NULL, error);
    if (status)
        return status;
    md5_digest(&pass.md5, MD5_DIGEST_SIZE, out->bytes[DOPPEL_EXACT_MD5]);
    sha1_digest(&pass.sha1, SHA1_DIGEST_SIZE, out->bytes[DOPPEL_EXACT_SHA1]);
    sha256_digest(&pass.sha256, SHA256_DIGEST_SIZE, out->bytes[DOPPEL_EXACT_SHA256]);
    return DOPPEL_OK;
}

enum doppel_status exact_find_all(struct doppel_library *library,
                                  const struct exact_digests *digests,
                                  uint64_t out_ids[EXACT_KINDS], struct doppel_error *error)
{
    static const enum doppel_exact algorithms[EXACT_KINDS] = {DOPPEL_EXACT_MD5, DOPPEL_EXACT_SHA1,
                                                              DOPPEL_EXACT_SHA256};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < EXACT_KINDS && !status; i++) {
        out_ids[i] = 0;
        if (!has_kind(digests->kinds, algorithms[i]))
            continue;
        status = doppel_library_by_exact(library, algorithms[i], digests->bytes[algorithms[i]],
                                         &out_ids[i], error);
        status = status == DOPPEL_E_NOT_FOUND ? DOPPEL_OK : status;
    }
    return status;
}

enum doppel_status exact_find(struct doppel_library *library, const struct exact_digests *digests,
                              uint64_t *out_id, struct doppel_error *error)
{
    uint64_t ids[EXACT_KINDS] = {0};
    enum doppel_status status = exact_find_all(library, digests, ids, error);
    *out_id = 0;
    for (size_t i = 0; i < EXACT_KINDS && !*out_id; i++)
        *out_id = ids[i];
    return status;
}
