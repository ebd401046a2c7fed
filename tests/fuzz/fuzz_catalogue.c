/*
 * Fuzz target: the catalogue of a library with bytes changed is opened and asked everything,
 * checked and mended. An input is changes of six bytes: place (4), how (1), value (1). Each runs as
 * it is, and with the checksums of rows made right again, so that what lies behind them is reached.
 */
#include <doppel/library.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"
#include "library/catalogue.h"
#include "library/items/text_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEMS = 24, CHANGE = 6, MAX_BYTES = 2 << 20 };

static char folder[] = "/tmp/doppel-fuzz-XXXXXX";
static uint8_t whole[MAX_BYTES], changed[MAX_BYTES];
static size_t whole_size;

static void check(bool good)
{
    if (!good)
        abort();
}

static char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- a library ---- */

static void add_item(struct doppel_library *library, uint64_t number)
{
    char path[32];
    enum doppel_added added;
    uint64_t id;
    const struct doppel_scheme *scheme = doppel_scheme_by_id(DOPPEL_SCHEME_PHASH64);
    const struct doppel_file_stamp stamp = {.inode = number};
    struct doppel_record record = {.kind = DOPPEL_KIND_IMAGE,
                                   .scheme = scheme->id,
                                   .version = scheme->version,
                                   .width = 10,
                                   .height = 10};
    check(!doppel_fingerprint_make(scheme, 256, 1, &record.fingerprint, NULL));
    record.fingerprint.codes[0].word[0] = number * UINT64_C(0x9e3779b97f4a7c15);
    record.digest = doppel_digest_bytes(&number, sizeof number);
    snprintf(path, sizeof path, "/files/%u", (unsigned)number);
    check(!doppel_library_add(library, path, &stamp, &record, &added, &id, NULL));
    doppel_record_free(&record);
}

static void add_text(struct doppel_library *library, uint64_t leader)
{
    static const uint16_t lanes[128];
    uint64_t id;
    const struct doppel_library_text text = {.record_id = "r",
                                             .path = "/corpus.jsonl",
                                             .line = 1,
                                             .leader = leader,
                                             .lanes = lanes,
                                             .lane_count = 128};
    check(!doppel_library_add_text(library, &text, &id, NULL));
}

static void fill(struct doppel_library *library)
{
    const struct doppel_text_options options = doppel_text_options_default();
    const struct doppel_text_limits limits = {0.7, 0.9};
    const struct doppel_keep_policy policy = doppel_keep_policy_default();
    char *names[] = {(char *)"one", (char *)"two"};
    const struct doppel_metadata about = {.meta = (char *)"{\"a\":1}",
                                          .labels = names,
                                          .label_count = 2,
                                          .lists = names,
                                          .list_count = 2};
    for (uint64_t number = 1; number <= ITEMS; number++)
        add_item(library, number);
    check(!doppel_library_set_text_options(library, &options, &limits, NULL));
    add_text(library, 0);
    add_text(library, ITEMS + 1);
    for (uint64_t id = 2; id < 8; id++)
        check(!doppel_library_link(library, id, 1, NULL) &&
              !doppel_library_set_metadata(library, id, &about, NULL));
    check(!doppel_library_set_canonical(library, 1, 3, NULL));
    check(!doppel_library_set_source(library, "*.in", 5, NULL));
    check(!doppel_library_set_policy(library, &policy, NULL));
    check(!doppel_library_commit(library, NULL));
}

static void remove_all(void)
{
    static const char *const names[] = {
        "catalogue.db",         "catalogue.db-wal",         "catalogue.db-shm",
        "catalogue.db.damaged", "catalogue.db.damaged-wal", "catalogue.db.damaged-shm",
        "damaged.jsonl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
}

static void leave(void)
{
    remove_all();
    rmdir(folder);
}

static void make(void)
{
    const struct doppel_library_options options = {.create = true};
    struct doppel_library *library;
    if (whole_size)
        return;
    check(mkdtemp(folder) && !doppel_library_open(folder, &options, &library, NULL));
    atexit(leave);
    fill(library);
    doppel_library_close(library);
    FILE *file = fopen(path_of("catalogue.db"), "r");
    check(file && (whole_size = fread(whole, 1, sizeof whole, file)));
    fclose(file);
}

/* ---- changes ---- */

static void change(const uint8_t *data, size_t size)
{
    memcpy(changed, whole, whole_size);
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        uint8_t *byte = &changed[get_u32(data) % whole_size];
        if (data[4] % 3 == 0)
            *byte = data[5];
        else if (data[4] % 3 == 1)
            *byte ^= (uint8_t)(1 << data[5] % 8);
        else
            *byte = (uint8_t)(*byte + data[5]);
    }
    remove_all();
    FILE *file = fopen(path_of("catalogue.db"), "w");
    check(file && fwrite(changed, 1, whole_size, file) == whole_size && !fclose(file));
}

