/* `doppel undo`: what was done comes back as it was, whatever ended the run. */
#include "command.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acting.h"
#include "collection.h"

static void assert_listing(const char *folder, const char *wanted)
{
    char *now = listing_of(folder);
    assert_string_equal(now, wanted);
    free(now);
}

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

static void act(const char *action)
{
    bool moves = strcmp(action, "move-to") == 0;
    struct ran ran = doppel("scan", "docs", "--yes", "--action", action, moves ? "../away" : NULL);
    assert_code(&ran, 0);
    ran_free(&ran);
}

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
        act(actions[i]);
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
        act(actions[i]);
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
    act("trash");
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
    act("move-to");
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
    act("hardlink");
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
    char path[64];
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_folder("one");
        make_folder("two");
        for (unsigned i = 0; i < FILES; i++) {
            snprintf(path, sizeof path, "one/%02u.txt", i);
            write_words(path, i);
            snprintf(path, sizeof path, "two/%02u.txt", i);
            write_words(path, i);
        }
        struct running a = command_start(
            NULL, (const char *const[]){"scan", "one", "--reference=two", "--action=trash", "--yes",
                                        "--journal=../a.jsonl", "--no-cache", NULL});
        struct running b = command_start(
            NULL, (const char *const[]){"scan", "two", "--reference=one", "--action=trash", "--yes",
                                        "--journal=../b.jsonl", "--no-cache", NULL});
        struct ran of_a = command_end(&a), of_b = command_end(&b);
        for (unsigned i = 0; i < FILES; i++) {
            char other[64];
            snprintf(path, sizeof path, "one/%02u.txt", i);
            snprintf(other, sizeof other, "two/%02u.txt", i);
            assert_true(access(path, F_OK) == 0 || access(other, F_OK) == 0);
        }
        ran_free(&of_a);
        ran_free(&of_b);
        assert_int_equal(system("rm -r one two"), 0);
    }
}

/* ---- runs that were killed ---- */

enum { KILLS = 20, PAIRS = 20, PATIENCE_S = 30 };

static void make_pairs(void)
{
    char path[64], name[64];
    make_folder("docs");
    make_folder("docs/sub");
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(path, sizeof path, "docs/%03u.txt", i);
        write_words(path, i);
        snprintf(path, sizeof path, "docs/sub/%03u.txt", i);
        write_words(path, i);
        if (i % 4 == 0) {
            snprintf(name, sizeof name, "docs/sub/%03u-name.txt", i);
            assert_int_equal(link(path, name), 0);
        }
    }
}

/* Names of one file are that, whatever was done and undone. */
static void assert_names(void)
{
    char path[64], name[64];
    for (unsigned i = 0; i < PAIRS; i += 4) {
        snprintf(path, sizeof path, "docs/sub/%03u.txt", i);
        snprintf(name, sizeof name, "docs/sub/%03u-name.txt", i);
        assert_true(same_inode(path, name));
    }
}

static unsigned lines_of_journal(void)
{
    size_t size;
    if (access(JOURNAL, F_OK))
        return 0;
    char *text = read_file(JOURNAL, &size);
    unsigned lines = count_lines(text, "");
    free(text);
    return lines;
}

