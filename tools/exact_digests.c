/* Files that a library knows by an MD5, SHA-1 or SHA-256 alone. */
#include "tools/exact_digests.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/intake.h"

enum { READ_BYTES = 64 * 1024, MOST_BYTES = SHA256_DIGEST_SIZE };

struct digests {
    unsigned kinds; /* 1 << enum doppel_exact */
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    struct sha256_ctx sha256;
};

static bool wants(const struct digests *digests, enum doppel_exact algorithm)
{
    return digests->kinds >> algorithm & 1;
}

static void take(struct digests *digests, const uint8_t *bytes, size_t size)
{
    if (wants(digests, DOPPEL_EXACT_MD5))
        md5_update(&digests->md5, size, bytes);
    if (wants(digests, DOPPEL_EXACT_SHA1))
        sha1_update(&digests->sha1, size, bytes);
    if (wants(digests, DOPPEL_EXACT_SHA256))
        sha256_update(&digests->sha256, size, bytes);
}

static void end(struct digests *digests, enum doppel_exact algorithm, uint8_t out[MOST_BYTES])
{
    if (algorithm == DOPPEL_EXACT_MD5)
        md5_digest(&digests->md5, MD5_DIGEST_SIZE, out);
    else if (algorithm == DOPPEL_EXACT_SHA1)
        sha1_digest(&digests->sha1, SHA1_DIGEST_SIZE, out);
    else
        sha256_digest(&digests->sha256, SHA256_DIGEST_SIZE, out);
}

/* @return false when it cannot be read, or is another file by now */
static bool read_file(const char *path, const struct doppel_file_stamp *stamp,
                      struct digests *digests)
{
    uint8_t buffer[READ_BYTES];
    struct stat status;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    while ((got = read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            take(digests, buffer, (size_t)got);
    bool good = got == 0 && fstat(fd, &status) == 0;
    struct doppel_file_stamp now = good ? stamp_of(&status) : (struct doppel_file_stamp){0};
    close(fd);
    return good && same_stamp(&now, stamp);
}

enum doppel_status exact_find(struct doppel_library *library, const char *path,
                              const struct doppel_file_stamp *stamp, uint64_t *out_id,
                              struct doppel_error *error)
{
    static const enum doppel_exact algorithms[] = {DOPPEL_EXACT_MD5, DOPPEL_EXACT_SHA1,
                                                   DOPPEL_EXACT_SHA256};
    struct digests digests = {0};
    uint8_t digest[MOST_BYTES];
    *out_id = 0;
    enum doppel_status status = doppel_library_exact_kinds(library, &digests.kinds, error);
    if (status || !digests.kinds)
        return status;
    md5_init(&digests.md5);
    sha1_init(&digests.sha1);
    sha256_init(&digests.sha256);
    if (!read_file(path, stamp, &digests))
        return DOPPEL_OK;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms && !*out_id; i++) {
        if (!wants(&digests, algorithms[i]))
            continue;
        end(&digests, algorithms[i], digest);
        status = doppel_library_by_exact(library, algorithms[i], digest, out_id, error);
        if (status && status != DOPPEL_E_NOT_FOUND)
            return status;
    }
    return DOPPEL_OK;
}
