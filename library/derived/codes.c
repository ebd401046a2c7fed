/* Indexes of codes: put into, asked, and made of the items. */
#include "library/derived/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/try.h"
#include "library/items/rows.h"

enum {
    /* What waits in the log, which an open reads in a few milliseconds: so many codes of so many
     * bytes at most; and when nobody writes, a part of that. */
    HEAD_CODES = 1 << 17,
    HEAD_BYTES = 8 << 20,
    LEFT_PART = 32
};

const struct code_table_row code_tables[CODE_TABLES] = {
    [CODES_PHASH64] = {"phash64-views", DOPPEL_SCHEME_PHASH64, .table = DOPPEL_IMAGE_TABLE_CODES},
    [CODES_PHASH64_FULL] = {"phash64-frames", DOPPEL_SCHEME_PHASH64,
                            .table = DOPPEL_IMAGE_TABLE_FULL},
    [CODES_PHASH256] = {"phash256", DOPPEL_SCHEME_PHASH256, .table = DOPPEL_IMAGE_TABLE_CODES},
    [CODES_IMAGEHASH] = {"imagehash", DOPPEL_SCHEME_IMAGEHASH, .table = DOPPEL_IMAGE_TABLE_CODES},
    [CODES_PDQ] = {"pdq", DOPPEL_SCHEME_PDQ, .table = DOPPEL_IMAGE_TABLE_CODES},
    [CODES_MINHASH128] = {"minhash128", DOPPEL_SCHEME_MINHASH128, CODES_OF_LEADER},
    [CODES_MINHASH128_FOLLOWERS] = {"minhash128-followers", DOPPEL_SCHEME_MINHASH128,
                                    CODES_OF_FOLLOWER},
    [CODES_MINHASH256] = {"minhash256", DOPPEL_SCHEME_MINHASH256, CODES_OF_LEADER},
    [CODES_MINHASH256_FOLLOWERS] = {"minhash256-followers", DOPPEL_SCHEME_MINHASH256,
                                    CODES_OF_FOLLOWER},
    [CODES_SIMHASH64] = {"simhash64", DOPPEL_SCHEME_SIMHASH64, CODES_OF_TEXT},
    [CODES_CONTENTS] = {"text-contents", DOPPEL_SCHEME_NONE, CODES_OF_CONTENT},
    [CODES_WINNOW32] = {"winnow32", DOPPEL_SCHEME_WINNOW32, CODES_OF_LEADER},
    [CODES_WINNOW32_FOLLOWERS] = {"winnow32-followers", DOPPEL_SCHEME_WINNOW32, CODES_OF_FOLLOWER},
    [CODES_CHROMAPRINT] = {"chromaprint", DOPPEL_SCHEME_CHROMAPRINT, CODES_OF_RECORDING},
    [CODES_SHINGLES128] = {"minhash128-shingles", DOPPEL_SCHEME_MINHASH128, CODES_OF_SHINGLES},
    [CODES_SHINGLES256] = {"minhash256-shingles", DOPPEL_SCHEME_MINHASH256, CODES_OF_SHINGLES},
};

/* ---- what an index is ---- */

static uint32_t head_codes_of(const struct doppel_index_options *make)
{
    uint32_t bytes = make->table == DOPPEL_INDEX_BANDS      ? make->lanes * 2
                     : make->table == DOPPEL_INDEX_POSTINGS ? sizeof(struct doppel_index_posting)
                                                            : make->bits / 8;
    return HEAD_BYTES / bytes < HEAD_CODES ? HEAD_BYTES / bytes : HEAD_CODES;
}

bool code_names_make(const char *directory, enum code_table which, struct code_names *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(code_tables[which].scheme);
    if (is_text_table(which))
        text_table_options(which, &out->make);
    else if (code_tables[which].part == CODES_OF_RECORDING)
        out->make = doppel_chromaprints_index_options();
    else
        (void)doppel_image_table_options(scheme->id, code_tables[which].table, &out->make);
    out->make.head_codes = head_codes_of(&out->make);
    out->name = sqlite3_mprintf("%s.%u", code_tables[which].folder,
                                scheme && !is_text_table(which) ? scheme->version : 1);
    out->folder = sqlite3_mprintf("%s/%s", directory, code_tables[which].folder);
    out->options = (struct doppel_store_index_options){.name = out->name,
                                                       .folder = out->folder,
                                                       .make = &out->make,
                                                       .shared = true,
                                                       .immediate = is_text_table(which),
                                                       .disposable = true};
    return out->name && out->folder;
}

