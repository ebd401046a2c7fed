/* export, import, merge and backup, as a user runs them. */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collection.h"
#include "command.h"
#include "writer.h"

static const char PDQ_LIST[] =
    "hash,quality,filename\n"
    "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22,100,./bridge.jpg\n"
    "30a10efd71cc3d429013d48d0ffffc52e34e0e17ada952a9d29685211ea9e5af,97,\"a, b \"\"c\"\".jpg\"\n"
    "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b23,100,copy.jpg\n";

static void put(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

static void run_well(const char *const *words)
{
    struct ran ran = command_run(NULL, words);
    assert_code(&ran, 0);
    ran_free(&ran);
}
#define well(...) run_well((const char *const[]){__VA_ARGS__, NULL})

/* ---- exports, compared ---- */

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* What differs from library to library although nothing else does. */
static char *plain_line(const char *line)
{
    static const char *const own[] = {"item", "text", "leader", "canonical", "time_ns"};
    json_t *object = json_loads(line, 0, NULL);
    assert_non_null(object);
    bool left_out = json_object_get(object, "log") || json_object_get(object, "doppel_export");
    bool follows = json_object_get(object, "leader") != NULL;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!json_is_string(json_object_get(object, own[i])))
            json_object_del(object, own[i]);
    if (follows)
        json_object_set_new(object, "follows", json_true());
    char *plain = left_out ? NULL : json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return plain;
}

/* An export without ids and times of words, its lines in order; free. */
static char *plain_export(const char *library, unsigned *out_lines)
{
    char *text = doppel_prints(0, "export", "-L", library), *rest = text, *lines[2000];
    size_t count = 0, size = 1;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *plain = *line ? plain_line(line) : NULL;
        if (!plain)
            continue;
        assert_true(count < sizeof lines / sizeof *lines);
        size += strlen(plain) + 1;
        lines[count++] = plain;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    char *all = malloc(size), *at = all;
    *all = '\0';
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(text);
    if (out_lines)
        *out_lines = (unsigned)count;
    return all;
}

