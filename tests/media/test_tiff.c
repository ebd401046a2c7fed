/* TIFF as libtiff writes it: every way to lay out the samples of a picture, and several pages. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include "core/bytes.h"
#include "core/digest.h"

struct sample {
    struct tiff_how how;
    enum scene_kind scene;
    double mean, most;
    bool digest; /* the same as of a PNG */
};

static const struct sample samples[] = {
    {{.photometric = PHOTOMETRIC_RGB}, SCENE_SMOOTH, .5, .6, true},
    {{.photometric = PHOTOMETRIC_RGB, .compression = COMPRESSION_LZW}, SCENE_SMOOTH, .5, .6, true},
    {{.photometric = PHOTOMETRIC_RGB, .tiled = true}, SCENE_SMOOTH, .5, .6, true},
    {{.photometric = PHOTOMETRIC_RGB, .separate = true}, SCENE_SMOOTH, .5, .6, true},
    {{.photometric = PHOTOMETRIC_RGB, .big = true}, SCENE_SMOOTH, .5, .6, true},
    {{.photometric = PHOTOMETRIC_RGB, .alpha = TIFF_BESIDE}, SCENE_ALPHA, .6, 1.1, true},
    {{.photometric = PHOTOMETRIC_RGB, .alpha = TIFF_BESIDE, .tiled = true},
     SCENE_ALPHA,
     1,
     2.1,
     false},
    {{.photometric = PHOTOMETRIC_RGB, .alpha = TIFF_MULTIPLIED}, SCENE_ALPHA, 1, 2.1, false},
    {{.photometric = PHOTOMETRIC_RGB, .bits = 16}, SCENE_SMOOTH, .6, 1.1, false},
    {{.photometric = PHOTOMETRIC_RGB, .compression = COMPRESSION_JPEG},
     SCENE_SMOOTH,
     1.5,
     12,
     false},
    {{.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG},
     SCENE_SMOOTH,
     2,
     16,
     false},
    {{.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG, .tiled = true},
     SCENE_SMOOTH,
     2,
     16,
     false},
    {{.photometric = PHOTOMETRIC_SEPARATED}, SCENE_SMOOTH, .6, 1.1, false},
    {{.photometric = PHOTOMETRIC_MINISBLACK}, SCENE_GREY, .5, .6, true},
    {{.photometric = PHOTOMETRIC_MINISWHITE}, SCENE_GREY, .5, .6, true},
    {{.photometric = PHOTOMETRIC_MINISBLACK, .bits = 16}, SCENE_GREY, .6, 1.1, false},
    {{.photometric = PHOTOMETRIC_PALETTE, .compression = COMPRESSION_PACKBITS},
     SCENE_GREY,
     .5,
     .6,
     true},
    {{.photometric = PHOTOMETRIC_MINISBLACK, .bits = 1}, SCENE_TWO, .1, .1, true},
    {{.photometric = PHOTOMETRIC_MINISWHITE, .bits = 1, .compression = COMPRESSION_CCITTFAX4},
     SCENE_TWO,
     .1,
     .1,
     true},
    {{.photometric = PHOTOMETRIC_MINISBLACK, .bits = 1, .tiled = true}, SCENE_TWO, .1, .1, true},
};

static struct doppel_digest digest_of(const struct file *file)
{
    struct doppel_luma luma = read_good(file, NULL);
    struct doppel_digest digest = luma.digest;
    doppel_luma_free(&luma);
    return digest;
}

