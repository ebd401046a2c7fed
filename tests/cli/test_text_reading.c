/* How texts are read: formats, scripts, options, and what they look like. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection.h"
#include "writer.h"

static void hash_tells_what_a_text_is(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 400));
    char *json = doppel_prints(0, "hash", "--json", "a.txt");
    assert_has(json, "\"kind\":\"text\",\"scheme\":\"minhash128\",\"version\":2,\"codes\":1,");
    assert_has(json, "\"words\":400,");
    assert_has(json, "\"too_short\":false");
    assert_lacks(json, "bad_bytes");
    assert_lacks(json, "width");
    const char *code = strstr(json, "\"code\":\"");
    assert_int_equal(strspn(code + 8, "0123456789abcdef"), 128 * 4);
    free(json);
}

static void hash_knows_schemes_of_texts(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 400));
    static const struct {
        const char *name;
        size_t digits;
    } schemes[] = {{"minhash128", 512}, {"minhash256", 1024}, {"simhash64", 16}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char *json = doppel_prints(0, "hash", "--json", "--scheme", schemes[i].name, "a.txt");
        const char *code = strstr(json, "\"code\":\"");
        assert_non_null(code);
        assert_int_equal(strspn(code + 8, "0123456789abcdef"), schemes[i].digits);
        free(json);
    }
}

static void options_make_other_versions(void **state)
{
    (void)state;
    static const char *const options[][2] = {{"--preset", "web"},      {"--shingle", "5"},
                                             {"--unit", "words"},      {"--shingle", "4"},
                                             {"--unit", "characters"}, {"--preset", "ocr"}};
    static const int versions[] = {2, 1, 1, 0, 0, 0}; /* by script, as before there was that */
    keep_text("a.txt", write_words(1, 400));
    char *plain = doppel_prints(0, "hash", "--json", "a.txt");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char *json = doppel_prints(0, "hash", "--json", options[i][0], options[i][1], "a.txt");
        assert_int_equal(strcmp(json, plain) == 0, versions[i] == 2);
        assert_int_equal(strstr(json, "\"version\":1,") != NULL, versions[i] == 1);
        free(json);
    }
    char *again = doppel_prints(0, "hash", "--json", "a.txt"); /* from the cache */
    assert_string_equal(again, plain);
    free(again);
    free(plain);
}

/* Each word of four Cyrillic letters; every 16th another one. */
static char *write_cyrillic(unsigned seed, size_t words)
{
    char *text = calloc(words, 9 + 1);
    size_t at = 0;
    for (size_t i = 0; i < words; i++) {
        uint32_t word = (uint32_t)(i * 2654435761u) ^ (i % 16 ? 0 : seed * 40503u);
        for (int letter = 0; letter < 4; letter++, word >>= 5)
            at += (size_t)sprintf(text + at, "\xd0%c", (int)(0xb0 + word % 16));
        text[at++] = ' ';
    }
    return text;
}

/* Every 16th word is another one: half of all shingles of five words are the same, .78 of those of
 * two. */
static void shingles_are_short_in_other_scripts(void **state)
{
    (void)state;
    keep_text("a.txt", write_cyrillic(1, 600));
    keep_text("b.txt", write_cyrillic(2, 600));
    char *json = doppel_prints(0, "compare", "--json", "a.txt", "b.txt");
    assert_has(json, "\"relation\":\"same\"");
    assert_has(json, "\"similarity\":0.7765");
    free(json);
    json = doppel_prints(0, "compare", "--json", "--unit", "words", "a.txt", "b.txt");
    assert_has(json, "\"scheme\":\"winnow32\""); /* they share passages, and no more */
    free(json);
}

/* A library whose texts were added before shingles went by script: as by --unit words. */
static void libraries_of_words_go_on(void **state)
{
    (void)state;
    keep_text("a.txt", write_words(1, 400));
    keep_text("b.txt", write_words(2, 400));
    keep_text("copy.txt", write_words(1, 400));
    free(doppel_prints(0, "add", "-L", "old", "--unit", "words", "a.txt"));
    char *json = doppel_prints(0, "find", "-L", "old", "--json", "copy.txt");
    assert_has(json, "\"path\":\"");
    assert_has(json, "a.txt\"");
    free(json);
    free(doppel_prints(0, "add", "-L", "old", "b.txt"));
    free(doppel_prints(0, "ingest", "-L", "old", "copy.txt"));
    json = doppel_prints(0, "show", "-L", "old", "--json", "a.txt", "b.txt");
    assert_int_equal(count_lines(json, "\"version\":1,"), 2);
    free(json);
}

