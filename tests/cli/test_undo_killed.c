/* Runs of `--action` and `undo` that were killed, or came to nothing. */
#include "command.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acting.h"

enum { KILLS = 20, PAIRS = 20, PATIENCE_S = 30 };

static void make_pairs(void)
{
    char path[64], name[64];
    write_pairs("docs", "docs/sub", PAIRS);
    for (unsigned i = 0; i < PAIRS; i += 4) {
        snprintf(path, sizeof path, "docs/sub/%03u.txt", i);
        snprintf(name, sizeof name, "docs/sub/%03u-name.txt", i);
        assert_int_equal(link(path, name), 0);
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
    act_on_docs("hardlink");
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
    act_on_docs("hardlink");
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

/* A link that a killed run had not yet put in its place goes, too when the duplicate is a copy by
 * now: a later run did the step, and was undone. */
static void removes_links_of_killed_runs(void **state)
{
    (void)state;
    char path[128];
    size_t size;
    make_doubles();
    char *before = listing_of(".");
    act_on_docs("hardlink");
    char *journal = read_file(JOURNAL, &size), *temporary = last_temporary();
    free(doppel_prints(0, "undo"));
    *strrchr(journal, '\n') = '\0';
    write_file(JOURNAL, journal, (size_t)(strrchr(journal, '\n') + 1 - journal));
    snprintf(path, sizeof path, "docs/%s", temporary);
    assert_int_equal(link("docs/a.txt", path), 0);
    free(doppel_prints(0, "undo"));
    assert_listing(".", before);
    free(temporary);
    free(journal);
    free(before);
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
        IN_SANDBOX(tells_of_runs_that_were_cut_short),
        IN_SANDBOX(says_nothing_of_steps_not_taken),
        IN_SANDBOX(removes_links_of_killed_runs),
        IN_SANDBOX(removes_copies_of_killed_runs),
        IN_SANDBOX(gives_names_back_from_another_file_system),
        IN_SANDBOX(gives_names_back_of_what_a_run_did_not_come_to),
        IN_SANDBOX(survives_being_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
