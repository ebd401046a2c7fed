/* A log whose rows tell of many items is read as one with a row for each. */
#include "tests/library/list_codes.h"

#include <stdio.h>

enum { QUERIES = 400, ENTRIES_MAX = 40000 };

struct seen_entry {
    uint64_t entry, item;
    int64_t time_ns;
    enum doppel_log_action action;
    char name[24];
};

struct seen_log {
    struct seen_entry *entries;
    size_t count, stop;
};

static bool see_entry(void *context, const struct doppel_log_entry *entry,
                      const struct doppel_error *error)
{
    struct seen_log *log = context;
    assert_int_equal(error->status, DOPPEL_OK);
    assert_true(log->count < ENTRIES_MAX);
    struct seen_entry *seen = &log->entries[log->count++];
    *seen = (struct seen_entry){entry->entry, entry->item, entry->time_ns, entry->action, ""};
    snprintf(seen->name, sizeof seen->name, "%s", entry->name);
    return log->count != log->stop;
}

/* The slow way: all entries, of which those are left that are asked for. */
static size_t entries_of(const struct seen_log *all, const struct doppel_log_query *query,
                         struct seen_entry *out)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count && !(query->limit && count == query->limit); i++) {
        const struct seen_entry *entry =
            &all->entries[query->newest_first ? all->count - 1 - i : i];
        if (entry->entry >= query->first && (!query->last || entry->entry <= query->last) &&
            (!query->item || entry->item == query->item) && entry->time_ns >= query->since_ns &&
            (!query->until_ns || entry->time_ns <= query->until_ns))
            out[count++] = *entry;
    }
    return count;
}

static void check_query(struct doppel_library *library, const struct seen_log *all,
                        const struct doppel_log_query *query, struct seen_entry *expected,
                        struct seen_log *seen)
{
    seen->count = 0;
    size_t count = entries_of(all, query, expected);
    bool stopped = seen->stop && seen->stop <= count;
    assert_int_equal(doppel_library_each_log(library, query, see_entry, seen, NULL),
                     stopped ? DOPPEL_E_CANCELLED : DOPPEL_OK);
    assert_int_equal(seen->count, stopped ? seen->stop : count);
    assert_memory_equal(seen->entries, expected, seen->count * sizeof *expected);
}

static void a_row_of_many_is_many_entries(void **state)
{
    char *lists[] = {(char *)"bad"};
    const struct doppel_metadata none = {0}, listed = {.lists = lists, .list_count = 1};
    struct doppel_library *library = open_library(*state);
    static struct list_code codes[600];
    struct seen_log all = {calloc(ENTRIES_MAX, sizeof *all.entries), 0, 0}, seen = all;
    struct seen_entry *expected = calloc(ENTRIES_MAX, sizeof *expected);
    const struct doppel_log_query everything = {0};
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    seen.entries = calloc(ENTRIES_MAX, sizeof *seen.entries);
    struct code_source source = {.random = 11};
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < 600; i++)
            codes[i] = random_code(&source);
        import_batches(library, codes, 600, round == 2 ? 600 : 90, round % 2 ? &listed : &none,
                       counts);
        for (int i = 0; i < 5; i++)
            (void)doppel_library_remove(library, 1 + draw_below(&source, 600), NULL);
        commit(library);
    }
    assert_int_equal(doppel_library_each_log(library, &everything, see_entry, &all, NULL),
                     DOPPEL_OK);
    assert_true(all.count > 2500);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(all.entries[i].entry, i + 1);
    for (int i = 0; i < QUERIES; i++) {
        const int64_t times[2] = {all.entries[draw_below(&source, all.count)].time_ns,
                                  all.entries[draw_below(&source, all.count)].time_ns};
        const struct doppel_log_query query = {
            .item = draw_below(&source, 2) ? 0 : 1 + draw_below(&source, 2700),
            .first = draw_below(&source, 2) ? 0 : draw_below(&source, all.count),
            .last = draw_below(&source, 2) ? 0 : draw_below(&source, all.count + 10),
            .since_ns = draw_below(&source, 4) ? 0 : times[0],
            .until_ns = draw_below(&source, 4) ? 0 : times[1],
            .limit = draw_below(&source, 2) ? 0 : 1 + draw_below(&source, 300),
            .newest_first = draw_below(&source, 2),
        };
        seen.stop = draw_below(&source, 4) ? 0 : 1 + draw_below(&source, 50);
        check_query(library, &all, &query, expected, &seen);
    }
    free(all.entries);
    free(seen.entries);
    free(expected);
    doppel_library_close(library);
}

static bool note_damage(void *context, const struct doppel_log_entry *entry,
                        const struct doppel_error *error)
{
    uint64_t *damaged = context;
    if (error->status)
        *damaged = entry->entry;
    return true;
}

/* How many there are is covered by the checksum of the row. */
static void a_damaged_row_of_many(void **state)
{
    static const char *const changes[] = {"last_item = last_item - 1", "last_item = NULL",
                                          "item = item + 1", "last_item = item"};
    const struct doppel_metadata none = {0};
    const struct doppel_log_query everything = {0};
    struct list_code codes[50];
    uint64_t counts[DOPPEL_ADDED_ELSEWHERE + 1] = {0};
    struct doppel_library *library = open_library(*state);
    struct code_source source = {.random = 13};
    for (size_t i = 0; i < 50; i++)
        codes[i] = random_code(&source);
    import_batches(library, codes, 50, 50, &none, counts);
    doppel_library_close(library);
    run_raw(folder_path(*state, "a/library/catalogue.db"),
            "CREATE TABLE kept AS SELECT * FROM log");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[200];
        uint64_t damaged = 0;
        snprintf(sql, sizeof sql, "UPDATE log SET %s WHERE last_item IS NOT NULL", changes[i]);
        run_raw(folder_path(*state, "a/library/catalogue.db"), sql);
        library = open_library(*state);
        assert_int_equal(doppel_library_each_log(library, &everything, note_damage, &damaged, NULL),
                         DOPPEL_OK);
        if (!damaged)
            fail_msg("%s", changes[i]);
        doppel_library_close(library);
        run_raw(folder_path(*state, "a/library/catalogue.db"),
                "DELETE FROM log; INSERT INTO log SELECT * FROM kept");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_row_of_many_is_many_entries),
        IN_FOLDER(a_damaged_row_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
