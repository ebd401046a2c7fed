/* `scan --save`, and what `scan` and `report` make of the file later. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acting.h"
#include "collection.h"

/* Images, texts, and a text with two names. */
static void make_files(void)
{
    make_collection();
    make_doubles();
    assert_int_equal(link("docs/b.txt", "docs/sub/b2.txt"), 0);
    assert_int_equal(rename("docs", "pics/docs"), 0);
}

/* What a page shows, from its groups on. */
static char *shown_by(const char *operand)
{
    size_t size;
    free(doppel_prints(0, "report", operand, "-o", "page.html"));
    char *page = read_file("page.html", &size), *groups = strstr(page, "\"groups\":[");
    assert_non_null(groups);
    char *copy = strdup(groups);
    free(page);
    return copy;
}

static void a_saved_scan_is_what_was_found(void **state)
{
    (void)state;
    make_files();
    char *json = doppel_prints(0, "scan", "pics", "--json", "--save", "saved.jsonl");
    char *table = doppel_prints(0, "scan", "pics"), *page = shown_by("pics");
    char *again = doppel_prints(0, "scan", "saved.jsonl", "--json");
    char *table_again = doppel_prints(0, "scan", "saved.jsonl");
    char *page_again = shown_by("saved.jsonl");
    assert_int_equal(count_lines(json, ""), 8);
    assert_string_equal(again, json);
    assert_string_equal(table_again, table);
    assert_string_equal(page_again, page);
    char *texts = doppel_prints(0, "scan", "saved.jsonl", "--kind", "text", "--json");
    assert_int_equal(count_lines(texts, "\"kind\":\"text\""), 2);
    assert_int_equal(count_lines(texts, ""), 2);
    free(texts);
    free(json);
    free(table);
    free(page);
    free(again);
    free(table_again);
    free(page_again);
}

static void its_paths_lead_there_from_elsewhere(void **state)
{
    (void)state;
    make_files();
    char *json = doppel_prints(0, "scan", "pics", "--json", "--save", "saved.jsonl");
    assert_int_equal(chdir("pics"), 0);
    char *here = getcwd(NULL, 0), *there = doppel_prints(0, "scan", "../saved.jsonl", "--json");
    assert_non_null(here);
    assert_has(there, here);
    assert_int_equal(count_lines(there, ""), count_lines(json, ""));
    free(here);
    free(there);
    free(json);
    assert_int_equal(chdir(".."), 0);
}

/* No file is read: what has its stamp is believed. */
static void no_file_is_read(void **state)
{
    (void)state;
    make_files();
    char *json = doppel_prints(0, "scan", "pics", "--json", "--save", "saved.jsonl");
    const struct setting powerless = {.powerless = true};
    char *names[] = {"pics/docs/a.txt", "pics/docs/b.txt", "pics/docs/e.txt"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(chmod(names[i], 0), 0);
    struct ran ran = doppel_with(&powerless, "scan", "saved.jsonl", "--json");
    assert_code(&ran, 0);
    assert_string_equal(ran.out, json);
    ran_free(&ran);
    free(json);
}

/* ---- what changed since ---- */

enum { SEEDS = 5, COPIES = 4, ROUNDS = 6 };

enum fate { UNTOUCHED, GROWN, TOUCHED, REMOVED, REPLACED, FATES };

static void copy_path(char path[32], unsigned seed, unsigned copy)
{
    snprintf(path, 32, "docs/%u-%u.txt", seed, copy);
}

static void suffer(const char *path, enum fate fate)
{
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    struct timespec later[2] = {before.st_atim, before.st_mtim};
    if (fate == GROWN) {
        FILE *stream = fopen(path, "a");
        assert_non_null(stream);
        fputs("more", stream);
        fclose(stream);
        assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0); /* its size tells */
    } else if (fate == TOUCHED) {
        later[1].tv_nsec = (later[1].tv_nsec + 1) % 1000000000;
        assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0);
    } else if (fate == REMOVED) {
        assert_int_equal(unlink(path), 0);
    } else if (fate == REPLACED) { /* its inode tells */
        copy_file(path, "copy");
        assert_int_equal(utimensat(AT_FDCWD, "copy", later, 0), 0);
        assert_int_equal(rename("copy", path), 0);
    }
}

