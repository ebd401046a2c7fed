/* Words with places and keys, as doppel_text_read gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "match/images.h"
#include "text/winnow.h"

static struct doppel_text *workspace;

static int set_up(void **state)
{
    (void)state;
    return doppel_text_new(NULL, &workspace, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    doppel_text_free(workspace);
    return 0;
}

static struct doppel_text_result read_text(const char *bytes, size_t size)
{
    struct doppel_text_result result;
    assert_int_equal(doppel_text_read(workspace, bytes, size, DOPPEL_TEXT_PASSAGES, &result, NULL),
                     DOPPEL_OK);
    return result;
}

/* Places are code points of the source, also where normalising changes lengths. */
static void test_places(void **state)
{
    (void)state;
    const char *source = "  Stra\xc3\x9f"
                         "e, na\xc3\xafve \xef\xac\x81n \xe6\x96\x87\xe5\xad\x97!";
    const uint32_t places[][2] = {{2, 8}, {10, 15}, {16, 18}, {19, 20}, {20, 21}};
    struct doppel_text_result result = read_text(source, strlen(source));
    assert_int_equal(result.words, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(result.places[i].start, places[i][0]);
        assert_int_equal(result.places[i].end, places[i][1]);
    }
    assert_int_equal(result.key_count, 0);
}

/* Equal words have equal hashes and others have others, wherever they stand; keys are those of the
 * words. */
static void test_words_and_keys(void **state)
{
    (void)state;
    enum { WORDS = 5000, VOCABULARY = 700 };
    static char source[WORDS * 8];
    static uint32_t numbers[WORDS], hashes[VOCABULARY];
    static struct doppel_text_key keys[WORDS];
    static const char *const gaps[] = {" ", ", ", "\n", "; ("};
    uint64_t seed = 1;
    size_t size = 0;
    for (int i = 0; i < WORDS; i++) {
        numbers[i] = (uint32_t)(random_word(&seed) % VOCABULARY);
        size += (size_t)sprintf(source + size, "w%u%s", numbers[i], gaps[random_word(&seed) % 4]);
    }
    struct doppel_text_result result = read_text(source, size);
    assert_int_equal(result.words, WORDS);
    for (int i = 0; i < WORDS; i++) {
        if (!hashes[numbers[i]])
            hashes[numbers[i]] = result.places[i].hash;
        assert_int_equal(result.places[i].hash, hashes[numbers[i]]);
        assert_memory_equal(source + result.places[i].start, "w", 1);
    }
    for (int i = 0; i < VOCABULARY; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(hashes[i], hashes[j]);
    assert_int_equal(result.key_count, winnow(result.places, WORDS, keys));
    assert_memory_equal(result.keys, keys, result.key_count * sizeof *keys);
}

/* One workspace for texts of any length, one after the other. */
static void test_longer_and_shorter(void **state)
{
    (void)state;
    static char source[60000];
    memset(source, 'x', sizeof source);
    for (size_t i = 1; i < sizeof source; i += 2)
        source[i] = ' ';
    for (size_t size = 0; size <= sizeof source; size += size < 40 ? 2 : 19986) {
        struct doppel_text_result result = read_text(source, size);
        assert_int_equal(result.words, size / 2);
        assert_int_equal(result.key_count, size / 2 < 11 ? 0 : size / 2 - 10);
    }
    assert_int_equal(read_text("", 0).words, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_words_and_keys),
        cmocka_unit_test(test_longer_and_shorter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