/* Kill the run once the journal has grown by so many lines, and some microseconds. */
static void kill_at(struct running *running, unsigned lines, unsigned wait_us)
{
    struct ran ran;
    siginfo_t info = {0};
    double began = now_seconds();
    unsigned before = lines_of_journal();
    struct timespec moment = {0, wait_us * 1000L};
    while (lines_of_journal() < before + lines && now_seconds() - began < PATIENCE_S)
        if (waitid(P_PID, (id_t)running->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == running->pid)
            break;
    nanosleep(&moment, NULL);
    kill(running->pid, SIGKILL);
    ran = command_end(running);
    ran_free(&ran);
}

static void assert_empty(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "! find '%s' -type f 2>/dev/null | grep .", folder);
    assert_int_equal(system(command), 0);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

/* A run that was cut short is told by the next one. */
static void tells_of_runs_that_were_cut_short(void **state)
{
    (void)state;
    make_doubles();
    act("hardlink");
    size_t size;
    char *journal = read_file(JOURNAL, &size);
    *strrchr(journal, '\n') = '\0'; /* the last line says that the last step was taken */
    write_file(JOURNAL, journal, (size_t)(strrchr(journal, '\n') + 1 - journal));
    free(journal);
    write_words("docs/g.txt", 2);
    struct ran ran = doppel("scan", "docs", "--action=trash", "--yes");
    assert_code(&ran, 0);
    assert_has(ran.err, "run 1 was cut short: 'doppel undo 1'");
    ran_free(&ran);
    ran = doppel("undo", "1");
    assert_code(&ran, 0);
    assert_has(ran.err, "3 files brought back");
    ran_free(&ran);
}

/* A step that was written down and never taken is no file that comes back: nobody is told of it. */
static void says_nothing_of_steps_not_taken(void **state)
{
    (void)state;
    size_t size;
    make_doubles();
    act("hardlink");
    char *journal = read_file(JOURNAL, &size);
    free(doppel_prints(0, "undo"));
    *strrchr(journal, '\n') = '\0';
    write_file(JOURNAL, journal, (size_t)(strrchr(journal, '\n') + 1 - journal));
    free(journal);
    struct ran look = doppel("undo", "--dry-run", "--json"), ran = doppel("undo", "--json");
    assert_string_equal(look.out, ran.out);
    assert_int_equal(count_lines(ran.out, "is as it was"), 2); /* those that were taken */
    assert_int_equal(count_lines(ran.out, ""), 2);
    ran_free(&look);
    ran_free(&ran);
}

/* The last of a step in the journal. Given (free). */
static char *last_temporary(void)
{
    static const char key[] = "\"temporary\":\"";
    size_t size;
    char *journal = read_file(JOURNAL, &size), *at = NULL;
    for (char *next = journal; (next = strstr(next, key)); next += strlen(key))
        at = next + strlen(key);
    assert_non_null(at);
    char *temporary = strndup(at, strcspn(at, "\""));
    free(journal);
    return temporary;
}

/* Moments that are rarely hit by chance: a duplicate was moved by a copy to another file system,
 * and its inode, which an outer name keeps, is where a killed run left it. */
static void removes_copies_of_killed_runs(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/doppel-test-XXXXXX", to[64], path[128];
    if (!mkdtemp(folder))
        skip();
    make_doubles();
    snprintf(to, sizeof to, "--to=%s", folder);
    char *before = listing_of(".");
    for (unsigned undoing = 0; undoing < 2; undoing++) {
        assert_int_equal(link("docs/e.txt", "../e"), 0);
        struct ran ran = doppel("scan", "docs", "--action=move-to", to, "--yes");
        assert_code(&ran, 0);
        ran_free(&ran);
        char *temporary = last_temporary();
        snprintf(path, sizeof path, "docs/%s", temporary);
        if (undoing) { /* the copy is back, what it was copied from about to go */
            assert_int_equal(rename("../e", "docs/e.txt"), 0);
            snprintf(path, sizeof path, "%s/docs/.doppel-undo-2-3", folder);
            write_words(path, 2);
        } else { /* the duplicate about to go */
            assert_int_equal(rename("../e", path), 0);
        }
        free(temporary);
        ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_listing(".", before);
        assert_empty(folder);
    }
    (void)!nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(before);
}

/* Names of one file that were moved by copies are names of one file again. */
static void gives_names_back_from_another_file_system(void **state)
{
    (void)state;
    char folder[] = "/dev/shm/doppel-test-XXXXXX", to[64];
    if (!mkdtemp(folder))
        skip();
    make_doubles();
    assert_int_equal(link("docs/e.txt", "docs/sub/e2.txt"), 0);
    assert_int_equal(link("docs/e.txt", "docs/sub/e3.txt"), 0);
    snprintf(to, sizeof to, "--to=%s", folder);
    char *before = listing_of(".");
    struct ran ran = doppel("scan", "docs", "--action=move-to", to, "--yes");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_int_not_equal(access("docs/sub/e2.txt", F_OK), 0);
    ran = doppel("undo");
    assert_code(&ran, 0);
    ran_free(&ran);
    assert_listing(".", before);
    assert_true(same_inode("docs/e.txt", "docs/sub/e2.txt"));
    assert_true(same_inode("docs/e.txt", "docs/sub/e3.txt"));
    (void)!nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(before);
}

/* The run ended before it came to the other name of a file: that is what it was, and the first is
 * its name again. */
static void gives_names_back_of_what_a_run_did_not_come_to(void **state)
{
    (void)state;
    static const char *const actions[] = {"--action=hardlink", "--action=symlink"};
    for (unsigned i = 0; i < 2; i++) {
        size_t size;
        make_doubles();
        assert_int_equal(unlink("docs/e.txt"), 0);
        assert_int_equal(link("docs/b.txt", "docs/sub/b2.txt"), 0);
        char *before = listing_of(".");
        assert_int_equal(link("docs/b.txt", "../b"), 0);
        (void)unlink(JOURNAL);
        struct ran ran = doppel("scan", "docs", actions[i], "--yes");
        assert_code(&ran, 0);
        ran_free(&ran);
        char *journal = read_file(JOURNAL, &size), *last = strstr(journal, "\"step\":3");
        assert_non_null(last);
        while (last > journal && last[-1] != '\n')
            last--;
        write_file(JOURNAL, journal, (size_t)(last - journal));
        free(journal);
        assert_int_equal(rename("../b", "docs/sub/b2.txt"), 0);
        ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_listing(".", before);
        assert_true(same_inode("docs/b.txt", "docs/sub/b2.txt"));
        assert_int_equal(system("rm -rf docs"), 0);
        free(before);
    }
}

/* Whenever a run is killed, and whenever one that undoes it, all comes back as it was, and nothing
 * is left behind. */
static void survives_being_killed(void **state)
{
    (void)state;
    static const char *const actions[][2] = {{"--action=hardlink", NULL},
                                             {"--action=symlink", NULL},
                                             {"--action=trash", NULL},
                                             {"--action=move-to", "--to=../away"},
                                             {"--action=move-to", NULL}};
    char other[] = "--to=/dev/shm/doppel-test-XXXXXX";
    bool has_other = mkdtemp(other + strlen("--to=")) != NULL; /* another file system */
    uint32_t random = 11;
    unsigned killed_midway = 0;
    make_pairs();
    char *before = listing_of(".");
    for (unsigned i = 0; i < KILLS; i++) {
        const char *const *action = actions[i % (has_other ? 5 : 4)];
        const char *words[] = {"scan", "docs", "--yes", action[0], action[1], NULL};
        if (!action[1] && strcmp(action[0], "--action=move-to") == 0)
            words[4] = other;
        struct running running = command_start(NULL, words);
        kill_at(&running, next_random(&random) % (2 * PAIRS), next_random(&random) % 1500);
        char *now = listing_of(".");
        killed_midway += strcmp(now, before) != 0;
        free(now);
        running = command_start(NULL, (const char *const[]){"undo", NULL});
        kill_at(&running, next_random(&random) % PAIRS, next_random(&random) % 1500);
        struct ran look = doppel("undo", "--dry-run", "--json");
        struct ran ran = doppel("undo", "--json");
        assert_code(&ran, 0);
        assert_int_equal(count_lines(look.out, ""), count_lines(ran.out, ""));
        assert_int_equal(count_lines(look.out, "\"reason\""), count_lines(ran.out, "\"reason\""));
        ran_free(&look);
        ran_free(&ran);
        assert_listing(".", before);
        assert_names();
        assert_empty("../away");
        assert_empty("../home/.local/share/Trash");
        if (has_other)
            assert_empty(other + strlen("--to="));
    }
    assert_in_range(killed_midway, KILLS / 2, KILLS);
    if (has_other)
        (void)!nftw(other + strlen("--to="), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(before);
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
        IN_SANDBOX(tells_of_runs_that_were_cut_short),
        IN_SANDBOX(says_nothing_of_steps_not_taken),
        IN_SANDBOX(removes_copies_of_killed_runs),
        IN_SANDBOX(gives_names_back_from_another_file_system),
        IN_SANDBOX(gives_names_back_of_what_a_run_did_not_come_to),
        IN_SANDBOX(survives_being_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