static void every_layout_reads(void **state)
{
    (void)state;
    struct doppel_luma_options full = reducing_to(0), small = reducing_to(40);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        struct scene scene = scene_make(s->scene, 203, 121);
        struct file png = make_any(DOPPEL_FORMAT_PNG, &scene);
        struct doppel_digest wanted = digest_of(&png);
        struct file file = make_tiff(&scene, &s->how, 1);
        struct doppel_digest digest = digest_of(&file);
        print_message("layout %zu\n", i);
        assert_int_equal(digest_is_none(&digest), !s->digest);
        if (s->digest)
            assert_memory_equal(&digest, &wanted, sizeof wanted);
        assert_reads_as(file, &scene, &full, s->mean, s->most);
        assert_reads_as(make_tiff(&scene, &s->how, 1), &scene, &small, s->mean, s->most);
        file_free(&png);
        scene_free(&scene);
    }
}

static void every_orientation_is_applied(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    for (unsigned orientation = 1; orientation <= 8; orientation++)
        for (int tiled = 0; tiled < 2; tiled++)
            assert_turned(make_tiff(&scene,
                                    &(struct tiff_how){.photometric = PHOTOMETRIC_RGB,
                                                       .tiled = tiled,
                                                       .orientation = orientation},
                                    1),
                          &scene, orientation);
    scene_free(&scene);
}

/* ---- pages ---- */

enum { PAGES = 5, REDUCED = 1, PAGE = 2, MASK = 4 };

/* Three pages, with a small picture and a mask between them. */
static struct file make_pages(bool big, struct scene scenes[PAGES])
{
    static const unsigned kinds[PAGES] = {0, REDUCED, PAGE, MASK, 0};
    struct tiff_how hows[PAGES];
    for (size_t i = 0; i < PAGES; i++) {
        scenes[i] = scene_make(i % 2 ? SCENE_TWO : SCENE_SMOOTH, 100 + 10 * (uint32_t)i, 80);
        hows[i] =
            (struct tiff_how){.photometric = PHOTOMETRIC_RGB, .big = big, .subfile = kinds[i]};
    }
    return make_tiff(scenes, hows, PAGES);
}

static enum doppel_kind probe(const struct file *file, enum doppel_format *out_format)
{
    int fd = file_open(file->data, file->size);
    enum doppel_kind kind =
        doppel_media_probe_file(fd, file->data, file->size < 4096 ? file->size : 4096, out_format);
    close(fd);
    return kind;
}

static void pages_are_read_one_by_one(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct scene scenes[PAGES];
        struct file file = make_pages(big, scenes);
        enum doppel_format format;
        assert_int_equal(probe(&file, &format), DOPPEL_KIND_TEXT);
        assert_int_equal(format, DOPPEL_FORMAT_TIFF_PAGES);
        int fd = file_open(file.data, file.size);
        struct doppel_pages *pages;
        uint32_t count;
        assert_int_equal(doppel_media_open_pages(fd, NULL, 9, &pages, &count, NULL), DOPPEL_OK);
        assert_int_equal(count, 3);
        for (uint32_t i = count; i-- > 0;) { /* in any order */
            struct doppel_luma luma;
            assert_int_equal(doppel_media_read_page(pages, i, 0, &luma, NULL), DOPPEL_OK);
            struct difference off = compare(&luma, &scenes[2 * i], 1, 1);
            assert_true(off.most < .6);
            doppel_luma_free(&luma);
            assert_int_equal(doppel_media_read_page(pages, i, 50, &luma, NULL), DOPPEL_OK);
            assert_int_equal(luma.plane.width, 50);
            doppel_luma_free(&luma);
        }
        struct doppel_luma none;
        assert_int_equal(doppel_media_read_page(pages, 3, 0, &none, NULL), DOPPEL_E_NOT_FOUND);
        doppel_media_close_pages(pages);
        assert_int_equal(doppel_media_open_pages(fd, NULL, 2, &pages, &count, NULL), DOPPEL_OK);
        assert_int_equal(count, 2);
        doppel_media_close_pages(pages);
        close(fd);
        file_free(&file);
        for (size_t i = 0; i < PAGES; i++)
            scene_free(&scenes[i]);
    }
}