static void formats_are_told_apart(void **state)
{
    (void)state;
    char *words = write_words(1, 300), *page = malloc(strlen(words) + 200);
    sprintf(page, "<!DOCTYPE html><html><head><script>var a = 1;</script></head><body>\n<p>%s</p>",
            words);
    keep_text("page", page);
    sprintf(page = malloc(strlen(words) + 20), "# %s\n", words);
    keep_text("page.md", page);
    keep_text("page.txt", words);
    char *json = doppel_prints(0, "hash", "--json", "page", "page.md", "page.txt");
    assert_int_equal(count_lines(json, "\"words\":300,"), 3);
    free(json);
    assert_int_equal(
        count_lines(json = doppel_prints(0, "hash", "--json", "page", "page.md", "page.txt"),
                    "\"reading\":\"html\""),
        1);
    assert_int_equal(count_lines(json, "\"reading\":\"markdown\""), 1);
    assert_int_equal(count_lines(json, "\"reading\":\"plain\""), 1);
    free(json);
    json = doppel_prints(0, "hash", "--json", "--text-format", "plain", "page");
    assert_lacks(json, "\"words\":300,");
    assert_has(json, "\"reading\":\"plain\"");
    free(json);
    json = doppel_prints(0, "hash", "--json", "page"); /* the cache keeps the two apart */
    assert_has(json, "\"words\":300,");
    free(json);
}

static void odd_texts_are_read(void **state)
{
    (void)state;
    static const char latin[] = "caf\xe9 au lait is a drink of much milk and of some black coffee";
    static const char wide[] = "\xff\xfeo\0n\0e\0 \0t\0w\0o\0";
    write_file("latin.txt", latin, sizeof latin - 1);
    write_file("wide.txt", wide, sizeof wide - 1);
    char *json = doppel_prints(0, "hash", "--json", "latin.txt", "wide.txt");
    assert_int_equal(count_lines(json, "\"bad_bytes\":1,"), 1);
    assert_int_equal(count_lines(json, "\"words\":2,\"characters\":7,\"too_short\":true"), 1);
    free(json);
}

static void unreadable_texts_are_named(void **state)
{
    (void)state;
    write_file("empty.txt", "", 0);
    write_file("nul.txt", "a\0b and c", 9);
    keep_text("good.txt", write_words(1, 100));
    keep_text("named.jpg", write_words(1, 100));
    struct ran ran =
        doppel("hash", "--json", "empty.txt", "nul.txt", "named.jpg", "gone.txt", "good.txt");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "empty.txt"));
    assert_true(reported(ran.err, "nul.txt"));
    assert_true(reported(ran.err, "named.jpg"));
    assert_true(reported(ran.err, "gone.txt"));
    assert_int_equal(count_lines(ran.out, ""), 1);
    ran_free(&ran);
    free(doppel_prints(0, "hash", "--kind", "text", "named.jpg"));
}

static void limits_are_kept(void **state)
{
    (void)state;
    keep_text("long.txt", write_words(1, 5000));
    struct ran ran = doppel("hash", "--max-bytes", "1K", "long.txt");
    assert_code(&ran, 3);
    assert_has(ran.err, "--max-bytes");
    ran_free(&ran);
}

/* What stands before a page does not hide it; and that two were read otherwise is said. */
static void compare_says_how_texts_are_read(void **state)
{
    (void)state;
    char *words = write_words(1, 300), *page = malloc(strlen(words) + 400);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"}, *const begins[] = {
                                                                "<!DOCTYPE html>",
                                                                "Kept.\n<!DOCTYPE  html>",
                                                                "A page: "};
        sprintf(page, "%s<html><head><script>var a = 1;</script></head><body>\n<p>%s</p>",
                begins[i], words);
        write_file(names[i], page, strlen(page));
    }
    free(page);
    keep_text("d", words);
    char *json = doppel_prints(0, "compare", "--json", "a", "b");
    assert_has(json, "\"a_reading\":\"html\",\"b_reading\":\"html\"");
    free(json);
    json = doppel_prints(0, "compare", "--json", "a", "d");
    assert_has(json, "\"similarity\":1.0,");
    assert_has(json, "\"a_reading\":\"html\",\"b_reading\":\"plain\"");
    free(json);
    json = doppel_prints(0, "compare", "--json", "c", "d");
    assert_lacks(json, "reading");
    free(json);
}

