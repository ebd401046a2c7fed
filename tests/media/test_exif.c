/* Date taken, camera and orientation: of good blocks in every format, and of hostile ones. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include "media/decode.h"

enum { MAX_BLOCK = 256, TAKEN = 1609459198 /* 2020-12-31 23:59:58 UTC */ };

static const char MODEL[] = "Canon EOS 5D", DATE[] = "2020:12:31 23:59:58";

static uint32_t seed = 5;

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* ---- blocks ---- */

struct block {
    uint8_t data[MAX_BLOCK];
    size_t size;
    bool big_endian;
};

static void put_number(struct block *block, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        block->data[block->size++] =
            (uint8_t)(value >> 8 * (block->big_endian ? bytes - 1 - i : i));
}

static void put_entry(struct block *block, unsigned tag, unsigned type, uint32_t count,
                      uint32_t value)
{
    put_number(block, tag, 2);
    put_number(block, type, 2);
    put_number(block, count, 4);
    put_number(block, value, 4);
}

static void put_text(struct block *block, const char *text)
{
    memcpy(block->data + block->size, text, strlen(text) + 1);
    block->size += strlen(text) + 1;
}

/* Where the fields lie that are overwritten below. */
enum {
    FIRST = 4,
    ENTRIES = 8,
    MODEL_COUNT = 14,
    MODEL_AT = 18,
    MORE_AT = 30,
    MORE_ENTRIES = 38,
    DATE_COUNT = 44,
    DATE_AT = 48,
    TEXTS = 56
};

/* Two directories, then their texts. */
static struct block block_make(bool big_endian, const char *model, const char *date)
{
    struct block block = {.big_endian = big_endian};
    memcpy(block.data, big_endian ? "MM\0*" : "II*", 4);
    block.size = FIRST;
    put_number(&block, ENTRIES, 4);
    put_number(&block, 2, 2);
    put_entry(&block, 0x0110, 2, (uint32_t)strlen(model) + 1, TEXTS);
    put_entry(&block, 0x8769, 4, 1, MORE_ENTRIES);
    put_number(&block, 0, 4);
    put_number(&block, 1, 2);
    put_entry(&block, 0x9003, 2, (uint32_t)strlen(date) + 1, TEXTS + (uint32_t)strlen(model) + 1);
    put_number(&block, 0, 4);
    assert_int_equal(block.size, TEXTS);
    put_text(&block, model);
    put_text(&block, date);
    return block;
}

/* A block as of a phone: parts of the second and the place. */
struct place {
    const char *latitude_side, *longitude_side, *fraction;
    uint32_t latitude[6], longitude[6]; /* numerators and denominators */
};

static struct block block_with_place(bool big_endian, const struct place *place)
{
    enum { DIRECTORY = ENTRIES, OF_EXIF = 50, OF_PLACE = 80, ANGLES = 134, END = 182 };
    struct block block = {.big_endian = big_endian};
    memcpy(block.data, big_endian ? "MM\0*" : "II*", 4);
    block.size = FIRST;
    put_number(&block, DIRECTORY, 4);
    put_number(&block, 3, 2);
    put_entry(&block, 0x0110, 2, sizeof MODEL, END);
    put_entry(&block, 0x8769, 4, 1, OF_EXIF);
    put_entry(&block, 0x8825, 4, 1, OF_PLACE);
    put_number(&block, 0, 4);
    assert_int_equal(block.size, OF_EXIF);
    put_number(&block, 2, 2);
    put_entry(&block, 0x9003, 2, sizeof DATE, END + sizeof MODEL);
    put_entry(&block, 0x9291, 2, (uint32_t)strlen(place->fraction) + 1, 0);
    memcpy(block.data + block.size - 4, place->fraction, strlen(place->fraction));
    put_number(&block, 0, 4);
    assert_int_equal(block.size, OF_PLACE);
    put_number(&block, 4, 2);
    put_entry(&block, 1, 2, 2, 0);
    memcpy(block.data + block.size - 4, place->latitude_side, 1);
    put_entry(&block, 2, 5, 3, ANGLES);
    put_entry(&block, 3, 2, 2, 0);
    memcpy(block.data + block.size - 4, place->longitude_side, 1);
    put_entry(&block, 4, 5, 3, ANGLES + 24);
    put_number(&block, 0, 4);
    assert_int_equal(block.size, ANGLES);
    for (int i = 0; i < 12; i++)
        put_number(&block, (i < 6 ? place->latitude : place->longitude)[i % 6], 4);
    assert_int_equal(block.size, END);
    put_text(&block, MODEL);
    put_text(&block, DATE);
    return block;
}

