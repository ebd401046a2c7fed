/* The program doppel-worker with true files: the same codes as in this process, limits kept. */
#include "helper.h"

#include <stdio.h>

#include <jpeglib.h>
#include <png.h>

#include <doppel/image.h>
#include <doppel/media.h>
#include <doppel/text.h>

#include "core/sanitizer.h"

static uint8_t shade(uint32_t x, uint32_t y)
{
    return (uint8_t)(128 + (int)(x * 3 % 101) - (int)(y * y / 37 % 89));
}

static int draw_jpeg(uint32_t width, uint32_t height)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    uint8_t *row = malloc(width), *data = NULL;
    unsigned long size = 0;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = width;
    cinfo.image_height = height;
    cinfo.input_components = 1;
    cinfo.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&cinfo);
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < height) {
        for (uint32_t x = 0; x < width; x++)
            row[x] = shade(x, cinfo.next_scanline);
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    int fd = file_of(data, size);
    free(row);
    free(data);
    return fd;
}

/* A 16-bit interlaced PNG of `side`² pixels of one colour, with alpha: small in the file, eight
 * bytes a pixel once decoded. `rows` of them are written. */
static int draw_bomb(uint32_t side, uint32_t rows)
{
    int fd = memfd_create("bomb", MFD_CLOEXEC);
    FILE *file = fdopen(dup(fd), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_bytep row = calloc(side, 8);
    png_init_io(png, file);
    png_set_user_limits(png, side, side);
    png_set_compression_level(png, 1);
    png_set_IHDR(png, info, side, side, 16, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_ADAM7,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_interlace_handling(png);
    for (uint32_t y = 0; y < rows; y++)
        png_write_row(png, row);
    png_destroy_write_struct(&png, &info);
    free(row);
    fclose(file);
    return fd;
}

static void put(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

#ifdef HAVE_FFMPEG
enum { READS_TIFF = true };
#else
enum { READS_TIFF = false };
#endif

/* A TIFF that declares `side`² grey pixels in one deflated strip of which nearly nothing is there.
 */
static int draw_tiff_bomb(uint32_t side)
{
    static const struct {
        uint16_t tag, type;
    } fields[] = {{256, 4}, {257, 4}, {258, 3}, {259, 3}, {262, 3},
                  {273, 4}, {277, 3}, {278, 4}, {279, 4}};
    const uint32_t values[] = {side, side, 16, 8, 1, 200, 1, side, 300};
    uint8_t data[500] = "II*\0\10\0\0\0\11";
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        put(data + 10 + i * 12, fields[i].tag, 2);
        put(data + 12 + i * 12, fields[i].type, 2);
        put(data + 14 + i * 12, 1, 4);
        put(data + 18 + i * 12, values[i], 4);
    }
    memcpy(data + 200, "\x78\x9c", 2);
    return file_of(data, sizeof data);
}

static struct doppel_pool *pool_with(uint64_t max_memory)
{
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error;
    options.program = WORKER;
    options.jobs = 1;
    options.max_memory = max_memory;
    if (doppel_pool_new(&options, &pool, &error))
        fail_msg("%s", error.message);
    return pool;
}

static struct doppel_outcome hash(struct doppel_pool *pool, int fd, enum doppel_scheme_id scheme)
{
    assert_int_equal(submit_file(pool, fd, scheme, 1), DOPPEL_OK);
    return next(pool);
}

static void test_same_as_in_process(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(512 << 20);
    int fd = draw_jpeg(800, 600);
    struct doppel_luma luma;
    struct doppel_image_features features;
    uint8_t attachment[DOPPEL_IMAGE_ATTACHMENT_MOST];
    assert_int_equal(doppel_media_read_luma(fd, NULL, &luma, NULL), DOPPEL_OK);
    assert_int_equal(doppel_image_features(&luma.plane, &features, NULL), DOPPEL_OK);
    features.origin = luma.origin;
    assert_int_not_equal(luma.origin.jpeg_quality, 0);
    size_t attachment_size = doppel_image_attachment_write(&features, attachment);
    struct doppel_outcome outcome = hash(pool, fd, DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(outcome.kind, DOPPEL_KIND_IMAGE);
    assert_int_equal(outcome.width, 800);
    assert_int_equal(outcome.height, 600);
    assert_int_equal(outcome.quality, features.quality);
    assert_int_equal(outcome.fingerprint.scheme, DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.fingerprint.count, features.fingerprint.count);
    assert_memory_equal(outcome.fingerprint.codes, features.fingerprint.codes,
                        features.fingerprint.count * sizeof *features.fingerprint.codes);
    assert_memory_equal(outcome.fingerprint.positions, features.fingerprint.positions,
                        features.fingerprint.count * sizeof(uint32_t));
    assert_int_equal(outcome.attachment_size, attachment_size);
    assert_memory_equal(outcome.attachment, attachment, attachment_size);
    doppel_outcome_free(&outcome);
    doppel_fingerprint_free(&features.fingerprint);
    doppel_luma_free(&luma);
    doppel_pool_free(pool);
}

static void test_phash256(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(512 << 20);
    struct doppel_outcome narrow = hash(pool, draw_jpeg(300, 200), DOPPEL_SCHEME_PHASH64);
    struct doppel_outcome wide = hash(pool, draw_jpeg(300, 200), DOPPEL_SCHEME_PHASH256);
    assert_int_equal(wide.error.status, DOPPEL_OK);
    assert_int_equal(wide.fingerprint.scheme, DOPPEL_SCHEME_PHASH256);
    assert_int_equal(wide.fingerprint.code_bits, 256);
    assert_int_equal(wide.fingerprint.count, 1);
    assert_int_equal(wide.quality, narrow.quality);
    assert_null(wide.attachment);
    assert_memory_equal(&wide.fingerprint.codes[0], &narrow.fingerprint.codes[0],
                        sizeof *wide.fingerprint.codes);
    doppel_outcome_free(&narrow);
    doppel_outcome_free(&wide);
    doppel_pool_free(pool);
}

/* Other people's hashes, of luma that is decoded in full from RGB. */
static void test_foreign_schemes(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(512 << 20);
    struct doppel_luma_options options = doppel_luma_options_default();
    int fd = draw_jpeg(900, 700);
    struct doppel_luma luma;
    struct doppel_code code;
    uint8_t quality;
    options.min_side = 0;
    options.from_rgb = true;
    assert_int_equal(doppel_media_read_luma(fd, &options, &luma, NULL), DOPPEL_OK);
    assert_int_equal(luma.plane.width, 900);
    for (enum doppel_scheme_id id = DOPPEL_SCHEME_IMAGEHASH; id <= DOPPEL_SCHEME_PDQ; id++) {
        struct doppel_outcome outcome = hash(pool, dup(fd), id);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        assert_int_equal(outcome.fingerprint.scheme, id);
        assert_int_equal(outcome.fingerprint.count, 1);
        assert_null(outcome.attachment);
        quality = doppel_image_quality(&luma.plane);
        if (id == DOPPEL_SCHEME_PDQ)
            doppel_image_pdq(&luma.plane, &code, &quality, NULL);
        else
            doppel_image_imagehash(&luma.plane, &code, NULL);
        assert_int_equal(outcome.quality, quality);
        assert_memory_equal(outcome.fingerprint.codes, &code,
                            doppel_scheme_by_id(id)->code_bits / 8);
        doppel_outcome_free(&outcome);
    }
    doppel_luma_free(&luma);
    close(fd);
    doppel_pool_free(pool);
}

/* What is no picture is said to be what it is. */
static void test_other_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        enum doppel_kind kind;
        enum doppel_status status;
    } cases[] = {
        {"Call me Ishmael. Some years ago, never mind how long precisely.\n", 64, DOPPEL_KIND_TEXT,
         DOPPEL_E_FORMAT},
        {"\0\0\0\x18"
         "ftypmp42\0\0\0\0mp42isom\0\0\0\x08mdat",
         32, DOPPEL_KIND_VIDEO, DOPPEL_E_FORMAT},
        {"", 0, DOPPEL_KIND_UNKNOWN, DOPPEL_E_EMPTY},
        {"\1\2\3\4\5\6\7\0\1\2\3", 11, DOPPEL_KIND_UNKNOWN, DOPPEL_E_FORMAT},
        {"\xff\xd8\xff\xe0\0\20JFIF\0\1\1", 14, DOPPEL_KIND_IMAGE, DOPPEL_E_CORRUPT},
    };
    struct doppel_pool *pool = pool_with(512 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = file_of(cases[i].data, cases[i].size);
        struct doppel_outcome outcome = hash(pool, fd, DOPPEL_SCHEME_PHASH64);
        assert_int_equal(outcome.error.status, cases[i].status);
        assert_int_equal(outcome.kind, cases[i].kind);
        assert_true(strlen(outcome.error.message) > 5);
    }
    doppel_pool_free(pool);
}

static void test_unknown_scheme(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(512 << 20);
    struct doppel_outcome outcome = hash(pool, draw_jpeg(64, 64), (enum doppel_scheme_id)999);
    assert_int_equal(outcome.error.status, DOPPEL_E_ARGUMENT);
    doppel_pool_free(pool);
}

static void test_limits_reach_the_decoder(void **state)
{
    (void)state;
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    options.program = WORKER;
    options.max_pixels = 10000;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    struct doppel_outcome outcome = hash(pool, draw_jpeg(100, 101), DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.error.status, DOPPEL_E_LIMIT);
    outcome = hash(pool, draw_jpeg(100, 100), DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    doppel_outcome_free(&outcome);
    doppel_pool_free(pool);
    options = doppel_pool_options_default();
    options.program = WORKER;
    options.max_bytes = 1000;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    outcome = hash(pool, draw_jpeg(300, 300), DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.error.status, DOPPEL_E_LIMIT);
    doppel_pool_free(pool);
}

/* Wait for the outcome while watching the worker's peak of resident memory. */
static void expect_within(struct doppel_pool *pool, int fd, long max_kib)
{
    struct doppel_outcome outcome;
    long peak_kib = 0;
    enum doppel_status status;
    assert_int_equal(submit_file(pool, fd, DOPPEL_SCHEME_PHASH64, 1), DOPPEL_OK);
    do {
        status = doppel_pool_next(pool, 1, &outcome, NULL);
        long now_kib = status_of(first_child(), "VmHWM");
        peak_kib = now_kib > peak_kib ? now_kib : peak_kib;
    } while (status == DOPPEL_E_TIMEOUT);
    assert_int_equal(status, DOPPEL_OK);
    assert_true(outcome.error.status == DOPPEL_E_MEMORY || outcome.error.status == DOPPEL_E_LIMIT ||
                outcome.error.status == DOPPEL_E_CORRUPT);
    if (outcome.error.status == DOPPEL_E_MEMORY)
        assert_non_null(strstr(outcome.error.message, "(--max-memory)"));
#ifndef UNDER_SANITIZER
    assert_true(peak_kib > 0 && peak_kib <= max_kib);
#else
    (void)max_kib;
#endif
}

static void test_bombs(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(128 << 20);
    expect_within(pool, draw_bomb(6000, 6000), 128 << 10); /* 288 MB decoded */
    expect_within(pool, draw_bomb(20000, 300), 128 << 10); /* 3.2 GB declared */
    if (READS_TIFF)
        expect_within(pool, draw_tiff_bomb(20000), 128 << 10); /* 800 MB declared */
    struct doppel_outcome outcome = hash(pool, draw_jpeg(200, 200), DOPPEL_SCHEME_PHASH64);
    assert_int_equal(outcome.error.status, DOPPEL_OK); /* and life goes on */
    doppel_outcome_free(&outcome);
    doppel_pool_free(pool);
}

static void test_too_little_memory(void **state)
{
    (void)state;
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    struct doppel_error error;
    options.program = WORKER;
    options.max_memory = 127 << 20;
    assert_int_equal(doppel_pool_new(&options, &pool, &error), DOPPEL_E_ARGUMENT);
    assert_string_equal(error.message, "a worker needs at least 128 MiB of memory (--max-memory)");
}

/* Many small files through two true workers, in any order, each with its own codes. */
static void test_many_files(void **state)
{
    (void)state;
    enum { FILES = 1000, SIZES = 10 };
    struct doppel_pool_options options = doppel_pool_options_default();
    struct doppel_pool *pool = NULL;
    options.program = WORKER;
    options.jobs = 2;
    assert_int_equal(doppel_pool_new(&options, &pool, NULL), DOPPEL_OK);
    unsigned seen[FILES] = {0};
    for (unsigned given = 0, taken = 0; taken < FILES; taken++) {
        for (; given < FILES && doppel_pool_room(pool); given++)
            submit_file(pool, draw_jpeg(32 + given % SIZES, 32), DOPPEL_SCHEME_PHASH64, given);
        struct doppel_outcome outcome = next(pool);
        assert_true(outcome.tag < FILES);
        assert_int_equal(outcome.error.status, DOPPEL_OK);
        assert_int_equal(outcome.width, 32 + outcome.tag % SIZES);
        seen[outcome.tag]++;
        doppel_outcome_free(&outcome);
    }
    for (unsigned i = 0; i < FILES; i++)
        assert_int_equal(seen[i], 1);
    doppel_pool_free(pool);
    assert_true(has_no_children());
}

/* By hand it says what it is for. */
static void test_started_by_hand(void **state)
{
    (void)state;
    int code = system("'" WORKER "' < /dev/null 2> /dev/null");
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 2);
}

/* ---- texts ---- */

static char *write_words(size_t count)
{
    char *text = malloc(count * 9 + 1), *at = text;
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%08x ", (unsigned)(i * 2654435761u));
    return text;
}

static struct doppel_outcome read_text(struct doppel_pool *pool, const char *text,
                                       struct doppel_order order)
{
    order.version = order.version ? order.version : 1;
    order.text_shingle = order.text_shingle ? order.text_shingle : 5;
    order.text_nfkc = order.text_fold_case = order.text_drop_punctuation = true;
    assert_int_equal(doppel_pool_submit(pool, file_of(text, strlen(text)), &order, 1, NULL),
                     DOPPEL_OK);
    return next(pool);
}

static void expect_same_text(struct doppel_pool *pool, enum doppel_scheme_id scheme, bool places,
                             size_t words)
{
    struct doppel_text_options options = doppel_text_options_default();
    struct doppel_text_result result;
    struct doppel_text *reader;
    struct doppel_fingerprint wanted;
    char *text = write_words(words);
    options.lanes = scheme == DOPPEL_SCHEME_MINHASH256 ? 256 : 128;
    assert_int_equal(doppel_text_new(&options, &reader, NULL), DOPPEL_OK);
    unsigned want = DOPPEL_TEXT_DIGEST | DOPPEL_TEXT_MINHASH | DOPPEL_TEXT_SIMHASH |
                    DOPPEL_TEXT_PASSAGES |
                    (scheme == DOPPEL_SCHEME_WINNOW32 ? 0 : DOPPEL_TEXT_SHINGLES);
    assert_int_equal(doppel_text_read(reader, text, strlen(text), want, &result, NULL), DOPPEL_OK);
    assert_int_equal(doppel_text_fingerprint(scheme, &options, &result, &wanted, NULL), DOPPEL_OK);
    if (!places && scheme != DOPPEL_SCHEME_WINNOW32)
        result.places = NULL;
    size_t size = doppel_text_attachment_size(&result);
    uint8_t *attachment = malloc(size);
    doppel_text_attachment_write(&result, attachment);
    struct doppel_outcome outcome =
        read_text(pool, text, (struct doppel_order){.scheme = scheme, .text_places = places});
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(outcome.kind, DOPPEL_KIND_TEXT);
    assert_int_equal(outcome.fingerprint.count, wanted.count);
    assert_memory_equal(outcome.fingerprint.codes, wanted.codes,
                        wanted.count * sizeof *wanted.codes);
    assert_int_equal(outcome.attachment_size, size);
    assert_memory_equal(outcome.attachment, attachment, size);
    doppel_outcome_free(&outcome);
    doppel_fingerprint_free(&wanted);
    doppel_text_free(reader);
    free(attachment);
    free(text);
}

static void test_texts_as_in_process(void **state)
{
    (void)state;
    static const enum doppel_scheme_id schemes[] = {
        DOPPEL_SCHEME_MINHASH128, DOPPEL_SCHEME_MINHASH256, DOPPEL_SCHEME_SIMHASH64,
        DOPPEL_SCHEME_WINNOW32};
    struct doppel_pool *pool = pool_with(512 << 20);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        expect_same_text(pool, schemes[i], false, 1000);
        expect_same_text(pool, schemes[i], true, 1000);
        expect_same_text(pool, schemes[i], true, 200000); /* more than a frame holds */
    }
    doppel_pool_free(pool);
}

