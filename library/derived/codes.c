/* Indexes of codes: put into, asked, and made of the items. */
#include "library/derived/codes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/items/rows.h"

enum {
    /* Codes that wait in the log: an open reads them in a few milliseconds. */
    HEAD_CODES = 1 << 17,
    LEFT_CODES = HEAD_CODES / 16, /* and when nobody writes */
    CODES_MAX = DOPPEL_IMAGE_MAX_QUERIES
};

static const struct {
    const char *folder;
    enum doppel_scheme_id scheme;
    enum doppel_image_table table;
} tables[CODE_TABLES] = {
    [CODES_PHASH64] = {"phash64", DOPPEL_SCHEME_PHASH64, DOPPEL_IMAGE_TABLE_CODES},
    [CODES_PHASH64_ASKS] = {"phash64-asks", DOPPEL_SCHEME_PHASH64, DOPPEL_IMAGE_TABLE_ASKS},
    [CODES_PHASH64_FULL] = {"phash64-full", DOPPEL_SCHEME_PHASH64, DOPPEL_IMAGE_TABLE_FULL},
    [CODES_PHASH256] = {"phash256", DOPPEL_SCHEME_PHASH256, DOPPEL_IMAGE_TABLE_CODES},
    [CODES_IMAGEHASH] = {"imagehash", DOPPEL_SCHEME_IMAGEHASH, DOPPEL_IMAGE_TABLE_CODES},
    [CODES_PDQ] = {"pdq", DOPPEL_SCHEME_PDQ, DOPPEL_IMAGE_TABLE_CODES},
};

const char *codes_folder(enum code_table which)
{
    return tables[which].folder;
}

enum code_table codes_of_scheme(enum doppel_scheme_id scheme)
{
    int which = 0;
    while (which < CODE_TABLES && tables[which].scheme != scheme)
        which++;
    return (enum code_table)which;
}

/* ---- what an index is ---- */

bool code_names_make(const char *directory, enum code_table which, struct code_names *out)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(tables[which].scheme);
    (void)doppel_image_table_options(scheme->id, tables[which].table, &out->make);
    out->make.head_codes = HEAD_CODES;
    out->name = sqlite3_mprintf("%s.%u", tables[which].folder, scheme->version);
    out->folder = sqlite3_mprintf("%s/%s", directory, tables[which].folder);
    out->options = (struct doppel_store_index_options){.name = out->name,
                                                       .folder = out->folder,
                                                       .make = &out->make,
                                                       .shared = true,
                                                       .disposable = true};
    return out->name && out->folder;
}

void code_names_free(struct code_names *names)
{
    sqlite3_free(names->name);
    sqlite3_free(names->folder);
}

static bool is_as_made(struct doppel_store_index *index, const struct doppel_index_options *make)
{
    struct doppel_store_index_info info;
    doppel_store_index_info(index, &info);
    return info.options.bits == make->bits && info.options.design_radius == make->design_radius &&
           info.options.compact == make->compact;
}

/* ---- making one of the items ---- */

/* Codes on their way into a segment: a temporary file, read several times. */
struct code_spool {
    FILE *file;
    size_t words;
    uint64_t count;
};

static void spool_rewind(void *context)
{
    rewind(((struct code_spool *)context)->file);
}

static size_t spool_read(void *context, uint64_t *codes, uint64_t *payloads, size_t max)
{
    struct code_spool *spool = context;
    size_t done = 0;
    while (done < max && fread(&payloads[done], sizeof *payloads, 1, spool->file) == 1 &&
           fread(codes + done * spool->words, sizeof *codes, spool->words, spool->file) ==
               spool->words)
        done++;
    return done;
}

static bool spool_write(void *context, uint64_t id, const uint64_t *codes, size_t count)
{
    struct code_spool *spool = context;
    for (size_t i = 0; i < count; i++)
        if (fwrite(&id, sizeof id, 1, spool->file) != 1 ||
            fwrite(codes + i * spool->words, sizeof *codes, spool->words, spool->file) !=
                spool->words)
            return false;
    spool->count += count;
    return true;
}

/* In the library, whose disk has room for as much; where that cannot be written to, elsewhere. */
static FILE *spool_open(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file ? file : tmpfile();
}