void code_names_free(struct code_names *names)
{
    sqlite3_free(names->name);
    sqlite3_free(names->folder);
}

/* @param wanted the bands that it is to have */
static bool is_as_made(struct doppel_store_index *index, const struct doppel_index_options *make,
                       const struct code_index *wanted)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(index, &info);
    const struct doppel_index_options *is = &info.options;
    if (make->table == DOPPEL_INDEX_BANDS)
        return is->table == make->table && is->lanes == make->lanes &&
               (!wanted->bands || (is->bands == wanted->bands && is->rows == wanted->rows));
    if (make->table == DOPPEL_INDEX_POSTINGS)
        return is->table == make->table && is->key_bits == make->key_bits;
    return is->bits == make->bits && is->design_radius == make->design_radius &&
           is->compact == make->compact;
}

/* As this library wants it. */
static bool library_code_names(const struct doppel_library *library, enum code_table which,
                               struct code_names *out)
{
    bool made = code_names_make(library->directory, which, out);
    if (library->codes[which].bands) {
        out->make.bands = library->codes[which].bands;
        out->make.rows = library->codes[which].rows;
    }
    return made;
}

struct building {
    struct doppel_store *store;
    const struct doppel_store_index_options *options;
};

static enum doppel_status build_kept(void *context, const struct doppel_index_load *load,
                                     struct doppel_error *error)
{
    const struct building *building = context;
    enum doppel_status status =
        doppel_store_index_build(building->store, building->options, load, error);
    return status || !load->read_item ? status : passages_put_totals(building->store, load, error);
}

/* Nobody else may write meanwhile. @param own in a transaction of its own */
static enum doppel_status build_of_items(const struct doppel_library *library,
                                         struct doppel_store *store, enum code_table which,
                                         const struct code_names *names, bool own,
                                         struct doppel_error *error)
{
    struct building building = {store, &names->options};
    enum doppel_status status = own ? doppel_store_begin(store, error) : DOPPEL_OK;
    if (status)
        return status;
    status = codes_load(library, store, which, &names->make, build_kept, &building, error);
    if (own && !status)
        return doppel_store_commit(store, error);
    if (own)
        doppel_store_rollback(store);
    return status;
}

/* A library that is open to be read is written to by another connection. */
static enum doppel_status build_beside(const struct doppel_library *library, enum code_table which,
                                       const struct code_names *names, struct doppel_error *error)
{
    const struct doppel_library_options writing = {0};
    struct doppel_store *store;
    enum doppel_status status = catalogue_open(library->directory, &writing, &store, error);
    if (status)
        return status;
    status = build_of_items(library, store, which, names, true, error);
    doppel_store_close(store);
    doppel_store_renew_reading(library->store); /* which is to see it */
    return status;
}

static enum doppel_status build_in_memory(void *context, const struct doppel_index_load *load,
                                          struct doppel_error *error)
{
    return doppel_index_bulk(context, load, error);
}

/* ---- opening ---- */

static bool can_be_made_again(enum doppel_status status)
{
    return status == DOPPEL_E_NOT_FOUND || status == DOPPEL_E_CORRUPT ||
           status == DOPPEL_E_VERSION || status == DOPPEL_E_FORMAT;
}

static enum doppel_status open_kept(struct doppel_library *library, enum code_table which,
                                    const struct code_names *names, struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    enum doppel_status status =
        doppel_store_index_open(library->store, &names->options, &codes->kept, error);
    if (!status && !is_as_made(codes->kept, &names->make, codes)) {
        doppel_store_index_close(codes->kept);
        codes->kept = NULL;
        status = doppel_fail(error, DOPPEL_E_VERSION, "it was made in another way");
    }
    return status;
}

