/* WebP to luma: lossy, lossless, alpha, animations, EXIF. */
#include "check.h"

static void lossy_and_lossless_read(void **state)
{
    (void)state;
    static const enum scene_kind kinds[] = {SCENE_SMOOTH, SCENE_GREY, SCENE_ALPHA};
    struct doppel_luma_options full = reducing_to(0), small = reducing_to(60);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct scene scene = scene_make(kinds[i], 301, 199);
        assert_reads_as(make_webp(&scene, &(struct webp_how){0}), &scene, &full, 1, 8);
        assert_reads_as(make_webp(&scene, &(struct webp_how){0}), &scene, &small, 1, 6);
        struct webp_how lossless = {.lossless = true};
        /* An encoder may change colours that are fully transparent; nothing else. */
        assert_reads_as(make_webp(&scene, &lossless), &scene, &full, .51, 1.1);
        scene_free(&scene);
    }
}

static void lossy_luma_is_that_of_its_rgb(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 301, 199);
    struct doppel_luma_options options = reducing_to(0);
    options.from_rgb = true;
    assert_reads_as(make_webp(&scene, &(struct webp_how){0}), &scene, &options, 1, 8);
    scene_free(&scene);
}

static void assert_on_white_canvas(const struct doppel_luma *luma, const struct scene *scene)
{
    for (uint32_t y = 0; y < luma->height; y++) {
        for (uint32_t x = 0; x < luma->width; x++) {
            bool inside = x >= 20 && x < 20 + scene->width && y >= 10 && y < 10 + scene->height;
            double wanted = inside ? scene_luma(scene, x - 20, y - 10) : 255;
            double off = luma->pixels[y * luma->width + x] - wanted;
            assert_true(off < 1.1 && off > -1.1);
        }
    }
}

static void of_an_animation_the_first_frame_is_read(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 120, 80);
    struct file file = make_webp(&scene, &(struct webp_how){.lossless = true, .animated = true});
    struct doppel_luma_options full = reducing_to(0);
    struct doppel_luma luma = read_good(&file, &full);
    assert_int_equal(luma.width, 150);
    assert_int_equal(luma.height, 110);
    assert_on_white_canvas(&luma, &scene);
    doppel_luma_free(&luma);
    file_free(&file);
    scene_free(&scene);
}

static void every_orientation_is_applied(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 90, 60);
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        struct webp_how how = {.lossless = true, .orientation = orientation};
        struct file file = make_webp(&scene, &how);
        assert_turned(file, &scene, orientation);
    }
    scene_free(&scene);
}

static void cut_files_keep_the_rows_they_have(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_SMOOTH, 300, 300);
    struct file file = make_webp(&scene, &(struct webp_how){.lossless = true});
    assert_in_range(rows_of_cut(&file, file.size * 2 / 3, &scene), 30, 299);
    file_free(&file);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossy_and_lossless_read),
        cmocka_unit_test(lossy_luma_is_that_of_its_rgb),
        cmocka_unit_test(of_an_animation_the_first_frame_is_read),
        cmocka_unit_test(every_orientation_is_applied),
        cmocka_unit_test(cut_files_keep_the_rows_they_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
