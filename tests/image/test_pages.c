/* Pages of documents: scans of the same page are the same, others of one template are not; what is
 * packed is what was there, and nothing that is read is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <doppel/image.h>

#include "image/page.h"
#include "scanned_page.h"

static struct doppel_page page_of(uint8_t *grey)
{
    const struct doppel_plane plane = {grey, SCANNED_WIDTH, SCANNED_HEIGHT, SCANNED_WIDTH};
    struct doppel_page page;
    assert_int_equal(doppel_page_make(&plane, &page, NULL), DOPPEL_OK);
    free(grey);
    return page;
}

static struct doppel_page page_of_scan(uint64_t document, int lines, int shared, double degrees,
                                       int shift)
{
    uint8_t *drawn = drawn_page(document, lines, shared);
    struct doppel_page page =
        page_of(scanned_page(drawn, degrees, shift, document + (uint64_t)(shift + 100)));
    free(drawn);
    assert_non_null(page.ink);
    return page;
}

static bool are_same(const struct doppel_page *a, const struct doppel_page *b)
{
    struct doppel_page_relief *left, *right;
    assert_int_equal(doppel_page_relief_make(a, &left), DOPPEL_OK);
    assert_int_equal(doppel_page_relief_make(b, &right), DOPPEL_OK);
    const bool same = doppel_page_is_same(left, right);
    assert_true(doppel_page_is_same(left, left));
    doppel_page_relief_free(left);
    doppel_page_relief_free(right);
    return same;
}

static int bits_between(const struct doppel_page *a, const struct doppel_page *b)
{
    return __builtin_popcountll(a->code.word[0] ^ b->code.word[0]);
}

static void test_scans_of_one_page(void **state)
{
    (void)state;
    static const struct {
        int lines;
        double degrees;
        int shift;
    } scans[] = {{40, 1, 5}, {40, -1, -8}, {12, .6, 12}, {25, -2, 3}, {SCANNED_LINES, 1.5, 0}};
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
        struct doppel_page a = page_of_scan(i + 1, scans[i].lines, 3, 0, 0);
        struct doppel_page b =
            page_of_scan(i + 1, scans[i].lines, 3, scans[i].degrees, scans[i].shift);
        assert_true(are_same(&a, &b));
        assert_true(are_same(&b, &a));
        assert_in_range(bits_between(&a, &b), 0, DOPPEL_PAGE_RADIUS);
        free((void *)a.ink);
        free((void *)b.ink);
    }
}

/* Of 40 lines all but some are the same: head, foot, a form. */
static void test_others_of_one_template(void **state)
{
    (void)state;
    static const int shared[] = {0, 10, 30, 36};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        struct doppel_page a = page_of_scan(1, 40, shared[i], 0, 0);
        struct doppel_page b = page_of_scan(2, 40, shared[i], 1, 4);
        assert_false(are_same(&a, &b));
        assert_false(are_same(&b, &a));
        free((void *)a.ink);
        free((void *)b.ink);
    }
}

static void test_empty_pages(void **state)
{
    (void)state;
    uint8_t *empty = drawn_page(1, 0, 0);
    struct doppel_page page = page_of(scanned_page(empty, 0, 0, 7)); /* nothing but noise */
    struct doppel_page_relief *relief;
    assert_null(page.ink);
    assert_int_equal(doppel_page_relief_make(&page, &relief), DOPPEL_E_ARGUMENT);
    page = page_of(empty);
    assert_null(page.ink);
}

static void test_cells_that_are_too_many(void **state)
{
    (void)state;
    static const uint16_t sizes[][2] = {
        {DOPPEL_PAGE_COLUMNS + 1, 1}, {1, DOPPEL_PAGE_ROWS + 1}, {UINT16_MAX, UINT16_MAX}, {0, 9}};
    struct doppel_page page = page_of_scan(1, 30, 0, 0, 0);
    struct doppel_page_relief *relief;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        page.columns = sizes[i][0];
        page.rows = sizes[i][1];
        assert_int_equal(doppel_page_relief_make(&page, &relief), DOPPEL_E_ARGUMENT);
    }
    free((void *)page.ink);
}

