/* Codes or digests of a list, taken in many at a time: those that are new as rows in order of id,
 * with one entry of the log; those that are there already, or twice in it, one by one. */
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/try.h"
#include "library/derived/codes.h"
#include "library/items/code_batch_internal.h"

enum {
    FEW_CODES = 16, /* have a row of the log each */
    /* Of SQLite: digests are in no order, so each dirties a page of its index, and a page that
     * finds no room is written for each of them. */
    BATCH_CACHE_KB = 262144
};

/* ---- life ---- */

enum doppel_status doppel_code_batch_new(struct doppel_library *library,
                                         const struct doppel_metadata *about,
                                         struct doppel_code_batch **out, struct doppel_error *error)
{
    static const struct doppel_metadata nothing;
    struct doppel_code_batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
    batch->library = library;
    batch->full = BATCH_CODES;
    batch->about = about ? about : &nothing;
    *out = batch;
    return DOPPEL_OK;
}

void doppel_code_batch_for_sync(struct doppel_code_batch *batch, struct doppel_list_sync *sync)
{
    batch->sync = sync;
}

static void forget_code(struct batch_code *code)
{
    for (size_t i = 0; i < code->tags.count; i++)
        free(code->tags.items[i]);
    free(code->tags.items);
    free(code->name);
}

static void forget_codes(struct doppel_code_batch *batch)
{
    for (size_t i = 0; i < batch->codes.count; i++)
        forget_code(&batch->codes.items[i]);
    batch->codes.count = 0;
}

void doppel_code_batch_free(struct doppel_code_batch *batch)
{
    if (!batch)
        return;
    codes_put_off_end(batch->library);
    if (!batch->library->writing)
        codes_make_put_off(batch->library);
    if (batch->large_cache)
        library_set_cache(batch->library, WRITER_CACHE_KB);
    forget_codes(batch);
    seen_codes_free(batch->seen);
    array_free(&batch->codes);
    free(batch);
}

/* ---- adding ---- */

bool doppel_code_batch_takes(const struct doppel_item *item)
{
    const struct doppel_record *record = &item->record;
    return !(item->path && *item->path) && digest_is_none(&record->digest) &&
           !record->attachment_size && record->kind == DOPPEL_KIND_IMAGE &&
           record->scheme != DOPPEL_SCHEME_PHASH64 && record->fingerprint.count == 1 &&
           !record->width && !record->height;
}

/* @return false without memory */
static bool copy_tags(const struct doppel_list_tags *tags, struct doppel_list_tags *out)
{
    *out = (struct doppel_list_tags){.given = tags->given};
    if (!tags->count)
        return true;
    out->items = calloc(tags->count, sizeof *out->items);
    if (!out->items)
        return false;
    for (; out->count < tags->count; out->count++)
        if (!(out->items[out->count] = strdup(tags->items[out->count])))
            return false;
    return true;
}

/* @param code of what is given, but for its name and tags */
static enum doppel_status put_code(struct doppel_code_batch *batch, struct batch_code *code,
                                   const struct doppel_list_code *given, struct doppel_error *error)
{
    code->name = given->name ? strdup(given->name) : NULL;
    if ((!given->name || code->name) && copy_tags(&given->tags, &code->tags) &&
        array_push(&batch->codes, *code))
        return DOPPEL_OK;
    forget_code(code);
    return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for codes");
}

static enum doppel_status code_of_item(const struct doppel_list_code *given, struct batch_code *out,
                                       struct doppel_error *error)
{
    struct doppel_record record = given->item->record;
    enum doppel_status status = import_make_digest(&record, given->name, error);
    *out = (struct batch_code){.digest = record.digest,
                               .code = record.fingerprint.codes[0],
                               .position = record.fingerprint.positions[0],
                               .scheme = record.scheme,
                               .version = record.version,
                               .code_bits = record.fingerprint.code_bits,
                               .quality = record.quality,
                               .added_ns = given->item->added_ns};
    return status;
}

static enum doppel_status code_of_exact(const struct doppel_exact_digest *exact,
                                        struct batch_code *out, struct doppel_error *error)
{
    char name[EXACT_NAME_BYTES];
    if (!doppel_exact_bytes(exact->algorithm))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no such digest is known");
    exact_name(exact->algorithm, exact->bytes, name);
    *out = (struct batch_code){.digest = doppel_digest_bytes(name, strlen(name)),
                               .algorithm = exact->algorithm,
                               .added_ns = exact->added_ns};
    memcpy(out->exact, exact->bytes, doppel_exact_bytes(exact->algorithm));
    return DOPPEL_OK;
}

enum doppel_status doppel_code_batch_add(struct doppel_code_batch *batch,
                                         const struct doppel_list_code *code, bool *out_full,
                                         struct doppel_error *error)
{
    const struct doppel_metadata about = batch_about(batch, code->name);
    struct batch_code own;
    enum doppel_status status;
    TRY(code->exact ? doppel_library_check_metadata(batch->library, &about, error)
                    : import_check(batch->library, code->item, &about, error));
    TRY(list_tags_check(batch->library, &code->tags, error));
    TRY(code->exact ? code_of_exact(code->exact, &own, error) : code_of_item(code, &own, error));
    if (!batch->sync || !list_sync_knows(batch->sync, &own.digest, &code->tags))
        TRY(put_code(batch, &own, code, error));
    *out_full = batch->codes.count >= batch->full;
done:
    return status;
}

