/* Items that come from elsewhere: without a file, or with one that is not here; and copies of a
 * library in use. */
#include "tests/library/tracks.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct doppel_metadata named(char *external_id, char **lists, size_t list_count)
{
    return (struct doppel_metadata){
        .external_id = external_id, .lists = lists, .list_count = list_count};
}

/* Import what `seed` makes. @param path NULL: without a file */
static uint64_t import(struct doppel_library *library, uint64_t seed, const char *path,
                       const struct doppel_metadata *about, enum doppel_added expected)
{
    struct doppel_item item = {.path = (char *)path, .record = record_make(seed)};
    struct doppel_error error = {0};
    enum doppel_added added = DOPPEL_ADDED_MOVED;
    uint64_t id = 0;
    if (!path)
        memset(&item.record.digest, 0, sizeof item.record.digest);
    else
        item.stamp = (struct doppel_file_stamp){1, seed, 1000, 1};
    if (doppel_library_import(library, &item, about, &added, &id, &error))
        fail_msg("%s", error.message);
    assert_int_equal(added, expected);
    doppel_record_free(&item.record);
    return id;
}

struct tally {
    int whole, damaged, without_file;
};

static bool tally(void *context, const struct doppel_item *item)
{
    struct tally *seen = context;
    seen->whole += !item->record.error.status;
    seen->damaged += item->record.error.status != DOPPEL_OK;
    seen->without_file += !item->record.error.status && !*item->path;
    return true;
}

static struct tally count(struct doppel_library *library)
{
    struct tally seen = {0};
    assert_int_equal(doppel_library_each(library, tally, &seen, NULL), DOPPEL_OK);
    return seen;
}

/* What is known of it is what came; it has no path, and is not found by one. */
static void an_item_needs_no_file(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t id = import(library, 1, NULL, NULL, DOPPEL_ADDED_NEW);
    struct doppel_item item;
    struct doppel_record wanted = record_make(1);
    commit(library);
    assert_int_equal(doppel_library_get(library, id, true, &item, NULL), DOPPEL_OK);
    assert_string_equal(item.path, "");
    assert_int_equal(item.stamp.size, 0);
    wanted.digest = item.record.digest;
    record_assert_equal(&item.record, &wanted);
    doppel_record_free(&wanted);
    doppel_item_free(&item);
    assert_int_equal(doppel_library_by_path(library, "", &item, NULL), DOPPEL_E_NOT_FOUND);
    assert_int_equal(import(library, 1, NULL, NULL, DOPPEL_ADDED_UNCHANGED), id);
    assert_int_not_equal(import(library, 2, NULL, NULL, DOPPEL_ADDED_NEW), id);
    assert_int_equal(count(library).without_file, 2);
    assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
    assert_int_equal(count(library).without_file, 1);
    doppel_library_close(library);
}

/* The same name on the same list is the same item, whose codes may change; on another list, or on
 * none, it is another. */
static void names_are_those_of_a_list(void **state)
{
    struct doppel_library *library = open_library(*state);
    char *one[] = {(char *)"one"}, *two[] = {(char *)"two"};
    const struct doppel_metadata a = named((char *)"x", one, 1), b = named((char *)"x", two, 1);
    const struct doppel_metadata none = named((char *)"x", NULL, 0), y = named((char *)"y", one, 1);
    uint64_t first = import(library, 1, NULL, &a, DOPPEL_ADDED_NEW);
    assert_int_equal(import(library, 1, NULL, &a, DOPPEL_ADDED_UNCHANGED), first);
    assert_int_equal(import(library, 2, NULL, &a, DOPPEL_ADDED_UPDATED), first);
    assert_int_not_equal(import(library, 2, NULL, &b, DOPPEL_ADDED_NEW), first);
    uint64_t third = import(library, 2, NULL, &none, DOPPEL_ADDED_NEW);
    assert_int_equal(import(library, 2, NULL, &none, DOPPEL_ADDED_UNCHANGED), third);
    import(library, 2, NULL, &y, DOPPEL_ADDED_NEW);
    struct doppel_item item;
    struct doppel_record wanted = record_make(2);
    assert_int_equal(doppel_library_get(library, first, true, &item, NULL), DOPPEL_OK);
    wanted.digest = item.record.digest;
    record_assert_equal(&item.record, &wanted);
    doppel_record_free(&wanted);
    doppel_item_free(&item);
    assert_int_equal(count(library).without_file, 4);
    doppel_library_close(library);
}

/* Two items of the same bytes whose files are not here are two; an item that never had a file has
 * not moved when its bytes turn up. */