static void one_picture_with_a_small_one_is_no_document(void **state)
{
    (void)state;
    struct scene scenes[2] = {scene_make(SCENE_SMOOTH, 90, 60), scene_make(SCENE_SMOOTH, 30, 20)};
    struct tiff_how hows[2] = {{.photometric = PHOTOMETRIC_RGB},
                               {.photometric = PHOTOMETRIC_RGB, .subfile = REDUCED}};
    struct file file = make_tiff(scenes, hows, 2);
    enum doppel_format format;
    assert_int_equal(probe(&file, &format), DOPPEL_KIND_IMAGE);
    assert_int_equal(format, DOPPEL_FORMAT_TIFF);
    assert_reads_as(file, &scenes[0],
                    &(struct doppel_luma_options){.limits = doppel_media_limits_default()}, .5, .6);
    scene_free(&scenes[0]);
    scene_free(&scenes[1]);
}

static void rows_of_a_facsimile_count_twice(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_TWO, 96, 40);
    struct scene scenes[2] = {scene, scene};
    struct tiff_how hows[2];
    for (int i = 0; i < 2; i++)
        hows[i] = (struct tiff_how){.photometric = PHOTOMETRIC_MINISWHITE,
                                    .bits = 1,
                                    .compression = COMPRESSION_CCITTFAX3,
                                    .dots_across = 204,
                                    .dots_down = 98};
    struct file file = make_tiff(scenes, hows, 2);
    int fd = file_open(file.data, file.size);
    struct doppel_pages *pages;
    struct doppel_luma luma;
    uint32_t count;
    assert_int_equal(doppel_media_open_pages(fd, NULL, 9, &pages, &count, NULL), DOPPEL_OK);
    assert_int_equal(doppel_media_read_page(pages, 1, 0, &luma, NULL), DOPPEL_OK);
    assert_int_equal(luma.plane.width, 96);
    assert_int_equal(luma.plane.height, 80);
    for (uint32_t y = 0; y < 80; y++)
        for (uint32_t x = 0; x < 96; x++)
            assert_int_equal(luma.plane.data[y * luma.plane.stride + x],
                             lround(scene_luma(&scene, x, y / 2)));
    doppel_luma_free(&luma);
    doppel_media_close_pages(pages);
    close(fd);
    file_free(&file);
    scene_free(&scene);
}

/* The directory of the last picture names the first one as the next. */
static void directories_in_a_circle_end(void **state)
{
    (void)state;
    struct scene scenes[PAGES];
    struct file file = make_pages(false, scenes);
    uint32_t first = get_u32(file.data + 4), at = first, next;
    while ((next = get_u32(file.data + at + 2 + 12 * get_u16(file.data + at))))
        at = next;
    put_u32(file.data + at + 2 + 12 * get_u16(file.data + at), first);
    int fd = file_open(file.data, file.size);
    struct doppel_pages *pages;
    uint32_t count;
    assert_int_equal(doppel_media_open_pages(fd, NULL, 5000, &pages, &count, NULL), DOPPEL_OK);
    assert_in_range(count, 3, 12);
    doppel_media_close_pages(pages);
    close(fd);
    file_free(&file);
    for (size_t i = 0; i < PAGES; i++)
        scene_free(&scenes[i]);
}