static enum doppel_status make_again(struct doppel_library *library, enum code_table which,
                                     const struct code_names *names, struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    enum doppel_status status =
        library->read_only
            ? build_beside(library, which, names, error)
            : build_of_items(library, library->store, which, names, !library->writing, error);
    if (!status)
        return open_kept(library, which, names, error);
    if (!library->read_only)
        return status;
    /* On a disk that cannot be written to, or that others write to all the time. */
    TRY(doppel_store_data_version(library->store, &codes->private_version, error));
    TRY(doppel_index_new(&names->make, &codes->private, error));
    TRY(codes_load(library, library->store, which, &names->make, build_in_memory, codes->private,
                   error));
done:
    return status;
}

void doppel_library_set_watch(struct doppel_library *library,
                              const struct doppel_library_watch *watch)
{
    library->watch = watch ? *watch : (struct doppel_library_watch){0};
}

/* Say that an index is made, where that takes a while. @param why what is wrong with the one that
 * was there */
static void codes_notice_making(struct doppel_library *library, enum code_table which,
                                const struct doppel_error *why)
{
    enum { FEW_ITEMS = 20000 };
    char sentence[700];
    uint64_t items = 0;
    if (!library->watch.notice)
        return;
    (void)codes_count_items(library->store, which, &items, NULL);
    if (items <= FEW_ITEMS && why->status != DOPPEL_E_CORRUPT)
        return;
    snprintf(sentence, sizeof sentence, "the index %s/%s is made of the items: %s",
             library->directory, code_tables[which].folder,
             why->status == DOPPEL_E_NOT_FOUND ? "it is not there" : why->message);
    library->watch.notice(library->watch.context, sentence);
}

/* Whether it is to be made though nobody wants to wait for it: of no items, that takes no time. */
static enum doppel_status may_make(const struct doppel_library *library, enum code_table which,
                                   const struct doppel_error *why, struct doppel_error *error)
{
    bool any = false;
    if (!library->no_rebuild)
        return DOPPEL_OK;
    enum doppel_status status = codes_any_items(library->store, which, &any, error);
    return status || !any
               ? status
               : doppel_fail(error, why->status,
                             "the index %s/%s is not to be made of the items now: %s",
                             library->directory, code_tables[which].folder,
                             why->status == DOPPEL_E_NOT_FOUND ? "it is not there" : why->message);
}

static enum doppel_status open_codes(struct doppel_library *library, enum code_table which,
                                     bool asked, bool *out_made, struct doppel_error *error);

/* Those who follow have an index from when those who lead have one, and nobody waits for it later.
 */
static enum doppel_status make_counterpart(struct doppel_library *library, enum code_table leaders,
                                           struct doppel_error *error)
{
    const enum code_table followers = (enum code_table)(leaders + 1);
    bool made;
    if (code_tables[leaders].part != CODES_OF_LEADER || library->codes[followers].kept)
        return DOPPEL_OK;
    return open_codes(library, followers, false, &made, error);
}

/* @param asked by a question; else by a change, which needs it in any case
 * @param out_made it was made just now, of all items that are there */
static enum doppel_status open_codes(struct doppel_library *library, enum code_table which,
                                     bool asked, bool *out_made, struct doppel_error *error)
{
    struct code_names names;
    struct doppel_error failure = {0};
    *out_made = false;
    enum doppel_status status = library_code_names(library, which, &names)
                                    ? open_kept(library, which, &names, &failure)
                                    : doppel_fail(&failure, DOPPEL_E_MEMORY, "no memory");
    if (can_be_made_again(status)) {
        const struct doppel_error why = failure;
        status = asked ? may_make(library, which, &why, &failure) : DOPPEL_OK;
        if (!status) {
            codes_notice_making(library, which, &why);
            status = make_again(library, which, &names, &failure);
            *out_made = !status;
        }
    }
    code_names_free(&names);
    if (status)
        return doppel_fail(error, status, "%s", failure.message);
    return *out_made ? make_counterpart(library, which, error) : DOPPEL_OK;
}

/* What others have committed since is not in it. */
static void drop_old_private(struct doppel_library *library, struct code_index *codes)
{
    int64_t version = 0;
    if (!codes->private || (!doppel_store_data_version(library->store, &version, NULL) &&
                            version == codes->private_version))
        return;
    doppel_index_free(codes->private);
    codes->private = NULL;
}