static void assert_same_libraries(const char *a, const char *b)
{
    char *x = plain_export(a, NULL), *y = plain_export(b, NULL);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* Pictures, files of text, records, codes, digests, recordings by code; lists, labels, sources,
 * marks.
 */
static void make_library(const char *library)
{
    make_folder("pics");
    keep_drawing("pics/a.jpg", 1, 5);
    keep_drawing("pics/b\xff.jpg", 2, 6);
    keep_text("pics/c.txt", write_words(7, 300));
    put("pdq.csv", PDQ_LIST);
    put("imagehash", "d8f8f0cee0f4a84a  x y.png\n0123456789abcdef\n");
    put("fpcalc", "FILE=a.mp3\nDURATION=10\nFINGERPRINT=1,2,3,4,4294967295\n\n"
                  "DURATION=9\nFINGERPRINT=5,6,7\n");
    put("sums", "d41d8cd98f00b204e9800998ecf8427e  empty\n"
                "da39a3ee5e6b4b0d3255bfef95601890afd80709 *empty too\n"
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  third\n");
    put("records.jsonl", "{\"id\":\"r1\",\"text\":\"one two three four five six seven eight nine "
                         "ten eleven twelve\","
                         "\"source\":\"s\"}\n"
                         "{\"id\":\"r2\",\"text\":\"one two three four five six seven eight nine "
                         "ten eleven twelve\"}\n"
                         "{\"id\":\"r3\",\"text\":\"short\"}\n");
    well("add", "-L", library, "-q", "pics", "--list", "mine", "--meta", "{\"a\":[1,2.5,\"x\"]}");
    well("import", "-q", "-L", library, "pdq.csv", "--list", "bad", "--label", "b", "--label", "a",
         "--source", "example.org");
    well("import", "-q", "-L", library, "imagehash", "fpcalc", "sums");
    well("ingest", "-q", "-L", library, "--jsonl", "records.jsonl", "--keep-shingles");
    well("lists", "set", "-L", library, "mine", "--state", "benign");
    well("source", "set", "-L", library, "*.org", "7");
    well("mark", "-L", library, "1", "2", "--distinct");
}

/* ---- tests ---- */

static void an_export_makes_the_same_library_again(void **state)
{
    (void)state;
    unsigned lines = 0;
    make_library("one");
    free(plain_export("one", &lines));
    assert_true(lines >= 16);
    well("export", "-L", "one", "-o", "one.jsonl");
    well("import", "-L", "two", "one.jsonl");
    assert_same_libraries("one", "two");
    struct ran ran = doppel("import", "-L", "two", "one.jsonl"); /* again: nothing is new */
    assert_code(&ran, 0);
    assert_has(ran.err, "doppel: 0 imported, 0 updated, ");
    ran_free(&ran);
    assert_same_libraries("one", "two");
    well("verify", "-q", "-L", "two");
}

/* Whoever followed whom does so there, too, whatever the numbers are. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    make_library("full");
    const struct setting setting = {.program = "/bin/sh"};
    struct ran ran = doppel_with(&setting, "-c", DOPPEL_PROGRAM " export -L full > /dev/full");
    assert_code(&ran, 2);
    assert_has(ran.err, "No space left");
    ran_free(&ran);
}

static void groups_come_along(void **state)
{
    (void)state;
    put("first", "{\"scheme\":\"pdq\",\"code\":"
                 "\"00000000000000000000000000000000000000000000000000000000000000ff\"}\n");
    put("second",
        "{\"item\":90,\"scheme\":\"imagehash\",\"code\":\"00000000000000ff\",\"leader\":7,"
        "\"external_id\":\"follower\"}\n"
        "{\"item\":7,\"scheme\":\"imagehash\",\"code\":\"00000000000000fe\",\"canonical\":90,"
        "\"external_id\":\"leader\"}\n"
        "{\"item\":8,\"scheme\":\"imagehash\",\"code\":\"00000000000000fd\",\"leader\":12345}\n");
    well("import", "-q", "-L", "l", "first", "second");
    char *out = doppel_prints(0, "show", "-L", "l", "2", "3", "4", "--json");
    assert_has(out, "\"leader\":3");
    assert_has(out, "\"canonical\":2");
    assert_lacks(out, "\"leader\":4,");
    free(out);
}

/* Files of other tools come back as they went in. */
static void lists_come_back(void **state)
{
    (void)state;
    make_library("one");
    char *out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "pdq");
    assert_string_equal(out, strchr(PDQ_LIST, '\n') + 1);
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "imagehash");
    assert_string_equal(out, "d8f8f0cee0f4a84a  x y.png\n0123456789abcdef\n");
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "fpcalc");
    assert_string_equal(out, "FILE=a.mp3\nDURATION=10\nFINGERPRINT=1,2,3,4,4294967295\n\n"
                             "DURATION=9\nFINGERPRINT=5,6,7\n\n");
    free(out);
    out = doppel_prints(0, "export", "-q", "-L", "one", "--format", "digests");
    assert_string_equal(
        out, "d41d8cd98f00b204e9800998ecf8427e  empty\n"
             "da39a3ee5e6b4b0d3255bfef95601890afd80709  empty too\n"
             "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  third\n");
    free(out);
    well("export", "-L", "one", "--format", "csv", "--list", "bad", "-o", "bad.csv");
    well("import", "-q", "-L", "two", "bad.csv");
    out = doppel_prints(0, "export", "-q", "-L", "two", "--format", "pdq");
    assert_string_equal(out, strchr(PDQ_LIST, '\n') + 1);
    free(out);
}

/* How long a recording is, is known wherever that of a file is; where it is not told, it is not. */
static void lengths_come_along(void **state)
{
    (void)state;
    put("fpcalc", "FILE=a.mp3\nDURATION=10.5\nFINGERPRINT=1,2,3,4\n\nFILE=b.mp3\n"
                  "FINGERPRINT=1,2,3,5\n\nFILE=c.mp3\nDURATION=-1\nFINGERPRINT=1,2,3,6\n");
    put("hash", "{\"path\":\"d\",\"scheme\":\"chromaprint\",\"bits\":64,\"duration\":2.25,"
                "\"sequence\":[[\"0000000000000001\",0]]}\n");
    well("import", "-q", "-L", "l", "fpcalc", "hash");
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"duration\""), 2);
    assert_has(out, "\"duration\":10.5,");
    assert_has(out, "\"duration\":2.25,");
    free(out);
    out = doppel_prints(0, "show", "-L", "l", "1", "--json");
    assert_has(out, "\"duration\":10.5,");
    free(out);
    out = doppel_prints(0, "list", "-L", "l", "--json", "--where", "duration > 5");
    assert_int_equal(count_lines(out, "a.mp3"), 1);
    assert_int_equal(count_lines(out, ""), 1);
    free(out);
    well("verify", "-q", "-L", "l");
}

