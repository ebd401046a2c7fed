/* `doppel scan --action`: what is done to duplicates, what never is, and what is said. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acting.h"
#include "collection.h"

static void assert_unchanged(const char *before)
{
    char *now = listing_of(".");
    assert_string_equal(now, before);
    free(now);
}

/* ---- nothing without --yes ---- */

static void does_nothing_unless_told(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "reflink", "symlink",
                                          "trash",    "move-to", "script"};
    make_doubles();
    char *before = listing_of(".");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        bool moves = strcmp(actions[i], "move-to") == 0;
        struct ran ran = moves ? doppel("scan", "docs", "--action", "move-to", "away")
                               : doppel("scan", "docs", "--action", actions[i], "--dry-run");
        assert_code(&ran, 0);
        assert_has(ran.out, "docs/b.txt");
        assert_has(ran.out, "docs/sub/c.txt");
        assert_has(ran.out, "docs/e.txt");
        assert_lacks(ran.out, "docs/f.txt");
        if (i < 5)
            assert_has(ran.err, "nothing is done without --yes");
        ran_free(&ran);
        assert_unchanged(before);
    }
    assert_int_not_equal(access(JOURNAL, F_OK), 0);
    assert_int_not_equal(access("../home/.local/share/Trash", F_OK), 0);
    free(before);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[][6] = {
        {"scan", "docs", "--yes"},
        {"scan", "docs", "--reason", "near"},
        {"scan", "docs", "--action", "shred"},
        {"scan", "docs", "--action", "move-to"},
        {"scan", "--action", "move-to", "docs"},
        {"scan", "docs", "--action", "move-to", "--to="},
        {"scan", "docs", "--action", "trash", "--to=away"},
        {"scan", "docs", "--action", "trash", "--reason=all"},
        {"scan", "docs", "--action", "script", "--yes"},
        {"scan", "docs", "--action", "script", "--json"},
        {"scan", "docs", "--action=trash", "--yes", "--dry-run"},
        {"undo", "x"},
    };
    make_doubles();
    char *before = listing_of(".");
    free(doppel_prints(3, "undo", "7"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = command_run(NULL, wrong[i]);
        assert_code(&ran, 2);
        assert_has(ran.err, "doppel: ");
        ran_free(&ran);
    }
    assert_unchanged(before);
    free(before);
}

/* ---- each action ---- */

/* A line a duplicate, done, with what it became. */
static void assert_rows(const char *json, const char *action)
{
    char part[64];
    snprintf(part, sizeof part, "{\"action\":\"%s\"", action);
    assert_int_equal(count_lines(json, ""), 3);
    assert_int_equal(count_lines(json, part), 3);
    assert_int_equal(count_lines(json, "\"done\":true"), 3);
    assert_int_equal(count_lines(json, "\"target\":"), 3);
}

static void hardlinks(void **state)
{
    (void)state;
    make_doubles();
    char *json = doppel_prints(0, "scan", "docs", "--action", "hardlink", "--yes", "--json");
    assert_rows(json, "hardlink");
    free(json);
    assert_true(same_inode("docs/a.txt", "docs/b.txt"));
    assert_true(same_inode("docs/a.txt", "docs/sub/c.txt"));
    assert_true(same_inode("docs/d.txt", "docs/e.txt"));
    char *again = doppel_prints(0, "scan", "docs", "--action", "hardlink", "--yes", "--json");
    assert_string_equal(again, ""); /* hard links are one file */
    free(again);
}

/* A second name of docs/b.txt, and one elsewhere. */
static void name_twice(bool elsewhere)
{
    make_doubles();
    assert_int_equal(link("docs/b.txt", "docs/sub/b2.txt"), 0);
    if (elsewhere)
        assert_int_equal(link("docs/b.txt", "outer"), 0);
}

