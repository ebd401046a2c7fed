/* compare and hash: what they print, and of what. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"

static void compare_matches(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    keep_image("b.png", draw_image(0, 1, 320, 240), 0);
    char *json = doppel_prints(0, "compare", "--json", "a.jpg", "b.png");
    assert_has(json, "\"a\":\"a.jpg\"");
    assert_has(json, "\"b\":\"b.png\"");
    assert_has(json, "\"match\":true");
    assert_has(json, "\"limit\":{\"max_false_positive_rate\":0.001}");
    assert_has(json, "\"relation\":\"same\"");
    assert_int_equal(count_lines(json, ""), 1);
    free(json);
}

static void compare_prints_the_distance_without_a_match(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    keep_drawing("b.jpg", 5, 1);
    char *json = doppel_prints(1, "compare", "--json", "a.jpg", "b.jpg");
    assert_has(json, "\"match\":false");
    assert_has(json, "\"distance\":");
    free(json);
    char *table = doppel_prints(1, "compare", "a.jpg", "b.jpg");
    assert_int_equal(strncmp(table, "match ", 6), 0);
    assert_has(table, "\nno ");
    free(table);
}

static void compare_knows_the_same_bytes(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    copy_file("a.jpg", "b.jpg");
    char *json = doppel_prints(0, "compare", "--json", "a.jpg", "b.jpg");
    assert_has(json, "\"distance\":0");
    assert_has(json, "\"verified\":\"exact\"");
    free(json);
}

static void compare_cannot_read(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    write_file("empty.jpg", "", 0);
    struct ran ran = doppel("compare", "a.jpg", "empty.jpg");
    assert_code(&ran, 3);
    assert_true(reported(ran.err, "empty.jpg"));
    ran_free(&ran);
}

static void hash_prints_a_line_a_file(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    keep_drawing("b.png", 5, 1);
    char *json = doppel_prints(0, "hash", "--json", "a.jpg", "b.png");
    assert_int_equal(count_lines(json, ""), 2);
    assert_has(json, "\"path\":\"a.jpg\"");
    assert_has(json, "\"kind\":\"image\"");
    assert_has(json, "\"scheme\":\"phash64\"");
    assert_has(json, "\"width\":480");
    assert_has(json, "\"height\":360");
    assert_has(json, "\"quality\":");
    assert_int_equal(count_lines(json, "\"code\":\""), 2);
    free(json);
}

static void hash_knows_all_schemes(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    static const struct {
        const char *name;
        size_t digits;
    } schemes[] = {{"phash64", 16}, {"phash256", 64}, {"imagehash", 16}, {"pdq", 64}};
    for (size_t i = 0; i < 4; i++) {
        char *json = doppel_prints(0, "hash", "--json", "--scheme", schemes[i].name, "a.jpg");
        const char *code = strstr(json, "\"code\":\"");
        assert_non_null(code);
        assert_int_equal(strspn(code + 8, "0123456789abcdef"), schemes[i].digits);
        free(json);
    }
}

static void hash_reads_standard_input(void **state)
{
    (void)state;
    keep_drawing("a.jpg", 0, 1);
    size_t size;
    char *bytes = read_file("a.jpg", &size);
    const struct setting input = {.input = bytes, .input_size = size};
    struct ran piped = doppel_with(&input, "hash", "--json", "-");
    assert_code(&piped, 0);
    char *named = doppel_prints(0, "hash", "--json", "a.jpg");
    assert_string_equal(strstr(piped.out, "\"kind\""), strstr(named, "\"kind\""));
    ran_free(&piped);
    free(named);
    free(bytes);
}

static void hash_gives_the_same_on_every_run(void **state)
{
    (void)state;
    make_collection();
    char *one = doppel_prints(0, "hash", "--json", "--codes", "-j1", "pics");
    char *four = doppel_prints(0, "hash", "--json", "--codes", "-j4", "pics");
    assert_int_equal(count_lines(one, ""), COLLECTION_FILES);
    assert_int_equal(count_lines(one, "\"sequence\":[["), COLLECTION_FILES);
    assert_string_equal(one, four);
    free(one);
    free(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(compare_matches),
        IN_SANDBOX(compare_prints_the_distance_without_a_match),
        IN_SANDBOX(compare_knows_the_same_bytes),
        IN_SANDBOX(compare_cannot_read),
        IN_SANDBOX(hash_prints_a_line_a_file),
        IN_SANDBOX(hash_knows_all_schemes),
        IN_SANDBOX(hash_reads_standard_input),
        IN_SANDBOX(hash_gives_the_same_on_every_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