enum doppel_status codes_index(struct doppel_library *library, enum code_table which,
                               const struct doppel_index **out, struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    struct doppel_error failure = {0};
    bool made;
    enum doppel_status status = DOPPEL_OK;
    if (codes->kept)
        status = doppel_store_index_refresh(codes->kept, NULL, &failure);
    if (can_be_made_again(status)) {
        doppel_store_index_close(codes->kept);
        codes->kept = NULL;
        status = DOPPEL_OK;
    }
    if (status)
        return doppel_fail(error, status, "%s", failure.message);
    drop_old_private(library, codes);
    if (!codes->kept && !codes->private)
        status = open_codes(library, which, true, &made, error);
    if (!status)
        *out = codes->kept ? doppel_store_index_get(codes->kept) : codes->private;
    return status;
}

/* ---- writing ---- */

enum doppel_status codes_open_to_put(struct doppel_library *library, enum code_table which,
                                     bool *out_made, struct doppel_error *error)
{
    *out_made = false;
    return library->codes[which].kept ? DOPPEL_OK
                                      : open_codes(library, which, false, out_made, error);
}

enum doppel_status codes_open_to_forget(struct doppel_library *library, enum code_table which,
                                        bool *out_there, struct doppel_error *error)
{
    struct code_names names;
    enum doppel_status status = DOPPEL_OK;
    if (!library->codes[which].kept) {
        status = library_code_names(library, which, &names)
                     ? open_kept(library, which, &names, error)
                     : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
        code_names_free(&names);
    }
    *out_there = !status;
    return can_be_made_again(status) ? DOPPEL_OK : status;
}

enum doppel_status codes_put_in(struct doppel_library *library, enum code_table which,
                                const struct item_codes *codes, struct doppel_error *error)
{
    struct code_index *index = &library->codes[which];
    bool made;
    if (index->put_off) {
        codes_put_aside(index, codes);
        return DOPPEL_OK;
    }
    enum doppel_status status = codes_open_to_put(library, which, &made, error);
    if (status || made || !codes->count) /* made of the items that are there, this one too */
        return status;
    index->put += codes->count;
    return doppel_store_index_insert(index->kept, codes->codes, codes->payloads, codes->count,
                                     error);
}

enum doppel_status codes_put(struct doppel_library *library, uint64_t id,
                             const struct doppel_record *record, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    enum doppel_status status = DOPPEL_OK;
    if (record->kind == DOPPEL_KIND_TEXT)
        return text_codes_put_item(library, id, record, error);
    if (!scheme || record->version != scheme->version)
        return DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const enum code_table which = (enum code_table)i;
        struct item_codes codes;
        if (is_text_table(which) || code_tables[i].scheme != record->scheme)
            continue;
        status = codes_of_record(which, id, record, &codes, error);
        if (!status)
            status = codes_put_in(library, which, &codes, error);
        item_codes_free(&codes);
    }
    return status;
}

enum doppel_status codes_forget_in(struct doppel_library *library, enum code_table which,
                                   uint64_t id, struct doppel_error *error)
{
    bool there;
    codes_forget_spool(&library->codes[which]);
    enum doppel_status status = codes_open_to_forget(library, which, &there, error);
    if (status || !there)
        return status;
    struct doppel_store_index *kept = library->codes[which].kept;
    if (is_passage_table(which))
        status = passages_forget(library, which, id, error);
    else if (has_own_payloads(which))
        status = item_codes_forget(library, kept, which, id, error);
    else
        status = doppel_store_index_remove(kept, &id, 1, error);
    return can_be_made_again(status) ? DOPPEL_OK : status;
}

enum doppel_status codes_forget(struct doppel_library *library, uint64_t id, unsigned schemes,
                                struct doppel_error *error)
{
    const unsigned texts = 1u << DOPPEL_SCHEME_MINHASH128 | 1u << DOPPEL_SCHEME_MINHASH256 |
                           1u << DOPPEL_SCHEME_SIMHASH64 | 1u << DOPPEL_SCHEME_WINNOW32 |
                           1u << DOPPEL_SCHEME_DATASKETCH;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        unsigned of = code_tables[i].scheme ? 1u << code_tables[i].scheme : texts;
        if (schemes & of)
            status = codes_forget_in(library, (enum code_table)i, id, error);
    }
    return status;
}