/* A time that cannot be is that of the import. */
static void times_are_kept(void **state)
{
    (void)state;
    put("list.csv", "scheme,code,added\nimagehash,0000000000000001,1000000000.5\n"
                    "imagehash,0000000000000002,99999999999\nimagehash,0000000000000003,May\n"
                    "imagehash,0000000000000004,-5\n");
    well("import", "-q", "-L", "l", "list.csv");
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"added\":1000000000.5,"), 1);
    free(out);
    out = doppel_prints(0, "list", "-L", "l", "--where",
                        "abs(added_ns / 1e9 - strftime('%s')) < 1000", "--json");
    assert_int_equal(count_lines(out, ""), 3);
    free(out);
    out = doppel_prints(0, "export", "-L", "l", "--format", "csv");
    assert_has(out, ",1000000000.5,");
    free(out);
}

/* Codes of before are none of today's. */
static void a_version_in_csv_is_kept(void **state)
{
    (void)state;
    put("list.csv", "scheme,version,code\nphash64,1,00000000ffff0001\nphash64,,00000000ffff0002\n"
                    "phash64,70000,00000000ffff0003\n");
    free(doppel_prints(3, "import", "-q", "-L", "l", "list.csv"));
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, ""), 2);
    assert_int_equal(count_lines(out, "\"version\":1,"), 1);
    free(out);
}

/* What is chosen is all that goes out; what the library was told stays at home. */
static void a_part_is_exported(void **state)
{
    (void)state;
    make_library("one");
    char *out = doppel_prints(0, "export", "-L", "one", "--list", "bad");
    assert_int_equal(count_lines(out, "\"item\""), 3);
    assert_int_equal(count_lines(out, "\"state\""), 1);
    assert_lacks(out, "\"mark\"");
    assert_lacks(out, "source_pattern");
    assert_lacks(out, "\"log\"");
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--scheme", "imagehash");
    assert_int_equal(count_lines(out, "\"item\""), 2);
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--where", "external_id = 'copy.jpg'");
    assert_int_equal(count_lines(out, "\"item\""), 1);
    free(out);
    out = doppel_prints(0, "export", "-L", "one", "--kind", "text");
    assert_int_equal(count_lines(out, "\"text\":"), 3);
    free(out);
}

/* Items without a file are found, grouped, shown by name, and never acted on. */
/* `hash` prints 64 of the 256 bits that the library keeps of pictures of its own. */
static void codes_that_hash_prints_are_items(void **state)
{
    (void)state;
    make_collection();
    char *lines = doppel_prints(0, "hash", "--json", "pics/tree.jpg", "pics/tree-mirrored.jpg");
    put("codes.jsonl", lines);
    free(lines);
    well("import", "-q", "-L", "l", "codes.jsonl");
    char *out = doppel_prints(0, "groups", "-L", "l", "--json");
    assert_int_equal(count_lines(out, ""), 1);
    assert_has(out, "\"mirrored\":true");
    free(out);
    out = doppel_prints(0, "find", "-L", "l", "--json", "pics/tree.jpg");
    assert_int_equal(count_lines(out, "\"name\""), 2);
    free(out);
    out = doppel_prints(0, "check", "-L", "l", "pics/tree.jpg");
    assert_has(out, "\"decision\":\"duplicate\",\"of\":1,");
    assert_lacks(out, "of_path");
    free(out);
    well("add", "-q", "-L", "l", "pics/tree.jpg", "pics/clock.png");
    out = doppel_prints(0, "groups", "-L", "l", "--json");
    assert_int_equal(count_lines(out, ""), 1);
    assert_has(out, "\"path\"");
    free(out);
}

static void all_codes_that_hash_prints_are_items(void **state)
{
    (void)state;
    make_collection();
    char *lines = doppel_prints(0, "hash", "--json", "--codes", "pics/sub/planet.jpg");
    put("codes.jsonl", lines);
    free(lines);
    well("import", "-q", "-L", "l", "codes.jsonl");
    char *out = doppel_prints(0, "find", "-L", "l", "--json", "pics/sub/planet-cropped.jpg");
    assert_has(out, "\"relation\":\"contained\"");
    free(out);
}