/* Files of random fates: exactly the duplicates that are as they were go, all others stay. */
static void what_changed_is_never_acted_on(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (unsigned round = 0; round < ROUNDS; round++) {
        enum fate fates[SEEDS][COPIES];
        unsigned goes = 0, changed = 0;
        char path[32], reason[128];
        make_folder("docs");
        for (unsigned seed = 0; seed < SEEDS; seed++)
            for (unsigned copy = 0; copy < COPIES; copy++) {
                copy_path(path, seed, copy);
                write_words(path, seed + 1);
            }
        free(doppel_prints(0, "scan", "docs", "--save", "saved.jsonl"));
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            unsigned left = 0;
            for (unsigned copy = 0; copy < COPIES; copy++) {
                uint32_t number = next_random(&random);
                fates[seed][copy] = number % 2 ? UNTOUCHED : (enum fate)(number / 2 % FATES);
                copy_path(path, seed, copy);
                suffer(path, fates[seed][copy]);
                left += fates[seed][copy] == UNTOUCHED;
                changed += fates[seed][copy] != UNTOUCHED && fates[seed][copy] != REMOVED;
            }
            goes += left > 1 ? left - 1 : 0;
        }
        struct ran ran = doppel("scan", "saved.jsonl", "--action", "trash", "--yes", "--json");
        assert_code(&ran, changed ? 3 : 0);
        assert_int_equal(count_lines(ran.out, "\"done\":true"), goes);
        assert_int_equal(count_lines(ran.err, "has changed since the scan was saved"), changed);
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            unsigned there = 0, untouched = 0;
            for (unsigned copy = 0; copy < COPIES; copy++) {
                bool was_left = fates[seed][copy] == UNTOUCHED;
                copy_path(path, seed, copy);
                there += was_left && access(path, F_OK) == 0;
                untouched += was_left;
                snprintf(reason, sizeof reason, "doppel: %s: has changed since", path);
                if (!was_left && fates[seed][copy] != REMOVED) {
                    assert_int_equal(access(path, F_OK), 0);
                    assert_has(ran.err, reason);
                }
            }
            assert_int_equal(there, untouched ? 1 : 0);
        }
        ran_free(&ran);
        assert_int_equal(system("rm -rf docs"), 0);
    }
}

/* What was linked by an action has not changed: it is a name of another one. */
static void what_was_done_is_not_done_again(void **state)
{
    (void)state;
    make_files();
    free(doppel_prints(0, "scan", "pics", "--save", "saved.jsonl"));
    struct ran ran = doppel("scan", "saved.jsonl", "--action", "hardlink", "--yes");
    assert_code(&ran, 0);
    ran_free(&ran);
    ran = doppel("scan", "saved.jsonl", "--action", "trash", "--yes", "--kind", "text");
    assert_code(&ran, 0);
    assert_has(ran.err, "gone, or linked to another");
    assert_has(ran.err, "no file put into the trash");
    ran_free(&ran);
}

/* ---- what is decided ---- */

static void marks_choose_another_to_keep(void **state)
{
    (void)state;
    size_t size;
    char line[256], digest[33];
    make_doubles();
    free(doppel_prints(0, "scan", "docs", "--save", "saved.jsonl"));
    char *saved = read_file("saved.jsonl", &size), *at = strstr(saved, "docs/b.txt");
    assert_non_null(at);
    at = strstr(at, "\"digest\":\"") + 10;
    snprintf(digest, sizeof digest, "%.32s", at);
    snprintf(line, sizeof line,
             "{\"mark\":\"keep\",\"a\":\"docs/b.txt\",\"a_digest\":\"%s\"}\n"
             "{\"mark\":\"remove\",\"a\":\"docs/a.txt\",\"a_digest\":\"%s\"}\n",
             digest, digest);
    write_file("marks.jsonl", line, strlen(line));
    free(saved);
    struct ran ran = doppel("report", "saved.jsonl", "--marks", "marks.jsonl", "--action", "trash",
                            "--yes", "--json");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"path\":\"docs/a.txt\"");
    assert_int_equal(access("docs/a.txt", F_OK), -1);
    assert_int_equal(access("docs/b.txt", F_OK), 0);
    ran_free(&ran);
    ran = doppel("undo");
    assert_code(&ran, 0);
    ran_free(&ran);
    ran = doppel("scan", "saved.jsonl", "--action=trash", "--yes", "--protect", "docs/e.txt");
    assert_code(&ran, 0);
    assert_int_equal(access("docs/e.txt", F_OK), 0);
    assert_int_equal(access("docs/d.txt", F_OK), -1);
    ran_free(&ran);
}

