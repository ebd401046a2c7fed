/* `--action`: what is never touched. */
#include "command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "acting.h"
#include "collection.h"

static void spares_references(void **state)
{
    (void)state;
    make_doubles();
    make_folder("old");
    write_words("old/x.txt", 1);
    write_words("old/y.txt", 1);
    char *before = listing_of("old");
    struct ran ran = doppel("scan", "docs", "--reference", "old", "--action", "trash", "--yes");
    assert_code(&ran, 0);
    ran_free(&ran);
    char *after = listing_of("old");
    assert_string_equal(after, before);
    assert_int_not_equal(access("docs/a.txt", F_OK), 0); /* the kept one is a reference */
    assert_int_equal(access("docs/d.txt", F_OK), 0);
    free(before);
    free(after);
}

/* Of the pictures that doppel-demo draws the copies go: framed, turned, mirrored ones, too. One
 * file is broken. */
static void spares_originals(void **state)
{
    (void)state;
    assert_int_equal(system("'" DOPPEL_DEMO "' pictures >/dev/null"), 0);
    char *before = listing_of("pictures/originals");
    char *json = doppel_prints(3, "scan", "pictures", "--action", "trash", "--reason", "near,part",
                               "--yes", "--json");
    char *after = listing_of("pictures/originals");
    assert_string_equal(after, before);
    assert_int_equal(count_lines(json, "\"done\":true"), 7);
    assert_int_not_equal(access("pictures/copies/planet-framed.jpg", F_OK), 0);
    free(before);
    free(json);
    free(after);
}

/* What differs is not linked, and is trashed only by an explicit wish. */
static void links_only_identical_files(void **state)
{
    (void)state;
    make_doubles();
    size_t size;
    char *text = read_file("docs/f.txt", &size);
    text[0] = 'W';
    write_file("docs/g.txt", text, size);
    free(text);
    char *json = doppel_prints(0, "scan", "docs", "--action", "symlink", "--yes", "--json");
    assert_int_equal(count_lines(json, "\"done\":true"), 3);
    assert_int_equal(count_lines(json, "\"done\":false,\"reason\":"), 1);
    free(json);
    struct ran ran = doppel("scan", "docs", "--action", "hardlink", "--yes", "--reason",
                            "identical,same-content", "--json");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "docs/f.txt") || reported(ran.err, "docs/g.txt"));
    ran_free(&ran);
    assert_false(same_inode("docs/f.txt", "docs/g.txt"));
    ran = doppel("scan", "docs", "--action", "trash", "--yes", "--reason", "same-content");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_not_equal(access("docs/f.txt", F_OK) == 0, access("docs/g.txt", F_OK) == 0);
}

/* A library tells what was read long ago: what has changed since then stays. */
static void leaves_what_has_changed(void **state)
{
    (void)state;
    make_doubles();
    struct ran ran = doppel("add", "docs");
    assert_code(&ran, 0);
    ran_free(&ran);
    write_words("docs/b.txt", 9);
    write_words("docs/d.txt", 8); /* which is kept */
    char *before = listing_of(".");
    ran = doppel("groups", "--action", "trash", "--dry-run");
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/b.txt: has changed since it was read");
    assert_has(ran.err, "docs/e.txt: the kept file has changed since it was read");
    ran_free(&ran);
    assert_listing(".", before);
    ran = doppel("groups", "--action", "trash", "--yes", "--json");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, "\"done\":true"), 1);
    ran_free(&ran);
    assert_int_equal(access("docs/b.txt", F_OK), 0);
    assert_int_equal(access("docs/e.txt", F_OK), 0);
    assert_int_not_equal(access("docs/sub/c.txt", F_OK), 0);
    free(before);
}

/* What has other bytes is read again only where both files are as they were. */
static void leaves_what_is_near_and_has_changed(void **state)
{
    (void)state;
    make_collection();
    free(doppel_prints(0, "add", "-L", "library", "pics"));
    assert_int_equal(unlink("pics/mountains-small.jpg"), 0);
    assert_int_equal(unlink("pics/tree.jpg"), 0); /* which is kept */
    struct ran ran = doppel("groups", "-L", "library", "--action", "move-to", "--to", "away",
                            "--reason", "near,same-content", "--yes", "--json");
    assert_code(&ran, 3);
    assert_has(ran.out, "\"reason\":\"is gone\"");
    assert_has(ran.err, "pics/tree-mirrored.jpg: the kept file is gone");
    ran_free(&ran);
}

