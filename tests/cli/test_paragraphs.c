/* dedup --unit paragraph: what recurs, and texts without it. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { RECORDS = 12 };

/* Twelve pages with the same foot, half of them with the same head. */
static void make_crawl(const char *path)
{
    char file[8192];
    size_t size = 0;
    for (int i = 0; i < RECORDS; i++)
        size +=
            (size_t)snprintf(file + size, sizeof file - size,
                             "{\"id\": \"p%d\", \"n\":1.50, \"text\": \"%sStory number %d.\\n\\n"
                             "Share THIS   page\\u0021\"}\n",
                             i, i % 2 ? "" : "Daily News\\n\\n", i);
    write_file(path, file, size);
}

static void what_recurs_is_listed(void **state)
{
    (void)state;
    make_crawl("crawl.jsonl");
    char *json = doppel_prints(0, "dedup", "--unit", "paragraph", "--json", "crawl.jsonl");
    assert_string_equal(json, "{\"documents\":12,\"id\":\"p0\",\"path\":\"crawl.jsonl\",\"line\":1,"
                              "\"paragraph\":3,\"bytes\":18,\"text\":\"Share THIS   page!\"}\n");
    free(json);
    json = doppel_prints(0, "dedup", "--unit", "paragraph", "--max-documents", "5", "--format",
                         "csv", "crawl.jsonl");
    assert_has(json, "6,p0,crawl.jsonl,,1,1,10,Daily News");
    assert_has(json, "12,p0,crawl.jsonl,,1,3,18,Share THIS   page!");
    free(json);
    json = doppel_prints(0, "dedup", "--unit", "paragraph", "--max-documents", "12", "crawl.jsonl");
    assert_string_equal(json, "");
    free(json);
}

static void texts_without_it(void **state)
{
    (void)state;
    make_crawl("crawl.jsonl");
    char *lines = doppel_prints(0, "dedup", "--unit", "paragraph", "--max-documents", "6", "--emit",
                                "unique", "crawl.jsonl");
    assert_has(lines,
               "{\"id\": \"p0\", \"n\":1.50, \"text\": \"Daily News\\n\\nStory number 0.\"}\n");
    assert_has(lines, "{\"id\": \"p11\", \"n\":1.50, \"text\": \"Story number 11.\"}\n");
    assert_lacks(lines, "Share");
    free(lines);
}

static void standard_input_is_read_twice(void **state)
{
    (void)state;
    make_crawl("crawl.jsonl");
    size_t size;
    char *crawl = read_file("crawl.jsonl", &size);
    const struct setting input = {.input = crawl};
    struct ran ran = doppel_with(&input, "dedup", "--unit", "paragraph", "--json", "-");
    assert_code(&ran, 0);
    assert_has(ran.out, "\"path\":\"-\",\"line\":1,");
    ran_free(&ran);
    free(crawl);
}

static void bad_lines_are_told(void **state)
{
    (void)state;
    static const char lines[] = "{\"text\":\"a\"}\nbroken\n{\"text\":\"a\"}\n";
    write_file("bad.jsonl", lines, sizeof lines - 1);
    struct ran ran = doppel("dedup", "--unit", "paragraph", "--max-documents", "1", "bad.jsonl",
                            "missing.jsonl", "--json");
    assert_code(&ran, 3);
    assert_has(ran.out, "\"documents\":2,");
    assert_true(reported(ran.err, "bad.jsonl:2"));
    assert_true(reported(ran.err, "missing.jsonl"));
    ran_free(&ran);
}

static void wrong_use_is_said(void **state)
{
    (void)state;
    make_crawl("crawl.jsonl");
    struct ran ran = doppel("dedup", "--unit", "paragraph", "--emit", "duplicates", "crawl.jsonl");
    assert_code(&ran, 2);
    assert_has(ran.err, "--emit unique");
    ran_free(&ran);
    ran = doppel("compare", "--unit", "paragraph", "a", "b");
    assert_code(&ran, 2);
    assert_has(ran.err, "is for 'doppel dedup'");
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(what_recurs_is_listed),
        IN_SANDBOX(texts_without_it),
        IN_SANDBOX(standard_input_is_read_twice),
        IN_SANDBOX(bad_lines_are_told),
        IN_SANDBOX(wrong_use_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