/* What a dry run of an action, and the run, say is freed, and how many names they act on. */
static void assert_freed(const char *action, const char *freed, unsigned names)
{
    char said[64];
    snprintf(said, sizeof said, "%u files would be ", names);
    struct ran ran = doppel("scan", "docs", "--action", action);
    assert_code(&ran, 0);
    assert_has(ran.err, said);
    assert_has(ran.err, freed);
    ran_free(&ran);
    ran = doppel("scan", "docs", "--action", action, "--yes", "--json");
    assert_code(&ran, 0);
    snprintf(said, sizeof said, "%u files ", names);
    assert_has(ran.err, said);
    assert_has(ran.err, freed);
    assert_int_equal(count_lines(ran.out, "\"done\":true"), names);
    ran_free(&ran);
    struct ran list = doppel("undo", "--list");
    assert_has(list.out, freed);
    ran_free(&list);
}

/* Nothing is freed before the last name of a file goes, so all go; and all come back as one. */
static void names_of_a_file_go_together(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink", "trash"};
    struct stat file;
    name_twice(false);
    char *before = listing_of("."), size[32];
    assert_int_equal(stat("docs/a.txt", &file), 0);
    off_t bytes = 2 * file.st_size;
    assert_int_equal(stat("docs/d.txt", &file), 0);
    snprintf(size, sizeof size, "%.1f kB", (double)(bytes + file.st_size) / 1000);
    char *json = doppel_prints(0, "scan", "docs", "--json");
    assert_has(json, "\"links\":2,\"names\":[{\"path\":\"docs/sub/b2.txt\"}]");
    free(json);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        assert_freed(actions[i], size, 4);
        struct ran ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_unchanged(before);
        assert_true(same_inode("docs/b.txt", "docs/sub/b2.txt"));
        assert_int_equal(stat("docs/b.txt", &file), 0);
        assert_int_equal(file.st_nlink, 2);
    }
    free(before);
}

/* What is piped into what deletes has all names, too. */
static void bare_paths_have_all_names(void **state)
{
    (void)state;
    static const char wanted[] = "docs/b.txt\0docs/sub/b2.txt\0docs/sub/c.txt\0docs/e.txt";
    name_twice(false);
    struct ran ran = doppel("scan", "docs", "-0");
    assert_code(&ran, 0);
    assert_int_equal(ran.out_size, sizeof wanted);
    assert_memory_equal(ran.out, wanted, sizeof wanted);
    ran_free(&ran);
}

/* One name is out of sight: what goes is counted without its bytes. */
static void names_elsewhere_free_nothing(void **state)
{
    (void)state;
    struct stat file;
    name_twice(true);
    assert_int_equal(stat("docs/a.txt", &file), 0);
    char size[32], savable[64];
    snprintf(size, sizeof size, " %.1f kB", (double)file.st_size * 2 / 1000);
    char *json = doppel_prints(0, "scan", "docs", "--json");
    snprintf(savable, sizeof savable, "\"savable\":%lld,", (long long)file.st_size);
    assert_has(json, savable); /* of sub/c.txt alone */
    assert_has(json, "\"links\":3,\"frees\":0,\"names\"");
    free(json);
    struct ran ran = doppel("scan", "docs");
    assert_has(ran.out, "has names elsewhere");
    ran_free(&ran);
    assert_freed("trash", size, 4);
    struct ran undone = doppel("undo");
    assert_code(&undone, 0);
    ran_free(&undone);
    assert_true(same_inode("docs/b.txt", "outer"));
}

/* By whichever name a file is to be kept, it is. */
static void a_name_that_is_protected_keeps_its_file(void **state)
{
    (void)state;
    name_twice(false);
    struct ran ran = doppel("scan", "docs", "--action=trash", "--yes", "--protect", "b2.txt");
    assert_code(&ran, 0);
    assert_lacks(ran.err, "protects none");
    ran_free(&ran);
    assert_int_equal(access("docs/b.txt", F_OK), 0);
    assert_int_equal(access("docs/sub/b2.txt", F_OK), 0);
    assert_int_not_equal(access("docs/e.txt", F_OK), 0);
}