static void codes_are_items(void **state)
{
    (void)state;
    put("pdq.csv", PDQ_LIST);
    well("import", "-q", "-L", "l", "pdq.csv", "--list", "bad");
    char *out = doppel_prints(0, "find", "-L", "l", "--scheme", "pdq", "--json", "--code",
                              "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b20");
    assert_int_equal(count_lines(out, "\"name\""), 2);
    assert_lacks(out, "\"path\"");
    free(out);
    out = doppel_prints(0, "groups", "-L", "l", "--json"); /* there is no other scheme */
    assert_has(out, "\"name\":\"copy.jpg\"");
    free(out);
    out = doppel_prints(0, "groups", "-L", "l", "--scheme", "pdq", "-0");
    assert_string_equal(out, "");
    free(out);
    out = doppel_prints(0, "groups", "-L", "l", "--scheme", "pdq", "--action", "trash", "--reason",
                        "near", "--yes", "--journal", "journal");
    free(out);
    out = doppel_prints(0, "list", "-L", "l");
    assert_has(out, "a, b \"c\".jpg");
    free(out);
    out = doppel_prints(0, "log", "-L", "l", "1");
    assert_has(out, "imported");
    free(out);
    well("remove", "-L", "l", "1");
    out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"name\""), 2);
    free(out);
}

/* Who has a list of PDQ and forgets the scheme is not left with 'nothing matched'. */
static void codes_of_another_scheme_are_told(void **state)
{
    (void)state;
    make_collection();
    put("pdq.csv", PDQ_LIST);
    struct ran ran = doppel("import", "-L", "library", "pdq.csv", "pdq.csv");
    assert_code(&ran, 0);
    assert_has(ran.err, "pdq.csv: 3 imported, 0 updated, 0 there already\n");
    assert_has(ran.err, "pdq.csv: 0 imported, 0 updated, 3 there already\n");
    ran_free(&ran);
    ran = doppel("check", "-L", "library", "pics/tree.jpg");
    assert_code(&ran, 1);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
    ran = doppel("check", "-v", "-L", "library", "pics/tree.jpg");
    assert_code(&ran, 1);
    assert_has(ran.err,
               "doppel: all pictures of the library are of scheme 'pdq': compared by that\n");
    ran_free(&ran);
    well("add", "-q", "-L", "library", "pics/clock.png");
    ran = doppel("find", "-L", "library", "--json", "pics/tree.jpg", "pics/sea.jpg");
    assert_code(&ran, 1);
    assert_string_equal(ran.err, ""); /* asked by both schemes */
    assert_lacks(ran.out, "not_compared");
    ran_free(&ran);
    ran = doppel("check", "-L", "library", "pics/tree.jpg");
    assert_code(&ran, 1);
    assert_has(ran.out, "new");
    ran_free(&ran);
    char *hash = doppel_prints(0, "hash", "--scheme", "pdq", "--json", "pics/tree.jpg");
    char line[128];
    snprintf(line, sizeof line, "%.64s,100,x\n", strstr(hash, "\"code\":\"") + 8);
    free(hash);
    put("tree.csv", line);
    well("import", "-q", "-L", "library", "--format", "pdq", "tree.csv");
    ran = doppel("find", "-L", "library", "--json", "pics/tree.jpg");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"scheme\":\"pdq\"");
    ran_free(&ran);
    ran = doppel("check", "-L", "library", "--json", "pics/tree.jpg");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"decision\":\"duplicate\"");
    ran_free(&ran);
    ran = doppel("find", "-L", "library", "--scheme", "pdq", "pics/sea.jpg");
    assert_code(&ran, 1);
    assert_string_equal(ran.err, "");
    ran_free(&ran);
    /* what people have added themselves under another scheme is their choice */
    well("add", "-q", "-L", "mixed", "pics/tree.jpg");
    well("add", "-q", "-L", "mixed", "pics/sea.jpg", "--scheme", "phash256");
    ran = doppel("find", "-L", "mixed", "pics/sea.jpg");
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