/* What was linked is one file, and a library still tells of what was thrown away: neither is a
 * failure the second time. */
static void finds_nothing_left_to_do(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink", "trash"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        make_doubles();
        struct ran ran = doppel("add", "docs");
        assert_code(&ran, 0);
        ran_free(&ran);
        for (unsigned times = 0; times < 2; times++) {
            ran = doppel("groups", "--action", actions[i], "--yes", "--json");
            assert_code(&ran, 0);
            assert_int_equal(count_lines(ran.out, "\"done\":true"), times ? 0 : 3);
            assert_int_equal(count_lines(ran.out, "\"done\":false,\"reason\":"),
                             times && i == 2 ? 3 : 0);
            ran_free(&ran);
        }
        assert_int_equal(system("rm -rf docs ../home/.local"), 0);
    }
}

/* A library tells of what was thrown away, but not as of what could be saved. */
static void what_is_gone_is_marked(void **state)
{
    (void)state;
    make_doubles();
    free(doppel_prints(0, "add", "docs"));
    free(doppel_prints(0, "groups", "--action", "trash", "--yes"));
    struct ran ran = doppel("groups");
    assert_code(&ran, 0);
    assert_int_equal(count_lines(ran.out, " gone  "), 3);
    assert_has(ran.out, "\n0 duplicates in 2 groups: 0 B could be saved");
    assert_has(ran.err, "doppel: 3 files of these groups are gone; 'doppel remove --gone'");
    ran_free(&ran);
    char *json = doppel_prints(0, "groups", "--json");
    assert_int_equal(count_lines(json, "\"savable\":0,"), 2);
    assert_int_equal(count_lines(json, "\"gone\":true"), 2);
    free(json);
    ran = doppel("groups", "-0");
    assert_int_equal(ran.out_size, 0);
    ran_free(&ran);
    free(doppel_prints(0, "undo"));
    ran = doppel("groups");
    assert_lacks(ran.out, " gone ");
    assert_has(ran.out, "\n3 duplicates in 2 groups: ");
    ran_free(&ran);
}

/* What deletes what -0 names must leave one. */
static void copies_of_what_is_gone_are_not_named(void **state)
{
    (void)state;
    make_doubles();
    free(doppel_prints(0, "add", "docs"));
    assert_int_equal(unlink("docs/a.txt"), 0);
    struct ran ran = doppel("groups", "-0");
    assert_code(&ran, 0);
    assert_true(strlen(ran.out) + 1 == ran.out_size && strstr(ran.out, "/docs/e.txt"));
    assert_has(ran.err, "doppel: 1 file of these groups is gone");
    ran_free(&ran);
    struct stat file;
    assert_int_equal(stat("docs/b.txt", &file), 0);
    char savable[64];
    snprintf(savable, sizeof savable, "\"savable\":%lld,", (long long)file.st_size);
    char *json = doppel_prints(0, "groups", "--json");
    assert_has(json, savable); /* one of the two that are left */
    free(json);
    ran = doppel("groups");
    assert_has(ran.out, "\n2 duplicates in 2 groups: ");
    ran_free(&ran);
}

/* What was linked is one file, to 'groups' as to 'scan', until it is undone. */
static void links_are_one_file_to_the_library(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink"};
    make_collection();
    free(doppel_prints(0, "add", "-q", "-L", "library", "pics"));
    for (size_t i = 0; i < 2; i++) {
        free(doppel_prints(0, "groups", "-L", "library", "--action", actions[i], "--yes"));
        char *text = doppel_prints(0, "groups", "-L", "library");
        assert_lacks(text, "clock");
        assert_lacks(text, "in identical files");
        assert_has(text, "mountains-small.jpg");
        free(text);
        free(doppel_prints(0, "undo"));
        text = doppel_prints(0, "groups", "-L", "library");
        assert_int_equal(count_lines(text, "clock"), 3);
        free(text);
    }
}

