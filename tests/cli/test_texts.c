/* Texts: what compare, scan and the library say of text files. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"
#include "writer.h"

/* ---- compare ---- */

static void compare_counts_shingles(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 1000));
    keep_text("b.txt", replace_words(write_words(1, 1000), 50));
    char *json = doppel_prints(0, "compare", "--json", "a.txt", "b.txt");
    assert_has(json, "\"match\":true,\"limit\":{\"min_similarity\":0.7},\"kind\":\"text\"");
    assert_has(json, "\"relation\":\"same\"");
    assert_has(json, "\"bits\":128");
    assert_has(json, "\"similarity\":0.8242"); /* 996 shingles, of which 19 x 5 + 1 differ */
    assert_has(json, "\"verified\":\"exact\"");
    assert_has(json, "\"query_coverage\":0.9036");
    free(json);
    json = doppel_prints(1, "compare", "--json", "--min-similarity", "0.9", "a.txt", "b.txt");
    assert_has(json, "\"match\":false,\"limit\":{\"min_similarity\":0.9}");
    assert_lacks(json, "relation");
    free(json);
}

/* Of texts with more shingles than are kept, a sample of 15 000 tells: 1 standard error of .9 is
 * .0024. */
static void compare_samples_long_texts(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 40000));
    keep_text("b.txt", replace_words(write_words(1, 40000), 100)); /* .9048 */
    keep_text("part.txt", write_words(1, 20000));
    char *json = doppel_prints(0, "compare", "--json", "a.txt", "b.txt");
    const char *similarity = strstr(json, "\"similarity\":");
    assert_in_range((unsigned)(1e4 * strtod(similarity + 13, NULL)), 8950, 9150);
    assert_has(json, "\"verified\":\"signature\"");
    free(json);
    json = doppel_prints(0, "compare", "--json", "part.txt", "a.txt");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"query_coverage\":1.0");
    assert_has(json, "\"segments\":[{\"a_start\":0,\"a_end\":179999,\"b_start\":0,");
    free(json);
}

static void compare_knows_parts(void **state)
{
    (void)state;
    keep_text("whole.txt", write_words(1, 1000));
    keep_text("part.txt", write_words(1, 300));
    char *json = doppel_prints(0, "compare", "--json", "part.txt", "whole.txt");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"query_coverage\":1.0");
    free(json);
    json = doppel_prints(0, "compare", "--json", "whole.txt", "part.txt");
    assert_has(json, "\"relation\":\"contains\"");
    free(json);
}

static void short_texts_match_exactly_only(void **state)
{
    (void)state;
    keep_text("a.txt", strdup("Five words are too few."));
    keep_text("b.txt", strdup("five words, are too few"));
    keep_text("c.txt", strdup("five words are too many"));
    char *json = doppel_prints(0, "compare", "--json", "a.txt", "b.txt");
    assert_has(json, "\"similarity\":1.0,\"verified\":\"exact\"");
    free(json);
    json = doppel_prints(1, "compare", "--json", "a.txt", "c.txt");
    assert_has(json, "\"reason\":\"a is too short to be told by anything but the same words\"");
    free(json);
    free(doppel_prints(1, "compare", "--min-words", "5", "a.txt", "c.txt"));
}

static void texts_without_words_match_nothing(void **state)
{
    (void)state;
    keep_text("a.txt", strdup("---- ----"));
    keep_text("b.txt", strdup("==== ===="));
    char *json = doppel_prints(1, "compare", "--json", "a.txt", "b.txt");
    assert_has(json, "\"reason\":\"a has no words\"");
    free(json);
    make_folder("texts");
    copy_file("a.txt", "texts/a.txt");
    copy_file("b.txt", "texts/b.txt");
    json = doppel_prints(0, "scan", "--json", "texts");
    assert_string_equal(json, "");
    free(json);
}

