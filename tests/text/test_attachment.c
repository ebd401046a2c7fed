/* What is kept of a text: there and back, and nothing believed of what comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <doppel/text.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* With words or without: places and keys, the SimHash, both. */
static const unsigned mores[] = {0, DOPPEL_TEXT_PASSAGES, DOPPEL_TEXT_SIMHASH,
                                 DOPPEL_TEXT_PASSAGES | DOPPEL_TEXT_SIMHASH};
enum { MORES = sizeof mores / sizeof *mores };

/* Words drawn at random; given (free) is what is written. @param more of `mores` */
static uint8_t *attachment_of(size_t words, unsigned more, size_t *out_size,
                              struct doppel_text_result *out)
{
    static struct doppel_text *text;
    uint64_t seed = words + 1;
    char *bytes = malloc(words * 6 + 1), *at = bytes;
    for (size_t i = 0; i < words; i++) {
        for (int k = 0; k < 5; k++)
            *at++ = (char)('a' + next_random(&seed) % 26);
        *at++ = ' ';
    }
    if (!text)
        assert_int_equal(doppel_text_new(NULL, &text, NULL), DOPPEL_OK);
    unsigned want = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_SHINGLES | more;
    assert_int_equal(doppel_text_read(text, bytes, (size_t)(at - bytes), want, out, NULL),
                     DOPPEL_OK);
    free(bytes);
    *out_size = doppel_text_attachment_size(out);
    uint8_t *data = malloc(*out_size);
    doppel_text_attachment_write(out, data);
    return data;
}

static void assert_comes_back(size_t words, unsigned more)
{
    bool places = more & DOPPEL_TEXT_PASSAGES;
    struct doppel_text_result result;
    struct doppel_text_extra extra;
    size_t size;
    uint8_t *data = attachment_of(words, more, &size, &result);
    assert_int_equal(doppel_text_attachment_read(data, size, &extra), DOPPEL_OK);
    assert_int_equal(extra.words, words);
    assert_int_equal(extra.simhash, result.simhash);
    assert_int_equal(extra.simhash != 0, words >= 5 && more & DOPPEL_TEXT_SIMHASH);
    assert_int_equal(extra.characters, result.characters);
    assert_memory_equal(extra.content.bytes, result.digest.bytes, 16);
    assert_int_equal(extra.shingle_total, result.shingle_count);
    size_t kept = result.shingle_count < DOPPEL_TEXT_KEPT_SHINGLES ? result.shingle_count
                                                                   : DOPPEL_TEXT_KEPT_SHINGLES;
    assert_int_equal(extra.shingle_count, kept);
    for (size_t i = 0; i < kept; i++)
        assert_int_equal(extra.shingles[i], result.shingles[i]);
    assert_int_equal(extra.place_count, places ? words : 0);
    assert_int_equal(extra.key_count, places && words ? result.key_count : 0);
    for (size_t i = 0; i < extra.place_count; i++) {
        assert_int_equal(extra.places[i].hash, result.places[i].hash);
        assert_int_equal(extra.places[i].start, result.places[i].start);
        assert_int_equal(extra.places[i].end, result.places[i].end);
    }
    for (size_t i = 0; i < extra.key_count; i++) {
        assert_int_equal(extra.keys[i].key, result.keys[i].key);
        assert_int_equal(extra.keys[i].word, result.keys[i].word);
    }
    doppel_text_extra_free(&extra);
    free(data);
}

static void attachments_come_back(void **state)
{
    (void)state;
    static const size_t words[] = {0, 1, 3, 4, 5, 100, 14999, 15003, 15004, 15005, 40000};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < MORES; k++)
            assert_comes_back(words[i], mores[k]);
}

/* Each in a buffer of its exact size, for the sanitizer. */
static enum doppel_status read_copy(const uint8_t *data, size_t size)
{
    struct doppel_text_extra extra, head;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    enum doppel_status status = doppel_text_attachment_read(copy, size, &extra);
    bool headed = doppel_text_attachment_head(copy, size, &head);
    free(copy);
    if (status)
        return status;
    assert_true(headed);
    assert_int_equal(head.words, extra.words);
    assert_int_equal(head.simhash, extra.simhash);
    assert_memory_equal(head.content.bytes, extra.content.bytes, sizeof head.content.bytes);
    assert_true(!head.shingles && !head.shingle_count && !head.place_count && !head.key_count);
    for (size_t i = 1; i < extra.shingle_count; i++)
        assert_true(extra.shingles[i - 1] < extra.shingles[i]);
    for (size_t i = 0; i < extra.key_count; i++)
        assert_true(extra.keys[i].word < extra.place_count);
    doppel_text_extra_free(&extra);
    return DOPPEL_OK;
}

static void other_lengths_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < MORES; i++) {
        struct doppel_text_result result;
        size_t size;
        uint8_t *data = attachment_of(60, mores[i], &size, &result);
        /* Before there were notes, a SimHash was the end, or nothing. */
        size_t before = size - (mores[i] & DOPPEL_TEXT_SIMHASH ? 4 : 12);
        data = realloc(data, size + 20);
        memset(data + size, 0, 20);
        for (size_t wrong = 0; wrong < size + 20; wrong++)
            assert_int_equal(read_copy(data, wrong),
                             wrong == size || wrong == before || wrong == size - 12
                                 ? DOPPEL_OK
                                 : DOPPEL_E_CORRUPT);
        free(data);
    }
    assert_int_equal(doppel_text_attachment_read(NULL, 0, NULL), DOPPEL_E_CORRUPT);
}

