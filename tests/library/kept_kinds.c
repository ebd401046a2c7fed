/* Kinds of items that are found by indexes which are kept. */
#include "tests/library/kept_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/match.h>

#include "core/try.h"
#include "tests/library/fixture.h"
#include "tests/library/kept_internal.h"

enum { RECORDING_CODES = 60, CHROMAPRINT_LIMIT = 8 };

uint64_t kept_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- what is found ---- */

bool kept_tally(void *context, const struct doppel_found *found)
{
    struct tally *tally = context;
    tally->count += !found->borderline;
    if (!found->borderline)
        tally->id = found->id;
    return true;
}

/* ---- items: each at a path of its own, the same bytes whenever it is put in ---- */

enum doppel_status kept_add_item(struct doppel_library *library, uint64_t number,
                                 struct doppel_record *record, uint64_t *out_id,
                                 struct doppel_error *error)
{
    const struct doppel_file_stamp stamp = {.inode = number + 1, .mtime_ns = 1};
    enum doppel_added added;
    char path[64];
    snprintf(path, sizeof path, "/kept/%llu", (unsigned long long)number);
    record->digest = doppel_digest_bytes(path, strlen(path));
    return doppel_library_add(library, path, &stamp, record, &added, out_id, error);
}

/* ---- images ---- */

struct kept_image {
    struct doppel_code codes[DOPPEL_VIEW_COUNT];
    uint32_t positions[DOPPEL_VIEW_COUNT];
};

static struct doppel_fingerprint image_of(const struct kept_kind *kind, uint64_t number,
                                          struct kept_image *image)
{
    const bool short_codes = kind->scheme == DOPPEL_SCHEME_IMAGEHASH;
    const uint32_t views = kind->scheme == DOPPEL_SCHEME_PHASH64 ? DOPPEL_VIEW_COUNT : 1;
    *image = (struct kept_image){.positions = {0}};
    for (uint32_t i = 0; i < views; i++) {
        image->positions[i] = i;
        for (uint64_t word = 0; word < (short_codes ? 1 : 4); word++)
            image->codes[i].word[word] = kept_mix((number * DOPPEL_VIEW_COUNT + i) * 4 + word + 1);
    }
    return (struct doppel_fingerprint){.scheme = kind->scheme,
                                       .version = doppel_scheme_by_id(kind->scheme)->version,
                                       .code_bits = short_codes ? 64 : 256,
                                       .count = views,
                                       .codes = image->codes,
                                       .positions = image->positions};
}

static enum doppel_status put_image(const struct kept_kind *kind, struct doppel_library *library,
                                    uint64_t number, uint64_t *out_id, struct doppel_error *error)
{
    struct kept_image image;
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = kind->scheme,
                                   .quality = 100,
                                   .fingerprint = image_of(kind, number, &image)};
    record.version = record.fingerprint.version;
    return kept_add_item(library, number, &record, out_id, error);
}

static enum doppel_status find_image(const struct kept_kind *kind, struct doppel_library *library,
                                     uint64_t number, size_t *out_count, uint64_t *out_id,
                                     struct doppel_error *error)
{
    struct kept_image image;
    struct tally tally = {0};
    struct doppel_match_options options = doppel_match_options_default();
    options.max_rate = 1e-9; /* views drawn apart meet more often than those of one picture */
    options.check_pixels = false; /* what is borderline grows with the library */
    const struct doppel_fingerprint fingerprint = image_of(kind, number, &image);
    const struct doppel_match_item query = {&fingerprint, 100};
    enum doppel_status status =
        doppel_library_find_images(library, &query, &options, kept_tally, &tally, error);
    *out_count = tally.count;
    *out_id = tally.id;
    return status;
}

/* ---- recordings ---- */

static enum doppel_status recording_of(uint64_t number, struct doppel_fingerprint *out,
                                       struct doppel_error *error)
{
    uint32_t codes[RECORDING_CODES];
    for (uint64_t i = 0; i < RECORDING_CODES; i++)
        codes[i] = (uint32_t)kept_mix(number * RECORDING_CODES + i + 1);
    return doppel_chromaprint_fingerprint(codes, RECORDING_CODES, out, error);
}

