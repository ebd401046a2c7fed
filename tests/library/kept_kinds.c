/* Kinds of items that are found by indexes which are kept. */
#include "tests/library/kept_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/match.h>
#include <doppel/text.h>

#include "core/array.h"
#include "core/try.h"
#include "tests/library/fixture.h"

enum { WORDS = 60, LANES_A_WORD = 4, RECORDING_CODES = 60, CHROMAPRINT_LIMIT = 8 };

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_follower(const struct kept_kind *kind, uint64_t number)
{
    return kind->follows && number != KEPT_LEADER && number % 2;
}

/* ---- what is found ---- */

struct tally {
    size_t count;
    uint64_t id;
};

static bool tally_found(void *context, const struct doppel_found *found)
{
    struct tally *tally = context;
    tally->count++;
    tally->id = found->id;
    return true;
}

static bool tally_text(void *context, uint64_t id, uint32_t distance)
{
    struct tally *tally = context;
    tally->count++;
    tally->id = id;
    return distance <= UINT32_MAX;
}

/* ---- items: each at a path of its own, the same bytes whenever it is put in ---- */

static enum doppel_status add_item(struct doppel_library *library, uint64_t number,
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

static enum doppel_status follow_leader(struct doppel_library *library, uint64_t id,
                                        struct doppel_error *error)
{
    char path[64];
    struct doppel_known leader;
    uint64_t its;
    enum doppel_status status;
    snprintf(path, sizeof path, "/kept/%llu", (unsigned long long)KEPT_LEADER);
    TRY(doppel_library_leader(library, id, &its, error));
    if (its != id)
        return DOPPEL_OK;
    TRY(doppel_library_get_by_path(library, path, NULL, &leader, error));
    TRY(doppel_library_link(library, id, leader.id, error));
done:
    return status;
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
            image->codes[i].word[word] = mix((number * DOPPEL_VIEW_COUNT + i) * 4 + word + 1);
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
    return add_item(library, number, &record, out_id, error);
}

static enum doppel_status find_image(const struct kept_kind *kind, struct doppel_library *library,
                                     uint64_t number, size_t *out_count, uint64_t *out_id,
                                     struct doppel_error *error)
{
    struct kept_image image;
    struct tally tally = {0};
    const struct doppel_match_options options = doppel_match_options_default();
    const struct doppel_fingerprint fingerprint = image_of(kind, number, &image);
    const struct doppel_match_item query = {&fingerprint, 100};
    enum doppel_status status =
        doppel_library_find_images(library, &query, &options, tally_found, &tally, error);
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
        codes[i] = (uint32_t)mix(number * RECORDING_CODES + i + 1);
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
    TRY(add_item(library, number, &record, out_id, error));
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
    TRY(doppel_library_find_chromaprints(library, &query, CHROMAPRINT_LIMIT, tally_found, &tally,
                                         error));
    *out_count = tally.count;
    *out_id = tally.id;
done:
    doppel_fingerprint_free(&query);
    return status;
}

/* ---- texts ---- */

static uint32_t lanes_of(const struct kept_kind *kind)
{
    return kind->scheme == DOPPEL_SCHEME_MINHASH256 ? 256 : 128;
}

/* @param out_reader given (doppel_text_free); what is read is borrowed from it */
static enum doppel_status read_text(const struct kept_kind *kind, uint64_t number,
                                    struct doppel_text **out_reader, struct doppel_text_result *out,
                                    struct doppel_error *error)
{
    char bytes[WORDS * 20];
    size_t size = 0;
    struct doppel_text_options options = doppel_text_options_default();
    options.lanes = lanes_of(kind);
    const unsigned wanted =
        kind->scheme == DOPPEL_SCHEME_WINNOW32
            ? DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_PASSAGES
            : DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH;
    for (uint64_t i = 0; i < WORDS; i++)
        size += (size_t)snprintf(bytes + size, sizeof bytes - size, "w%llx ",
                                 (unsigned long long)mix(number * WORDS + i + 1));
    enum doppel_status status = doppel_text_new(&options, out_reader, error);
    return status ? status : doppel_text_read(*out_reader, bytes, size, wanted, out, error);
}

static enum doppel_status put_text_file(const struct kept_kind *kind,
                                        struct doppel_library *library, uint64_t number,
                                        uint64_t *out_id, struct doppel_error *error)
{
    struct doppel_text *reader = NULL;
    struct doppel_text_result text;
    struct doppel_record record = {.kind = DOPPEL_KIND_TEXT, .scheme = kind->scheme};
    struct doppel_text_options options = doppel_text_options_default();
    options.lanes = lanes_of(kind);
    enum doppel_status status;
    TRY(read_text(kind, number, &reader, &text, error));
    TRY(doppel_text_fingerprint(kind->scheme, &options, &text, &record.fingerprint, error));
    record.version = record.fingerprint.version;
    record.attachment_size = doppel_text_attachment_size(&text);
    record.attachment = malloc(record.attachment_size);
    if (!record.attachment)
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory"));
    doppel_text_attachment_write(&text, record.attachment);
    TRY(add_item(library, number, &record, out_id, error));
    if (is_follower(kind, number))
        TRY(follow_leader(library, *out_id, error));
done:
    free(record.attachment);
    doppel_fingerprint_free(&record.fingerprint);
    doppel_text_free(reader);
    return status;
}

/* By its signature, and by its content: both are to find the same. */
static enum doppel_status find_text(const struct kept_kind *kind, struct doppel_library *library,
                                    uint64_t number, size_t *out_count, uint64_t *out_id,
                                    struct doppel_error *error)
{
    uint64_t code[CODE_MAX_WORDS] = {0};
    struct doppel_text *reader = NULL;
    struct doppel_text_result text;
    struct tally near = {0}, same = {0};
    const struct doppel_text_lookup lookup = {
        .scheme = kind->scheme, .code = code, .radius = 3, .followers = true};
    enum doppel_status status;
    TRY(read_text(kind, number, &reader, &text, error));
    if (kind->scheme == DOPPEL_SCHEME_SIMHASH64)
        code[0] = text.simhash;
    for (uint32_t i = 0; kind->scheme != DOPPEL_SCHEME_SIMHASH64 && i < lanes_of(kind); i++)
        code[i / LANES_A_WORD] |= (uint64_t)text.lanes[i] << 16 * (i % LANES_A_WORD);
    TRY(doppel_library_near_texts(library, &lookup, tally_text, &near, error));
    TRY(doppel_library_texts_of(library, &text.digest, 0, tally_text, &same, error));
    *out_count = near.count > same.count ? near.count : same.count;
    *out_id = near.id == same.id ? near.id : 0;
done:
    doppel_text_free(reader);
    return status;
}

/* ---- records: one that is there goes before it comes again ---- */

static enum doppel_status prepare_records(struct doppel_library *library,
                                          struct doppel_error *error)
{
    const struct doppel_text_options options = doppel_text_options_default();
    const struct doppel_text_limits limits = doppel_text_limits_default();
    return doppel_library_set_text_options(library, &options, &limits, error);
}

static enum doppel_status leader_of_records(const struct kept_kind *kind,
                                            struct doppel_library *library, uint64_t number,
                                            uint64_t *out, struct doppel_error *error)
{
    size_t count;
    *out = 0;
    return is_follower(kind, number) ? kind->find(kind, library, KEPT_LEADER, &count, out, error)
                                     : DOPPEL_OK;
}

static enum doppel_status put_text_record(const struct kept_kind *kind,
                                          struct doppel_library *library, uint64_t number,
                                          uint64_t *out_id, struct doppel_error *error)
{
    struct doppel_text *reader = NULL;
    struct doppel_text_result text;
    uint64_t leader, former;
    size_t count;
    enum doppel_status status;
    TRY(kind->find(kind, library, number, &count, &former, error));
    if (count)
        TRY(doppel_library_remove(library, former, error));
    TRY(leader_of_records(kind, library, number, &leader, error));
    TRY(read_text(kind, number, &reader, &text, error));
    const struct doppel_library_text row = {.content = text.digest,
                                            .words = text.words,
                                            .leads = !leader,
                                            .leader = leader,
                                            .decision = leader ? DOPPEL_DECISION_DUPLICATE
                                                               : DOPPEL_DECISION_NEW,
                                            .lanes = text.lanes,
                                            .lane_count = lanes_of(kind),
                                            .shingles = text.shingles,
                                            .shingle_total = text.shingle_count};
    TRY(doppel_library_add_text(library, &row, out_id, error));
done:
    doppel_text_free(reader);
    return status;
}

/* ---- passages ---- */

/* The keys of a text that was found, from its item. */
struct key_source {
    struct doppel_library *library;
    struct doppel_item item;
    ARRAY(struct doppel_text_key) keys;
};

static bool give_keys(void *context, uint64_t id, struct doppel_passage_text *out)
{
    struct key_source *source = context;
    struct doppel_text_extra extra;
    doppel_item_free(&source->item);
    source->item = (struct doppel_item){0};
    source->keys.count = 0;
    if (doppel_library_get(source->library, id, true, &source->item, NULL) ||
        !doppel_text_attachment_head(source->item.record.attachment,
                                     source->item.record.attachment_size, &extra))
        return false;
    const struct doppel_fingerprint *fingerprint = &source->item.record.fingerprint;
    for (uint32_t i = 0; i < fingerprint->count; i++) {
        const uint64_t code = fingerprint->codes[i].word[0];
        if (!array_push(&source->keys,
                        ((struct doppel_text_key){(uint32_t)code, (uint32_t)(code >> 32)})))
            return false;
    }
    *out = (struct doppel_passage_text){.word_count = (uint32_t)extra.words,
                                        .keys = source->keys.items,
                                        .key_count = source->keys.count,
                                        .key_starts = fingerprint->positions};
    return true;
}

static enum doppel_status find_passage(const struct kept_kind *kind, struct doppel_library *library,
                                       uint64_t number, size_t *out_count, uint64_t *out_id,
                                       struct doppel_error *error)
{
    struct doppel_text *reader = NULL;
    struct doppel_text_result text;
    struct key_source source = {.library = library};
    struct tally tally = {0};
    enum doppel_status status;
    TRY(read_text(kind, number, &reader, &text, error));
    const struct doppel_passage_text query = doppel_passage_text_of(&text);
    struct doppel_passage_request request = doppel_passage_request_default(&query);
    request.source = give_keys;
    request.source_context = &source;
    const struct doppel_passage_lookup lookup = {&request,
                                                 doppel_scheme_by_id(kind->scheme)->version, true};
    TRY(doppel_library_find_passages(library, &lookup, tally_found, &tally, error));
    *out_count = tally.count;
    *out_id = tally.id;
done:
    array_free(&source.keys);
    doppel_item_free(&source.item);
    doppel_text_free(reader);
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
     put_text_file,
     find_text,
     NULL},
    {"minhash256",
     DOPPEL_SCHEME_MINHASH256,
     {CODES_MINHASH256, CODES_MINHASH256_FOLLOWERS, CODES_CONTENTS},
     3,
     true,
     put_text_file,
     find_text,
     NULL},
    {"simhash64",
     DOPPEL_SCHEME_SIMHASH64,
     {CODES_SIMHASH64, CODES_CONTENTS},
     2,
     false,
     put_text_file,
     find_text,
     NULL},
    {"records",
     DOPPEL_SCHEME_MINHASH128,
     {CODES_MINHASH128, CODES_MINHASH128_FOLLOWERS, CODES_CONTENTS},
     3,
     true,
     put_text_record,
     find_text,
     prepare_records},
    {"passages",
     DOPPEL_SCHEME_WINNOW32,
     {CODES_WINNOW32, CODES_WINNOW32_FOLLOWERS},
     2,
     true,
     put_text_file,
     find_passage,
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