static void readings_come_back(void **state)
{
    (void)state;
    for (unsigned reading = 0; reading < DOPPEL_TEXT_LAST + 3; reading++) {
        bool known = reading != DOPPEL_TEXT_AUTO && reading <= DOPPEL_TEXT_LAST;
        struct doppel_text_extra extra;
        struct doppel_text_result result;
        size_t size;
        uint8_t *data = attachment_of(60, DOPPEL_TEXT_SIMHASH, &size, &result);
        assert_int_equal(result.reading, DOPPEL_TEXT_PLAIN);
        free(data);
        result.reading = (enum doppel_text_format)reading;
        result.shingles = NULL;
        result.shingle_count = 0;
        data = malloc(size = doppel_text_attachment_size(&result));
        doppel_text_attachment_write(&result, data);
        assert_int_equal(doppel_text_attachment_head(data, size, &extra), known);
        if (known)
            assert_int_equal(extra.reading, reading);
        assert_int_equal(doppel_text_attachment_head(data, size - 4, &extra), true);
        assert_int_equal(extra.reading, DOPPEL_TEXT_AUTO);
        free(data);
    }
}

static void pages_come_back(void **state)
{
    (void)state;
    static const uint32_t pages[] = {0, 0, 70, 200};
    for (size_t i = 0; i < MORES; i++) {
        struct doppel_text_extra extra;
        struct doppel_text_result result;
        size_t size;
        free(attachment_of(60, mores[i], &size, &result));
        result.shingle_count = result.words = 0;
        result.shingles = NULL;
        result.places = NULL;
        result.pages = pages;
        result.page_count = 4;
        uint8_t *data = malloc(size = doppel_text_attachment_size(&result));
        doppel_text_attachment_write(&result, data);
        assert_int_equal(doppel_text_attachment_read(data, size, &extra), DOPPEL_OK);
        assert_int_equal(extra.page_count, 4);
        assert_memory_equal(extra.pages, pages, sizeof pages);
        doppel_text_extra_free(&extra);
        assert_true(doppel_text_attachment_head(data, size, &extra));
        assert_int_equal(extra.page_count, 0);
        for (size_t wrong = 1; wrong < 20; wrong++)
            assert_int_equal(read_copy(data, size - wrong), DOPPEL_E_CORRUPT);
        data[size - 4] = 1; /* the last page would begin before the one before it */
        assert_int_equal(read_copy(data, size), DOPPEL_E_CORRUPT);
        free(data);
    }
}

static void drawn_pages_come_back(void **state)
{
    (void)state;
    static const uint32_t pages[] = {0, 0, 70, 200};
    static const uint8_t drawn[] = {1, 2, 3, 4, 5, 6, 7};
    for (size_t with_pages = 0; with_pages < 2; with_pages++) {
        struct doppel_text_extra extra;
        const struct doppel_text_result result = {.reading = DOPPEL_TEXT_PDF,
                                                  .pages = with_pages ? pages : NULL,
                                                  .page_count = with_pages ? 4 : 0,
                                                  .drawn = drawn,
                                                  .drawn_size = sizeof drawn};
        const size_t size = doppel_text_attachment_size(&result);
        uint8_t *data = malloc(size);
        doppel_text_attachment_write(&result, data);
        assert_int_equal(doppel_text_attachment_read(data, size, &extra), DOPPEL_OK);
        assert_int_equal(extra.page_count, result.page_count);
        if (with_pages)
            assert_memory_equal(extra.pages, pages, sizeof pages);
        assert_int_equal(extra.drawn_size, sizeof drawn);
        assert_memory_equal(extra.drawn, drawn, sizeof drawn);
        doppel_text_extra_free(&extra);
        assert_true(doppel_text_attachment_head(data, size, &extra));
        assert_int_equal(extra.drawn_size, 0);
        for (size_t wrong = 1; wrong < 20; wrong++)
            assert_int_equal(read_copy(data, size - wrong), DOPPEL_E_CORRUPT);
        free(data);
    }
}

static void bent_ones_do_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 7;
    unsigned refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        struct doppel_text_result result;
        size_t size;
        uint8_t *data = attachment_of(20 + round % 30, mores[round % MORES], &size, &result);
        for (unsigned i = 0; i <= round % 3; i++)
            data[next_random(&seed) % size] = (uint8_t)next_random(&seed);
        refused += read_copy(data, size) != DOPPEL_OK;
        free(data);
    }
    assert_true(refused > 1000);
}

static void short_is_what_the_reader_says(void **state)
{
    (void)state;
    struct doppel_text_options options = doppel_text_options_default();
    for (size_t words = 0; words < 30; words++) {
        struct doppel_text_result result;
        size_t size;
        free(attachment_of(words, 0, &size, &result));
        assert_int_equal(doppel_text_is_short(&options, result.words, result.characters),
                         result.too_short);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attachments_come_back), cmocka_unit_test(other_lengths_are_refused),
        cmocka_unit_test(readings_come_back),    cmocka_unit_test(pages_come_back),
        cmocka_unit_test(drawn_pages_come_back),
        cmocka_unit_test(bent_ones_do_no_harm),  cmocka_unit_test(short_is_what_the_reader_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
