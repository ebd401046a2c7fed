/* Digests by which others know files, computed in one pass. */
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
                                   struct doppel_exact_digests *out, struct doppel_error *error)
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