static void what_was_decided_is_not_decided_again(void **state)
{
    (void)state;
    static const char *const wrong[][6] = {
        {"scan", "saved.jsonl", "docs"},
        {"scan", "docs", "saved.jsonl"},
        {"scan", "saved.jsonl", "--reference", "docs"},
        {"scan", "saved.jsonl", "--keep", "date"},
        {"scan", "saved.jsonl", "--min-similarity", "0.9"},
        {"scan", "saved.jsonl", "--save", "other.jsonl"},
        {"report", "saved.jsonl", "--not-within", "-o", "x.html"},
        {"report", "saved.jsonl", "--bursts", "-o", "x.html"},
        {"scan", "docs", "--save", "docs/f.txt"}, /* somebody's work */
    };
    make_doubles();
    free(doppel_prints(0, "scan", "docs", "--save", "saved.jsonl"));
    char *before = listing_of(".");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran ran = command_run(NULL, wrong[i]);
        assert_code(&ran, 2);
        assert_string_equal(ran.out, "");
        ran_free(&ran);
        char *after = listing_of(".");
        assert_string_equal(after, before);
        free(after);
    }
    free(doppel_prints(0, "scan", "docs", "--save", "saved.jsonl")); /* takes its place */
    free(before);
}

/* ---- bad files ---- */

static void assert_refused(const char *bytes, size_t size, const char *reason)
{
    write_file("bad.jsonl", bytes, size);
    struct ran ran = doppel("scan", "bad.jsonl", "--json", "--action", "trash", "--yes");
    assert_code(&ran, 2);
    assert_string_equal(ran.out, "");
    assert_has(ran.err, "bad.jsonl:");
    if (reason)
        assert_has(ran.err, reason);
    ran_free(&ran);
}

static void what_is_cut_short_is_refused(void **state)
{
    (void)state;
    size_t size;
    make_doubles();
    free(doppel_prints(0, "scan", "docs", "--save", "saved.jsonl"));
    char *saved = read_file("saved.jsonl", &size);
    for (size_t cut = 20; cut < size; cut += 97)
        assert_refused(saved, cut, NULL);
    assert_refused(saved, size - 1, "cut short");
    char *twice = malloc(2 * size);
    memcpy(twice, saved, size);
    memcpy(twice + size, saved, size);
    assert_refused(twice, 2 * size, "follows the end");
    char *second = strchr(saved, '\n') + 1, *third = strchr(second, '\n') + 1;
    size_t head = (size_t)(second - saved), rest = size - (size_t)(third - saved);
    memcpy(twice, saved, head); /* a group is missing */
    memcpy(twice + head, third, rest);
    assert_refused(twice, head + rest, "counts other groups");
    free(twice);
    free(saved);
}