static void kinds_do_not_meet(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 100));
    keep_drawing("b.jpg", 0, 1);
    char *json = doppel_prints(1, "compare", "--json", "a.txt", "b.jpg");
    assert_has(json, "\"match\":false,\"reason\":\"a is of kind text, b of kind image\"");
    free(json);
}

static void simhash_compares_bits(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 2000));
    keep_text("b.txt", replace_words(write_words(1, 2000), 400));
    char *json = doppel_prints(0, "compare", "--json", "--scheme", "simhash64", "--max-distance",
                               "12", "a.txt", "b.txt");
    assert_has(json, "\"limit\":{\"max_distance\":12}");
    assert_has(json, "\"bits\":64");
    free(json);
}

/* ---- passages ---- */

/* A hundred words of text 1, from word 500 on, in the middle of text 5. */
static void keep_borrower(const char *path)
{
    char *from = write_words(1, 600), *around = write_words(5, 1000);
    char *text = calloc(1, strlen(from) + strlen(around));
    strncat(text, around, 300 * 9);
    strcat(text, from + 500 * 9);
    strcat(text, around + 300 * 9);
    free(from);
    free(around);
    keep_text(path, text);
}

static void compare_finds_passages(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 1000));
    keep_borrower("b.txt");
    char *json = doppel_prints(0, "compare", "--json", "a.txt", "b.txt");
    assert_has(json, "\"scheme\":\"winnow32\",\"relation\":\"overlaps\"");
    assert_has(json, "\"segments\":[{\"a_start\":4500,\"a_end\":5399,\"b_start\":2700,"
                     "\"b_end\":3599}]");
    assert_has(json, "\"query_coverage\":0.1,\"item_coverage\":0.0909");
    free(json);
    /* A limit is of the whole. */
    free(doppel_prints(1, "compare", "--min-similarity", "0.7", "a.txt", "b.txt"));
    keep_text("c.txt", write_words(3, 1000));
    free(doppel_prints(1, "compare", "--scheme", "winnow32", "a.txt", "c.txt"));
}

static void find_finds_passages(void **state)
{
    (void)state;
    make_folder("texts");
    keep_text("texts/a.txt", write_words(1, 1000));
    keep_text("texts/c.txt", write_words(3, 1000));
    keep_borrower("b.txt");
    free(doppel_prints(0, "add", "--scheme", "winnow32", "texts"));
    char *json = doppel_prints(0, "find", "--json", "--scheme", "winnow32", "b.txt");
    assert_int_equal(count_lines(json, ""), 1);
    assert_has(json, "/texts/a.txt\",\"kind\":\"text\",\"scheme\":\"winnow32\"");
    assert_has(json, "\"relation\":\"overlaps\"");
    assert_has(json, "\"segments\":[{\"a_start\":");
    free(json);
    json = doppel_prints(0, "find", "--json", "b.txt"); /* by each scheme that is there */
    assert_has(json, "/texts/a.txt\",\"kind\":\"text\",\"scheme\":\"winnow32\"");
    free(json);
    free(doppel_prints(1, "find", "--scheme", "minhash128", "b.txt"));
}

/* Made with numpy, as tests/text/test_datasketch.c says. */
static void datasketch_has_values(void **state)
{
    (void)state;
    keep_text("q.txt", strdup("The quick brown fox jumps over the lazy dog, and the cat sleeps all "
                              "day long"));
    char *json = doppel_prints(0, "hash", "--json", "--scheme", "datasketch", "q.txt");
    assert_has(json,
               "\"codes\":1,\"code\":\"1e55f4b80af5a4d10c077c8419de5ec500979c1d09c5ebc81cdabf0"
               "7108e0408");
    free(json);
    free(doppel_prints(0, "compare", "--scheme", "datasketch", "q.txt", "q.txt"));
    struct ran ran = doppel("scan", "--scheme", "datasketch", ".");
    assert_code(&ran, 2);
    ran_free(&ran);
}

