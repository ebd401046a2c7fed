/* Segments of each kept index that are missing, cut, of another library, or have changed bytes:
 * nothing is silently wrong, it is said once, made anew, or refused where nothing is to be made. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/library/fixture.h"
#include "tests/library/kept_checks.h"

enum { PAGE = 4096 };

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
    kept_fill(kind, out->folder, 0);
    kept_fill(kind, other, KEPT_OTHERS);
    out->library = strdup(directory_of(out->folder));
    out->other = strdup(directory_of(other));
    free((char *)other);
    kept_assert_whole(kind, out->library);
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
    for (uint64_t i = 0; i < KEPT_ITEMS; i++) {
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
    kept_assert_all_found(scene->kind, library);
    kept_assert_all_found(scene->kind, library);
    doppel_library_close(library);
    assert_int_equal(heard.notices, 1);
    assert_true(heard.begun > 0 && heard.ended > 0);
    kept_assert_whole(scene->kind, scene->library);
}

static void assert_verified_and_repaired(const struct scene *scene, enum code_table table)
{
    const char *folder = code_tables[table].folder;
    if (!strstr(kept_verify(scene->library, false), folder))
        fail_msg("%s: verify does not tell of %s", scene->kind->name, folder);
    assert_non_null(strstr(kept_verify(scene->library, true), folder));
    kept_assert_whole(scene->kind, scene->library);
}

static void assert_backed_up_whole(const struct scene *scene, const char *to)
{
    struct doppel_library *library;
    struct doppel_error error = {0};
    assert_int_equal(doppel_library_open(scene->library, NULL, &library, NULL), DOPPEL_OK);
    if (doppel_library_backup(library, to, NULL, NULL, &error))
        fail_msg("%s: %s", scene->kind->name, error.message);
    doppel_library_close(library);
    kept_assert_whole(scene->kind, to);
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
    kept_assert_all_found(scene->kind, library);
    doppel_library_close(library);
    assert_int_equal(each_segment(scene->library, table, ignore_segment, NULL), 1);
    kept_assert_whole(scene->kind, scene->library);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
