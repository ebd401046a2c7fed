/* TIFFs of several pages: documents, and no pictures that their first page would stand for. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include "make.h"

enum { WIDTH = 620, HEIGHT = 877, LINES = 40, MARGIN = 60, PAGES_MOST = 6 };

/* What looks like lines of words: no two pages the same. */
static struct scene draw_page(unsigned number)
{
    struct scene page = {WIDTH, HEIGHT, malloc(4 * (size_t)WIDTH * HEIGHT)};
    uint32_t random = number * 7919 + 17;
    memset(page.rgba, 0xff, 4 * (size_t)WIDTH * HEIGHT);
    for (uint32_t line = 0; line < LINES; line++)
        for (uint32_t x = MARGIN; x < WIDTH - MARGIN - 60;) {
            random = random * 1664525 + 1013904223;
            uint32_t width = 10 + (random >> 16) % 50, top = MARGIN + line * 19;
            for (uint32_t y = top; y < top + 9; y++)
                for (uint32_t i = 0; i < width; i++)
                    memset(page.rgba + 4 * ((size_t)y * WIDTH + x + i), (i ^ y) & 2 ? 0 : 0xff, 3);
            x += width + 9;
        }
    return page;
}

static void keep_tiff(const char *path, const unsigned *numbers, size_t count,
                      const struct tiff_how *how)
{
    struct scene pages[PAGES_MOST];
    struct tiff_how hows[PAGES_MOST];
    for (size_t i = 0; i < count; i++) {
        pages[i] = draw_page(numbers[i]);
        hows[i] = *how;
    }
    struct file file = make_tiff(pages, hows, count);
    write_file(path, file.data, file.size);
    file_free(&file);
    for (size_t i = 0; i < count; i++)
        scene_free(&pages[i]);
}

#define KEEP(path, how, ...)                                                                       \
    keep_tiff(path, (const unsigned[]){__VA_ARGS__},                                               \
              sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned), how)

static const struct tiff_how grey = {.photometric = PHOTOMETRIC_MINISBLACK,
                                     .compression = COMPRESSION_LZW};
static const struct tiff_how fax = {
    .photometric = PHOTOMETRIC_MINISWHITE, .bits = 1, .compression = COMPRESSION_CCITTFAX4};
static const struct tiff_how photo = {.photometric = PHOTOMETRIC_YCBCR,
                                      .compression = COMPRESSION_JPEG};

static void pages_count_and_not_the_first_alone(void **state)
{
    (void)state;
    make_folder("faxes");
    KEEP("faxes/one.tif", &grey, 1, 2, 3);
    KEEP("faxes/fax.tif", &fax, 1, 2, 3);
    KEEP("faxes/photo.tiff", &photo, 1, 2, 3);
    KEEP("faxes/same_cover.tif", &grey, 1, 4, 5);
    for (int round = 0; round < 2; round++) { /* then from the cache */
        char *json = doppel_prints(0, "scan", "--json", "faxes");
        assert_int_equal(count_lines(json, "{\"group\":"), 1);
        assert_has(json, "faxes/one.tif");
        assert_has(json, "faxes/fax.tif");
        assert_has(json, "faxes/photo.tiff");
        assert_has(json, "\"kind\":\"text\"");
        assert_lacks(json, "same_cover");
        free(json);
    }
    char *json = doppel_prints(0, "compare", "--json", "faxes/one.tif", "faxes/same_cover.tif");
    assert_has(json, "\"relation\":\"overlaps\"");
    free(json);
}

static void pages_of_another_are_named(void **state)
{
    (void)state;
    KEEP("whole.tif", &grey, 11, 12, 13, 14, 15, 16);
    KEEP("part.tif", &fax, 13, 14);
    char *json = doppel_prints(0, "compare", "--json", "part.tif", "whole.tif");
    assert_has(json, "\"relation\":\"contained\"");
    assert_has(json, "\"a_pages\":[1,2]");
    assert_has(json, "\"b_pages\":[3,4]");
    free(json);
}

static void who_wants_pictures_is_told(void **state)
{
    (void)state;
    make_folder("pictures");
    KEEP("pictures/pages.tif", &grey, 21, 22);
    KEEP("pictures/one.tif", &photo, 21);
    struct ran ran = doppel("scan", "--kind", "image", "pictures");
    assert_code(&ran, 3);
    assert_has(ran.err, "pages.tif: has several pages, so it is not a picture but a document");
    assert_lacks(ran.err, "one.tif");
    ran_free(&ran);
}

static void a_page_that_cannot_be_read_is_said(void **state)
{
    (void)state;
    struct scene pages[2] = {draw_page(31), draw_page(32)};
    const struct tiff_how hows[2] = {grey, grey};
    struct file file = make_tiff(pages, hows, 2);
    struct file first = make_tiff(pages, hows, 1);
    /* The data of the second page: they lie behind what a file of the first alone has. */
    memset(file.data + first.size + 100, 0xff, 3000);
    write_file("torn.tif", file.data, file.size);
    struct ran ran = doppel("hash", "--json", "torn.tif");
    assert_code(&ran, 0);
    assert_has(ran.out, "1 of the TIFF's 2 pages cannot be read");
    ran_free(&ran);
    file_free(&file);
    file_free(&first);
    scene_free(&pages[0]);
    scene_free(&pages[1]);
}

static void the_report_shows_pages(void **state)
{
    (void)state;
    make_folder("pair");
    KEEP("pair/a.tif", &grey, 41, 42);
    KEEP("pair/b.tif", &fax, 41, 42);
    free(doppel_prints(0, "report", "-o", "pair.html", "pair"));
    size_t size;
    char *html = read_file("pair.html", &size);
    assert_has(html, "data:image/jpeg;base64,");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(pages_count_and_not_the_first_alone),
        IN_SANDBOX(pages_of_another_are_named),
        IN_SANDBOX(who_wants_pictures_is_told),
        IN_SANDBOX(a_page_that_cannot_be_read_is_said),
        IN_SANDBOX(the_report_shows_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