/* Bytes that changed with the time put back: only the comparison can tell. */
static void compares_before_it_acts(void **state)
{
    (void)state;
    struct stat stat_;
    make_doubles();
    struct ran ran = doppel("add", "docs");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_equal(stat("docs/e.txt", &stat_), 0);
    int fd = open("docs/e.txt", O_WRONLY);
    assert_int_equal(pwrite(fd, "V", 1, 0), 1);
    struct timespec times[2] = {stat_.st_atim, stat_.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    ran = doppel("groups", "--action", "hardlink", "--yes", "--kind", "text");
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/e.txt: is not the same, byte by byte");
    ran_free(&ran);
    assert_false(same_inode("docs/d.txt", "docs/e.txt"));
    assert_true(same_inode("docs/a.txt", "docs/b.txt"));
}

/* Another run may be about to trash the file that this one keeps. */
static void leaves_what_another_run_holds(void **state)
{
    (void)state;
    make_doubles();
    int fd = open("docs/a.txt", O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct ran ran = doppel("scan", "docs", "--action", "trash", "--yes", "--json");
    close(fd);
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/b.txt: is locked by another program");
    assert_int_equal(count_lines(ran.out, "\"done\":true"), 1);
    ran_free(&ran);
    assert_int_equal(access("docs/b.txt", F_OK), 0);
    assert_int_equal(access("docs/sub/c.txt", F_OK), 0);
}

static void leaves_what_is_being_written(void **state)
{
    (void)state;
    make_doubles();
    int reader = open("docs/b.txt", O_RDONLY);
    bool has_leases = fcntl(reader, F_SETLEASE, F_RDLCK) == 0;
    close(reader);
    if (!has_leases)
        skip();
    int fd = open("docs/b.txt", O_WRONLY);
    struct ran ran = doppel("scan", "docs", "--action", "hardlink", "--yes");
    close(fd);
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/b.txt: is open for writing in another program");
    ran_free(&ran);
    assert_false(same_inode("docs/a.txt", "docs/b.txt"));
    assert_true(same_inode("docs/a.txt", "docs/sub/c.txt"));
}

static void spares_files_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make_doubles();
    assert_int_equal(chown("docs/b.txt", 1, 1), 0);
    struct ran ran = doppel("scan", "docs", "--action", "hardlink", "--yes");
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/b.txt: belongs to another user");
    ran_free(&ran);
    assert_false(same_inode("docs/a.txt", "docs/b.txt"));
    assert_true(same_inode("docs/a.txt", "docs/sub/c.txt"));
}

static void spares_folders_it_cannot_write_to(void **state)
{
    (void)state;
    struct setting powerless = {.powerless = true};
    make_doubles();
    assert_int_equal(chmod("docs/sub", 0555), 0);
    struct ran ran =
        doppel_with(&powerless, "scan", "docs", "--action", "trash", "--yes", "--json");
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/sub/c.txt: its folder cannot be written to");
    assert_int_equal(count_lines(ran.out, "\"done\":true"), 2);
    ran_free(&ran);
    assert_int_equal(access("docs/sub/c.txt", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(spares_references),
        IN_SANDBOX(spares_originals),
        IN_SANDBOX(links_only_identical_files),
        IN_SANDBOX(leaves_what_has_changed),
        IN_SANDBOX(leaves_what_is_near_and_has_changed),
        IN_SANDBOX(finds_nothing_left_to_do),
        IN_SANDBOX(what_is_gone_is_marked),
        IN_SANDBOX(copies_of_what_is_gone_are_not_named),
        IN_SANDBOX(links_are_one_file_to_the_library),
        IN_SANDBOX(compares_before_it_acts),
        IN_SANDBOX(leaves_what_another_run_holds),
        IN_SANDBOX(leaves_what_is_being_written),
        IN_SANDBOX(spares_files_of_others),
        IN_SANDBOX(spares_folders_it_cannot_write_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
