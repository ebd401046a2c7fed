/* Passages: what compare and find say of texts with --scheme winnow32. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "writer.h"

/* The text between two places, in a file whose every character is a byte. */
static char *cut(const char *text, size_t start, size_t end)
{
    return strndup(text + start, end - start);
}

/* Some words of a long text in the middle of another: a place of it in each. */
static char *frame(const char *text, size_t start, size_t end, uint32_t seed)
{
    char *before = write_words(seed, 300), *after = write_words(seed + 1, 300);
    char *framed = malloc(strlen(before) + strlen(after) + (end - start) + 3);
    sprintf(framed, "%s\n%.*s\n%s", before, (int)(end - start), text + start, after);
    free(before);
    free(after);
    return framed;
}

static size_t number_after(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    assert_non_null(at);
    return (size_t)strtoul(at + strlen(name), NULL, 10);
}

static void compare_tells_where(void **state)
{
    (void)state;
    char *a = write_words(1, 900), *b = frame(a, 2000, 2400, 7);
    keep_text("a.txt", strdup(a));
    keep_text("b.txt", strdup(b));
    char *json = doppel_prints(0, "compare", "--json", "--scheme", "winnow32", "a.txt", "b.txt");
    assert_has(json, "\"match\":true,\"limit\":{\"min_words\":13}");
    assert_has(json, "\"scheme\":\"winnow32\",\"relation\":\"overlaps\"");
    assert_has(json, "\"verified\":\"alignment\"");
    assert_has(json, "\"segments\":[{\"a_start\":");
    assert_has(json, "\"query_coverage\":0.");
    assert_lacks(json, "distance");
    size_t start = number_after(json, "\"a_start\":"), end = number_after(json, "\"a_end\":");
    assert_in_range(start, 2000, 2030);
    assert_in_range(end, 2370, 2400);
    char *of_a = cut(a, start, end);
    char *of_b = cut(b, number_after(json, "\"b_start\":"), number_after(json, "\"b_end\":"));
    assert_string_equal(of_a, of_b);
    free(of_a);
    free(of_b);
    free(json);
    free(a);
    free(b);
}

static void parts_and_strangers(void **state)
{
    (void)state;
    char *a = write_words(1, 900);
    char *part = cut(a, 1000, 2000);
    keep_text("part.txt", part);
    keep_text("a.txt", a);
    keep_text("other.txt", write_words(99, 900));
    char *json = doppel_prints(0, "compare", "--json", "--scheme", "winnow32", "part.txt", "a.txt");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"query_coverage\":0.98");
    free(json);
    json = doppel_prints(1, "compare", "--json", "--scheme", "winnow32", "a.txt", "other.txt");
    assert_has(json, "\"match\":false");
    assert_lacks(json, "segments");
    assert_lacks(json, "false_positive_rate");
    free(json);
}

/* Places are code points, not bytes. */
static void places_are_code_points(void **state)
{
    (void)state;
    char *words = write_words(1, 100), *accents = malloc(strlen(words) + 500);
    *accents = 0;
    for (int i = 0; i < 100; i++)
        strcat(accents, "\xc3\xa9 ");
    keep_text("b.txt", strcat(accents, words));
    keep_text("a.txt", words);
    char *json = doppel_prints(0, "compare", "--json", "--scheme", "winnow32", "a.txt", "b.txt");
    assert_has(json, "\"a_start\":0,");
    assert_has(json, "\"b_start\":200,");
    free(json);
}

/* The words are kept: what is found is aligned, also once the file is gone. */
static void find_aligns_words(void **state)
{
    (void)state;
    char *a = write_words(1, 900);
    keep_text("b.txt", frame(a, 2000, 2250, 7));
    keep_text("part.txt", cut(a, 1000, 2300));
    keep_text("a.txt", a);
    keep_text("other.txt", write_words(99, 900));
    free(doppel_prints(0, "add", "-L", "library", "--scheme", "winnow32", "a.txt", "part.txt",
                       "other.txt"));
    assert_int_equal(remove("a.txt"), 0);
    char *json =
        doppel_prints(0, "find", "-L", "library", "--json", "--scheme", "winnow32", "b.txt");
    assert_int_equal(count_lines(json, ""), 2);
    assert_int_equal(count_lines(json, "\"relation\":\"overlaps\""), 2);
    assert_int_equal(count_lines(json, "\"verified\":\"alignment\""), 2);
    assert_int_equal(count_lines(json, "\"segments\":[{"), 2);
    assert_lacks(json, "other.txt");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(compare_tells_where),
        IN_SANDBOX(parts_and_strangers),
        IN_SANDBOX(places_are_code_points),
        IN_SANDBOX(find_aligns_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
