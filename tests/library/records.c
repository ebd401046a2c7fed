/* Stamps of files, and made-up records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/library/records.h"

#include <stdlib.h>
#include <sys/stat.h>

struct doppel_file_stamp stamp_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (struct doppel_file_stamp){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = status.st_size,
        .mtime_ns = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec,
    };
}

static uint64_t scramble(uint64_t value)
{
    value = (value ^ value >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

struct doppel_record record_make(uint64_t seed)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    struct doppel_record record = {
        .digest = doppel_digest_bytes(&seed, sizeof seed),
        .kind = DOPPEL_KIND_IMAGE,
        .scheme = scheme->id,
        .version = scheme->version,
        .width = (uint32_t)(seed % 5000 + 1),
        .height = (uint32_t)(seed % 3000 + 1),
        .quality = (uint8_t)(seed % 101),
        .attachment_size = DOPPEL_IMAGE_ATTACHMENT_BYTES,
    };
    doppel_fingerprint_make(scheme, 256, DOPPEL_VIEW_COUNT, &record.fingerprint, NULL);
    for (uint32_t i = 0; i < DOPPEL_VIEW_COUNT; i++) {
        record.fingerprint.positions[i] = i;
        for (unsigned word = 0; word < 4; word++)
            record.fingerprint.codes[i].word[word] = scramble(seed * 32 + i * 4 + word + 1);
    }
    record.attachment = malloc(record.attachment_size);
    for (size_t i = 0; i < record.attachment_size; i++)
        record.attachment[i] = (uint8_t)(scramble(seed + i) >> 8);
    return record;
}

void record_assert_equal(const struct doppel_record *a, const struct doppel_record *b)
{
    assert_memory_equal(a->digest.bytes, b->digest.bytes, sizeof a->digest.bytes);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->scheme, b->scheme);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->quality, b->quality);
    assert_int_equal(a->fingerprint.count, b->fingerprint.count);
    assert_int_equal(a->fingerprint.code_bits, b->fingerprint.code_bits);
    assert_memory_equal(a->fingerprint.codes, b->fingerprint.codes,
                        a->fingerprint.count * sizeof *a->fingerprint.codes);
    assert_memory_equal(a->fingerprint.positions, b->fingerprint.positions,
                        a->fingerprint.count * sizeof *a->fingerprint.positions);
    if (!a->attachment || !b->attachment)
        return;
    assert_int_equal(a->attachment_size, b->attachment_size);
    assert_memory_equal(a->attachment, b->attachment, a->attachment_size);
}