static void nothing_moves_that_is_imported(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t first = import(library, 1, "/gone/a", NULL, DOPPEL_ADDED_NEW);
    assert_int_not_equal(import(library, 1, "/gone/b", NULL, DOPPEL_ADDED_NEW), first);
    assert_int_equal(import(library, 1, "/gone/a", NULL, DOPPEL_ADDED_UNCHANGED), first);
    struct doppel_item bare = {.record = record_make(7)};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_import(library, &bare, NULL, &added, &id, NULL), DOPPEL_OK);
    doppel_record_free(&bare.record);
    const char *path = folder_path(*state, "file");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_not_equal(add_file(library, path, 7, DOPPEL_ADDED_NEW), id);
    doppel_library_close(library);
}

/* Other bytes stay at their path; what came in is there all the same, once. */
static void a_path_that_is_taken_stays(void **state)
{
    struct doppel_library *library = open_library(*state);
    uint64_t mine = import(library, 1, "/a", NULL, DOPPEL_ADDED_NEW);
    uint64_t other = import(library, 2, "/a", NULL, DOPPEL_ADDED_ELSEWHERE);
    struct doppel_item item;
    assert_int_equal(doppel_library_by_path(library, "/a", &item, NULL), DOPPEL_OK);
    assert_int_equal(item.id, mine);
    doppel_item_free(&item);
    assert_int_equal(import(library, 2, "/a", NULL, DOPPEL_ADDED_UNCHANGED), other);
    doppel_library_close(library);
}

static void refuse(struct doppel_library *library, const struct doppel_item *item,
                   const struct doppel_metadata *about)
{
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id;
    assert_int_equal(doppel_library_import(library, item, about, &added, &id, &error),
                     DOPPEL_E_ARGUMENT);
    assert_true(*error.message);
}

/* What is no item is refused, and nothing is taken back for it. */
static void a_refusal_takes_nothing_back(void **state)
{
    struct doppel_library *library = open_library(*state);
    import(library, 1, NULL, NULL, DOPPEL_ADDED_NEW);
    struct doppel_item item = {.record = record_make(2)};
    const struct doppel_metadata empty = named((char *)"", NULL, 0), bad = {.meta = (char *)"[1]"};
    refuse(library, &item, &empty);
    refuse(library, &item, &bad);
    item.path = (char *)"relative";
    refuse(library, &item, NULL);
    item.path = NULL;
    item.record.quality = 101;
    refuse(library, &item, NULL);
    item.record.quality = 50;
    item.record.kind = DOPPEL_KIND_TEXT;
    refuse(library, &item, NULL);
    item.record.kind = DOPPEL_KIND_IMAGE;
    item.record.version++;
    refuse(library, &item, NULL);
    item.record.version--;
    item.record.fingerprint.positions[0] = 99;
    refuse(library, &item, NULL);
    doppel_record_free(&item.record);
    commit(library);
    doppel_library_close(library);
    library = open_library(*state);
    assert_int_equal(count(library).whole, 1);
    doppel_library_close(library);
}

/* A byte of its path that is another one is told. */
static void damage_to_what_has_no_path_is_told(void **state)
{
    static const char *const changes[] = {
        "UPDATE item SET path = x'000000000000000102' WHERE id = 1",
        "UPDATE item SET path = x'0100000000000000ff' WHERE id = 1",
        "UPDATE item SET path = x'00' WHERE id = 1",
        "UPDATE fingerprint SET data = zeroblob(length(data)) WHERE item = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct doppel_library *library = open_library(*state);
        uint64_t id = import(library, 1, NULL, NULL, DOPPEL_ADDED_NEW);
        commit(library);
        doppel_library_close(library);
        char *sql = strdup(changes[i]), *number = strstr(sql, "= 1");
        if (id != 1)
            sprintf(number, "= %d", (int)id);
        run_raw(folder_path(*state, "a/library/catalogue.db"), sql);
        free(sql);
        library = open_library(*state);
        struct tally seen = count(library);
        assert_int_equal(seen.damaged, 1);
        assert_int_equal(seen.whole, 0);
        assert_int_equal(doppel_library_remove(library, id, NULL), DOPPEL_OK);
        commit(library);
        doppel_library_close(library);
    }
}

/* Recordings and videos go into their indexes, and out of them when they become others. */
static void tracks_are_indexed(void **state)
{
    char *lists[] = {(char *)"songs"};
    const struct doppel_metadata about = named((char *)"one", lists, 1);
    struct doppel_library *library = open_library(*state);
    uint64_t ids[2];
    for (unsigned i = 0; i < 2; i++) {
        struct doppel_item item = {.record = kind->make(i + 1, 10 + i)};
        enum doppel_added added;
        struct doppel_error error = {0};
        memset(&item.record.digest, 0, sizeof item.record.digest);
        if (doppel_library_import(library, &item, &about, &added, &ids[i], &error))
            fail_msg("%s", error.message);
        assert_int_equal(added, i ? DOPPEL_ADDED_UPDATED : DOPPEL_ADDED_NEW);
        doppel_record_free(&item.record);
    }
    assert_int_equal(ids[0], ids[1]);
    commit(library);
    doppel_library_close(library);
    assert_true(assert_indexes_fit(directory_of(*state)) > 0);
}

