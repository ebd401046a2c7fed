/* The quick way to a JPEG at 1/8, against libjpeg: the same samples, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <jpeglib.h>

#include "media/images/jpeg_means.h"

struct file {
    uint8_t *data;
    unsigned long size;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* How a file is made; all numbers may be random. */
struct recipe {
    uint32_t width, height;
    int components, quality, across, down; /* sampling of the first component */
    bool optimized;
    unsigned restart_interval;
    uint64_t seed;
    int noise; /* 0..255 */
};

static void draw_row(const struct recipe *recipe, uint32_t y, uint64_t *seed, uint8_t *row)
{
    for (uint32_t x = 0; x < recipe->width; x++)
        for (int i = 0; i < recipe->components; i++) {
            int shade = (int)((x * (3 + (uint32_t)i) + y * 2) % 256);
            int noise = recipe->noise ? (int)(next_random(seed) % (unsigned)recipe->noise) : 0;
            *row++ = (uint8_t)(shade + noise - recipe->noise / 2);
        }
}

static struct file make_file(const struct recipe *recipe)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct file file = {NULL, 0};
    uint8_t *row = malloc((size_t)recipe->width * 4);
    uint64_t seed = recipe->seed | 1;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &file.data, &file.size);
    cinfo.image_width = recipe->width;
    cinfo.image_height = recipe->height;
    cinfo.input_components = recipe->components;
    cinfo.in_color_space = recipe->components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, recipe->quality, TRUE);
    cinfo.optimize_coding = recipe->optimized;
    cinfo.restart_interval = recipe->restart_interval;
    cinfo.comp_info[0].h_samp_factor = recipe->across;
    cinfo.comp_info[0].v_samp_factor = recipe->down;
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < recipe->height) {
        draw_row(recipe, cinfo.next_scanline, &seed, row);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(row);
    return file;
}

static struct recipe random_recipe(uint64_t *seed)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}};
    const int *sampling = samplings[next_random(seed) % 6];
    return (struct recipe){.width = 1 + (uint32_t)(next_random(seed) % 300),
                           .height = 1 + (uint32_t)(next_random(seed) % 200),
                           .components = next_random(seed) % 3 ? 3 : 1,
                           .quality = 1 + (int)(next_random(seed) % 100),
                           .across = sampling[0],
                           .down = sampling[1],
                           .optimized = next_random(seed) % 2,
                           .restart_interval =
                               (unsigned)(next_random(seed) % 4 ? 0 : 1 + next_random(seed) % 50),
                           .seed = next_random(seed),
                           .noise = (int)(next_random(seed) % 256)};
}

/* ---- the two decoders ---- */

static jmp_buf on_error;

static void leave(j_common_ptr cinfo)
{
    (void)cinfo;
    longjmp(on_error, 1);
}

static void say_nothing(j_common_ptr cinfo, int level)
{
    (void)cinfo;
    (void)level;
}

static void open_jpeg(struct jpeg_decompress_struct *cinfo, struct jpeg_error_mgr *errors)
{
    cinfo->err = jpeg_std_error(errors);
    errors->error_exit = leave;
    errors->emit_message = say_nothing;
    jpeg_create_decompress(cinfo);
}

static void read_header(struct jpeg_decompress_struct *cinfo, const struct file *file)
{
    jpeg_mem_src(cinfo, file->data, file->size);
    jpeg_read_header(cinfo, TRUE);
    cinfo->out_color_space = JCS_GRAYSCALE;
    cinfo->scale_num = 1;
    cinfo->scale_denom = 8;
    jpeg_calc_output_dimensions(cinfo);
    if ((uint64_t)cinfo->output_width * cinfo->output_height > 1000000)
        longjmp(on_error, 1); /* two changed bytes declare a picture of gigabytes */
}

struct decoded {
    uint8_t *volatile pixels;
    volatile uint32_t width, height;
};

/* @return false when libjpeg refuses the file */
static bool decode_by_libjpeg(const struct file *file, struct decoded *out)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    out->pixels = NULL;
    open_jpeg(&cinfo, &errors);
    if (setjmp(on_error)) {
        jpeg_destroy_decompress(&cinfo);
        return false;
    }
    read_header(&cinfo, file);
    out->width = cinfo.output_width;
    out->height = cinfo.output_height;
    out->pixels = malloc((size_t)cinfo.output_width * cinfo.output_height);
    jpeg_start_decompress(&cinfo);
    while (cinfo.output_scanline < cinfo.output_height) {
        JSAMPROW row = out->pixels + (size_t)cinfo.output_scanline * cinfo.output_width;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_destroy_decompress(&cinfo);
    return true;
}

