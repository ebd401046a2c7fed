/* Segments of each kept index that are missing, cut, of another library, or have changed bytes; and
 * a disk that is full: nothing is silently wrong, it is said once, made anew, or refused where
 * nothing is to be made. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_kinds.h"

enum { ITEMS = 48, PAGE = 4096, OTHERS = 5000 };

/* ---- libraries ---- */

static void fill(const struct kept_kind *kind, const char *folder, uint64_t first)
{
    struct doppel_library *library = open_library(folder);
    struct doppel_error error = {0};
    uint64_t id;
    kept_prepare(kind, library);
    for (uint64_t i = 0; i < ITEMS; i++)
        if (kind->put(kind, library, first + i, &id, &error))
            fail_msg("%s: %s", kind->name, error.message);
    commit(library);
    for (size_t i = 0; i < kind->table_count; i++) /* into segments */
        if (codes_make_again(library, kind->tables[i], &error))
            fail_msg("%s: %s", kind->name, error.message);
    doppel_library_close(library);
}

static size_t count_found(const struct kept_kind *kind, struct doppel_library *library,
                          uint64_t number)
{
    struct doppel_error error = {0};
    size_t count = 0;
    uint64_t id;
    if (kind->find(kind, library, number, &count, &id, &error))
        fail_msg("%s: %s", kind->name, error.message);
    return count;
}

/* Each is found once, and what is not there is not. */
static void assert_all_found(const struct kept_kind *kind, struct doppel_library *library)
{
    for (uint64_t i = 0; i < ITEMS; i++) {
        assert_int_equal(count_found(kind, library, i), 1);
        assert_int_equal(count_found(kind, library, OTHERS + i), 0);
    }
}

static bool take_problem(void *context, const struct doppel_problem *problem)
{
    char(*text)[4096] = context;
    strncat(*text, problem->detail, sizeof *text - strlen(*text) - 1);
    strncat(*text, "\n", sizeof *text - strlen(*text) - 1);
    return true;
}

/* @return what is wrong, in a buffer that is used again */
static const char *verify(const char *directory, bool repair)
{
    static char problems[4096];
    struct doppel_library *library;
    struct doppel_error error = {0};
    *problems = 0;
    assert_int_equal(doppel_library_open(directory, NULL, &library, NULL), DOPPEL_OK);
    if (doppel_library_verify(library, repair, take_problem, &problems, &error))
        fail_msg("%s", error.message);
    doppel_library_close(library);
    return problems;
}

static void assert_whole(const struct kept_kind *kind, const char *directory)
{
    const struct doppel_library_options reading = {.read_only = true, .no_rebuild = true};
    struct doppel_library *library;
    assert_string_equal(verify(directory, false), "");
    assert_int_equal(doppel_library_open(directory, &reading, &library, NULL), DOPPEL_OK);
    assert_all_found(kind, library);
    doppel_library_close(library);
}

/* ---- faults ---- */

static void lose_segment(const char *path, const char *other)
{
    (void)other;
    assert_int_equal(unlink(path), 0);
}

static void cut_segment(const char *path, const char *other)
{
    struct stat status;
    (void)other;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size / 2), 0);
}

static void empty_segment(const char *path, const char *other)
{
    (void)other;
    assert_int_equal(truncate(path, 0), 0);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[1 << 16];
    size_t count;
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_true(in && out);
    while ((count = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, count, out), count);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void swap_segment(const char *path, const char *other)
{
    copy_file(other, path);
}

/* A byte in each page from `first` on. */
static void change_pages(const char *path, off_t first)
{
    struct stat status;
    uint8_t byte;
    int file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0 && fstat(file, &status) == 0);
    for (off_t at = first * PAGE + 8; at < status.st_size; at += PAGE) {
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
    }
    close(file);
}

static void change_all(const char *path, const char *other)
{
    (void)other;
    change_pages(path, 0);
}

/* The header is whole: it opens, and the damage is met when something is looked up. */
static void change_behind_header(const char *path, const char *other)
{
    (void)other;
    change_pages(path, 1);
}