static void passages_have_keys(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 1000));
    keep_text("short.txt", strdup("too few words"));
    char *json = doppel_prints(0, "hash", "--json", "--scheme", "winnow32", "--codes", "a.txt");
    assert_has(json, "\"sequence\":[[\"");
    assert_lacks(json, "\"code\":");
    free(json);
    struct ran ran = doppel("hash", "--scheme", "winnow32", "short.txt");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "short.txt"));
    ran_free(&ran);
    ran = doppel("scan", "--scheme", "winnow32", ".");
    assert_code(&ran, 2);
    ran_free(&ran);
}

/* ---- scan and the library ---- */

static void make_texts(void)
{
    make_folder("texts");
    keep_text("texts/a.txt", write_words(1, 1000));
    copy_file("texts/a.txt", "texts/a-again.txt");
    keep_text("texts/a-edited.txt", replace_words(write_words(1, 1000), 40));
    keep_text("texts/a-loud.txt", in_capitals(write_words(1, 1000)));
    keep_text("texts/b.txt", write_words(2, 500));
    keep_text("texts/b-cut.txt", write_words(2, 400));
    keep_text("texts/c.txt", write_words(3, 500));
    keep_text("texts/short.txt", strdup("a short text"));
    keep_text("texts/short-too.txt", strdup("another short text"));
}

static const char TEXT_GROUPS[] =
    "texts/a-again.txt identical, texts/a-edited.txt near, texts/a-loud.txt same-content, "
    "texts/a.txt kept\n"
    "texts/b-cut.txt near, texts/b.txt kept\n";

static void assert_groups(const char *json, const char *base, const char *wanted)
{
    char *groups = groups_as_text(json, base);
    assert_string_equal(groups, wanted);
    free(groups);
}

static void scan_finds_texts(void **state)
{
    (void)state;
    make_texts();
    char *one = doppel_prints(0, "scan", "--json", "-j1", "texts");
    assert_groups(one, "", TEXT_GROUPS);
    char *four = doppel_prints(0, "scan", "--json", "-j4", "--no-cache", "texts");
    assert_string_equal(four, one);
    free(four);
    four = doppel_prints(0, "scan", "--json", "texts"); /* from the cache */
    assert_string_equal(four, one);
    free(four);
    free(one);
    one = doppel_prints(0, "scan", "--json", "--kind", "image", "texts");
    assert_string_equal(one, "");
    free(one);
}

/* Of a text that holds another one twenty times as long, and more of its copies, whichever comes
 * first: no band of signatures finds them. */
static void scan_finds_parts(void **state)
{
    (void)state;
    static const char *const folders[] = {"first", "last"};
    for (int i = 0; i < 2; i++) {
        char path[32], *part = write_words(1, 150), *whole = write_words(1, 4000);
        char *other = write_words(2, 3000);
        mkdir(folders[i], 0777);
        snprintf(path, sizeof path, "%s/%s", folders[i], i ? "b.txt" : "a.txt");
        keep_text(path, replace_words(write_words(1, 150), 149));
        snprintf(path, sizeof path, "%s/%s", folders[i], i ? "c.txt" : "b.txt");
        keep_text(path, part);
        snprintf(path, sizeof path, "%s/%s", folders[i], i ? "a.txt" : "c.txt");
        keep_text(path, whole);
        snprintf(path, sizeof path, "%s/d.txt", folders[i]);
        keep_text(path, other);
        char *json = doppel_prints(0, "scan", "--json", folders[i]);
        assert_int_equal(count_lines(json, ""), 1);
        assert_int_equal(count_lines(json, "d.txt"), 0);
        assert_has(json, "/a.txt");
        assert_has(json, "/b.txt");
        assert_has(json, "/c.txt");
        assert_has(json, i ? "\"keep\":\"last/a.txt\"" : "\"keep\":\"first/c.txt\"");
        free(json);
    }
}