/* What cannot be asked is in the JSON, and is no reason to call anything new. */
static void what_was_not_compared_is_said(void **state)
{
    (void)state;
    make_collection();
    put("codes.csv",
        "scheme,code\npdq,f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22\n");
    well("import", "-q", "-L", "library", "codes.csv");
    well("add", "-q", "-L", "library", "pics/clock.png");
    const struct setting shell = {.program = "/bin/sh"};
    struct ran ran =
        doppel_with(&shell, "-c", DOPPEL_PROGRAM " find -L library --json - < pics/tree.jpg");
    assert_code(&ran, 1);
    assert_has(ran.out, "\"match\":false,\"not_compared\":{\"pdq\":1}");
    assert_string_equal(ran.err, "doppel: 1 picture of another scheme was not compared; "
                                 "'--scheme pdq' compares it\n");
    ran_free(&ran);
    ran = doppel("find", "-L", "library", "--json", "--code", "0123456789abcdef");
    assert_has(ran.out, "\"not_compared\":{\"pdq\":1}");
    ran_free(&ran);
    ran = doppel("find", "-L", "library", "0123456789abcdef");
    assert_code(&ran, 2);
    assert_has(ran.err, "'doppel find --code 0123456789abcdef'");
    ran_free(&ran);
}

/* The same list again updates in place. */
static void a_list_is_updated_in_place(void **state)
{
    (void)state;
    put("old", "0123456789abcdef  a\nfedcba9876543210  b\n");
    put("new", "0123456789abcdee  a\nfedcba9876543210  b\n1111111111111111  c\n");
    well("import", "-q", "-L", "l", "old", "--list", "x");
    struct ran ran = doppel("import", "-L", "l", "new", "--list", "x");
    assert_code(&ran, 0);
    assert_has(ran.err, "1 imported, 1 updated, 1 there already");
    ran_free(&ran);
    char *out = doppel_prints(0, "export", "-q", "-L", "l", "--format", "imagehash");
    assert_string_equal(out, "0123456789abcdee  a\nfedcba9876543210  b\n1111111111111111  c\n");
    free(out);
}

static const char *const bad_lines[] = {
    "{",
    "[1]",
    "{\"foo\":1}",
    "{\"item\":1,\"scheme\":\"nonesuch\"}",
    "{\"item\":1,\"scheme\":\"pdq\"}",
    "{\"item\":1,\"scheme\":\"pdq\",\"bits\":256,\"sequence\":[[\"00\",0]]}",
    "{\"item\":1,\"scheme\":\"pdq\",\"bits\":1e99,\"sequence\":[]}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"bits\":64,\"sequence\":[[\"0123456789abcdef\",99]]"
    "}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"bits\":64,\"sequence\":[[\"0123456789abcdef\",-1]]"
    "}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcde\"}",
    "{\"item\":99999999999999999999,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\"}",
    "{\"item\":-1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\"}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"quality\":101}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"attachment\":"
    "\"AAA\"}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"labels\":[1]}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"labels\":[\"\"]}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"external_id\":"
    "\"\\u0000\"}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"external_id\":"
    "\"\xff\"}",
    "{\"item\":1,\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\",\"meta\":[]}",
    "{\"item\":1,\"path\":\"x\",\"digest\":\"00\",\"scheme\":\"imagehash\","
    "\"code\":\"0123456789abcdef\"}",
    "{\"item\":1,\"path\":\"relative\",\"digest\":\"00000000000000000000000000000001\","
    "\"scheme\":\"imagehash\",\"code\":\"0123456789abcdef\"}",
    "{\"item\":1,\"path_base64\":\"AAAA\",\"scheme\":\"imagehash\",\"code\":"
    "\"0123456789abcdef\"}",
    "{\"item\":1,\"scheme\":\"frames64\",\"bits\":64,\"sequence\":[]}",
    "{\"item\":1,\"scheme\":\"peaks32\",\"bits\":64,\"sequence\":[],\"attachment\":\"AAAA\"}",
    "{\"exact\":\"md5:00\"}",
    "{\"exact\":\"crc:00\"}",
    "{\"text\":1,\"content\":\"00\"}",
    "{\"text\":1,\"lanes\":\"00\",\"content\":\"00000000000000000000000000000001\"}",
    "{\"list\":\"\",\"state\":\"active\"}",
    "{\"list\":\"x\",\"state\":\"nonesuch\"}",
    "{\"source_pattern\":\"[\",\"authority\":1}",
    "{\"policy\":[\"nonesuch\"]}",
    "{\"mark\":\"same\",\"a\":\"00\"}",
    "{\"mark\":\"same\",\"a\":\"00000000000000000000000000000001\",\"b\":"
    "\"00000000000000000000000000000001\"}",
    "{\"text_options\":{\"lanes\":7}}",
};

