/* HEIC and AVIF to luma. A test is skipped where libheif has no encoder for the format. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static const enum doppel_format formats[] = {DOPPEL_FORMAT_HEIC, DOPPEL_FORMAT_AVIF};

static void colour_grey_and_alpha_read(void **state)
{
    (void)state;
    static const enum scene_kind kinds[] = {SCENE_SMOOTH, SCENE_GREY, SCENE_ALPHA};
    struct doppel_luma_options full = reducing_to(0), small = reducing_to(60);
    for (size_t i = 0; i < 6; i++) {
        struct scene scene = scene_make(kinds[i / 2], 302, 198);
        struct file file = make_heif(&scene, formats[i % 2], 1);
        if (!file.data)
            skip();
        struct doppel_luma luma = read_good(&file, NULL);
        assert_int_equal(luma.format, formats[i % 2]);
        doppel_luma_free(&luma);
        assert_reads_as(file, &scene, &full, 2, 14);
        assert_reads_as(make_heif(&scene, formats[i % 2], 1), &scene, &small, 2, 8);
        scene_free(&scene);
    }
}

static void every_orientation_is_applied_once(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 128, 64);
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct file file = make_heif(&scene, formats[orientation % 2], orientation);
        if (!file.data)
            skip();
        struct doppel_luma luma = read_good(&file, NULL);
        assert_int_equal(luma.width, orientation >= 5 ? 64 : 128);
        assert_int_equal(luma.height, orientation >= 5 ? 128 : 64);
        assert_true(compare(&luma, &scene, 1, orientation).mean < 2);
        doppel_luma_free(&luma);
        file_free(&file);
    }
    scene_free(&scene);
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 640, 480);
    struct file file = make_heif(&scene, DOPPEL_FORMAT_AVIF, 1);
    if (!file.data)
        skip();
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_memory = 1 << 20;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "--max-memory");
    options = doppel_luma_options_default();
    options.limits.max_pixels = 640 * 480 - 1;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "640 x 480");
    file_free(&file);
    scene_free(&scene);
}

static const uint8_t type_box[16] = {0, 0, 0, 16, 'f', 't', 'y', 'p', 'a', 'v', 'i', 'f'};
static const uint8_t free_box[8] = {0, 0, 0, 8, 'f', 'r', 'e', 'e'};
static const uint8_t meta_box[16] = {0, 0, 0, 0, 'm', 'e', 't', 'a', 'i', 'o', 'v', 'l'};

/* A meta box, behind so many others, of so many bytes, which end with the mark of an overlay. */
static void expect_refused(size_t boxes, size_t meta_bytes, const char *reason)
{
    size_t size = sizeof type_box + boxes * sizeof free_box + meta_bytes;
    uint8_t *data = calloc(1, size);
    assert_non_null(data);
    memcpy(data, type_box, sizeof type_box);
    uint8_t *end = data + sizeof type_box;
    for (size_t i = 0; i < boxes; i++, end += sizeof free_box)
        memcpy(end, free_box, sizeof free_box);
    memcpy(end, meta_box, 8);
    memcpy(data + size - 8, meta_box + 8, 8);
    struct doppel_luma_options options = doppel_luma_options_default();
    assert_refused(data, size, &options, DOPPEL_E_UNSUPPORTED, reason);
    free(data);
}

/* Pictures laid over others are not given to libheif, wherever that is said. */
static void overlays_are_refused(void **state)
{
    (void)state;
    expect_refused(0, 16, "laid over others");
    expect_refused(100, 16, "laid over others");
    expect_refused(2000, 16, "boxes");
    expect_refused(0, 2 << 20, "laid over others");
    expect_refused(0, 20 << 20, "MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colour_grey_and_alpha_read),
        cmocka_unit_test(every_orientation_is_applied_once),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(overlays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