static enum doppel_status put_recording(const struct kept_kind *kind,
                                        struct doppel_library *library, uint64_t number,
                                        uint64_t *out_id, struct doppel_error *error)
{
    struct doppel_record record = {
        .kind = DOPPEL_KIND_AUDIO, .scheme = kind->scheme, .quality = 100};
    enum doppel_status status;
    TRY(recording_of(number, &record.fingerprint, error));
    record.version = record.fingerprint.version;
    TRY(kept_add_item(library, number, &record, out_id, error));
done:
    doppel_fingerprint_free(&record.fingerprint);
    return status;
}

static enum doppel_status find_recording(const struct kept_kind *kind,
                                         struct doppel_library *library, uint64_t number,
                                         size_t *out_count, uint64_t *out_id,
                                         struct doppel_error *error)
{
    struct tally tally = {0};
    struct doppel_fingerprint query = {0};
    enum doppel_status status;
    (void)kind;
    TRY(recording_of(number, &query, error));
    TRY(doppel_library_find_chromaprints(library, &query, CHROMAPRINT_LIMIT, kept_tally, &tally,
                                         error));
    *out_count = tally.count;
    *out_id = tally.id;
done:
    doppel_fingerprint_free(&query);
    return status;
}

/* ---- the table ---- */

const struct kept_kind kept_kinds[] = {
    {"phash64",
     DOPPEL_SCHEME_PHASH64,
     {CODES_PHASH64, CODES_PHASH64_FULL},
     2,
     false,
     put_image,
     find_image,
     NULL},
    {"phash256", DOPPEL_SCHEME_PHASH256, {CODES_PHASH256}, 1, false, put_image, find_image, NULL},
    {"imagehash",
     DOPPEL_SCHEME_IMAGEHASH,
     {CODES_IMAGEHASH},
     1,
     false,
     put_image,
     find_image,
     NULL},
    {"pdq", DOPPEL_SCHEME_PDQ, {CODES_PDQ}, 1, false, put_image, find_image, NULL},
    {"minhash128",
     DOPPEL_SCHEME_MINHASH128,
     {CODES_MINHASH128, CODES_MINHASH128_FOLLOWERS, CODES_CONTENTS},
     3,
     true,
     kept_put_text,
     kept_find_text,
     NULL},
    {"minhash256",
     DOPPEL_SCHEME_MINHASH256,
     {CODES_MINHASH256, CODES_MINHASH256_FOLLOWERS, CODES_CONTENTS},
     3,
     true,
     kept_put_text,
     kept_find_text,
     NULL},
    {"simhash64",
     DOPPEL_SCHEME_SIMHASH64,
     {CODES_SIMHASH64, CODES_CONTENTS},
     2,
     false,
     kept_put_text,
     kept_find_text,
     NULL},
    {"records",
     DOPPEL_SCHEME_MINHASH128,
     {CODES_MINHASH128, CODES_MINHASH128_FOLLOWERS, CODES_CONTENTS},
     3,
     true,
     kept_put_record,
     kept_find_text,
     kept_prepare_records},
    {"passages",
     DOPPEL_SCHEME_WINNOW32,
     {CODES_WINNOW32, CODES_WINNOW32_FOLLOWERS},
     2,
     true,
     kept_put_text,
     kept_find_passage,
     NULL},
    {"chromaprint",
     DOPPEL_SCHEME_CHROMAPRINT,
     {CODES_CHROMAPRINT},
     1,
     false,
     put_recording,
     find_recording,
     NULL},
};
const size_t kept_kind_count = sizeof kept_kinds / sizeof *kept_kinds;

const struct kept_kind *kept_kind_called(const char *name)
{
    for (size_t i = 0; i < kept_kind_count; i++)
        if (strcmp(kept_kinds[i].name, name) == 0)
            return &kept_kinds[i];
    return NULL;
}

void kept_prepare(const struct kept_kind *kind, struct doppel_library *library)
{
    struct doppel_error error = {0};
    uint64_t id;
    if (kind->prepare && kind->prepare(library, &error))
        fail_msg("%s", error.message);
    if (kind->follows && kind->put(kind, library, KEPT_LEADER, &id, &error))
        fail_msg("%s", error.message);
    if (doppel_library_commit(library, &error))
        fail_msg("%s", error.message);
}

char *kept_folder(const char *library, enum code_table table)
{
    char *path;
    return asprintf(&path, "%s/%s", library, code_tables[table].folder) < 0 ? NULL : path;
}
