/* Presets: whole, readable, and with the bands that their limit asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/index.h>
#include <doppel/text.h>

static void bands_are_the_usual_choice(void **state)
{
    size_t count;
    const struct doppel_text_preset *presets = doppel_text_presets(&count);
    (void)state;
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        uint32_t bands, rows;
        assert_int_equal(doppel_index_bands_choose(presets[i].options.lanes,
                                                   presets[i].min_similarity,
                                                   DOPPEL_INDEX_BANDS_USUAL, &bands, &rows, NULL),
                         DOPPEL_OK);
        if (presets[i].options.unit == DOPPEL_TEXT_CHARACTERS) {
            assert_true(rows == 3 && presets[i].rows == 4); /* fewer candidates */
            continue;
        }
        assert_int_equal(presets[i].bands, bands);
        assert_int_equal(presets[i].rows, rows);
    }
}

static void each_can_read(void **state)
{
    size_t count;
    const struct doppel_text_preset *presets = doppel_text_presets(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        static const char bytes[] = "one two three four five six seven eight nine ten";
        struct doppel_text *text;
        static struct doppel_text_result result;
        assert_ptr_equal(doppel_text_preset_by_name(presets[i].name), &presets[i]);
        assert_true(strlen(presets[i].summary) > 0);
        assert_int_equal(doppel_text_new(&presets[i].options, &text, NULL), DOPPEL_OK);
        assert_int_equal(
            doppel_text_read(text, bytes, sizeof bytes - 1, DOPPEL_TEXT_SHINGLES, &result, NULL),
            DOPPEL_OK);
        assert_false(result.too_short);
        assert_true(result.shingle_count > 0);
        doppel_text_free(text);
    }
    assert_null(doppel_text_preset_by_name("wiki"));
}

static uint16_t version_of(const char *name)
{
    return doppel_text_version(2, &doppel_text_preset_by_name(name)->options);
}

/* Signatures of web can be compared with those of the defaults; others with their like only. */
static void versions_tell_them_apart(void **state)
{
    struct doppel_text_options defaults = doppel_text_options_default();
    (void)state;
    assert_int_equal(version_of("web"), doppel_text_version(2, &defaults));
    static const char *const names[] = {"web", "news", "ocr", "code"};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(version_of(names[i]), version_of(names[j]));
}

/* What was computed before shingles went by script is still known by its version; keys of winnow32
 * know no shingles. */
static void versions_of_words_stay(void **state)
{
    struct doppel_text_options words = doppel_text_options_default();
    (void)state;
    assert_int_equal(doppel_text_version(2, &words), 2);
    assert_int_equal(doppel_text_version(1, &words), 1);
    words.unit = DOPPEL_TEXT_WORDS;
    assert_int_equal(doppel_text_version(2, &words), 1);
    assert_int_equal(doppel_text_version(1, &words), 1);
    words.shingle = 3;
    assert_int_equal(doppel_text_version(2, &words), 1 | 6 << 10);
    assert_int_equal(version_of("ocr"), 1 | 8 << 6);
}

/* Two fifths, and two at least, but never more than there are. */
static void shingles_of_other_scripts_are_short(void **state)
{
    static const uint32_t expected[] = {1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6, 7};
    (void)state;
    for (uint32_t shingle = 1; shingle <= DOPPEL_TEXT_MAX_SHINGLE; shingle++)
        assert_int_equal(doppel_text_shingle_of_script(shingle), expected[shingle - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_the_usual_choice),
        cmocka_unit_test(each_can_read),
        cmocka_unit_test(versions_tell_them_apart),
        cmocka_unit_test(versions_of_words_stay),
        cmocka_unit_test(shingles_of_other_scripts_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
