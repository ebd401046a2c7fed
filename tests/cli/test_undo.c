/* `doppel undo`: what was done comes back as it was, whatever ended the run. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "acting.h"

static void brings_everything_back(void **state)
{
    (void)state;
    static const char *const actions[][4] = {{"--action=hardlink"},
                                             {"--action=symlink"},
                                             {"--action=trash"},
                                             {"--action=move-to", "../away"}};
    make_doubles();
    char *before = listing_of(".");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct ran ran =
            command_run(NULL, (const char *const[]){"scan", "docs", "--yes", actions[i][0],
                                                    actions[i][1], NULL});
        assert_code(&ran, 0);
        ran_free(&ran);
        char *done = listing_of(".");
        assert_string_not_equal(done, before);
        free(done);
        char *json = doppel_prints(0, "undo", "--json");
        assert_int_equal(count_lines(json, "\"done\":true"), 3);
        free(json);
        assert_listing(".", before);
        assert_false(same_inode("docs/a.txt", "docs/b.txt"));
    }
    assert_int_equal(rmdir("../home/.local/share/Trash/files"), 0);
    assert_int_equal(rmdir("../home/.local/share/Trash/info"), 0);
    struct ran ran = doppel("undo");
    assert_code(&ran, 0);
    assert_has(ran.err, "nothing is left to be undone");
    ran_free(&ran);
    free(before);
}

static void says_what_would_come_back(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink", "trash", "move-to"};
    make_doubles();
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct ran ran = doppel("scan", "docs", "--yes", "--action", actions[i],
                                strcmp(actions[i], "move-to") == 0 ? "../away" : NULL);
        assert_code(&ran, 0);
        ran_free(&ran);
        char *before = listing_of("..");
        struct ran look = doppel("undo", "--dry-run", "--json");
        assert_code(&look, 0);
        assert_int_equal(count_lines(look.out, "\"done\":false"), 3);
        assert_lacks(look.out, "\"reason\"");
        assert_has(look.err, "3 files would be brought back");
        ran_free(&look);
        assert_listing("..", before);
        free(before);
        ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
    }
    struct ran ran = doppel("scan", "docs", "--yes", "--action", "trash");
    ran_free(&ran);
    write_file("docs/e.txt", "another", 7);
    ran = doppel("undo", "--dry-run", "--json");
    assert_code(&ran, 3);
    assert_int_equal(count_lines(ran.out, "another file is there now"), 1);
    assert_has(ran.err, "2 files would be brought back");
    ran_free(&ran);
}

/* A file that came back is a copy of what the library read: it may be acted on again. */
/* Folders that were there stay, and those in which there is something else. */
static void folders_that_a_move_made_go(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        make_doubles();
        if (i > 0)
            make_folder("../away");
        struct ran ran = doppel("scan", "docs", "--yes", "--action=move-to", "../away/of/mine");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_int_equal(access("../away/of/mine/docs/sub/c.txt", F_OK), 0);
        if (i == 2)
            write_file("../away/of/other", "x", 1);
        ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_int_equal(access("../away", F_OK), i > 0 ? 0 : -1);
        assert_int_equal(access("../away/of", F_OK), i > 1 ? 0 : -1);
        assert_int_equal(access("../away/of/mine", F_OK), -1);
        assert_int_equal(system("rm -rf docs ../away"), 0);
    }
}

