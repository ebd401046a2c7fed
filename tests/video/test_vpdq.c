/* vPDQ's lists: what is printed is read, as others print it, too, and nothing else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doppel/video.h>

#include "drawn.h"

#define HASH "f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff"

static void test_a_list_is_read(void **state)
{
    (void)state;
    static const char text[] = "0,100," HASH ",0\n"
                               "29,7," HASH ",0.967\r\n"
                               "4294967295,0," HASH ",143165576.5";
    struct doppel_vpdq list;
    assert_int_equal(doppel_vpdq_parse(text, sizeof text - 1, &list, NULL), DOPPEL_OK);
    assert_int_equal(list.count, 3);
    struct doppel_code code;
    assert_int_equal(doppel_code_from_hex(HASH, 256, &code), DOPPEL_OK);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(&list.frames[i].code, &code, sizeof code);
    assert_int_equal(list.frames[0].quality, 100);
    assert_int_equal(list.frames[1].number, 29);
    assert_true(fabs(list.frames[1].seconds - .967) < 1e-12);
    assert_int_equal(list.frames[2].number, 4294967295);
    assert_true(fabs(list.frames[2].seconds - 143165576.5) < 1e-6);
    doppel_vpdq_free(&list);
}

static void test_what_is_no_list_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "0,100," HASH "\n",
        "0,101," HASH ",0\n",
        "-1,100," HASH ",0\n",
        "4294967296,100," HASH ",0\n",
        "0,," HASH ",0\n",
        "0,100,x" HASH ",0\n",
        "0,100," HASH "0,0\n",
        "0,100," HASH ",0.\n",
        "0,100," HASH ",.5\n",
        "0,100," HASH ",1e3\n",
        "0,100," HASH ",nan\n",
        "0,100," HASH ",0,7\n",
        "0,100," HASH ", 0\n",
        "0,100," HASH ",0\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct doppel_vpdq list = {0};
        struct doppel_error error = {0};
        assert_int_equal(doppel_vpdq_parse(texts[i], strlen(texts[i]), &list, &error),
                         DOPPEL_E_FORMAT);
        assert_null(list.frames);
        assert_true(error.message[0]);
    }
    struct doppel_error error;
    static const char second[] = "0,100," HASH ",0\nframe 2\n";
    struct doppel_vpdq list;
    assert_int_equal(doppel_vpdq_parse(second, sizeof second - 1, &list, &error), DOPPEL_E_FORMAT);
    assert_non_null(strstr(error.message, "line 2"));
}

static void test_the_head_tells(void **state)
{
    (void)state;
    static const char text[] = "0,100," HASH ",0.000\n";
    assert_true(doppel_vpdq_is_text(text, sizeof text - 1));
    static const char longest[] = "4294967295,100," HASH ",0.000\n";
    assert_true(doppel_vpdq_is_text(longest, 96));
    for (size_t size = 0; size < 71; size++)
        assert_false(doppel_vpdq_is_text(text, size));
    static const char pdq[] = HASH "\n", prose[] = "1,2 and 3, as it were";
    assert_false(doppel_vpdq_is_text(pdq, sizeof pdq - 1));
    assert_false(doppel_vpdq_is_text(prose, sizeof prose - 1));
}

static struct doppel_vpdq_frame random_frame(uint32_t seed)
{
    struct doppel_vpdq_frame frame = {.number = drawn_random(seed, 0) >> seed % 32,
                                      .quality = (uint8_t)(drawn_random(seed, 1) % 101),
                                      .seconds = (drawn_random(seed, 2) >> seed % 32) / 1000.0};
    for (uint32_t i = 0; i < 4; i++)
        frame.code.word[i] =
            (uint64_t)drawn_random(seed, 3 + i) << 32 | drawn_random(seed + 1, 3 + i);
    return frame;
}

static void test_what_is_printed_is_read(void **state)
{
    (void)state;
    enum { FRAMES = 500 };
    char *text = malloc(FRAMES * 128);
    size_t size = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct doppel_vpdq_frame frame = random_frame(i);
        size += doppel_vpdq_print(&frame, text + size);
    }
    struct doppel_vpdq list;
    assert_int_equal(doppel_vpdq_parse(text, size, &list, NULL), DOPPEL_OK);
    assert_int_equal(list.count, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct doppel_vpdq_frame frame = random_frame(i);
        assert_memory_equal(&frame.code, &list.frames[i].code, sizeof frame.code);
        assert_int_equal(frame.number, list.frames[i].number);
        assert_int_equal(frame.quality, list.frames[i].quality);
        assert_true(fabs(frame.seconds - list.frames[i].seconds) < 1e-9);
    }
    doppel_vpdq_free(&list);

    /* Damaged, it is refused, or holds what a list holds. */
    for (uint32_t i = 0; i < 3000; i++) {
        size_t at = drawn_random(i, 1) % size, left = size - drawn_random(i, 2) % 200;
        char kept = text[at];
        text[at] = (char)drawn_random(i, 3);
        if (!doppel_vpdq_parse(text, left, &list, NULL)) {
            for (size_t f = 0; f < list.count; f++)
                assert_true(list.frames[f].quality <= 100 && list.frames[f].seconds >= 0);
            doppel_vpdq_free(&list);
        }
        text[at] = kept;
    }
    free(text);
}

static void test_a_line_is_as_vpdq_has_it(void **state)
{
    (void)state;
    struct doppel_vpdq_frame frame = {.number = 29, .quality = 92, .seconds = 1.0006};
    assert_int_equal(doppel_code_from_hex(HASH, 256, &frame.code), DOPPEL_OK);
    char line[128];
    size_t size = doppel_vpdq_print(&frame, line);
    assert_string_equal(line, "29,92," HASH ",1.001\n");
    assert_int_equal(size, strlen(line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_is_read),
        cmocka_unit_test(test_what_is_no_list_is_refused),
        cmocka_unit_test(test_the_head_tells),
        cmocka_unit_test(test_what_is_printed_is_read),
        cmocka_unit_test(test_a_line_is_as_vpdq_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