/* A text of which every third word has a digit in it. */
static void write_misread_text(const char *name, const char *last)
{
    char text[4096] = "";
    for (int i = 0; i < 90; i++)
        sprintf(text + strlen(text), i % 3 ? "letter " : "th%c%c5e ", 'a' + i / 26, 'a' + i % 26);
    strcat(text, last);
    write_file(name, text, strlen(text));
}

static void texts_that_look_like_ocr_are_told(void **state)
{
    (void)state;
    write_misread_text("a.txt", "");
    write_misread_text("b.txt", "last");
    static const char clean[] = "a letter of ten words that stands for all of them ";
    char text[10 * sizeof clean] = "";
    for (int i = 0; i < 10; i++)
        strcat(text, clean);
    write_file("c.txt", text, strlen(text));
    for (int i = 0; i < 2; i++) { /* the second time from the cache */
        char *json = doppel_prints(0, "hash", "--json", "a.txt");
        assert_has(json, "\"reading\":\"plain\",\"looks_like\":\"ocr\"");
        free(json);
        struct ran ran = doppel("scan", "a.txt", "b.txt", "c.txt");
        assert_has(ran.err, "2 texts look like OCR: --preset ocr finds copies that differ by its");
        ran_free(&ran);
    }
    char *json = doppel_prints(0, "hash", "--json", "c.txt");
    assert_lacks(json, "looks_like");
    free(json);
    struct ran ran = doppel("scan", "--preset", "ocr", "a.txt", "b.txt", "c.txt");
    assert_lacks(ran.err, "look like OCR");
    ran_free(&ran);
}

/* Of a corpus some records are looked at, whatever the number of threads. */
static void records_that_look_like_ocr_are_told(void **state)
{
    enum { MISREAD = 200, CLEAN = 2000 };
    static const char *const wanted =
        "of 144 texts that were looked at, 128 look like OCR: --preset ocr finds copies";
    static char corpus[(MISREAD + CLEAN) * 1200];
    static const char *const jobs[] = {"1", "3"};
    (void)state;
    size_t used = 0;
    for (int i = 0; i < MISREAD + CLEAN; i++) {
        used += (size_t)sprintf(corpus + used, "{\"id\":\"%d\",\"text\":\"", i);
        for (int word = 0; word < 90; word++)
            used +=
                (size_t)sprintf(corpus + used, word % 3 || i >= MISREAD ? "letter " : "th%c%c5e ",
                                'a' + word / 26, 'a' + word % 26);
        used += (size_t)sprintf(corpus + used, "%d\"}\n", i);
    }
    write_file("corpus.jsonl", corpus, used);
    for (int i = 0; i < 2; i++) {
        struct ran ran = doppel("dedup", "--jobs", jobs[i], "corpus.jsonl");
        assert_has(ran.err, wanted);
        ran_free(&ran);
        ran = doppel("ingest", "-L", jobs[i], "--jobs", jobs[i], "--jsonl", "corpus.jsonl");
        assert_has(ran.err, wanted);
        ran_free(&ran);
    }
    struct ran ran = doppel("dedup", "--preset", "ocr", "corpus.jsonl");
    assert_lacks(ran.err, "look like OCR");
    ran_free(&ran);
    write_file("clean.jsonl", strstr(corpus, "{\"id\":\"200\""), 1000);
    ran = doppel("dedup", "clean.jsonl");
    assert_lacks(ran.err, "look like OCR");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(hash_tells_what_a_text_is),
        IN_SANDBOX(hash_knows_schemes_of_texts),
        IN_SANDBOX(options_make_other_versions),
        IN_SANDBOX(shingles_are_short_in_other_scripts),
        IN_SANDBOX(libraries_of_words_go_on),
        IN_SANDBOX(formats_are_told_apart),
        IN_SANDBOX(odd_texts_are_read),
        IN_SANDBOX(unreadable_texts_are_named),
        IN_SANDBOX(limits_are_kept),
        IN_SANDBOX(compare_says_how_texts_are_read),
        IN_SANDBOX(texts_that_look_like_ocr_are_told),
        IN_SANDBOX(records_that_look_like_ocr_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