static const struct fault {
    const char *name;
    void (*inflict)(const char *path, const char *other);
} faults[] = {
    {"missing", lose_segment},     {"cut", cut_segment},
    {"empty", empty_segment},      {"of another library", swap_segment},
    {"changed bytes", change_all}, {"changed pages", change_behind_header},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* Visit the segments of an index, also those that are none any more and wait to be removed. */
static size_t each_segment(const char *library, enum code_table table,
                           void (*visitor)(const char *path, const char *other), const char *other)
{
    char *folder = kept_folder(library, table);
    size_t count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        char *path;
        if (!strstr(entry->d_name, ".segment"))
            continue;
        assert_true(asprintf(&path, "%s/%s", folder, entry->d_name) > 0);
        visitor(path, other);
        free(path);
        count++;
    }
    closedir(stream);
    free(folder);
    return count;
}

/* ---- each table, each fault ---- */

struct scene {
    const struct kept_kind *kind;
    char *library, *other; /* folders; of the first the test's */
    const char *folder;
};

static void set_scene(const struct kept_kind *kind, const char *folder, struct scene *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s-other", kind->name);
    *out = (struct scene){.kind = kind};
    out->folder = strdup(folder_path(folder, kind->name));
    const char *other = strdup(folder_path(folder, name));
    fill(kind, out->folder, 0);
    fill(kind, other, OTHERS);
    out->library = strdup(directory_of(out->folder));
    out->other = strdup(directory_of(other));
    free((char *)other);
    assert_whole(kind, out->library);
}

static void strike_scene(struct scene *scene)
{
    free((char *)scene->folder);
    free(scene->library);
    free(scene->other);
}

static char last_segment[1024];

static void note_segment(const char *path, const char *other)
{
    (void)other;
    snprintf(last_segment, sizeof last_segment, "%s", path);
}

static void inflict(const struct scene *scene, enum code_table table, const struct fault *fault)
{
    assert_true(each_segment(scene->other, table, note_segment, NULL) > 0);
    if (!each_segment(scene->library, table, fault->inflict, last_segment))
        fail_msg("%s has no segment", code_tables[table].folder);
}

/* Whoever does not want it made is refused, or gets what is true. */
static void assert_never_wrong(const struct scene *scene)
{
    const struct doppel_library_options reading = {.read_only = true, .no_rebuild = true};
    struct doppel_library *library;
    size_t refused = 0;
    assert_int_equal(doppel_library_open(scene->library, &reading, &library, NULL), DOPPEL_OK);
    for (uint64_t i = 0; i < ITEMS; i++) {
        struct doppel_error error = {0};
        size_t count = 0;
        uint64_t id;
        enum doppel_status status = scene->kind->find(scene->kind, library, i, &count, &id, &error);
        refused += status != DOPPEL_OK;
        assert_true(status || count == 1);
        assert_true(!status || strlen(error.message) > 0);
    }
    doppel_library_close(library);
    assert_true(refused > 0);
}

struct heard {
    int notices;
    uint64_t begun, ended, done;
};

static void take_notice(void *context, const char *sentence)
{
    struct heard *heard = context;
    assert_non_null(strstr(sentence, "is made of the items"));
    heard->notices++;
}

static void take_progress(void *context, uint64_t done, uint64_t total)
{
    struct heard *heard = context;
    assert_true(done <= total && (!done || done >= heard->done));
    heard->begun += !done;
    heard->ended += done == total;
    heard->done = done;
}

/* Also by two that read. */
static void assert_made_anew(const struct scene *scene, bool read_only)
{
    struct heard heard = {0};
    struct doppel_library *library;
    const struct doppel_library_options options = {.read_only = read_only};
    const struct doppel_library_watch watch = {
        .notice = take_notice, .progress = take_progress, .context = &heard};
    assert_int_equal(doppel_library_open(scene->library, &options, &library, NULL), DOPPEL_OK);
    doppel_library_set_watch(library, &watch);
    assert_all_found(scene->kind, library);
    assert_all_found(scene->kind, library);
    doppel_library_close(library);
    assert_int_equal(heard.notices, 1);
    assert_true(heard.begun > 0 && heard.ended > 0);
    assert_whole(scene->kind, scene->library);
}