/* From memory of just that size, so that what reads more is seen. */
static struct doppel_image_origin read_block(const void *data, size_t size)
{
    struct image image = {0};
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    exif_read(exact, size, &image);
    free(exact);
    assert_in_range(image.orientation, 0, 8);
    assert_non_null(memchr(image.origin.camera, 0, sizeof image.origin.camera));
    for (const char *c = image.origin.camera; *c; c++)
        assert_in_range(*c, ' ', '~');
    assert_in_range(image.origin.taken_fraction, 0, 1000);
    assert_in_range(image.origin.latitude_e7 + 900000000, 0, 1800000000);
    assert_in_range((int64_t)image.origin.longitude_e7 + 1800000000, 0, 3600000000);
    return image.origin;
}

static void dates_and_cameras_are_read(void **state)
{
    (void)state;
    static const char camera_long[] = "A camera with a name of more than 31 characters";
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct block block = block_make(big_endian, MODEL, DATE);
        uint8_t prefixed[6 + MAX_BLOCK] = "Exif";
        memcpy(prefixed + 6, block.data, block.size);
        for (int prefix = 0; prefix <= 6; prefix += 6) {
            struct doppel_image_origin origin =
                read_block(prefixed + 6 - prefix, block.size + (size_t)prefix);
            assert_string_equal(origin.camera, MODEL);
            assert_int_equal(origin.taken_s, TAKEN);
        }
        block = block_make(big_endian, camera_long, DATE);
        struct doppel_image_origin origin = read_block(block.data, block.size);
        assert_int_equal(strlen(origin.camera), sizeof origin.camera - 1);
        assert_memory_equal(origin.camera, camera_long, sizeof origin.camera - 1);
    }
    struct block block = block_make(false, "Tab\there", DATE);
    assert_string_equal(read_block(block.data, block.size).camera, "Tab");
}

static void places_and_parts_of_seconds_are_read(void **state)
{
    (void)state;
    static const struct {
        struct place place;
        int fraction, latitude, longitude;
    } cases[] = {
        {{"N", "E", "123", {52, 1, 30, 1, 36, 1}, {13, 1, 22, 1, 12, 1}},
         124,
         525100000,
         133700000},
        {{"S", "W", "05", {33, 1, 5150, 100, 0, 1}, {151, 1, 0, 1, 1, 1000}},
         51,
         -338583333,
         -1510000003},
        {{"N", "E", "9", {90, 1, 0, 1, 0, 1}, {180, 1, 0, 1, 0, 1}}, 901, 900000000, 1800000000},
        {{"N", "E", "000", {0, 1, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 1}}, 1, 0, 0},
        {{"N", "E", "", {91, 1, 0, 1, 0, 1}, {13, 1, 0, 1, 0, 1}}, 0, 0, 0},
        {{"N", "E", "x", {52, 1, 0, 1, 0, 1}, {181, 1, 0, 1, 0, 1}}, 0, 0, 0},
        {{"N", "E", " 1", {52, 1, 0, 0, 0, 1}, {13, 1, 0, 1, 0, 1}}, 0, 0, 0},
        {{"N", "E", "1", {UINT32_MAX, 1, UINT32_MAX, 1, 0, 1}, {13, 1, 0, 1, 0, 1}}, 101, 0, 0},
        {{"X", "E", "1", {52, 1, 0, 1, 0, 1}, {13, 1, 0, 1, 0, 1}}, 101, 0, 0},
        {{"N", "N", "1", {52, 1, 0, 1, 0, 1}, {13, 1, 0, 1, 0, 1}}, 101, 0, 0},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct block block = block_with_place(i % 2, &cases[i / 2].place);
        struct doppel_image_origin origin = read_block(block.data, block.size);
        assert_string_equal(origin.camera, MODEL);
        assert_int_equal(origin.taken_s, TAKEN);
        assert_int_equal(origin.taken_fraction, cases[i / 2].fraction);
        assert_int_equal(origin.latitude_e7, cases[i / 2].latitude);
        assert_int_equal(origin.longitude_e7, cases[i / 2].longitude);
        for (size_t size = 0; size < block.size; size++)
            read_block(block.data, size);
        for (int round = 0; round < 20000; round++) {
            struct block broken = block;
            for (int flip = 0; flip <= round % 4; flip++)
                broken.data[4 + next_random() % (block.size - 4)] = (uint8_t)(next_random() >> 9);
            read_block(broken.data, broken.size);
        }
    }
}