static void what_is_wrong_is_told_by_its_line(void **state)
{
    (void)state;
#define HEAD "{\"doppel_scan\":1,\"doppel\":\"x\",\"folder\":\"/\"}\n"
#define FILE_OF(more)                                                                              \
    "{\"size\":1,\"mtime_ns\":1,\"inode\":1,"                                                      \
    "\"digest\":\"00000000000000000000000000000001\"," more "}"
#define GROUP(a, b) "{\"group\":1,\"kind\":\"text\",\"members\":[" a "," b "]}\n"
#define KEPT FILE_OF("\"path\":\"/a\",\"reason\":\"kept\"")
#define NEAR FILE_OF("\"path\":\"/b\",\"reason\":\"near\"")
#define STAMP(X) "\"size\":1,\"mtime_ns\":1,\"inode" X "\":1"
#define LINK(PATH, SEMANTIC, FILE)                                                                 \
    HEAD "{\"kind\":\"text\",\"path" PATH                                                          \
         "\":\"/a\"," STAMP("") ",\"semantic\":{\"of_path\":\"/b\"," SEMANTIC                      \
                                "},\"of_file\":{" STAMP(FILE) "}}\n"
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"{\"doppel_scan\":3}\n", "bad.jsonl:1: is a saved scan of version 3"},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\"", "") "{\"end\":true,\"groups\":0}\n",
         "bad.jsonl:3: counts other groups"},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\"", "") "{\"end\":true,\"groups\":1}\n",
         "bad.jsonl:3: counts other groups"},
        {LINK("x", "\"cosine\":0.9", ""), "bad.jsonl:2: \"path\""},
        {LINK("", "\"extent\":\"same\"", ""), "bad.jsonl:2: \"cosine\" is not there"},
        {LINK("", "\"cosine\":2,\"extent\":\"same\"", ""), "bad.jsonl:2: \"cosine\""},
        {LINK("", "\"cosine\":0.9", ""), "bad.jsonl:2: \"extent\" is not there"},
        {LINK("", "\"cosine\":0.9,\"extent\":\"half\"", ""), "bad.jsonl:2: \"extent\""},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\",\"tier\":\"best\"", ""),
         "bad.jsonl:2: \"tier\""},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\",\"segments\":[{\"a_start\":0}]", ""),
         "bad.jsonl:2: \"a_end\" is not a place in a text"},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\",\"segments\":[7]", ""),
         "bad.jsonl:2: \"a_start\""},
        {LINK("", "\"cosine\":0.9,\"extent\":\"same\"", "x"), "bad.jsonl:2: \"semantic\""},
        {HEAD "{\"kind\":\"text\"\n", "bad.jsonl:2: it is no object"},
        {HEAD "{\"kind\":\"text\"}\n", "bad.jsonl:2: \"path\""},
        {"{\"doppel_scan\":\"1\"}\n", "bad.jsonl:1: is no saved scan"},
        {"{\"doppel_scan\":1}\n", "bad.jsonl:1: \"folder\""},
        {"{\"doppel_scan\":1\n", "bad.jsonl:1: is no saved scan"},
        {HEAD "words\n", "bad.jsonl:2: it is no object"},
        {HEAD "{}\n", "bad.jsonl:2: \"group\""},
        {HEAD "{\"group\":1,\"kind\":\"text\",\"members\":[" KEPT "]}\n", "\"members\" is not"},
        {HEAD GROUP(KEPT, KEPT), "bad.jsonl:2: \"reason\""},
        {HEAD GROUP(NEAR, KEPT), "bad.jsonl:2: \"reason\""},
        {HEAD GROUP(KEPT, "7"), "bad.jsonl:2: \"path\""},
        {HEAD GROUP(KEPT, FILE_OF("\"reason\":\"near\"")), "bad.jsonl:2: \"path\""},
        {HEAD GROUP(KEPT, FILE_OF("\"path\":\"x\",\"path_base64\":\"YQBi\",\"reason\":\"near\"")),
         "bad.jsonl:2: \"path_base64\" is not base64 of bytes other than NUL"},
        {HEAD GROUP(KEPT, "{\"path\":\"/b\",\"reason\":\"near\",\"size\":-1}"), "\"size\""},
        {HEAD GROUP(KEPT, FILE_OF("\"path\":\"/b\",\"reason\":\"near\",\"width\":1e300")),
         "\"width\""},
        {HEAD GROUP(KEPT, FILE_OF("\"path\":\"/b\",\"reason\":\"near\",\"relation\":\"same\","
                                  "\"scheme\":\"none such\"")),
         "\"scheme\""},
        {HEAD GROUP(KEPT, NEAR), "bad.jsonl:3: is missing"},
        {HEAD GROUP(KEPT, NEAR) "{\"end\":true,\"groups\":7}\n", "bad.jsonl:3: counts other"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].reason);
    char *deep = malloc(1 << 20);
    memset(deep, '[', 1 << 20);
    memcpy(deep, HEAD, strlen(HEAD));
    deep[(1 << 20) - 1] = '\n';
    assert_refused(deep, 1 << 20, "bad.jsonl:2: it is no object");
    free(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_saved_scan_is_what_was_found),
        IN_SANDBOX(its_paths_lead_there_from_elsewhere),
        IN_SANDBOX(no_file_is_read),
        IN_SANDBOX(what_changed_is_never_acted_on),
        IN_SANDBOX(what_was_done_is_not_done_again),
        IN_SANDBOX(marks_choose_another_to_keep),
        IN_SANDBOX(what_was_decided_is_not_decided_again),
        IN_SANDBOX(what_is_cut_short_is_refused),
        IN_SANDBOX(what_is_wrong_is_told_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
