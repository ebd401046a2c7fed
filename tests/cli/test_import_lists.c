/* Lists of codes and digests, imported, and what the library makes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "exchange.h"

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

/* A code without a quality is meant to be found; one of quality 0 stays what it is. */
static void a_code_alone_is_found(void **state)
{
    (void)state;
    static const char code[] = "718e6ca7c99ce58934b78e38930998e33c723a38e1c7e1e7647c868e93976c70";
    char lines[400];
    for (int with_quality = 0; with_quality < 2; with_quality++) {
        int size = snprintf(lines, sizeof lines,
                            "{\"doppel_export\":1}\n{\"scheme\":\"pdq\",\"code\":\"%s\"%s}\n", code,
                            with_quality ? ",\"quality\":0" : "");
        const char *library = with_quality ? "flat" : "library";
        write_file("codes.jsonl", lines, (size_t)size);
        free(doppel_prints(0, "import", "-L", library, "codes.jsonl"));
        struct ran ran = doppel("find", "-L", library, "--scheme", "pdq", "--code", code);
        assert_code(&ran, with_quality);
        ran_free(&ran);
        free(doppel_prints(0, "export", "-L", library, "-o", "again.jsonl"));
        char *again = read_file("again.jsonl", &(size_t){0});
        assert_has(again, with_quality ? "\"quality\":0," : "\"quality\":100,");
        free(again);
    }
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

/* Items without a file are found, grouped, shown by name, and never acted on. */
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

static void assert_import(const char *path, const char *format, int code, const char *sentence)
{
    struct ran ran = doppel("import", "-L", "l", path, "--format", format);
    assert_code(&ran, code);
    assert_has(ran.err, sentence);
    ran_free(&ran);
}

static void assert_refused(const char *text, size_t size, const char *format, int code,
                           const char *sentence)
{
    write_file("input", text, size);
    assert_import("input", format, code, sentence);
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
    struct ran ran = doppel("import", "-L", "l", "list.csv");
    assert_code(&ran, 3);
    assert_has(ran.err, "list.csv:5: no code of 'pdq', which has 64 hex digits");
    assert_has(ran.err, "list.csv:6: 'sha256' has 64 hex digits, not 32");
    assert_has(ran.err, "list.csv:7: no such type of a hash: 'tlsh'");
    assert_has(ran.err, "3 imported");
    ran_free(&ran);
    char *found = doppel_prints(
        0, "find", "-L", "l", "--json", "--code",
        "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b23"); /* pdq by its length */
    assert_has(found, "\"scheme\":\"pdq\"");
    assert_has(found, "\"distance\":1,");
    free(found);
    put("wrong.csv", "sha256,filename\nd41d8cd98f00b204e9800998ecf8427e,a\n");
    assert_import("wrong.csv", "auto", 3, "wrong.csv:2: a digest of this column has 64 hex digits");
    put("untyped.csv",
        "hash,tags\nf8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b24,a\n");
    assert_import("untyped.csv", "auto", 0,
                  "the hashes of 64 hex digits are taken for SHA-256; a column 'hash_type'");
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
    assert_import("endless.csv", "auto", 2,
                  "row 2: a cell of more than 16 MiB: is a quote not closed?");
    write_file("endless", text + 13, BYTES - 13);
    struct ran ran = doppel("import", "-L", "l", "endless", "--format", "json");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(codes_are_items),
        IN_SANDBOX(codes_that_hash_prints_are_items),
        IN_SANDBOX(a_code_alone_is_found),
        IN_SANDBOX(all_codes_that_hash_prints_are_items),
        IN_SANDBOX(codes_of_another_scheme_are_told),
        IN_SANDBOX(what_was_not_compared_is_said),
        IN_SANDBOX(a_list_is_updated_in_place),
        IN_SANDBOX(bad_lines_are_told),
        IN_SANDBOX(other_formats_are_checked),
        IN_SANDBOX(hashes_are_what_their_type_says),
        IN_SANDBOX(endless_input_ends),
        IN_SANDBOX(digests_of_other_tools_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