static void only_dates_are_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
    } dates[] = {
        {"1970:01:01 00:00:01", 1},
        {"1969:12:31 23:59:59", -1},
        {"2000:02:29 12:00:00", 951825600},
        {"2020:12:31 23:59:58+02:00", TAKEN},
        {"", 0},
        {"2020-12-31 23:59:58", 0},
        {"2020:12:31", 0},
        {"0000:00:00 00:00:00", 0},
        {"    :  :     :  :  ", 0},
        {"2020:13:01 00:00:00", 0},
        {"2020:00:01 00:00:00", 0},
        {"2020:12:32 00:00:00", 0},
        {"2020:12:00 00:00:00", 0},
        {"2020:12:31 24:00:00", 0},
        {"2020:12:31 -1:00:00", 0},
        {"2020:12:31 00:-1:00", 0},
        {"2020:12:31 00:00:-1", 0},
        {"2020:12:31 00:60:00", 0},
        {"1899:12:31 00:00:00", 0},
        {"-999:12:31 00:00:00", 0},
    };
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct block block = block_make(i % 2, MODEL, dates[i].text);
        assert_int_equal(read_block(block.data, block.size).taken_s, dates[i].seconds);
    }
}

/* ---- hostile blocks ---- */

static void every_cut_is_borne(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        struct block block = block_make(big_endian, MODEL, DATE);
        for (size_t size = 0; size < block.size; size++) {
            struct doppel_image_origin origin = read_block(block.data, size);
            assert_memory_equal(origin.camera, MODEL, strlen(origin.camera));
            assert_true(size + 2 > block.size ? origin.taken_s == TAKEN : origin.taken_s <= TAKEN);
        }
    }
}

static void flipped_bytes_are_borne(void **state)
{
    (void)state;
    struct block block = block_make(false, MODEL, DATE);
    for (int round = 0; round < 100000; round++) {
        struct block broken = block;
        for (int i = 0; i <= round % 4; i++)
            broken.data[4 + next_random() % (block.size - 4)] = (uint8_t)(next_random() >> 9);
        read_block(broken.data, broken.size);
    }
}

/* Numbers of entries, lengths and places that no block has; and directories that are each other. */
static void hostile_numbers_are_borne(void **state)
{
    (void)state;
    static const size_t fields[] = {FIRST,   ENTRIES,      MODEL_COUNT, MODEL_AT,
                                    MORE_AT, MORE_ENTRIES, DATE_COUNT,  DATE_AT};
    static const uint32_t numbers[] = {0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff,  0,
                                       1,          ENTRIES,    34,         MORE_ENTRIES};
    enum { FIELDS = sizeof fields / sizeof *fields, NUMBERS = sizeof numbers / sizeof *numbers };
    for (int i = 0; i < 2 * FIELDS * NUMBERS * FIELDS; i++) {
        struct block block = block_make(i % 2, MODEL, DATE), broken = block;
        broken.size = fields[i / 2 % FIELDS];
        put_number(&broken, numbers[i / 2 / FIELDS % NUMBERS], 4);
        broken.size = fields[i / 2 / FIELDS / NUMBERS];
        put_number(&broken, numbers[i % NUMBERS], 4);
        read_block(broken.data, block.size);
    }
    static const uint32_t loops[] = {0, FIRST, ENTRIES, 22, 34, 0xffffffff};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        struct block block = block_make(false, MODEL, DATE), broken = block;
        broken.size = MORE_AT;
        put_number(&broken, loops[i], 4);
        assert_int_equal(read_block(broken.data, block.size).taken_s, 0);
    }
}