/* Damaged items are left out: the library tells of them, and mends them when they are added again.
 */
static bool visit_codes_of_row(enum code_table which, sqlite3_stmt *statement,
                               codes_visitor *visitor, void *context)
{
    struct doppel_record record = {0};
    uint64_t codes[DOPPEL_IMAGE_TABLE_WORDS];
    if (!record_read(statement, 1, &record) ||
        !fingerprint_read(statement, 1 + RECORD_COLUMN_COUNT, &record))
        return true;
    const struct doppel_match_item item = {&record.fingerprint, record.quality};
    size_t count = doppel_image_table_codes(tables[which].table, &item, codes);
    bool go_on = visitor(context, (uint64_t)sqlite3_column_int64(statement, 0), codes, count);
    doppel_record_free(&record);
    return go_on;
}

enum doppel_status codes_of_items(struct doppel_store *store, enum code_table which,
                                  codes_visitor *visitor, void *context, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(tables[which].scheme);
    sqlite3_stmt *statement;
    bool row, go_on = true;
    enum doppel_status status = doppel_store_statement(
        store,
        "SELECT id, " RECORD_COLUMNS ", fingerprint.data FROM item"
        " JOIN fingerprint ON fingerprint.item = item.id"
        " WHERE scheme = ?1 AND version = ?2 AND " ITEM_IS_WHOLE " ORDER BY item.id",
        &statement, error);
    if (status)
        return status;
    sqlite3_bind_int(statement, 1, (int)scheme->id);
    sqlite3_bind_int(statement, 2, scheme->version);
    while (go_on && !(status = doppel_store_step(store, statement, &row, error)) && row)
        go_on = visit_codes_of_row(which, statement, visitor, context);
    sqlite3_reset(statement);
    return status || go_on ? status : DOPPEL_E_CANCELLED;
}

enum doppel_status codes_are_uncertain(struct doppel_library *library, enum code_table which,
                                       bool *out, struct doppel_error *error)
{
    int64_t any = 0;
    enum doppel_status status = rows_number(
        library,
        "SELECT EXISTS(SELECT 1 FROM item LEFT JOIN fingerprint ON fingerprint.item = item.id"
        " WHERE scheme = ?1 AND NOT coalesce(" ITEM_IS_WHOLE ", 0))",
        VALUES(ID(tables[which].scheme)), &any, NULL, error);
    *out = any != 0;
    return status;
}

static enum doppel_status spool_items(struct doppel_store *store, enum code_table which,
                                      struct code_spool *spool, struct doppel_error *error)
{
    enum doppel_status status = codes_of_items(store, which, spool_write, spool, error);
    if (status == DOPPEL_E_CANCELLED || (!status && fflush(spool->file)))
        status =
            doppel_fail(error, DOPPEL_E_IO, "no room to make the index %s", tables[which].folder);
    return status;
}

typedef enum doppel_status spool_user(void *context, const struct doppel_index_load *load,
                                      struct doppel_error *error);

/* Have the codes of all items put somewhere. */
static enum doppel_status load_items(struct doppel_store *store, const char *directory,
                                     enum code_table which, const struct doppel_index_options *make,
                                     spool_user *use, void *context, struct doppel_error *error)
{
    struct code_spool spool = {.file = spool_open(directory), .words = make->bits / 64};
    if (!spool.file)
        return doppel_fail(error, DOPPEL_E_IO, "%s: no temporary file can be made", directory);
    enum doppel_status status = spool_items(store, which, &spool, error);
    const struct doppel_index_load load = {
        .count = spool.count, .read = spool_read, .rewind = spool_rewind, .context = &spool};
    if (!status)
        status = use(context, &load, error);
    fclose(spool.file);
    return status;
}

struct building {
    struct doppel_store *store;
    const struct doppel_store_index_options *options;
};

static enum doppel_status build_kept(void *context, const struct doppel_index_load *load,
                                     struct doppel_error *error)
{
    const struct building *building = context;
    return doppel_store_index_build(building->store, building->options, load, error);
}

