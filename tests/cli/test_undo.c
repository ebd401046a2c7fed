/* `doppel undo`: what was done comes back as it was, whatever ended the run. */
#include "command.h"

#include <fcntl.h>
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

/* ---- runs that were killed ---- */

enum { KILLS = 20, PAIRS = 40, PATIENCE_S = 30 };

static void make_pairs(void)
{
    char path[64];
    make_folder("docs");
    make_folder("docs/sub");
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(path, sizeof path, "docs/%03u.txt", i);
        write_words(path, i);
        snprintf(path, sizeof path, "docs/sub/%03u.txt", i);
        write_words(path, i);
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
    double began = now_seconds();
    unsigned before = lines_of_journal();
    struct timespec moment = {0, wait_us * 1000L};
    while (lines_of_journal() < before + lines && now_seconds() - began < PATIENCE_S)
        if (waitpid(running->pid, NULL, WNOHANG | WNOWAIT) > 0)
            break;
    nanosleep(&moment, NULL);
    kill(running->pid, SIGKILL);
    ran = command_end(running);
    ran_free(&ran);
}

static void assert_empty(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "! find '%s' -type f 2>/dev/null | grep -q .", folder);
    assert_int_equal(system(command), 0);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)type;
    (void)walk;
    return remove(path);
}

/* Whenever a run is killed, all comes back as it was, and nothing is left behind. */
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
        struct ran ran = doppel("undo");
        assert_code(&ran, 0);
        ran_free(&ran);
        assert_listing(".", before);
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
        IN_SANDBOX(survives_being_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