static void texts_of_other_types_are_none(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 14; type++) {
        struct block block = block_make(true, MODEL, DATE), broken = block;
        broken.size = MODEL_COUNT - 2;
        put_number(&broken, type, 2);
        assert_string_equal(read_block(broken.data, block.size).camera, type == 2 ? MODEL : "");
    }
}

/* ---- files ---- */

static void append_block(struct file *file, const struct block *block)
{
    file_append(file, block->data, block->size);
}

static void append_big_endian(struct file *file, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    file_append(file, bytes, 4);
}

/* After the first marker. */
static struct file jpeg_with(const struct file *plain, const struct block *block)
{
    size_t length = block->size + 8;
    const uint8_t head[] = {0xff, 0xe1, (uint8_t)(length >> 8), (uint8_t)length, 'E', 'x', 'i', 'f',
                            0,    0};
    struct file file = file_of(plain->data, 2);
    file_append(&file, head, sizeof head);
    append_block(&file, block);
    file_append(&file, plain->data + 2, plain->size - 2);
    return file;
}

/* After the signature and IHDR. */
static struct file png_with(const struct file *plain, const struct block *block)
{
    enum { BEFORE = 33 };
    struct file file = file_of(plain->data, BEFORE);
    append_big_endian(&file, (uint32_t)block->size);
    file_append(&file, "eXIf", 4);
    append_block(&file, block);
    uLong sum = crc32(crc32(0, (const Bytef *)"eXIf", 4), block->data, (uInt)block->size);
    append_big_endian(&file, (uint32_t)sum);
    file_append(&file, plain->data + BEFORE, plain->size - BEFORE);
    return file;
}

static void put_size(uint8_t *out, size_t size)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(size >> 8 * i);
}

/* In place of the last chunk, which is an EXIF block with an orientation. */
static struct file webp_with(const struct file *plain, const struct block *block)
{
    const size_t before = plain->size - 8 - EXIF_BYTES;
    assert_memory_equal(plain->data + before, "EXIF", 4);
    struct file file = file_of(plain->data, before + 8);
    append_block(&file, block);
    if (block->size % 2)
        file_append(&file, "", 1);
    put_size(file.data + before + 4, block->size);
    put_size(file.data + 4, file.size - 8);
    return file;
}

/* The directory, with two more entries, and what it points to behind the file. A TIFF of libavcodec
 * has its tags in order, from 0x00fe on, and is little-endian. */
static struct file tiff_with(const struct file *plain)
{
    struct file file = file_of(plain->data, plain->size);
    if (file.size % 2)
        file_append(&file, "", 1);
    size_t directory = plain->data[4] | (size_t)plain->data[5] << 8 | (size_t)plain->data[6] << 16;
    unsigned count = plain->data[directory];
    const uint8_t *entries = plain->data + directory + 2;
    uint32_t texts = (uint32_t)file.size + 2 + (count + 2) * 12 + 4 + 18;
    struct block numbers = {0};
    put_number(&numbers, count + 2, 2);
    put_size(file.data + 4, file.size);
    append_block(&file, &numbers);
    unsigned less = 0;
    while (less < count && (entries[12 * less] | entries[12 * less + 1] << 8) < 0x0110)
        less++;
    file_append(&file, entries, (size_t)less * 12);
    numbers.size = 0;
    put_entry(&numbers, 0x0110, 2, sizeof MODEL, texts);
    append_block(&file, &numbers);
    file_append(&file, entries + (size_t)less * 12, (size_t)(count - less) * 12);
    numbers.size = 0;
    put_entry(&numbers, 0x8769, 4, 1, texts - 18);
    put_number(&numbers, 0, 4);
    put_number(&numbers, 1, 2);
    put_entry(&numbers, 0x9003, 2, sizeof DATE, texts + sizeof MODEL);
    put_number(&numbers, 0, 4);
    append_block(&file, &numbers);
    file_append(&file, MODEL, sizeof MODEL);
    file_append(&file, DATE, sizeof DATE);
    return file;
}