/* The longer one is kept, whatever the policy says, or stays beside one that was asked for. */
static void scan_keeps_the_whole(void **state)
{
    (void)state;
    char *whole = write_words(1, 1000), *part = write_words(1, 500), *command;
    make_folder("whole");
    make_folder("part");
    keep_text("part/a.txt", part);
    keep_text("whole/b.txt", whole);
    assert_int_equal(system("touch -d 2020-01-01 part/a.txt"), 0);
    char *json = doppel_prints(0, "scan", "--json", "--keep", "oldest", "part", "whole");
    assert_has(json, "\"keep\":\"whole/b.txt\"");
    assert_has(json, "\"keep_reason\":\"whole\"");
    assert_has(json, "\"reason\":\"part\"");
    free(json);
    json = doppel_prints(0, "scan", "--json", "--keep-from", "part", "part", "whole");
    assert_has(json, "\"keep\":\"part/a.txt\"");
    assert_has(json, "\"savable\":0");
    free(json);
    command = doppel_prints(0, "scan", "--json", "--keep-from", "part", "--action", "trash",
                            "--reason", "near,part", "part", "whole");
    assert_has(command, "holds more than the kept file");
    free(command);
}

static void scan_keeps_kinds_apart(void **state)
{
    (void)state;
    make_texts();
    make_collection();
    char wanted[2048];
    snprintf(wanted, sizeof wanted, "%s%s", COLLECTION_GROUPS, TEXT_GROUPS);
    char *json = doppel_prints(0, "scan", "--json", "pics", "texts");
    assert_groups(json, "", wanted);
    free(json);
    json = doppel_prints(0, "scan", "--json", "--kind", "text", "pics", "texts");
    assert_groups(json, "", TEXT_GROUPS);
    free(json);
}

static void sidecars_are_no_texts(void **state)
{
    (void)state;
    make_folder("texts");
    keep_text("texts/a.xmp", write_words(1, 100));
    copy_file("texts/a.xmp", "texts/b.xmp");
    char *json = doppel_prints(0, "scan", "--json", "texts");
    assert_string_equal(json, "");
    free(json);
    json = doppel_prints(0, "scan", "--json", "--kind", "text", "texts");
    assert_has(json, "\"reason\":\"identical\"");
    free(json);
    free(doppel_prints(0, "hash", "texts/a.xmp"));
}

static void references_of_texts_are_kept(void **state)
{
    (void)state;
    make_texts();
    make_folder("old");
    copy_file("texts/b-cut.txt", "old/b.txt");
    char *json = doppel_prints(0, "scan", "--json", "--reference", "old", "texts");
    assert_has(json, "\"keep\":\"old/b.txt\"");
    free(json);
}

static void library_finds_texts(void **state)
{
    (void)state;
    make_texts();
    free(doppel_prints(0, "add", "texts"));
    char *json = doppel_prints(0, "add", "--json", "texts");
    assert_int_equal(count_lines(json, "\"added\":\"unchanged\""), 9);
    free(json);
    keep_text("query.txt", replace_words(write_words(1, 1000), 50));
    json = doppel_prints(0, "find", "--json", "query.txt");
    assert_int_equal(count_lines(json, "\"relation\":\"same\""), 4);
    assert_int_equal(count_lines(json, "\"verified\":\"codes\""), 4);
    free(json);
    keep_text("other.txt", write_words(9, 1000));
    json = doppel_prints(1, "find", "--json", "other.txt");
    assert_string_equal(json, "{\"query\":\"other.txt\",\"match\":false}\n");
    free(json);
    json = doppel_prints(0, "list", "--json", "--kind", "text");
    assert_int_equal(count_lines(json, "\"scheme\":\"minhash128\""), 9);
    free(json);
    json = doppel_prints(0, "show", "--json", "1");
    assert_has(json, "\"words\":1000,");
    free(json);
    json = doppel_prints(0, "groups", "--json");
    assert_int_equal(count_lines(json, "\"kind\":\"text\""), 2);
    free(json);
}