static void what_came_back_is_not_changed(void **state)
{
    (void)state;
    make_doubles();
    free(doppel_prints(0, "add", "-L", "library", "docs"));
    /* Held open, so that no new file is given its inode: that one would pass for it. */
    int first = open("docs/b.txt", O_RDONLY | O_CLOEXEC);
    assert_true(first >= 0);
    for (int i = 0; i < 2; i++) {
        struct ran ran = doppel("groups", "-L", "library", "--action", "hardlink", "--yes");
        assert_code(&ran, 0);
        assert_has(ran.err, "3 files hardlinked");
        ran_free(&ran);
        ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        free(doppel_prints(0, "verify", "-L", "library", "--files"));
    }
    size_t size;
    struct stat stat_of;
    char *text = read_file("docs/b.txt", &size);
    assert_int_equal(stat("docs/b.txt", &stat_of), 0);
    text[0] ^= 1; /* other bytes, of the same size and time, in another file */
    write_file("docs/new", text, size);
    const struct timespec times[2] = {stat_of.st_mtim, stat_of.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, "docs/new", times, 0), 0);
    assert_int_equal(rename("docs/new", "docs/b.txt"), 0);
    struct ran ran = doppel("groups", "-L", "library", "--action", "hardlink", "--yes");
    assert_code(&ran, 3);
    assert_has(ran.err, "docs/b.txt: is not the same, byte by byte");
    ran_free(&ran);
    ran = doppel("verify", "-L", "library", "--files");
    assert_has(ran.out, "the file has other bytes");
    ran_free(&ran);
    free(text);
    close(first);
}

/* ---- what has changed since ---- */

/* Undo, of which one file cannot be, and the other two are. */
static void assert_one_refused(const char *path, const char *reason)
{
    char line[128];
    struct ran ran = doppel("undo", "--json");
    assert_code(&ran, 3);
    snprintf(line, sizeof line, "%s: %s", path, reason);
    assert_has(ran.err, line);
    assert_int_equal(count_lines(ran.out, "\"done\":true"), 2);
    assert_int_equal(count_lines(ran.out, "\"done\":false"), 1);
    ran_free(&ran);
}

static void overwrites_nothing(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink", "trash", "move-to"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        size_t size;
        make_doubles();
        act_on_docs(actions[i]);
        unlink("docs/b.txt");
        write_file("docs/b.txt", "mine", 4);
        assert_one_refused("docs/b.txt", "another file is there now");
        char *mine = read_file("docs/b.txt", &size);
        assert_string_equal(mine, "mine");
        free(mine);
        assert_int_equal(system("rm -rf docs ../away ../home/.local"), 0);
    }
}

/* A hard link is written to by either name: what was there is not known any more. */
static void copies_nothing_that_has_changed(void **state)
{
    (void)state;
    static const char *const actions[] = {"hardlink", "symlink"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        make_doubles();
        act_on_docs(actions[i]);
        int fd = open("docs/d.txt", O_WRONLY | O_APPEND);
        assert_int_equal(write(fd, "more", 4), 4);
        close(fd);
        assert_one_refused("docs/e.txt", "the file that it is a link to has changed");
        assert_true(same_inode("docs/d.txt", "docs/e.txt"));
        assert_int_equal(system("rm -rf docs ../home/.local"), 0);
    }
}

static void keeps_what_changed_in_the_trash(void **state)
{
    (void)state;
    make_doubles();
    act_on_docs("trash");
    write_words("../home/.local/share/Trash/files/e.txt", 5);
    assert_one_refused("docs/e.txt", "has changed since it was moved");
    assert_int_equal(access("../home/.local/share/Trash/files/e.txt", F_OK), 0);
    assert_int_equal(access("../home/.local/share/Trash/info/e.txt.trashinfo", F_OK), 0);
    unlink("../home/.local/share/Trash/files/e.txt");
    struct ran ran = doppel("undo");
    assert_code(&ran, 3);
    assert_has(ran.err, "is no longer where it was moved to");
    ran_free(&ran);
}

static void makes_folders_again(void **state)
{
    (void)state;
    make_doubles();
    char *before = listing_of(".");
    act_on_docs("move-to");
    assert_int_equal(rmdir("docs/sub"), 0);
    struct ran ran = doppel("undo");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_listing(".", before);
    free(before);
}

/* ---- runs ---- */