/* What is named twice, or reached by a symbolic link, has no second name by that. */
static void a_name_counts_once(void **state)
{
    (void)state;
    name_twice(false);
    assert_int_equal(symlink("b.txt", "docs/soft.txt"), 0);
    assert_int_equal(symlink("docs", "way"), 0);
    struct ran ran = doppel("scan", "docs/b.txt", "docs", "docs/sub/../b.txt", "way/b.txt",
                            "--follow", "--json");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"links\":2,\"names\":[{\"path\":\"docs/sub/b2.txt\"}]");
    ran_free(&ran);
}

static void symlinks(void **state)
{
    (void)state;
    char text[64] = "";
    make_doubles();
    char *json = doppel_prints(0, "scan", "docs", "--action", "symlink", "--yes", "--json");
    assert_rows(json, "symlink");
    free(json);
    assert_int_equal(readlink("docs/b.txt", text, sizeof text - 1), 5);
    assert_string_equal(text, "a.txt");
    assert_int_equal(readlink("docs/sub/c.txt", text, sizeof text - 1), 8);
    assert_string_equal(text, "../a.txt");
    assert_true(same_inode("docs/a.txt", "docs/sub/c.txt"));
}

/* The names that are taken in the trash are left to whom they belong. */
static void trashes(void **state)
{
    (void)state;
    char here[512], wanted[640];
    size_t size;
    make_doubles();
    make_folder("docs/other");
    write_words("docs/other/b.txt", 1);
    char *json = doppel_prints(0, "scan", "docs", "--action", "trash", "--yes", "--json");
    assert_int_equal(count_lines(json, "\"done\":true"), 4);
    free(json);
    assert_int_not_equal(access("docs/b.txt", F_OK), 0);
    assert_int_equal(access("docs/a.txt", F_OK), 0);
    static const char *const notes[] = {"b.txt", "b.2.txt", "c.txt", "e.txt"};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char path[128];
        snprintf(path, sizeof path, "../home/.local/share/Trash/files/%s", notes[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    char *note = read_file("../home/.local/share/Trash/info/b.txt.trashinfo", &size);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(wanted, sizeof wanted, "[Trash Info]\nPath=%s/docs/b.txt\nDeletionDate=20", here);
    assert_int_equal(strncmp(note, wanted, strlen(wanted)), 0);
    free(note);
}

static void moves(void **state)
{
    (void)state;
    size_t size;
    make_doubles();
    make_folder("away");
    make_folder("away/docs");
    write_file("away/docs/b.txt", "mine", 4);
    char *json = doppel_prints(0, "scan", "--action", "move-to", "away", "docs", "--yes", "--json");
    assert_rows(json, "move-to");
    free(json);
    char *mine = read_file("away/docs/b.txt", &size);
    assert_string_equal(mine, "mine");
    free(mine);
    assert_int_equal(access("away/docs/b.2.txt", F_OK), 0);
    assert_int_equal(access("away/docs/sub/c.txt", F_OK), 0);
    assert_int_equal(access("away/docs/e.txt", F_OK), 0);
    assert_int_not_equal(access("docs/e.txt", F_OK), 0);
}

/* Onto another file system, where there is one. */
static void moves_far(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/doppel-test-XXXXXX", command[128];
    if (!mkdtemp(folder))
        skip();
    make_doubles();
    char *before = listing_of(".");
    char *json = doppel_prints(0, "scan", "docs", "--action", "move-to", folder, "--yes", "--json");
    assert_rows(json, "move-to");
    free(json);
    struct ran ran = doppel("undo");
    assert_code(&ran, 0);
    assert_has(ran.err, "3 files brought back");
    ran_free(&ran);
    assert_unchanged(before);
    free(before);
    snprintf(command, sizeof command, "find %s -depth -type d -exec rmdir {} +", folder);
    assert_int_equal(system(command), 0);
}

/* --to says the folder wherever it stands, and what comes after move-to is a PATH then. */
static void takes_the_folder_from_either(void **state)
{
    (void)state;
    static const char *const ways[][7] = {
        {"scan", "docs", "--action", "move-to", "--to", "away"},
        {"scan", "--action", "move-to", "docs", "--to", "away"},
        {"scan", "--to", "away", "--action", "move-to", "docs"},
        {"scan", "--action=move-to", "away", "docs"},
    };
    make_doubles();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct ran ran = command_run(NULL, ways[i]);
        assert_code(&ran, 0);
        assert_has(ran.out, "/away/docs/b.txt");
        ran_free(&ran);
    }
}

/* What lies there already stays. */
static void moves_nothing_twice(void **state)
{
    (void)state;
    static const char *const folders[] = {"docs", ".", "/"};
    make_doubles();
    char *before = listing_of(".");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        bool safe = strcmp(folders[i], "/") != 0;
        struct ran ran =
            doppel("scan", "docs", "--action=move-to", folders[i], safe ? "--yes" : "--dry-run");
        assert_code(&ran, 0);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
        assert_unchanged(before);
    }
    free(before);
}