/* What each line of hostile input is told as; good ones between them come in. */
static void bad_lines_are_told(void **state)
{
    (void)state;
    size_t count = sizeof bad_lines / sizeof *bad_lines;
    FILE *file = fopen("bad.jsonl", "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        fprintf(file,
                "%s\n{\"scheme\":\"imagehash\",\"code\":\"%016zx\",\"external_id\":\"n%zu\"}\n",
                bad_lines[i], i, i);
    for (int i = 0; i < 100000; i++) /* deep */
        fputc('[', file);
    fputs("\n{\"item\":1,\"scheme\":\"pdq\"\0}\n", file);
    fclose(file);
    struct ran ran = doppel("import", "-L", "l", "bad.jsonl");
    assert_code(&ran, 3);
    for (size_t i = 0; i < count; i++) {
        char place[64];
        snprintf(place, sizeof place, "doppel: bad.jsonl:%zu: ", 2 * i + 1);
        if (!strstr(ran.err, place))
            fail_msg("line %zu was taken: %s\n%s", 2 * i + 1, bad_lines[i], ran.err);
    }
    ran_free(&ran);
    char *out = doppel_prints(0, "list", "-L", "l", "--json");
    assert_int_equal(count_lines(out, "\"name\""), count);
    free(out);
}

static void assert_refused(const char *text, size_t size, const char *format, int code,
                           const char *sentence)
{
    write_file("input", text, size);
    struct ran ran = doppel("import", "-L", "l", "input", "--format", format);
    assert_code(&ran, code);
    assert_has(ran.err, sentence);
    ran_free(&ran);
}