/* ---- copies ---- */

static const char *copy_of(const char *folder)
{
    return folder_path(folder, "copy");
}

static void back_up(struct doppel_library *library, const char *directory)
{
    struct doppel_error error = {0};
    if (doppel_library_backup(library, directory, NULL, NULL, &error))
        fail_msg("%s", error.message);
}

static struct doppel_library *open_copy(const char *directory)
{
    static const struct doppel_library_options options;
    struct doppel_library *copy;
    struct doppel_error error = {0};
    if (doppel_library_open(directory, &options, &copy, &error))
        fail_msg("%s", error.message);
    return copy;
}

/* Recordings too: their index is made from the copy. */
static void a_copy_has_it_all(void **state)
{
    struct doppel_library *library = open_library(*state);
    for (uint64_t seed = 1; seed <= 50; seed++)
        import(library, seed, NULL, NULL, DOPPEL_ADDED_NEW);
    add_track(library, kind, "/files/track", 77, 10, DOPPEL_ADDED_NEW);
    commit(library);
    import(library, 1000, NULL, NULL, DOPPEL_ADDED_NEW); /* not committed */
    doppel_library_close(library);
    library = open_library(*state);
    back_up(library, copy_of(*state));
    doppel_library_close(library);
    struct doppel_library *copy = open_copy(copy_of(*state));
    assert_int_equal(count(copy).whole, 51);
    doppel_library_close(copy);
    assert_true(assert_indexes_fit(copy_of(*state)) > 0);
}

static void a_copy_wants_an_empty_place(void **state)
{
    struct doppel_library *library = open_library(*state);
    import(library, 1, NULL, NULL, DOPPEL_ADDED_NEW);
    commit(library);
    const char *directory = copy_of(*state);
    assert_int_equal(mkdir(directory, 0700), 0);
    back_up(library, directory);
    struct doppel_error error;
    assert_int_equal(doppel_library_backup(library, directory, NULL, NULL, &error),
                     DOPPEL_E_ARGUMENT);
    assert_int_equal(
        doppel_library_backup(library, folder_path(*state, "no/such"), NULL, NULL, &error),
        DOPPEL_E_IO);
    doppel_library_close(library);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return false;
}

static void an_interrupted_copy_leaves_nothing(void **state)
{
    struct doppel_library *library = open_library(*state);
    assert_int_equal(doppel_library_backup(library, copy_of(*state), stop_at_once, NULL, NULL),
                     DOPPEL_E_CANCELLED);
    assert_int_not_equal(access(copy_of(*state), F_OK), 0);
    doppel_library_close(library);
}

/* Adds without end, one item a commit; tells after each that it is there. */
static void add_for_ever(const char *folder, int tell)
{
    struct doppel_library *library = open_library(folder);
    for (uint64_t number = 1;; number++)
        if (add_numbered(library, number, record_make(number), NULL) ||
            doppel_library_commit(library, NULL) || write(tell, "+", 1) != 1)
            _exit(1);
}

/* What was committed before the copy began is in it, whatever is written meanwhile; and it is a
 * library. */
static void a_copy_is_as_of_one_moment(void **state)
{
    enum { COPIES = 5 };
    int pipe_ends[2];
    char told[4096];
    uint64_t committed = 0;
    doppel_library_close(open_library(*state));
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0)
        add_for_ever(*state, pipe_ends[1]);
    for (int i = 0; i < COPIES; i++) {
        char name[16];
        ssize_t got = read(pipe_ends[0], told, sizeof told);
        assert_true(got > 0);
        committed += (uint64_t)got;
        struct doppel_library *library = open_library(*state);
        snprintf(name, sizeof name, "copy%d", i);
        back_up(library, folder_path(*state, name));
        doppel_library_close(library);
        struct doppel_library *copy = open_copy(folder_path(*state, name));
        struct tally seen = count(copy);
        assert_true((uint64_t)seen.whole >= committed);
        assert_int_equal(seen.damaged, 0);
        doppel_library_close(copy);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_set_up, folder_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(an_item_needs_no_file),
        IN_FOLDER(names_are_those_of_a_list),
        IN_FOLDER(nothing_moves_that_is_imported),
        IN_FOLDER(a_path_that_is_taken_stays),
        IN_FOLDER(a_refusal_takes_nothing_back),
        IN_FOLDER(damage_to_what_has_no_path_is_told),
        WITH_BOTH(tracks_are_indexed),
        WITH_BOTH(a_copy_has_it_all),
        IN_FOLDER(a_copy_wants_an_empty_place),
        IN_FOLDER(an_interrupted_copy_leaves_nothing),
        IN_FOLDER(a_copy_is_as_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