/* A small file of a format with such a block; none where this build does not read it. */
static struct file file_with(enum doppel_format format, const struct block *block)
{
    struct scene scene = scene_make(SCENE_SMOOTH, 16, 16);
    struct file plain = {0}, file = {0};
#ifdef HAVE_HEIF
    if (format == DOPPEL_FORMAT_HEIC || format == DOPPEL_FORMAT_AVIF) {
        struct file exif = file_of(block->data, block->size);
        file = make_heif_with_exif(&scene, format, 1, &exif);
        file_free(&exif);
        scene_free(&scene);
        return file;
    }
#endif
#ifdef HAVE_WEBP
    if (format == DOPPEL_FORMAT_WEBP)
        plain = make_webp(&scene, &(struct webp_how){.orientation = 1});
    else
#endif
        plain = make_any(format, &scene);
    if (format == DOPPEL_FORMAT_JPEG)
        file = jpeg_with(&plain, block);
    else if (format == DOPPEL_FORMAT_PNG)
        file = png_with(&plain, block);
    else if (plain.data && format == DOPPEL_FORMAT_WEBP)
        file = webp_with(&plain, block);
    else if (plain.data && format == DOPPEL_FORMAT_TIFF)
        file = tiff_with(&plain);
    file_free(&plain);
    scene_free(&scene);
    return file;
}

static const enum doppel_format formats[] = {DOPPEL_FORMAT_JPEG, DOPPEL_FORMAT_PNG,
                                             DOPPEL_FORMAT_WEBP, DOPPEL_FORMAT_TIFF,
                                             DOPPEL_FORMAT_HEIC, DOPPEL_FORMAT_AVIF};
enum { FORMATS = sizeof formats / sizeof *formats };

static void every_format_has_them(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * FORMATS; i++) {
        struct block block = block_make(i % 2, MODEL, DATE);
        struct file file = file_with(formats[i / 2], &block);
        if (!file.data)
            continue;
        struct doppel_luma luma = read_good(&file, NULL);
        assert_string_equal(luma.origin.camera, MODEL);
        assert_int_equal(luma.origin.taken_s, TAKEN);
        assert_true(luma.origin.spectrum[0] > 0);
        doppel_luma_free(&luma);
        file_free(&file);
    }
}

/* A file that may be refused, or read with less. */
static void read_any(const uint8_t *data, size_t size)
{
    struct doppel_luma luma = {0};
    struct doppel_error error = {0};
    if (read_bytes(data, size, NULL, &luma, &error) == DOPPEL_OK) {
        assert_non_null(memchr(luma.origin.camera, 0, sizeof luma.origin.camera));
        doppel_luma_free(&luma);
    } else {
        assert_true(error.message[0]);
    }
}

/* HEIC and AVIF are fuzzed elsewhere: what bends them ends in libheif. */
static void broken_files_are_borne(void **state)
{
    (void)state;
    for (int i = 0; formats[i] != DOPPEL_FORMAT_HEIC; i++) {
        struct block block = block_make(false, MODEL, DATE);
        struct file file = file_with(formats[i], &block);
        for (size_t size = 0; size < file.size; size++)
            read_any(file.data, size);
        for (int round = 0; file.data && round < 2000; round++) {
            uint8_t *broken = malloc(file.size);
            memcpy(broken, file.data, file.size);
            for (int flip = 0; flip <= round % 4; flip++)
                broken[next_random() % file.size] = (uint8_t)(next_random() >> 9);
            if (round % 5 == 0)
                memset(broken + next_random() % (file.size - 4), 0xff, 4);
            read_any(broken, file.size);
            free(broken);
        }
        file_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_and_cameras_are_read),
        cmocka_unit_test(places_and_parts_of_seconds_are_read),
        cmocka_unit_test(only_dates_are_dates),
        cmocka_unit_test(every_cut_is_borne),
        cmocka_unit_test(flipped_bytes_are_borne),
        cmocka_unit_test(hostile_numbers_are_borne),
        cmocka_unit_test(texts_of_other_types_are_none),
        cmocka_unit_test(every_format_has_them),
        cmocka_unit_test(broken_files_are_borne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