static void prints_bare_paths(void **state)
{
    (void)state;
    static const char wanted[] = "docs/b.txt\0docs/sub/c.txt\0docs/e.txt";
    make_doubles();
    struct ran ran = doppel("scan", "docs", "--action=trash", "-0");
    assert_code(&ran, 0);
    assert_int_equal(ran.out_size, sizeof wanted);
    assert_memory_equal(ran.out, wanted, sizeof wanted);
    ran_free(&ran);
}

/* ---- what is never touched ---- */

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
    assert_unchanged(before);
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

/* ---- the script ---- */

static void prints_a_script_for_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"docs/-rf", "docs/it's $(touch owned) `touch owned` \"",
                                        "docs/two\nlines\ntouch owned", "docs/\xff\xfe raw",
                                        "docs/ end \\"};
    char longest[256] = "docs/";
    memset(longest + strlen(longest), 'n', 250 - strlen(".txt"));
    make_folder("docs");
    write_words("docs/0.txt", 1);
    write_words(strcat(longest, ".txt"), 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s.txt", names[i]);
        write_words(path, 1);
    }
    struct ran ran = doppel("scan", "docs", "--action", "script");
    assert_code(&ran, 0);
    write_file("../run.sh", ran.out, ran.out_size);
    ran_free(&ran);
    assert_int_equal(system("cd / && sh -eu \"$OLDPWD\"/../run.sh"), 0);
    assert_int_not_equal(access("/owned", F_OK), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s.txt", names[i]);
        assert_true(same_inode("docs/0.txt", path) || same_inode(names[0], path));
    }
    assert_true(same_inode("docs/0.txt", longest) || same_inode(names[0], longest));
    assert_int_equal(system("sh ../run.sh"), 0); /* twice does no harm */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(does_nothing_unless_told),
        IN_SANDBOX(says_what_is_wrong),
        IN_SANDBOX(hardlinks),
        IN_SANDBOX(names_of_a_file_go_together),
        IN_SANDBOX(bare_paths_have_all_names),
        IN_SANDBOX(names_elsewhere_free_nothing),
        IN_SANDBOX(a_name_that_is_protected_keeps_its_file),
        IN_SANDBOX(a_name_counts_once),
        IN_SANDBOX(symlinks),
        IN_SANDBOX(trashes),
        IN_SANDBOX(moves),
        IN_SANDBOX(moves_far),
        IN_SANDBOX(moves_nothing_twice),
        IN_SANDBOX(prints_bare_paths),
        IN_SANDBOX(takes_the_folder_from_either),
        IN_SANDBOX(spares_references),
        IN_SANDBOX(spares_originals),
        IN_SANDBOX(links_only_identical_files),
        IN_SANDBOX(leaves_what_has_changed),
        IN_SANDBOX(leaves_what_is_near_and_has_changed),
        IN_SANDBOX(finds_nothing_left_to_do),
        IN_SANDBOX(links_are_one_file_to_the_library),
        IN_SANDBOX(compares_before_it_acts),
        IN_SANDBOX(leaves_what_another_run_holds),
        IN_SANDBOX(leaves_what_is_being_written),
        IN_SANDBOX(spares_files_of_others),
        IN_SANDBOX(spares_folders_it_cannot_write_to),
        IN_SANDBOX(prints_a_script_for_any_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