static void test_text_options_and_versions(void **state)
{
    (void)state;
    struct doppel_pool *pool = pool_with(512 << 20);
    struct doppel_text_options options = doppel_text_options_default();
    char *text = write_words(50);
    options.shingle = 3;
    struct doppel_order order = {.scheme = DOPPEL_SCHEME_MINHASH128,
                                 .version = doppel_text_version(1, &options),
                                 .text_shingle = 3};
    struct doppel_outcome outcome = read_text(pool, text, order);
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(outcome.fingerprint.version, order.version);
    doppel_outcome_free(&outcome);
    order.text_shingle = 200; /* the parent errs: refused, and the worker goes on */
    outcome = read_text(pool, text, order);
    assert_int_equal(outcome.error.status, DOPPEL_E_ARGUMENT);
    doppel_outcome_free(&outcome);
    outcome = read_text(pool, "too few", (struct doppel_order){.scheme = DOPPEL_SCHEME_WINNOW32});
    assert_int_equal(outcome.error.status, DOPPEL_E_FLAT);
    doppel_outcome_free(&outcome);
    outcome = read_text(pool, "", (struct doppel_order){.scheme = DOPPEL_SCHEME_MINHASH128});
    assert_int_equal(outcome.error.status, DOPPEL_E_EMPTY);
    doppel_outcome_free(&outcome);
    free(text);
    doppel_pool_free(pool);
}

