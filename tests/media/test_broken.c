/* Bad files of every format: cut, changed, mislabelled, lying about their size. A decoder may say
 * yes or no; it has a sentence for its no, and does not crash. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"

static void assert_survives(const void *data, size_t size)
{
    struct doppel_luma luma = {0};
    struct doppel_error error = {0};
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_pixels = 4000000;
    enum doppel_status status = read_bytes(data, size, &options, &luma, &error);
    if (status == DOPPEL_OK) {
        assert_true(luma.plane.width && luma.plane.height);
    } else {
        assert_true(strlen(error.message) > 5);
        assert_int_equal(error.status, status);
        assert_null(luma.pixels);
    }
    doppel_luma_free(&luma);
}

static void files_cut_anywhere_are_survived(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 210, 150);
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        for (size_t part = 1; file.data && part < 16; part++)
            assert_survives(file.data, file.size * part / 16);
        for (size_t size = 1; size < file.size && size < 64; size++)
            assert_survives(file.data, size);
        file_free(&file);
    }
    scene_free(&scene);
}

/* A TIFF's directory may lie at its end: then it is cut short, whatever it seems to declare. */
static void a_cut_tiff_is_told_so(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 210, 150);
    struct file file = make_any(DOPPEL_FORMAT_TIFF, &scene);
    if (!file.data)
        skip(); /* no such encoder here */
    assert_true(get_u32(file.data + 4) > file.size / 2);
    for (size_t size = 8; size < get_u32(file.data + 4) + 60; size += 1000) {
        struct doppel_luma luma;
        struct doppel_error error;
        assert_int_equal(read_bytes(file.data, size, NULL, &luma, &error), DOPPEL_E_CORRUPT);
        if (!strstr(error.message, "cut short"))
            fail_msg("at %zu: %s", size, error.message);
    }
    file_free(&file);
    scene_free(&scene);
}

static void changed_bytes_are_survived(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    uint32_t seed = 99;
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        for (int round = 0; file.data && round < 100; round++) {
            uint8_t *broken = malloc(file.size);
            memcpy(broken, file.data, file.size);
            for (int i = 0; i < 4; i++) {
                seed = seed * 1664525 + 1013904223;
                /* Half of the changes are in the header. */
                size_t range = i % 2 || file.size < 200 ? file.size : 200;
                broken[(seed >> 8) % range] = (uint8_t)(seed >> 4);
            }
            assert_survives(broken, file.size);
            free(broken);
        }
        file_free(&file);
    }
    scene_free(&scene);
}

static void what_is_no_image_is_told(void **state)
{
    (void)state;
    assert_refused("", 0, NULL, DOPPEL_E_EMPTY, "empty");
    assert_refused("not a picture at all\n", 21, NULL, DOPPEL_E_FORMAT, "text");
    assert_refused("fLaC\0\0\0\x22", 8, NULL, DOPPEL_E_FORMAT, "audio");
    assert_refused("\1\2\3\4\5\6\7\xff", 8, NULL, DOPPEL_E_FORMAT, "no known format");
    assert_refused("\xff\xd8\xff", 3, NULL, DOPPEL_E_CORRUPT, "JPEG");
    assert_refused("\x89PNG\r\n\x1a\n", 8, NULL, DOPPEL_E_CORRUPT, "PNG");
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    struct doppel_luma luma = {0};
    struct doppel_error error;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(doppel_media_read_luma(pipes[0], NULL, &luma, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, "regular file"));
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(doppel_media_read_luma(pipes[0], NULL, &luma, &error), DOPPEL_E_IO);
    assert_non_null(strstr(error.message, strerror(EBADF)));
    struct file file = {0};
    struct scene scene = scene_make(SCENE_SMOOTH, 40, 30);
    file = make_any(DOPPEL_FORMAT_PNG, &scene);
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_bytes = file.size - 1;
    assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "--max-bytes");
    file_free(&file);
    scene_free(&scene);
}

static void sizes_over_the_limit_are_refused_by_name(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_TWO, 64, 64);
    struct file file = make_any(DOPPEL_FORMAT_JPEG, &scene);
    uint8_t *frame = memmem(file.data, file.size, "\xff\xc0", 2);
    memset(frame + 5, 0xff, 4);
    frame[6] = frame[8] = 0xdc; /* 65500: libjpeg's own limit is there */
    assert_refused(file.data, file.size, NULL, DOPPEL_E_LIMIT,
                   "declares 65500 x 65500 pixels, over the limit of 500000000 (--max-pixels)");
    file_free(&file);
    struct doppel_luma_options options = doppel_luma_options_default();
    options.limits.max_pixels = 64 * 64 - 1;
    for (int format = DOPPEL_FORMAT_JPEG; format < DOPPEL_FORMAT_HEIC; format++) {
        file = make_any((enum doppel_format)format, &scene);
        if (!file.data)
            continue;
        assert_refused(file.data, file.size, &options, DOPPEL_E_LIMIT, "declares 64 x 64 pixels");
        file_free(&file);
    }
    scene_free(&scene);
}

/* 2 KB that declare 400 million pixels: refused soon after the data end, not after all rows. */
static void a_short_jpeg_of_many_pixels_is_cut_short(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_TWO, 64, 64);
    struct file file = make_any(DOPPEL_FORMAT_JPEG, &scene);
    uint8_t *frame = memmem(file.data, file.size, "\xff\xc0", 2);
    frame[5] = frame[7] = 0x4e;
    frame[6] = frame[8] = 0x20;
    assert_refused(file.data, file.size, NULL, DOPPEL_E_CORRUPT, "of 20000 rows");
    file_free(&file);
    scene_free(&scene);
}

static void the_offset_of_the_descriptor_is_not_used(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 40, 30);
    struct doppel_luma luma;
    for (int format = DOPPEL_FORMAT_JPEG; format <= DOPPEL_FORMAT_JXL; format++) {
        struct file file = make_any((enum doppel_format)format, &scene);
        if (!file.data)
            continue;
        int fd = file_open(file.data, file.size);
        assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
        assert_int_equal(doppel_media_read_luma(fd, NULL, &luma, NULL), DOPPEL_OK);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 5);
        doppel_luma_free(&luma);
        close(fd);
        file_free(&file);
    }
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_cut_anywhere_are_survived),
        cmocka_unit_test(a_cut_tiff_is_told_so),
        cmocka_unit_test(changed_bytes_are_survived),
        cmocka_unit_test(what_is_no_image_is_told),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(sizes_over_the_limit_are_refused_by_name),
        cmocka_unit_test(a_short_jpeg_of_many_pixels_is_cut_short),
        cmocka_unit_test(the_offset_of_the_descriptor_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