static void other_formats_are_checked(void **state)
{
    (void)state;
    static const char sha[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";
    assert_refused(sha, strlen(sha), "auto", 2, "say '--format pdq' or '--format digests'");
    assert_refused(sha, strlen(sha), "imagehash", 3, "input:1: ");
    assert_refused("0123\n", 5, "pdq", 3, "input:1: ");
    assert_refused("0123\n", 5, "digests", 3, "input:1: ");
    assert_refused("hello\n", 6, "auto", 2, "name one with '--format'");
    assert_refused("a,b\n1,2\n", 8, "auto", 2, "names no column");
    assert_refused("scheme,code\npdq,00\n", 19, "csv", 3, "input:2: ");
    assert_refused("FINGERPRINT=x\n", 14, "fpcalc", 3, "input:1: ");
    assert_refused("0123456789\0bcdef\n", 17, "imagehash", 3, "a NUL in it");
    assert_refused("{\"doppel_export\":99}\n", 21, "json", 2, "format 99");
    put("good", "0123456789abcdef  a\n");
    struct ran ran = doppel("import", "-L", "l", "nonesuch", "good");
    assert_code(&ran, 3);
    assert_has(ran.err, "nonesuch: No such file or directory");
    assert_has(ran.err, "good: 1 imported");
    ran_free(&ran);
}

/* What exchanges of hashes between platforms write: the type says what a hash is. */
static void hashes_are_what_their_type_says(void **state)
{
    static const char list[] =
        "hash,hash_type,tags\n"
        "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22,pdq,a\n"
        "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b23,sha256,b\n"
        "d41d8cd98f00b204e9800998ecf8427e,MD5,c\n"
        "d41d8cd98f00b204e9800998ecf8427e,pdq,d\n"
        "d41d8cd98f00b204e9800998ecf8427e,sha256,e\n"
        "d41d8cd98f00b204e9800998ecf8427e,tlsh,f\n";
    (void)state;
    put("list.csv", list);
    struct ran ran = doppel("import", "-L", "typed", "list.csv");
    assert_code(&ran, 3);
    assert_has(ran.err, "list.csv:5: no code of 'pdq', which has 64 hex digits");
    assert_has(ran.err, "list.csv:6: 'sha256' has 64 hex digits, not 32");
    assert_has(ran.err, "list.csv:7: no such type of a hash: 'tlsh'");
    assert_has(ran.err, "3 imported");
    ran_free(&ran);
    char *found = doppel_prints(
        0, "find", "-L", "typed", "--json", "--code",
        "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b23"); /* pdq by its length */
    assert_has(found, "\"scheme\":\"pdq\"");
    assert_has(found, "\"distance\":1,");
    free(found);
    put("wrong.csv", "sha256,filename\nd41d8cd98f00b204e9800998ecf8427e,a\n");
    ran = doppel("import", "-L", "typed", "wrong.csv");
    assert_code(&ran, 3);
    assert_has(ran.err, "wrong.csv:2: a digest of this column has 64 hex digits");
    ran_free(&ran);
    put("untyped.csv",
        "hash,tags\nf8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b24,a\n");
    ran = doppel("import", "-L", "typed", "untyped.csv");
    assert_code(&ran, 0);
    assert_has(ran.err, "the hashes of 64 hex digits are taken for SHA-256; a column 'hash_type'");
    ran_free(&ran);
}

/* A quote that never ends, and a line without an end, take no more memory than they may. */
static void endless_input_ends(void **state)
{
    (void)state;
    enum { BYTES = 40 << 20 };
    char *text = malloc(BYTES);
    memset(text, 'a', BYTES);
    memcpy(text, "code,scheme\n\"", 13);
    write_file("endless.csv", text, BYTES);
    struct ran ran = doppel("import", "-L", "l", "endless.csv");
    assert_code(&ran, 2);
    assert_has(ran.err, "row 2: a cell of more than 16 MiB: is a quote not closed?");
    ran_free(&ran);
    write_file("endless", text + 13, BYTES - 13);
    ran = doppel("import", "-L", "l", "endless", "--format", "json");
    assert_code(&ran, 3);
    ran_free(&ran);
    free(text);
}

static void digests_of_other_tools_are_read(void **state)
{
    (void)state;
    put("tagged", "MD5 (a (b) = c.txt) = d41d8cd98f00b204e9800998ecf8427e\n");
    put("nsrl", "\"SHA-1\",\"MD5\",\"CRC32\",\"FileName\"\n"
                "\"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709\",\"D41D8CD98F00B204E9800998ECF8427E\","
                "\"00000000\",\"empty.txt\"\n");
    put("bare", "D41D8CD98F00B204E9800998ECF8427E\n");
    well("import", "-q", "-L", "l", "tagged", "nsrl", "bare");
    char *out = doppel_prints(0, "export", "-q", "-L", "l", "--format", "digests");
    assert_string_equal(out, "d41d8cd98f00b204e9800998ecf8427e  a (b) = c.txt\n"
                             "da39a3ee5e6b4b0d3255bfef95601890afd80709  empty.txt\n");
    free(out);
}

/* All of both is in it; what this one says stays. */
static void libraries_are_merged(void **state)
{
    (void)state;
    unsigned one = 0, both = 0;
    make_library("one");
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "two", "more");
    well("source", "set", "-L", "two", "*.org", "9");
    struct ran ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 0);
    assert_has(ran.err, "stay so");
    ran_free(&ran);
    free(plain_export("one", &one));
    free(plain_export("two", &both));
    assert_int_equal(both, one + 1);
    char *out = doppel_prints(0, "source", "list", "-L", "two", "--json");
    assert_has(out, "9");
    free(out);
    ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 0);
    assert_has(ran.err, "0 imported, 0 updated");
    ran_free(&ran);
    ran = doppel("merge", "two", "-L", "two");
    assert_code(&ran, 2);
    ran_free(&ran);
    ran = doppel("merge", "nonesuch", "-L", "two");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* Texts that were read in another way are refused; the rest comes. */
static void texts_of_another_way_are_refused(void **state)
{
    (void)state;
    make_library("one");
    put("other.jsonl",
        "{\"id\":\"x\",\"text\":\"one two three four five six seven eight nine\"}\n");
    well("ingest", "-q", "-L", "two", "--jsonl", "other.jsonl", "--shingle", "3");
    struct ran ran = doppel("merge", "one", "-L", "two");
    assert_code(&ran, 3);
    assert_has(ran.err, "its texts: ");
    ran_free(&ran);
    char *out = doppel_prints(0, "list", "-L", "two", "--json");
    assert_lacks(out, "\"record\":\"r1\"");
    assert_has(out, "copy.jpg");
    free(out);
}

static void a_backup_is_a_library(void **state)
{
    (void)state;
    make_library("one");
    well("backup", "-L", "one", "copy");
    assert_same_libraries("one", "copy");
    well("verify", "-q", "-L", "copy");
    struct ran ran = doppel("backup", "-L", "one", "copy");
    assert_code(&ran, 2);
    assert_has(ran.err, "copy: ");
    ran_free(&ran);
}