static void assert_verified_and_repaired(const struct scene *scene, enum code_table table)
{
    const char *folder = code_tables[table].folder;
    if (!strstr(verify(scene->library, false), folder))
        fail_msg("%s: verify does not tell of %s", scene->kind->name, folder);
    assert_non_null(strstr(verify(scene->library, true), folder));
    assert_whole(scene->kind, scene->library);
}

static void assert_backed_up_whole(const struct scene *scene, const char *to)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    assert_int_equal(doppel_library_open(scene->library, NULL, &library, NULL), DOPPEL_OK);
    if (doppel_library_backup(library, to, NULL, NULL, &error))
        fail_msg("%s: %s", scene->kind->name, error.message);
    doppel_library_close(library);
    assert_whole(scene->kind, to);
}

static void ignore_segment(const char *path, const char *other)
{
    (void)path, (void)other;
}

/* What was damaged is gone after that, too. */
static void assert_compacted(const struct scene *scene, enum code_table table)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    uint64_t before, after;
    assert_int_equal(doppel_library_open(scene->library, NULL, &library, NULL), DOPPEL_OK);
    if (doppel_library_compact(library, &before, &after, &error))
        fail_msg("%s: %s", scene->kind->name, error.message);
    assert_all_found(scene->kind, library);
    doppel_library_close(library);
    assert_int_equal(each_segment(scene->library, table, ignore_segment, NULL), 1);
    assert_whole(scene->kind, scene->library);
}

static void try_fault(const struct scene *scene, enum code_table table, const struct fault *fault)
{
    char name[128];
    snprintf(name, sizeof name, "%s-%d-%s", scene->kind->name, (int)table, fault->name);
    inflict(scene, table, fault);
    assert_never_wrong(scene);
    assert_backed_up_whole(scene, folder_path(scene->folder, name));
    assert_made_anew(scene, false);
    inflict(scene, table, fault);
    assert_made_anew(scene, true);
    inflict(scene, table, fault);
    assert_verified_and_repaired(scene, table);
    inflict(scene, table, fault);
    assert_compacted(scene, table);
}

static void test_segments(void **state)
{
    for (size_t i = 0; i < kept_kind_count; i++) {
        struct scene scene;
        set_scene(&kept_kinds[i], *state, &scene);
        for (size_t table = 0; table < scene.kind->table_count; table++)
            for (size_t fault = 0; fault < FAULTS; fault++)
                try_fault(&scene, scene.kind->tables[table], &faults[fault]);
        strike_scene(&scene);
    }
}

/* ---- a full disk ---- */

enum { MORE = 8, COMMITTED = 1, REFUSED = 2, WRONG = 4 };

static int refused(enum doppel_status status, const struct doppel_error *error)
{
    return status ? (strlen(error->message) ? REFUSED : WRONG) : 0;
}

static bool are_all_found(const struct kept_kind *kind, struct doppel_library *library)
{
    bool found = true;
    for (uint64_t i = 0; i < ITEMS && found; i++) {
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
        fill(kind, folder, 0);
        char *directory = strdup(directory_of(folder));
        for (size_t j = 0; j < sizeof limits / sizeof *limits; j++) {
            const uint64_t first = ITEMS + j * MORE;
            int what = write_without_room(kind, directory, limits[j], first);
            if (what & WRONG)
                fail_msg("%s: wrong with %llu bytes", kind->name, (unsigned long long)limits[j]);
            struct doppel_library *library = open_library(folder);
            for (uint64_t k = 0; k < MORE; k++)
                assert_int_equal(count_found(kind, library, first + k), (what & COMMITTED) != 0);
            doppel_library_close(library);
            assert_whole(kind, directory);
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
        fill(kind, folder, 0);
        char *directory = strdup(directory_of(folder));
        take_items_away(directory);
        const char *problems = verify(directory, false);
        for (size_t j = 0; j < kind->table_count; j++)
            if (!strstr(problems, code_tables[kind->tables[j]].folder))
                fail_msg("%s: verify does not tell of %s: %s", kind->name,
                         code_tables[kind->tables[j]].folder, problems);
        assert_true(strlen(verify(directory, true)) > 0);
        assert_string_equal(verify(directory, false), "");
        free(directory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_segments),
        IN_FOLDER(test_no_room),
        IN_FOLDER(test_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