/* A file that breaks off in its second page is no picture of the first one. */
static void a_page_that_is_cut_off_counts(void **state)
{
    (void)state;
    struct scene scenes[2] = {scene_make(SCENE_SMOOTH, 90, 60), scene_make(SCENE_GREY, 90, 60)};
    const struct tiff_how hows[2] = {{.photometric = PHOTOMETRIC_RGB},
                                     {.photometric = PHOTOMETRIC_RGB}};
    struct file file = make_tiff(scenes, hows, 2);
    struct file cut = file_of(file.data, file.size - 3000);
    enum doppel_format format;
    assert_int_equal(probe(&cut, &format), DOPPEL_KIND_TEXT);
    int fd = file_open(cut.data, cut.size);
    struct doppel_pages *pages;
    struct doppel_luma luma;
    uint32_t count;
    assert_int_equal(doppel_media_open_pages(fd, NULL, 9, &pages, &count, NULL), DOPPEL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(doppel_media_read_page(pages, 0, 0, &luma, NULL), DOPPEL_OK);
    doppel_luma_free(&luma);
    assert_int_equal(doppel_media_read_page(pages, 1, 0, &luma, NULL), DOPPEL_E_CORRUPT);
    doppel_media_close_pages(pages);
    close(fd);
    file_free(&cut);
    file_free(&file);
    scene_free(&scenes[0]);
    scene_free(&scenes[1]);
}

/* What is wrong is said, rather than that of a tag nothing is known. */
static void unknown_tags_are_no_reason(void **state)
{
    (void)state;
    enum { NO_TYPE = 0, ENTRY = 12 };
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    const struct tiff_how how = {
        .photometric = PHOTOMETRIC_RGB, .compression = COMPRESSION_LZW, .orientation = 1};
    struct file file = make_tiff(&scene, &how, 1);
    uint8_t *entry = file.data + get_u32(file.data + 4) + 2;
    while (get_u16(entry) != TIFFTAG_ORIENTATION)
        entry += ENTRY;
    put_u16(entry, 0);
    put_u16(entry + 2, NO_TYPE);
    memset(file.data + 8, 0xff, 64); /* of what it shows */
    int fd = file_open(file.data, file.size);
    struct doppel_luma luma;
    struct doppel_error error = {0};
    assert_int_equal(doppel_media_read_luma(fd, NULL, &luma, &error), DOPPEL_E_CORRUPT);
    assert_non_null(strstr(error.message, "the TIFF is cut short or damaged ("));
    assert_null(strstr(error.message, "tag is not read"));
    close(fd);
    file_free(&file);
    scene_free(&scene);
}

/* Cut short anywhere, or with bytes that were changed: refused, or read as far as it goes. */
static void broken_pages_are_survived(void **state)
{
    (void)state;
    struct scene scenes[PAGES];
    struct file file = make_pages(false, scenes);
    uint32_t seed = 7;
    for (int round = 0; round < 400; round++) {
        struct file broken = file_of(file.data, file.size - (round % 2 ? 0 : seed % file.size));
        for (int i = 0; round % 2 && i < 4; i++, seed = seed * 1664525 + 1013904223)
            broken.data[(seed >> 8) % (i % 2 ? broken.size : 8)] = (uint8_t)seed;
        seed = seed * 1664525 + 1013904223;
        int fd = file_open(broken.data, broken.size);
        struct doppel_pages *pages;
        struct doppel_error error;
        uint32_t count;
        if (doppel_media_open_pages(fd, NULL, 20, &pages, &count, &error) == DOPPEL_OK) {
            for (uint32_t i = 0; i < count; i++) {
                struct doppel_luma luma;
                if (doppel_media_read_page(pages, i, 64, &luma, &error) == DOPPEL_OK)
                    doppel_luma_free(&luma);
            }
            doppel_media_close_pages(pages);
        }
        close(fd);
        file_free(&broken);
    }
    file_free(&file);
    for (size_t i = 0; i < PAGES; i++)
        scene_free(&scenes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_reads),
        cmocka_unit_test(every_orientation_is_applied),
        cmocka_unit_test(pages_are_read_one_by_one),
        cmocka_unit_test(one_picture_with_a_small_one_is_no_document),
        cmocka_unit_test(rows_of_a_facsimile_count_twice),
        cmocka_unit_test(directories_in_a_circle_end),
        cmocka_unit_test(a_page_that_is_cut_off_counts),
        cmocka_unit_test(unknown_tags_are_no_reason),
        cmocka_unit_test(broken_pages_are_survived),
    };
    return cmocka_run_group_tests_name("tiff", tests, NULL, NULL);
}