/* Nobody else may write meanwhile. @param own in a transaction of its own */
static enum doppel_status build_of_items(struct doppel_store *store, const char *directory,
                                         enum code_table which, const struct code_names *names,
                                         bool own, struct doppel_error *error)
{
    struct building building = {store, &names->options};
    enum doppel_status status = own ? doppel_store_begin(store, error) : DOPPEL_OK;
    if (status)
        return status;
    status = load_items(store, directory, which, &names->make, build_kept, &building, error);
    if (own && !status)
        return doppel_store_commit(store, error);
    if (own)
        doppel_store_rollback(store);
    return status;
}

/* A library that is open to be read is written to by another connection. */
static enum doppel_status build_beside(const char *directory, enum code_table which,
                                       const struct code_names *names, struct doppel_error *error)
{
    const struct doppel_library_options writing = {0};
    struct doppel_store *store;
    enum doppel_status status = catalogue_open(directory, &writing, &store, error);
    if (status)
        return status;
    status = build_of_items(store, directory, which, names, true, error);
    doppel_store_close(store);
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
    if (!status && !is_as_made(codes->kept, &names->make)) {
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
    enum doppel_status status = library->read_only
                                    ? build_beside(library->directory, which, names, error)
                                    : build_of_items(library->store, library->directory, which,
                                                     names, !library->writing, error);
    if (!status)
        return open_kept(library, which, names, error);
    if (!library->read_only)
        return status;
    /* On a disk that cannot be written to, or that others write to all the time. */
    status = rows_number(library, "PRAGMA data_version", NO_VALUES, &codes->private_version, NULL,
                         error);
    if (!status)
        status = doppel_index_new(&names->make, &codes->private, error);
    if (!status)
        status = load_items(library->store, library->directory, which, &names->make,
                            build_in_memory, codes->private, error);
    return status;
}

void doppel_library_set_notice(struct doppel_library *library,
                               void (*notice)(void *context, const char *sentence), void *context)
{
    library->notice = notice;
    library->notice_context = context;
}

/* Of a few items it takes no time. @param why what is wrong with the one that was there */
static void notice_making(const struct doppel_library *library, enum code_table which,
                          const struct doppel_error *why)
{
    enum { FEW_ITEMS = 20000 };
    char sentence[700];
    int64_t many = 0;
    (void)rows_number((struct doppel_library *)library,
                      "SELECT EXISTS(SELECT 1 FROM item WHERE scheme = ?1 LIMIT 1 OFFSET ?2)",
                      VALUES(ID(tables[which].scheme), ID(FEW_ITEMS)), &many, NULL, NULL);
    if (!library->notice || (!many && why->status != DOPPEL_E_CORRUPT))
        return;
    snprintf(sentence, sizeof sentence, "the index %s/%s is made of the items: %s",
             library->directory, tables[which].folder,
             why->status == DOPPEL_E_NOT_FOUND ? "it is not there" : why->message);
    library->notice(library->notice_context, sentence);
}

/* @param out_made it was made just now, of all items that are there */
static enum doppel_status open_codes(struct doppel_library *library, enum code_table which,
                                     bool *out_made, struct doppel_error *error)
{
    struct code_names names;
    struct doppel_error failure = {0};
    *out_made = false;
    enum doppel_status status = code_names_make(library->directory, which, &names)
                                    ? open_kept(library, which, &names, &failure)
                                    : doppel_fail(&failure, DOPPEL_E_MEMORY, "no memory");
    if (can_be_made_again(status)) {
        notice_making(library, which, &failure);
        status = make_again(library, which, &names, &failure);
        *out_made = !status;
    }
    code_names_free(&names);
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

/* What others have committed since is not in it. */
static void drop_old_private(struct doppel_library *library, struct code_index *codes)
{
    int64_t version = 0;
    if (!codes->private ||
        (!rows_number(library, "PRAGMA data_version", NO_VALUES, &version, NULL, NULL) &&
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
    if (status && can_be_made_again(status)) {
        doppel_store_index_close(codes->kept);
        codes->kept = NULL;
    } else if (status) {
        return doppel_fail(error, status, "%s", failure.message);
    }
    drop_old_private(library, codes);
    status = DOPPEL_OK;
    if (!codes->kept && !codes->private)
        status = open_codes(library, which, &made, error);
    if (!status)
        *out = codes->kept ? doppel_store_index_get(codes->kept) : codes->private;
    return status;
}

/* ---- writing ---- */

static enum doppel_status put_in_table(struct doppel_library *library, enum code_table which,
                                       uint64_t id, const struct doppel_match_item *item,
                                       struct doppel_error *error)
{
    struct code_index *codes = &library->codes[which];
    uint64_t words[DOPPEL_IMAGE_TABLE_WORDS], payloads[CODES_MAX];
    size_t count = doppel_image_table_codes(tables[which].table, item, words);
    bool made = false;
    enum doppel_status status = codes->kept ? DOPPEL_OK : open_codes(library, which, &made, error);
    for (size_t i = 0; i < count; i++)
        payloads[i] = id;
    if (status || made || !count) /* it was made of the items that are there, this one too */
        return status;
    codes->put += count;
    return doppel_store_index_insert(codes->kept, words, payloads, count, error);
}

enum doppel_status codes_put(struct doppel_library *library, uint64_t id,
                             const struct doppel_record *record, struct doppel_error *error)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(record->scheme);
    const struct doppel_match_item item = {&record->fingerprint, record->quality};
    enum doppel_status status = DOPPEL_OK;
    if (!scheme || record->version != scheme->version)
        return DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++)
        if (tables[i].scheme == record->scheme)
            status = put_in_table(library, (enum code_table)i, id, &item, error);
    return status;
}

/* What is not there, or is to be made again, need not forget. */
enum doppel_status codes_forget(struct doppel_library *library, uint64_t id, unsigned schemes,
                                struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        struct code_index *codes = &library->codes[i];
        struct code_names names;
        if (!(schemes >> tables[i].scheme & 1))
            continue;
        if (!code_names_make(library->directory, (enum code_table)i, &names))
            status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
        else if (!codes->kept)
            status = open_kept(library, (enum code_table)i, &names, error);
        code_names_free(&names);
        if (!status)
            status = doppel_store_index_remove(codes->kept, &id, 1, error);
        else if (can_be_made_again(status))
            status = DOPPEL_OK;
    }
    return status;
}

enum doppel_status codes_make_again(struct doppel_library *library, enum code_table which,
                                    struct doppel_error *error)
{
    struct code_names names;
    doppel_store_index_close(library->codes[which].kept);
    library->codes[which].kept = NULL;
    enum doppel_status status = code_names_make(library->directory, which, &names)
                                    ? make_again(library, which, &names, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    code_names_free(&names);
    return status;
}

/* Whether the library has had it made. */
static enum doppel_status is_codes_there(struct doppel_library *library, enum code_table which,
                                         bool *out, struct doppel_error *error)
{
    struct code_names names;
    int64_t count = 0;
    enum doppel_status status =
        code_names_make(library->directory, which, &names)
            ? rows_number(library, "SELECT count(*) FROM doppel_index WHERE name = ?1",
                          VALUES(value_text(names.name)), &count, NULL, error)
            : doppel_fail(error, DOPPEL_E_MEMORY, "no memory");
    code_names_free(&names);
    *out = count > 0;
    return status;
}

enum doppel_status codes_complete(struct doppel_library *library, struct doppel_error *error)
{
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        const struct doppel_index *index;
        bool there;
        status = is_codes_there(library, (enum code_table)i, &there, error);
        if (!status && there)
            status = codes_index(library, (enum code_table)i, &index, error);
    }
    return status;
}

enum doppel_status codes_merge(struct doppel_library *library, enum code_table which,
                               struct doppel_error *error)
{
    const struct doppel_index *index;
    bool there;
    enum doppel_status status = is_codes_there(library, which, &there, error);
    if (!status && there)
        status = codes_index(library, which, &index, error);
    if (status || !there)
        return status;
    const struct doppel_index_info info = doppel_index_info(index);
    if (!info.removed && info.segments < 2)
        return DOPPEL_OK;
    struct doppel_error failure = {0};
    status = doppel_store_index_compact(library->codes[which].kept, true, &failure);
    if (can_be_made_again(status)) {
        notice_making(library, which, &failure);
        return codes_make_again(library, which, error);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}

void codes_rolled_back(struct doppel_library *library)
{
    for (int i = 0; i < CODE_TABLES; i++) {
        doppel_store_index_close(library->codes[i].kept);
        doppel_index_free(library->codes[i].private);
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
        if (info.log_codes > LEFT_CODES)
            doppel_store_index_flush(codes->kept, NULL);
        if (doppel_store_index_get(codes->kept) && is_worth_merging(codes))
            doppel_store_index_compact(codes->kept, true, NULL);
    }
    codes_rolled_back(library);
}

/* ---- pictures ---- */

bool doppel_library_fingerprint(struct doppel_library *library, uint64_t id,
                                struct doppel_fingerprint *out, uint8_t *out_quality)
{
    struct doppel_record record = {0};
    sqlite3_stmt *statement;
    bool row;
    if (rows_prepare(library,
                     "SELECT " RECORD_COLUMNS ", fingerprint.data FROM item"
                     " JOIN fingerprint ON fingerprint.item = item.id"
                     " WHERE item.id = ?1 AND " ITEM_IS_WHOLE,
                     VALUES(ID(id)), &statement, NULL) ||
        doppel_store_step(library->store, statement, &row, NULL) || !row)
        return false;
    bool read = record_read(statement, 0, &record) &&
                fingerprint_read(statement, RECORD_COLUMN_COUNT, &record);
    sqlite3_reset(statement);
    if (!read)
        return false;
    *out = record.fingerprint;
    *out_quality = record.quality;
    return true;
}

static bool give_fingerprint(void *library, uint64_t id, struct doppel_fingerprint *out,
                             uint8_t *out_quality)
{
    return doppel_library_fingerprint(library, id, out, out_quality);
}

static enum doppel_status find_in_tables(struct doppel_library *library,
                                         struct doppel_image_request *request,
                                         doppel_found_visitor *visitor, void *context,
                                         struct doppel_error *error)
{
    const enum doppel_scheme_id scheme = request->query->fingerprint->scheme;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++)
        if (tables[i].scheme == scheme)
            status =
                codes_index(library, (enum code_table)i, &request->tables[tables[i].table], error);
    return status ? status : doppel_images_find(request, visitor, context, error);
}

static enum doppel_status make_damaged_again(struct doppel_library *library,
                                             enum doppel_scheme_id scheme,
                                             struct doppel_error *error)
{
    const struct doppel_error why = *error;
    enum doppel_status status = DOPPEL_OK;
    for (int i = 0; i < CODE_TABLES && !status; i++) {
        struct code_index *codes = &library->codes[i];
        if (tables[i].scheme != scheme || !codes->kept ||
            !doppel_index_info(doppel_store_index_get(codes->kept)).damaged)
            continue;
        notice_making(library, (enum code_table)i, &why);
        status = codes_make_again(library, (enum code_table)i, error);
    }
    return status;
}

enum doppel_status doppel_library_find_images(struct doppel_library *library,
                                              const struct doppel_match_item *query,
                                              const struct doppel_match_options *options,
                                              doppel_found_visitor *visitor, void *context,
                                              struct doppel_error *error)
{
    struct doppel_image_request request = {.query = query,
                                           .options = options,
                                           .source = give_fingerprint,
                                           .context = library,
                                           .threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
    const struct doppel_fingerprint *fingerprint = query->fingerprint;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(fingerprint->scheme);
    if (!scheme || scheme->kind != DOPPEL_KIND_IMAGE || fingerprint->version != scheme->version ||
        !fingerprint->count)
        return doppel_fail(error, DOPPEL_E_VERSION,
                           "the fingerprint asked for is of no picture, or of another version");
    struct doppel_error failure = {0};
    enum doppel_status status = find_in_tables(library, &request, visitor, context, &failure);
    if (status == DOPPEL_E_CORRUPT) { /* met in a page that nobody had looked at */
        status = make_damaged_again(library, scheme->id, &failure);
        if (!status)
            status = find_in_tables(library, &request, visitor, context, &failure);
    }
    return status ? doppel_fail(error, status, "%s", failure.message) : DOPPEL_OK;
}