enum doppel_status codes_make_again(struct doppel_library *library, enum code_table which,
                                    struct doppel_error *error)
{
    struct code_names names;
    doppel_store_index_close(library->codes[which].kept);
    library->codes[which].kept = NULL;
    enum doppel_status status = library_code_names(library, which, &names)
                                    ? make_again(library, which, &names, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    code_names_free(&names);
    return status;
}

enum doppel_status codes_complete(struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const struct doppel_index *index;
        bool there;
        status = codes_are_there(library, (enum code_table)i, &there, error);
        if (!status && there)
            status = codes_index(library, (enum code_table)i, &index, error);
    }
    return status;
}

/* @param left bytes of memory for them; what does not fit is left where it is */
static enum doppel_status read_codes_in(struct doppel_library *library, enum code_table which,
                                        uint64_t *left, struct doppel_error *error)
{
    const struct doppel_index *index;
    bool there;
    enum doppel_status status = codes_are_there(library, which, &there, error);
    if (!status && there)
        status = codes_index(library, which, &index, error);
    if (status || !there)
        return status;
    const uint64_t bytes = doppel_index_info(index).bytes;
    if (bytes > *left)
        return DOPPEL_OK;
    *left -= bytes;
    doppel_index_read_in(index, library->cancelled, library->cancel_context);
    return DOPPEL_OK;
}

enum doppel_status doppel_library_read_in(struct doppel_library *library,
                                          struct doppel_error *error)
{
    uint64_t left = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++)
        status = read_codes_in(library, (enum code_table)i, &left, error);
    return status;
}

enum doppel_status codes_merge(struct doppel_library *library, enum code_table which,
                               struct doppel_error *error)
{
    const struct doppel_index *index;
    bool there;
    enum doppel_status status = codes_are_there(library, which, &there, error);
    if (!status && there)
        status = codes_index(library, which, &index, error);
    if (status || !there)
        return status;
    const struct doppel_index_info info = doppel_index_info(index);
    if (!info.removed && info.segments < 2 &&
        (!library->codes[which].kept ||
         !doppel_store_index_has_leftovers(library->codes[which].kept)))
        return DOPPEL_OK;
    struct doppel_error failure = {0};
    status = doppel_store_index_compact(library->codes[which].kept, true, &failure);
    if (can_be_made_again(status)) {
        codes_notice_making(library, which, &failure);
        return codes_make_again(library, which, error);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

enum doppel_status codes_mend(struct doppel_library *library,
                              bool (*wanted)(enum code_table which, const void *context),
                              const void *context, struct doppel_error *error)
{
    const struct doppel_error why = *error;
    enum doppel_status status = library->no_rebuild ? why.status : DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const struct code_index *codes = &library->codes[i];
        const enum code_table which = (enum code_table)i;
        if (!wanted(which, context) || !codes->kept ||
            !doppel_index_info(doppel_store_index_get(codes->kept)).damaged)
            continue;
        codes_notice_making(library, which, &why);
        status = codes_make_again(library, which, error);
    }
    return status;
}

void codes_rolled_back(struct doppel_library *library)
{
    for (int i = 0; i < CODE_TABLES; i++) {
        doppel_store_index_close(library->codes[i].kept);
        doppel_index_free(library->codes[i].private);
        codes_forget_spool(&library->codes[i]);
        library->codes[i] = (struct code_index){0};
    }
}

/* Many segments cost each question more than one does. What came at once, and is not little beside
 * what was there, is merged with it. */
static bool is_worth_merging(struct code_index *codes)
{
    const struct doppel_index_info info = doppel_index_info(doppel_store_index_get(codes->kept));
    return codes->put > HEAD_CODES && codes->put >= info.codes / 4 && info.segments > 1;
}

void codes_close(struct doppel_library *library)
{
    for (int i = 0; i < CODE_TABLES; i++) {
        struct code_index *codes = &library->codes[i];
        struct doppel_store_index_info info = {0};
        if (!codes->kept || library->read_only)
            continue;
        doppel_store_index_info(codes->kept, &info);
        if (info.log_codes > info.options.head_codes / LEFT_PART)
            doppel_store_index_flush(codes->kept, NULL);
        if (doppel_store_index_get(codes->kept) && is_worth_merging(codes))
            doppel_store_index_compact(codes->kept, true, NULL);
    }
    codes_rolled_back(library);
}