/* @return false when the quick way does not apply, or leaves the file to libjpeg */
static bool decode_quickly(const struct file *file, struct decoded *out, bool *out_damaged)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct input *volatile input = calloc(1, sizeof *input);
    volatile bool done = false;
    bool damaged = false;
    struct origin_meter meter;
    out->pixels = NULL;
    origin_begin(&meter, 1000, NULL);
    open_jpeg(&cinfo, &errors);
    if (setjmp(on_error) == 0) {
        read_header(&cinfo, file);
        input->fd = memfd_create("jpeg", 0);
        input->size = file->size;
        input->offset = file->size - cinfo.src->bytes_in_buffer;
        assert_int_equal(write(input->fd, file->data, file->size), file->size);
        out->width = cinfo.output_width;
        out->height = cinfo.output_height;
        out->pixels = calloc(cinfo.output_width, cinfo.output_height);
        done = jpeg_means_apply(&cinfo) &&
               jpeg_means_read(&cinfo, input, out->pixels, &meter, &damaged);
        *out_damaged = damaged;
        close(input->fd);
    }
    jpeg_destroy_decompress(&cinfo);
    free(input);
    return done;
}

/* @return whether the quick way took it */
static bool compare(const struct file *file, bool *out_damaged)
{
    struct decoded quick, slow;
    bool taken = decode_quickly(file, &quick, out_damaged);
    if (taken) {
        assert_true(decode_by_libjpeg(file, &slow));
        assert_int_equal(quick.width, slow.width);
        assert_int_equal(quick.height, slow.height);
        assert_memory_equal(quick.pixels, slow.pixels, (size_t)slow.width * slow.height);
        free(slow.pixels);
    }
    free(quick.pixels);
    return taken;
}

/* ---- the tests ---- */

/* Audio files of every sampling, size, quality, with and without restarts: all are taken. */
static void test_audio_files(void **state)
{
    (void)state;
    uint64_t seed = 2024;
    for (unsigned round = 0; round < 600; round++) {
        struct recipe recipe = random_recipe(&seed);
        struct file file = make_file(&recipe);
        bool damaged = true;
        if (!compare(&file, &damaged) || damaged)
            fail_msg("%ux%u, %d components, quality %d, sampling %dx%d, restarts %u: not taken",
                     recipe.width, recipe.height, recipe.components, recipe.quality, recipe.across,
                     recipe.down, recipe.restart_interval);
        free(file.data);
    }
}

/* More data than the window on the file holds. */
static void test_large_file(void **state)
{
    (void)state;
    struct recipe recipe = {2000, 1500, 3, 97, 2, 2, false, 0, 5, 200};
    for (recipe.restart_interval = 0; recipe.restart_interval < 3; recipe.restart_interval++) {
        struct file file = make_file(&recipe);
        assert_true(file.size > 1000000);
        bool damaged = true;
        assert_true(compare(&file, &damaged));
        assert_false(damaged);
        free(file.data);
    }
}

/* Bytes changed anywhere: what is taken is what libjpeg makes of it. */
static void test_damaged_files(void **state)
{
    (void)state;
    uint64_t seed = 77;
    unsigned taken = 0, left = 0, told = 0;
    for (unsigned round = 0; round < 6000; round++) {
        struct recipe recipe = random_recipe(&seed);
        recipe.width = recipe.width % 80 + 1;
        recipe.height = recipe.height % 80 + 1;
        struct file file = make_file(&recipe);
        for (unsigned i = 0; i < 1 + round % 4; i++)
            file.data[next_random(&seed) % file.size] = (uint8_t)next_random(&seed);
        bool damaged = false;
        if (compare(&file, &damaged))
            taken++;
        else
            left++;
        told += damaged;
        free(file.data);
    }
    assert_true(taken > 500 && left > 500 && told > 500);
}

/* Cut anywhere in its data: never taken. */
static void test_cut_files(void **state)
{
    (void)state;
    struct recipe recipe = {90, 70, 3, 85, 2, 2, true, 0, 9, 90};
    for (recipe.restart_interval = 0; recipe.restart_interval < 8; recipe.restart_interval += 7) {
        struct file file = make_file(&recipe);
        unsigned long whole = file.size;
        bool damaged;
        for (file.size = whole - 8; file.size > 700; file.size--)
            assert_false(compare(&file, &damaged));
        free(file.data);
    }
}

/* What only libjpeg can do is left to it. */
static void test_other_jpegs(void **state)
{
    (void)state;
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct recipe recipe = {90, 70, 3, 85, 2, 2, false, 0, 9, 90};
    struct file file = make_file(&recipe);
    open_jpeg(&cinfo, &errors);
    read_header(&cinfo, &file);
    assert_true(jpeg_means_apply(&cinfo));
    cinfo.scale_num = 2;
    jpeg_calc_output_dimensions(&cinfo);
    assert_false(jpeg_means_apply(&cinfo));
    cinfo.scale_num = 1;
    jpeg_calc_output_dimensions(&cinfo);
    cinfo.out_color_space = JCS_RGB;
    assert_false(jpeg_means_apply(&cinfo));
    cinfo.out_color_space = JCS_GRAYSCALE;
    cinfo.progressive_mode = TRUE;
    assert_false(jpeg_means_apply(&cinfo));
    cinfo.progressive_mode = FALSE;
    cinfo.arith_code = TRUE;
    assert_false(jpeg_means_apply(&cinfo));
    jpeg_destroy_decompress(&cinfo);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_audio_files),   cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_other_jpegs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
