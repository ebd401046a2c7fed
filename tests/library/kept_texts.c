/* Kinds of texts that are found by indexes which are kept: files, records, passages. */
#include <stdio.h>
#include <stdlib.h>

#include <doppel/match.h>
#include <doppel/text.h>

#include "core/array.h"
#include "core/try.h"
#include "tests/library/kept_internal.h"

enum { WORDS = 60, LANES_A_WORD = 4 };

static bool is_follower(const struct kept_kind *kind, uint64_t number)
{
    return kind->follows && number != KEPT_LEADER && number % 2;
}

static bool tally_text(void *context, uint64_t id, uint32_t distance)
{
    struct tally *tally = context;
    tally->count++;
    tally->id = id;
    return distance <= UINT32_MAX;
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
                                 (unsigned long long)kept_mix(number * WORDS + i + 1));
    enum doppel_status status = doppel_text_new(&options, out_reader, error);
    return status ? status : doppel_text_read(*out_reader, bytes, size, wanted, out, error);
}

enum doppel_status kept_put_text(const struct kept_kind *kind, struct doppel_library *library,
                                 uint64_t number, uint64_t *out_id, struct doppel_error *error)
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
    TRY(kept_add_item(library, number, &record, out_id, error));
    if (is_follower(kind, number))
        TRY(follow_leader(library, *out_id, error));
done:
    free(record.attachment);
    doppel_fingerprint_free(&record.fingerprint);
    doppel_text_free(reader);
    return status;
}

/* By its signature, and by its content: both are to find the same. */
enum doppel_status kept_find_text(const struct kept_kind *kind, struct doppel_library *library,
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

enum doppel_status kept_prepare_records(struct doppel_library *library, struct doppel_error *error)
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

enum doppel_status kept_put_record(const struct kept_kind *kind, struct doppel_library *library,
                                   uint64_t number, uint64_t *out_id, struct doppel_error *error)
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

enum doppel_status kept_find_passage(const struct kept_kind *kind, struct doppel_library *library,
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
    TRY(doppel_library_find_passages(library, &lookup, kept_tally, &tally, error));
    *out_count = tally.count;
    *out_id = tally.id;
done:
    array_free(&source.keys);
    doppel_item_free(&source.item);
    doppel_text_free(reader);
    return status;
}