/* One line, longer than the memory of a worker: it is mapped. */
static void test_text_longer_than_memory(void **state)
{
    (void)state;
    enum { PIECES = 200 };
    char *piece = write_words((1 << 20) / 9);
    struct doppel_pool *pool = pool_with(128 << 20);
    int fd = memfd_create("long", MFD_CLOEXEC);
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(write(fd, piece, strlen(piece)), strlen(piece));
    struct doppel_order order = {.scheme = DOPPEL_SCHEME_MINHASH128,
                                 .version = 1,
                                 .text_shingle = 5,
                                 .text_nfkc = true,
                                 .text_fold_case = true,
                                 .text_drop_punctuation = true};
    assert_int_equal(doppel_pool_submit(pool, fd, &order, 1, NULL), DOPPEL_OK);
    struct doppel_outcome outcome = next(pool);
    struct doppel_text_extra extra;
    assert_int_equal(outcome.error.status, DOPPEL_OK);
    assert_int_equal(
        doppel_text_attachment_read(outcome.attachment, outcome.attachment_size, &extra),
        DOPPEL_OK);
    assert_int_equal(extra.words, PIECES * ((1 << 20) / 9));
    assert_int_equal(extra.shingle_total, 0); /* not counted */
    doppel_text_extra_free(&extra);
    doppel_outcome_free(&outcome);
    free(piece);
    doppel_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_in_process),
        cmocka_unit_test(test_phash256),
        cmocka_unit_test(test_foreign_schemes),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_unknown_scheme),
        cmocka_unit_test(test_limits_reach_the_decoder),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_too_little_memory),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_started_by_hand),
        cmocka_unit_test(test_texts_as_in_process),
        cmocka_unit_test(test_text_options_and_versions),
        cmocka_unit_test(test_text_longer_than_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