static unsigned count_entries(const char *path)
{
    unsigned entries = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        entries++;
    closedir(folder);
    return entries - 2; /* . and .. */
}

/* Whatever copies lose their processes, when the next one is made they are not there any more; one
 * that is being made is left alone, and so is what only looks like one. */
static void killed_backups_leave_nothing(void **state)
{
    (void)state;
    make_library("one");
    make_folder("copies"); /* in one is a file that somebody who makes it holds, or nobody */
    make_folder("copies/a.doppel-unfinished-123456");
    make_folder("copies/a.doppel-unfinished-123456/phash64-views");
    write_file("copies/a.doppel-unfinished-123456/catalogue.db", "x", 1);
    write_file("copies/a.doppel-unfinished-123456/.unfinished", "", 0);
    make_folder("copies/empty.doppel-unfinished-abcdef");
    make_folder("copies/b.doppel-unfinished-654321");
    write_file("copies/b.doppel-unfinished-654321/.unfinished", "", 0);
    make_folder("copies/b.unfinished");
    int held = open("copies/b.doppel-unfinished-654321/.unfinished", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(held, LOCK_EX), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct running running = command_start(
            NULL, (const char *const[]){"backup", "-L", "one", "copies/killed", NULL});
        pause_ms(3 * i);
        kill(running.pid, SIGKILL);
        struct ran ran = command_end(&running);
        ran_free(&ran);
    }
    free(doppel_prints(0, "backup", "-L", "one", "copies/whole"));
    bool done = access("copies/killed", F_OK) == 0; /* before it was killed */
    assert_int_equal(count_entries("copies"), 3 + done);
    assert_int_equal(access("copies/b.unfinished", F_OK), 0);
    assert_int_equal(access("copies/b.doppel-unfinished-654321", F_OK), 0);
    close(held);
    free(doppel_prints(0, "backup", "-L", "one", "copies/again"));
    assert_int_equal(count_entries("copies"), 3 + done);
    well("verify", "-q", "-L", "copies/whole");
}

/* A library that cannot be written is exported and copied all the same, and not imported into. */
static void a_read_only_library_is_read(void **state)
{
    (void)state;
    const struct setting powerless = {.powerless = true};
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "l", "more");
    assert_int_equal(chmod("l/catalogue.db", 0444) | chmod("l", 0555), 0);
    struct ran ran = doppel_with(&powerless, "export", "-L", "l");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"more\"");
    ran_free(&ran);
    ran = doppel_with(&powerless, "import", "-L", "l", "more");
    assert_code(&ran, 2);
    ran_free(&ran);
    assert_int_equal(chmod("l", 0755), 0);
}

static void a_closed_pipe_ends_an_export(void **state)
{
    (void)state;
    const struct setting closed = {.closed_pipe = true};
    put("more", "1111111111111111  more\n");
    well("import", "-q", "-L", "l", "more");
    struct ran ran = doppel_with(&closed, "export", "-L", "l");
    assert_string_equal(ran.err, "");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_export_makes_the_same_library_again),
        IN_SANDBOX(a_full_disk_is_said),
        IN_SANDBOX(groups_come_along),
        IN_SANDBOX(lists_come_back),
        IN_SANDBOX(lengths_come_along),
        IN_SANDBOX(times_are_kept),
        IN_SANDBOX(a_version_in_csv_is_kept),
        IN_SANDBOX(a_part_is_exported),
        IN_SANDBOX(codes_are_items),
        IN_SANDBOX(codes_that_hash_prints_are_items),
        IN_SANDBOX(all_codes_that_hash_prints_are_items),
        IN_SANDBOX(codes_of_another_scheme_are_told),
        IN_SANDBOX(what_was_not_compared_is_said),
        IN_SANDBOX(a_list_is_updated_in_place),
        IN_SANDBOX(bad_lines_are_told),
        IN_SANDBOX(other_formats_are_checked),
        IN_SANDBOX(hashes_are_what_their_type_says),
        IN_SANDBOX(endless_input_ends),
        IN_SANDBOX(digests_of_other_tools_are_read),
        IN_SANDBOX(libraries_are_merged),
        IN_SANDBOX(texts_of_another_way_are_refused),
        IN_SANDBOX(a_backup_is_a_library),
        IN_SANDBOX(killed_backups_leave_nothing),
        IN_SANDBOX(a_read_only_library_is_read),
        IN_SANDBOX(a_closed_pipe_ends_an_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