/* However much longer the other one is, whichever is in the library. */
static void parts_are_found_in_a_library(void **state)
{
    (void)state;
    char *words = write_words(1, 3000), *part = strdup(strchr(words + strlen(words) / 3, ' '));
    strchr(part + 600, ' ')[0] = 0;
    keep_text("long.txt", words);
    keep_text("part.txt", part);
    free(doppel_prints(0, "add", "-L", "wholes", "long.txt"));
    free(doppel_prints(0, "add", "-L", "parts", "part.txt"));
    char *json = doppel_prints(0, "find", "-L", "wholes", "--json", "part.txt");
    assert_has(json, "\"relation\":\"contained\"");
    free(json);
    json = doppel_prints(0, "find", "-L", "parts", "--json", "long.txt");
    assert_has(json, "\"relation\":\"contains\"");
    free(json);
    json = doppel_prints(0, "check", "-L", "wholes", "part.txt");
    assert_has(json, "\"decision\":\"part\"");
    free(json);
    json = doppel_prints(1, "check", "-L", "parts", "long.txt"); /* it is next to nothing of that */
    assert_has(json, "\"decision\":\"new\"");
    free(json);
}

static void library_never_mixes_versions(void **state)
{
    (void)state;
    make_texts();
    free(doppel_prints(0, "add", "texts"));
    struct ran ran = doppel("find", "--shingle", "4", "texts/c.txt");
    assert_code(&ran, 1);
    assert_has(ran.err, "9 items of another version");
    ran_free(&ran);
    char *json = doppel_prints(0, "groups", "--json", "--shingle", "4");
    assert_string_equal(json, "");
    free(json);
    json = doppel_prints(0, "add", "--json", "--shingle", "4", "texts");
    assert_int_equal(count_lines(json, "\"added\":\"updated\""), 9);
    free(json);
    free(doppel_prints(0, "find", "--shingle", "4", "texts/c.txt"));
    free(doppel_prints(1, "find", "texts/c.txt"));
}

static void library_finds_codes_and_standard_input(void **state)
{
    (void)state;
    make_texts();
    free(doppel_prints(0, "add", "texts"));
    char *json = doppel_prints(0, "hash", "--json", "texts/c.txt");
    char *code = strstr(json, "\"code\":\"") + 8;
    code[512] = '\0';
    char *found = doppel_prints(0, "find", "--json", "--kind", "text", "--code", code);
    assert_has(found, "/texts/c.txt\"");
    assert_has(found, "\"verified\":\"signature\"");
    free(found);
    free(json);
    char *words = write_words(3, 450);
    const struct setting input = {.input = words};
    struct ran ran = doppel_with(&input, "find", "--json", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "/texts/c.txt\"");
    ran_free(&ran);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(compare_counts_shingles),
        IN_SANDBOX(compare_samples_long_texts),
        IN_SANDBOX(compare_knows_parts),
        IN_SANDBOX(short_texts_match_exactly_only),
        IN_SANDBOX(texts_without_words_match_nothing),
        IN_SANDBOX(kinds_do_not_meet),
        IN_SANDBOX(simhash_compares_bits),
        IN_SANDBOX(compare_finds_passages),
        IN_SANDBOX(find_finds_passages),
        IN_SANDBOX(passages_have_keys),
        IN_SANDBOX(datasketch_has_values),
        IN_SANDBOX(scan_finds_texts),
        IN_SANDBOX(scan_finds_parts),
        IN_SANDBOX(scan_keeps_the_whole),
        IN_SANDBOX(scan_keeps_kinds_apart),
        IN_SANDBOX(sidecars_are_no_texts),
        IN_SANDBOX(references_of_texts_are_kept),
        IN_SANDBOX(library_finds_texts),
        IN_SANDBOX(parts_are_found_in_a_library),
        IN_SANDBOX(library_never_mixes_versions),
        IN_SANDBOX(library_finds_codes_and_standard_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
