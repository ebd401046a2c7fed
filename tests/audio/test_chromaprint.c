/* What fpcalc -raw prints, read; and what it never prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <doppel/audio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum doppel_status parse(const char *text, struct doppel_fingerprint *out,
                                uint64_t *duration)
{
    size_t size = strlen(text);
    char *copy = malloc(size + !size); /* exactly: a read beyond it is found by the sanitizer */
    memcpy(copy, text, size);
    enum doppel_status status = doppel_chromaprint_parse(copy, size, out, duration, NULL);
    free(copy);
    return status;
}

static void lists_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "DURATION=163\nFINGERPRINT=2113966243,4294967295,0\n",
        "FINGERPRINT=2113966243,-1,0\nDURATION=163.00",
        "DURATION=163\r\nFINGERPRINT=2113966243,4294967295,0\r\n",
        "FILE=a.ogg\nDURATION=163\nFINGERPRINT=2113966243,4294967295,0\nrest",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct doppel_fingerprint read;
        uint64_t duration;
        assert_int_equal(parse(texts[i], &read, &duration), DOPPEL_OK);
        assert_int_equal(duration, 163000);
        assert_int_equal(read.scheme, DOPPEL_SCHEME_CHROMAPRINT);
        assert_int_equal(read.code_bits, 32);
        assert_int_equal(read.count, 3);
        assert_int_equal(read.codes[0].word[0], 2113966243u);
        assert_int_equal(read.codes[1].word[0], UINT32_MAX);
        assert_int_equal(read.positions[0], 0);
        assert_int_equal(read.positions[2], 248); /* 2 × 1365 samples */
        char hex[9];
        doppel_code_to_hex(&read.codes[1], 32, hex);
        assert_string_equal(hex, "ffffffff");
        doppel_fingerprint_free(&read);
    }
    assert_true(doppel_chromaprint_is_text(texts[0], 12) &&
                doppel_chromaprint_is_text(texts[1], 12) &&
                !doppel_chromaprint_is_text(texts[1], 11) && !doppel_chromaprint_is_text("1,2", 3));
    struct doppel_fingerprint bare;
    uint64_t duration;
    assert_int_equal(parse("1,2", &bare, &duration), DOPPEL_OK);
    assert_int_equal(duration, 0);
    doppel_fingerprint_free(&bare);
}

static void others_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "FINGERPRINT=",
        "FINGERPRINT=\n1,2",
        "1,,2",
        "1,2,",
        ",1",
        "AQADtEmybMmk",
        "1;2",
        "4294967296",
        "-2147483649",
        "1.5",
        "1e3",
        "0x10",
        "nan",
        "inf",
        "1 2",
        "123456789012345678901234567890",
    };
    struct doppel_fingerprint untouched = {.count = 77};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(parse(texts[i], &untouched, NULL), DOPPEL_E_FORMAT);
    assert_int_equal(untouched.count, 77);
}

/* What is printed is read back; cut short and changed at random it is read or refused. */
static void mutants_do_no_harm(void **state)
{
    (void)state;
    char text[3000] = "DURATION=77\nFINGERPRINT=";
    size_t size = strlen(text);
    srand(5);
    for (int i = 0; i < 200; i++)
        size += (size_t)sprintf(text + size, "%s%u", i ? "," : "", (unsigned)rand() * 2u);
    for (int round = 0; round < 5000; round++) {
        char mutant[sizeof text];
        memcpy(mutant, text, size + 1);
        size_t cut = (size_t)rand() % (size + 1);
        mutant[(size_t)rand() % size] = (char)(rand() % 4 ? ",-.0\n9=E"[rand() % 8] : rand());
        mutant[round % 2 ? cut : size] = '\0';
        struct doppel_fingerprint read;
        if (parse(mutant, &read, NULL) == DOPPEL_OK)
            doppel_fingerprint_free(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(mutants_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