struct doppel_metadata batch_about(const struct doppel_code_batch *batch, const char *name)
{
    struct doppel_metadata about = *batch->about;
    about.external_id = (char *)name;
    return about;
}

struct doppel_record batch_record(struct batch_code *code)
{
    return (struct doppel_record){.digest = code->digest,
                                  .kind = DOPPEL_KIND_IMAGE,
                                  .scheme = code->scheme,
                                  .version = code->version,
                                  .quality = code->quality,
                                  .fingerprint = {.scheme = code->scheme,
                                                  .version = code->version,
                                                  .code_bits = code->code_bits,
                                                  .count = 1,
                                                  .codes = &code->code,
                                                  .positions = &code->position}};
}

/* ---- all of them ---- */

enum doppel_status batch_put_tags(struct doppel_code_batch *batch, uint64_t id, bool brought,
                                  const struct batch_code *code, bool *out_changed,
                                  struct doppel_error *error)
{
    const struct doppel_metadata *about = batch->about;
    const struct doppel_metadata labels = {.labels = code->tags.items,
                                           .label_count = code->tags.count};
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < about->list_count && !status; i++) {
        bool changed = false;
        status =
            list_say(batch->library, id, about->lists[i], &code->tags, brought, &changed, error);
        *out_changed |= changed;
    }
    return status || about->list_count ? status : metadata_put(batch->library, id, &labels, error);
}

static enum doppel_status put_one_code(struct doppel_code_batch *batch, struct batch_code *code,
                                       uint64_t *out_id, enum doppel_added *out_added,
                                       struct doppel_error *error)
{
    static const struct doppel_file_stamp none;
    const struct doppel_record record = batch_record(code);
    const struct doppel_metadata about = batch_about(batch, code->name);
    struct import import = {.about = &about,
                            .addition = {.path = "",
                                         .stamp = &none,
                                         .record = &record,
                                         .unproven = true,
                                         .added_ns = code->added_ns}};
    enum doppel_status status = import_one(batch->library, &import, error);
    *out_id = import.addition.id;
    *out_added = import.addition.outcome;
    return status;
}

static enum doppel_status put_one_exact(struct doppel_code_batch *batch,
                                        const struct batch_code *code, uint64_t *out_id,
                                        enum doppel_added *out_added, struct doppel_error *error)
{
    const struct doppel_exact_digest exact = {code->algorithm, code->exact, code->added_ns};
    const struct doppel_metadata about = batch_about(batch, code->name);
    bool added = false;
    enum doppel_status status =
        exact_add(batch->library, &exact, about.source, out_id, &added, error);
    *out_added = added ? DOPPEL_ADDED_NEW : DOPPEL_ADDED_UNCHANGED;
    return status ? status : metadata_put(batch->library, *out_id, &about, error);
}

static enum doppel_status put_one(struct doppel_code_batch *batch, struct batch_code *code,
                                  uint64_t *counts, struct doppel_error *error)
{
    enum doppel_added outcome = DOPPEL_ADDED_NEW;
    uint64_t id = 0;
    bool retagged = false;
    enum doppel_status status;
    TRY(code->algorithm ? put_one_exact(batch, code, &id, &outcome, error)
                        : put_one_code(batch, code, &id, &outcome, error));
    TRY(batch_put_tags(batch, id, outcome == DOPPEL_ADDED_NEW, code, &retagged, error));
    if (batch->sync)
        doppel_list_sync_came(batch->sync, id, outcome == DOPPEL_ADDED_UPDATED, retagged);
    counts[outcome]++;
done:
    return status;
}

/* A few are written like any others. */
static enum doppel_status write_batch_codes(struct doppel_code_batch *batch, uint64_t *counts,
                                            struct doppel_error *error)
{
    size_t fresh = 0;
    enum doppel_status status;
    TRY(seen_codes_check(batch, error));
    if (batch->codes.count >= FEW_CODES)
        TRY(batch_mark_known(batch, &fresh, error));
    const bool many = fresh >= FEW_CODES;
    if (many) {
        TRY(batch_put_fresh(batch, fresh, error));
        counts[DOPPEL_ADDED_NEW] += fresh;
    }
    for (size_t i = 0; i < batch->codes.count; i++)
        if (!many || batch->codes.items[i].known)
            TRY(put_one(batch, &batch->codes.items[i], counts, error));
done:
    return status;
}

enum doppel_status doppel_code_batch_write(struct doppel_code_batch *batch, uint64_t *counts,
                                           struct doppel_error *error)
{
    struct doppel_library *library = batch->library;
    uint64_t made[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    enum doppel_status status;
    if (!batch->codes.count)
        return DOPPEL_OK;
    if (batch->codes.count >= batch->full && !batch->large_cache) {
        library_set_cache(library, BATCH_CACHE_KB);
        batch->large_cache = true;
    }
    TRY(library_begin(library, error));
    TRY(library_end(library, write_batch_codes(batch, made, error)));
    if (!batch->sync)
        TRY(doppel_library_commit(library, error));
    for (int i = 0; i <= DOPPEL_ADDED_ELSEWHERE; i++)
        counts[i] += made[i];
    seen_codes_add(batch);
    if (batch->codes.count >= batch->full && batch->full < MOST_CODES)
        batch->full *= 2; /* fewer commits write the pages of the digests less often */
done:
    if (!batch->sync)
        codes_put_off_end(library);
    forget_codes(batch);
    return status;
}
