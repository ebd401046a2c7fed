/* `doppel scan --action`: what is done to duplicates, and what is said. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acting.h"

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
        assert_listing(".", before);
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
    assert_listing(".", before);
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
        assert_listing(".", before);
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
    assert_listing(".", before);
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
        assert_listing(".", before);
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
        IN_SANDBOX(prints_a_script_for_any_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