static void test_any_size_is_read(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 1120}, {1120, 1}, {31, 33}, {1120, 300}};
    uint64_t random = 5;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t count = (size_t)sizes[i][0] * sizes[i][1];
        uint8_t *grey = malloc(count);
        struct doppel_page page;
        for (size_t at = 0; at < count; at++)
            grey[at] = scanned_random(&random) % 4 ? 255 : 0;
        const struct doppel_plane plane = {grey, sizes[i][0], sizes[i][1], sizes[i][0]};
        assert_int_equal(doppel_page_make(&plane, &page, NULL), DOPPEL_OK);
        assert_in_range(page.columns, 1, DOPPEL_PAGE_COLUMNS);
        assert_in_range(page.rows, 1, DOPPEL_PAGE_ROWS);
        free((void *)page.ink);
        free(grey);
    }
}

/* ---- packed ---- */

static void test_cells_come_back(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t count = 0; count < 200; count++) {
        uint8_t cells[200], back[200], packed[100];
        const uint32_t empty = scanned_random(&random) % 5;
        for (size_t i = 0; i < count; i++)
            cells[i] =
                (uint8_t)(scanned_random(&random) % 5 < empty ? 0 : scanned_random(&random) % 4);
        const size_t size = page_pack(cells, count, packed);
        assert_in_range(size, 0, page_packed_most(count));
        assert_true(page_unpack(packed, size, count, back));
        assert_memory_equal(cells, back, count);
        for (size_t cut = 0; cut < size; cut++)
            assert_false(page_unpack(packed, cut, count, back));
        assert_false(page_unpack(packed, size + 1, count, back));
    }
}

static void test_pages_come_back(void **state)
{
    (void)state;
    struct doppel_page pages[] = {
        page_of_scan(1, 30, 0, 0, 0), {.columns = 1, .rows = 1}, page_of_scan(2, 20, 0, .5, 2)};
    const size_t size = doppel_pages_size(pages, 3);
    uint8_t *bytes = malloc(size);
    struct doppel_page *back;
    size_t count;
    doppel_pages_write(pages, 3, bytes);
    assert_int_equal(doppel_pages_read(bytes, size, &back, &count), DOPPEL_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(back[i].columns, pages[i].columns);
        assert_int_equal(back[i].ink_size, pages[i].ink_size);
        assert_memory_equal(back[i].code.word, pages[i].code.word, 32);
        if (pages[i].ink)
            assert_memory_equal(back[i].ink, pages[i].ink, pages[i].ink_size);
        free((void *)pages[i].ink);
    }
    assert_null(back[1].ink);
    free(back);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 97)
        assert_int_equal(doppel_pages_read(bytes, cut, &back, &count), DOPPEL_E_CORRUPT);
    uint64_t random = 9;
    for (int i = 0; i < 2000; i++) { /* what is read of bent heads can be looked at */
        uint8_t *bent = malloc(size);
        memcpy(bent, bytes, size);
        bent[scanned_random(&random) % 130] = (uint8_t)scanned_random(&random);
        if (doppel_pages_read(bent, size, &back, &count) == DOPPEL_OK) {
            for (size_t page = 0; page < count; page++) {
                struct doppel_page_relief *relief = NULL;
                (void)doppel_page_relief_make(&back[page], &relief);
                doppel_page_relief_free(relief);
            }
            free(back);
        }
        free(bent);
    }
    free(bytes);
}

static void test_keys(void **state)
{
    (void)state;
    struct doppel_page pages[] = {
        page_of_scan(1, 30, 0, 0, 0), {.columns = 1, .rows = 1}, page_of_scan(1, 30, 0, 1, 5)};
    uint32_t keys[3 * DOPPEL_PAGE_KEYS];
    const size_t one = doppel_pages_keys(pages, 1, keys);
    assert_in_range(one, 1, DOPPEL_PAGE_KEYS);
    assert_int_equal(doppel_pages_keys(pages + 1, 1, keys), 0);
    const size_t both = doppel_pages_keys(pages, 3, keys);
    assert_in_range(both, one, 2 * one - 1); /* one at least is the same */
    for (size_t i = 0; i < both; i++) {
        assert_in_range(keys[i], 0, (1 << 28) - 1);
        assert_true(!i || keys[i] > keys[i - 1]);
    }
    free((void *)pages[0].ink);
    free((void *)pages[2].ink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scans_of_one_page), cmocka_unit_test(test_others_of_one_template),
        cmocka_unit_test(test_empty_pages),       cmocka_unit_test(test_cells_that_are_too_many),
        cmocka_unit_test(test_any_size_is_read),  cmocka_unit_test(test_cells_come_back),
        cmocka_unit_test(test_pages_come_back),   cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