static void undoes_the_run_that_is_named(void **state)
{
    (void)state;
    make_doubles();
    char *before = listing_of(".");
    act_on_docs("hardlink");
    make_folder("more");
    write_words("more/a.txt", 7);
    write_words("more/b.txt", 7);
    struct ran ran = doppel("scan", "more", "--action=trash", "--yes");
    assert_code(&ran, 0);
    assert_has(ran.err, "'doppel undo 2'");
    ran_free(&ran);
    char *json = doppel_prints(0, "undo", "1", "--json");
    assert_int_equal(count_lines(json, "{\"run\":1,\"action\":\"hardlink\""), 3);
    free(json);
    json = doppel_prints(0, "undo", "--list", "--json");
    assert_int_equal(count_lines(json, ""), 2);
    assert_int_equal(count_lines(json, "\"action\":\"hardlink\",\"files\":3"), 1);
    assert_int_equal(count_lines(json, "\"undone\":3"), 1);
    assert_int_equal(count_lines(json, "\"undone\":0"), 1);
    free(json);
    json = doppel_prints(0, "undo", "--json");
    assert_int_equal(count_lines(json, "{\"run\":2,\"action\":\"trash\""), 1);
    free(json);
    assert_int_equal(system("rm -r more"), 0);
    assert_listing(".", before);
    free(before);
}

/* What could not be taken back is not begun. */
static void acts_not_without_a_journal(void **state)
{
    (void)state;
    make_doubles();
    write_file("notes", "dear diary\n", 11);
    char *before = listing_of(".");
    static const char *const journals[] = {"--journal=/dev/full", "--journal=notes",
                                           "--journal=gone/away.jsonl", "--journal=docs"};
    for (size_t i = 0; i < sizeof journals / sizeof *journals; i++) {
        struct ran ran = doppel("scan", "docs", "--action=trash", "--yes", journals[i]);
        assert_code(&ran, 2);
        ran_free(&ran);
        assert_listing(".", before);
    }
    struct ran ran = doppel("undo", "--journal=never-made");
    assert_code(&ran, 2);
    assert_has(ran.err, "never-made: there is no such journal");
    ran_free(&ran);
    assert_listing(".", before);
    free(before);
}

/* One acts, the other one says so and does nothing. */
static void one_acts_at_a_time(void **state)
{
    (void)state;
    make_doubles();
    write_file("journal", "", 0);
    char *before = listing_of("docs");
    int fd = open("journal", O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct ran ran = doppel("scan", "docs", "--action=trash", "--yes", "--journal=journal");
    assert_code(&ran, 2);
    assert_has(ran.err, "another doppel is acting");
    ran_free(&ran);
    ran = doppel("undo", "--journal=journal");
    assert_code(&ran, 2);
    ran_free(&ran);
    close(fd);
    assert_listing("docs", before);
    free(before);
}

/* Two runs at once, each of which keeps what the other one trashes: one of each pair stays. */
static void keeps_one_of_two_runs(void **state)
{
    (void)state;
    enum { FILES = 60, ROUNDS = 3 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        write_pairs("one", "two", FILES);
        struct running a = command_start(
            NULL, (const char *const[]){"scan", "one", "--reference=two", "--action=trash", "--yes",
                                        "--journal=../a.jsonl", "--no-cache", NULL});
        struct running b = command_start(
            NULL, (const char *const[]){"scan", "two", "--reference=one", "--action=trash", "--yes",
                                        "--journal=../b.jsonl", "--no-cache", NULL});
        struct ran of_a = command_end(&a), of_b = command_end(&b);
        for (unsigned i = 0; i < FILES; i++) {
            char path[64], other[64];
            snprintf(path, sizeof path, "one/%03u.txt", i);
            snprintf(other, sizeof other, "two/%03u.txt", i);
            assert_true(access(path, F_OK) == 0 || access(other, F_OK) == 0);
        }
        ran_free(&of_a);
        ran_free(&of_b);
        assert_int_equal(system("rm -r one two"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(brings_everything_back),
        IN_SANDBOX(says_what_would_come_back),
        IN_SANDBOX(folders_that_a_move_made_go),
        IN_SANDBOX(what_came_back_is_not_changed),
        IN_SANDBOX(overwrites_nothing),
        IN_SANDBOX(copies_nothing_that_has_changed),
        IN_SANDBOX(keeps_what_changed_in_the_trash),
        IN_SANDBOX(makes_folders_again),
        IN_SANDBOX(undoes_the_run_that_is_named),
        IN_SANDBOX(acts_not_without_a_journal),
        IN_SANDBOX(one_acts_at_a_time),
        IN_SANDBOX(keeps_one_of_two_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