/* What cannot be sealed stays as it is. */
static void seal(void)
{
    static const char *const updates[] = {
        "UPDATE item SET checksum = " CHECKSUM_OF(ITEM_COLUMNS),
        "UPDATE fingerprint SET checksum = " CHECKSUM_OF("item, data"),
        "UPDATE text SET checksum = " CHECKSUM_OF(TEXT_COLUMNS),
        "UPDATE link SET checksum = " CHECKSUM_OF("item, leader"),
        "UPDATE canonical SET checksum = " CHECKSUM_OF("leader, item"),
        "UPDATE list SET checksum = " CHECKSUM_OF("id, name, state"),
        "UPDATE about SET checksum = " CHECKSUM_OF(ABOUT_COLUMNS),
        "UPDATE source SET checksum = " CHECKSUM_OF("pattern, authority"),
        "UPDATE policy SET checksum = " CHECKSUM_OF("one, keep"),
        "UPDATE log SET checksum = NULL"};
    sqlite3 *database;
    if (!sqlite3_open(path_of("catalogue.db"), &database) && !checksum_define(database))
        for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
            sqlite3_exec(database, updates[i], NULL, NULL, NULL);
    sqlite3_close(database);
}

/* ---- questions ---- */

static bool see_item(void *context, const struct doppel_item *item)
{
    (void)context;
    check(item->path && (item->record.error.status || item->record.fingerprint.count ||
                         item->record.scheme == DOPPEL_SCHEME_NONE));
    return true;
}

static bool see_text(void *context, const struct doppel_library_text *text)
{
    (void)context;
    check(text->error.status || text->leader < text->id);
    return true;
}

static bool see_entry(void *context, const struct doppel_log_entry *entry,
                      const struct doppel_error *error)
{
    (void)context;
    check(error->status || entry->name);
    return true;
}

static bool see_id(void *context, uint64_t id)
{
    (void)context;
    (void)id;
    return true;
}

static bool see_list(void *context, const struct doppel_list *list)
{
    (void)context;
    check(list->name != NULL);
    return true;
}

static bool see_source(void *context, const char *pattern, int64_t authority)
{
    (void)context;
    (void)authority;
    check(pattern != NULL);
    return true;
}

static bool see_problem(void *context, const struct doppel_problem *problem)
{
    (void)context;
    check(problem->problem && problem->detail);
    return true;
}

static void ask_of(struct doppel_library *library, uint64_t id)
{
    struct doppel_item item;
    struct doppel_metadata about;
    enum doppel_list_state state;
    uint64_t other;
    if (!doppel_library_get(library, id, true, &item, NULL))
        doppel_item_free(&item);
    if (!doppel_library_get_metadata(library, id, &about, NULL))
        doppel_metadata_free(&about);
    doppel_library_leader(library, id, &other, NULL);
    doppel_library_canonical(library, id, &other, NULL);
    doppel_library_each_follower(library, id, 0, see_id, NULL, NULL);
    doppel_library_state_of(library, id, &state, NULL);
}

static void ask(struct doppel_library *library)
{
    const struct doppel_log_query log = {0};
    const struct doppel_text_query texts = {.shingles = true};
    struct doppel_library_stats stats;
    struct doppel_keep_policy policy;
    doppel_library_each(library, see_item, NULL, NULL);
    doppel_library_each_text(library, &texts, see_text, NULL, NULL);
    doppel_library_each_log(library, &log, see_entry, NULL, NULL);
    doppel_library_each_list(library, see_list, NULL, NULL);
    doppel_library_each_source(library, see_source, NULL, NULL);
    doppel_library_where(library, "width > 3 OR labels LIKE '%a%'", 1000, see_id, NULL, NULL);
    doppel_library_policy(library, &policy, NULL);
    doppel_library_stats(library, &stats, NULL);
    for (uint64_t id = 1; id <= ITEMS + 2; id++)
        ask_of(library, id);
}

static void read_it(void)
{
    const struct doppel_library_options read_only = {.read_only = true};
    struct doppel_library *library;
    if (doppel_library_open(folder, &read_only, &library, NULL))
        return;
    ask(library);
    doppel_library_verify(library, false, see_problem, NULL, NULL);
    doppel_library_close(library);
}

static void mend_it(void)
{
    const struct doppel_library_options options = {0};
    struct doppel_library *library = NULL;
    enum doppel_status status = doppel_library_open(folder, &options, &library, NULL);
    if (!status)
        status = doppel_library_verify(library, true, see_problem, NULL, NULL);
    doppel_library_close(library);
    if (status != DOPPEL_E_CORRUPT || doppel_library_salvage(folder, see_problem, NULL, NULL) ||
        doppel_library_open(folder, &options, &library, NULL))
        return;
    check(!doppel_library_verify(library, true, see_problem, NULL, NULL));
    ask(library);
    doppel_library_close(library);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make();
    for (int sealed = 0; sealed < 2; sealed++) {
        change(data, size);
        if (sealed)
            seal();
        read_it();
        mend_it();
    }
    return 0;
}
