/* Each kept index where a disk is full while it is written, and where the catalogue says other than
 * it does: what was committed stays findable, and it is told. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_checks.h"

/* ---- a full disk ---- */

enum { MORE = 8, COMMITTED = 1, REFUSED = 2, WRONG = 4 };

static int refused(enum doppel_status status, const struct doppel_error *error)
{
    return status ? (strlen(error->message) ? REFUSED : WRONG) : 0;
}

static bool are_all_found(const struct kept_kind *kind, struct doppel_library *library)
{
    bool found = true;
    for (uint64_t i = 0; i < KEPT_ITEMS && found; i++) {
        size_t count = 0;
        uint64_t id;
        found = !kind->find(kind, library, i, &count, &id, NULL) && count == 1;
    }
    return found;
}

/* Some more, and a segment of all that wait; and then one of all that are there. */
static int write_segments(const struct kept_kind *kind, struct doppel_library *library,
                          uint64_t first)
{
    struct doppel_error error = {0};
    enum doppel_status status = DOPPEL_OK;
    uint64_t id;
    int what = 0;
    for (uint64_t i = 0; i < MORE && !status; i++)
        status = kind->put(kind, library, first + i, &id, &error);
    if (!status)
        status = doppel_library_commit(library, &error);
    what |= status ? refused(status, &error) : COMMITTED;
    if (status)
        doppel_library_rollback(library);
    for (size_t i = 0; i < kind->table_count; i++) {
        struct doppel_store_index *kept = library->codes[kind->tables[i]].kept;
        status = kept ? doppel_store_index_flush(kept, &error) : DOPPEL_OK;
        what |= refused(status, &error);
        status = codes_make_again(library, kind->tables[i], &error);
        what |= refused(status, &error);
    }
    return what;
}

/* In a process of its own. No file may become larger than that. */
static int write_without_room(const struct kept_kind *kind, const char *directory, rlim_t bytes,
                              uint64_t first)
{
    const struct rlimit limit = {bytes, bytes};
    struct doppel_library *library;
    int what = 0, status;
    pid_t child = fork();
    if (!child) {
        signal(SIGXFSZ, SIG_IGN);
        if (doppel_library_open(directory, NULL, &library, NULL) || setrlimit(RLIMIT_FSIZE, &limit))
            _exit(WRONG);
        what = write_segments(kind, library, first);
        what |= are_all_found(kind, library) ? 0 : WRONG;
        doppel_library_close(library);
        _exit(what);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_no_room(void **state)
{
    static const rlim_t limits[] = {1, 5000, 20000, 60000, 200000, 1 << 20, 1 << 26};
    for (size_t i = 0; i < kept_kind_count; i++) {
        const struct kept_kind *kind = &kept_kinds[i];
        const char *folder = folder_path(*state, kind->name);
        int seen = 0, each = 0;
        kept_fill(kind, folder, 0);
        char *directory = strdup(directory_of(folder));
        for (size_t j = 0; j < sizeof limits / sizeof *limits; j++) {
            const uint64_t first = KEPT_ITEMS + j * MORE;
            int what = write_without_room(kind, directory, limits[j], first);
            if (what & WRONG)
                fail_msg("%s: wrong with %llu bytes", kind->name, (unsigned long long)limits[j]);
            struct doppel_library *library = open_library(folder);
            for (uint64_t k = 0; k < MORE; k++)
                assert_int_equal(kept_count_found(kind, library, first + k),
                                 (what & COMMITTED) != 0);
            doppel_library_close(library);
            kept_assert_whole(kind, directory);
            seen |= what;
            each |= 1 << what;
        }
        assert_int_equal(seen, COMMITTED | REFUSED);
        assert_true(each & 1 << COMMITTED); /* the last has room enough */
        free(directory);
    }
}

/* ---- what others did to the catalogue ---- */

static void take_items_away(const char *directory)
{
    char *path;
    assert_true(asprintf(&path, "%s/catalogue.db", directory) > 0);
    run_raw(path, "DELETE FROM text WHERE id % 5 < 2;"
                  "DELETE FROM item WHERE id % 5 < 2 AND path != CAST('/kept/1000000' AS BLOB);"
                  "DELETE FROM fingerprint WHERE item NOT IN (SELECT id FROM item);"
                  "DELETE FROM attachment WHERE item NOT IN (SELECT id FROM item);"
                  "DELETE FROM link WHERE item NOT IN (SELECT id FROM item)");
    free(path);
}

/* An index that holds what the items have not is told of, each, and mended. */
static void test_catalogue(void **state)
{
    for (size_t i = 0; i < kept_kind_count; i++) {
        const struct kept_kind *kind = &kept_kinds[i];
        const char *folder = folder_path(*state, kind->name);
        kept_fill(kind, folder, 0);
        char *directory = strdup(directory_of(folder));
        take_items_away(directory);
        const char *problems = kept_verify(directory, false);
        for (size_t j = 0; j < kind->table_count; j++)
            if (!strstr(problems, code_tables[kind->tables[j]].folder))
                fail_msg("%s: verify does not tell of %s: %s", kind->name,
                         code_tables[kind->tables[j]].folder, problems);
        assert_true(strlen(kept_verify(directory, true)) > 0);
        assert_string_equal(kept_verify(directory, false), "");
        free(directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(test_no_room), IN_FOLDER(test_catalogue)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
