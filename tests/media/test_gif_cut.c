/* GIFs that break off: the rows that are there, plain and interlaced, on a larger canvas, and
 * compressed as FFmpeg does it. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

enum { SIDE = 64, BITS = 8, CODE_BITS = 9, CLEAR = 256, END = 257 };

/* ---- a GIF without compression: a code a pixel, with how many pixels any part of it holds ---- */

struct writer {
    struct file file;
    uint8_t block[256];
    unsigned bits, count;
    uint32_t pixels;
    size_t *pixels_at; /* the bytes of the file that must be there for each pixel */
};

static void end_block(struct writer *writer)
{
    if (writer->block[0])
        file_append(&writer->file, writer->block, 1 + (size_t)writer->block[0]);
    writer->block[0] = 0;
}

static void put_byte(struct writer *writer, unsigned byte)
{
    writer->block[++writer->block[0]] = (uint8_t)byte;
    if (writer->block[0] == 255)
        end_block(writer);
}

static void put_code(struct writer *writer, unsigned code)
{
    writer->bits |= code << writer->count;
    for (writer->count += CODE_BITS; writer->count >= 8; writer->count -= 8) {
        put_byte(writer, writer->bits & 255);
        writer->bits >>= 8;
    }
}

static void put_pixel(struct writer *writer, unsigned value)
{
    if (writer->pixels % 250 == 0)
        put_code(writer, CLEAR); /* so that codes stay of 9 bits */
    put_code(writer, value);
    /* Bytes in the file, those that wait, and the one with this code's last bits. */
    writer->pixels_at[writer->pixels++] =
        writer->file.size + (writer->block[0] ? 1 : 0) + writer->block[0] + (writer->count > 0);
}

struct shape {
    unsigned canvas, top, height;
    bool interlaced;
};

/* Row `y` of the frame has the grey value 3 y + 20. */
static struct writer write_gif(const struct shape *shape)
{
    static const unsigned first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    struct writer writer = {.pixels_at = calloc(SIDE * shape->height, sizeof(size_t))};
    uint8_t head[13] = "GIF89a", frame[11] = {0x2c}, colours[768];
    put_u16(head + 6, SIDE);
    put_u16(head + 8, (uint16_t)shape->canvas);
    head[10] = 0xf7;
    for (size_t i = 0; i < sizeof colours; i++)
        colours[i] = (uint8_t)(i / 3);
    put_u16(frame + 3, (uint16_t)shape->top);
    put_u16(frame + 5, SIDE);
    put_u16(frame + 7, (uint16_t)shape->height);
    frame[9] = shape->interlaced ? 0x40 : 0;
    frame[10] = BITS;
    file_append(&writer.file, head, sizeof head);
    file_append(&writer.file, colours, sizeof colours);
    file_append(&writer.file, "\x21\xfe\5hello\0", 9);
    file_append(&writer.file, frame, sizeof frame);
    for (unsigned pass = 0; pass < (shape->interlaced ? 4 : 1); pass++)
        for (unsigned y = shape->interlaced ? first[pass] : 0; y < shape->height;
             y += shape->interlaced ? step[pass] : 1)
            for (unsigned x = 0; x < SIDE; x++)
                put_pixel(&writer, 3 * y + 20);
    put_code(&writer, END);
    put_code(&writer, 0);
    end_block(&writer);
    file_append(&writer.file, "\0;", 2);
    return writer;
}

static void writer_free(struct writer *writer)
{
    file_free(&writer->file);
    free(writer->pixels_at);
}

/* ---- what is to come of a part ---- */

static uint32_t rows_in(const struct writer *writer, size_t size)
{
    uint32_t pixels = 0;
    while (pixels < writer->pixels && writer->pixels_at[pixels] <= size)
        pixels++;
    return pixels / SIDE;
}

/* The row that stands for row `y` when `rows` are there, by the order in which they come. */
static unsigned stands_for(unsigned y, uint32_t rows, const struct shape *shape)
{
    static const unsigned first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    bool there[SIDE] = {false};
    for (unsigned pass = 0; pass < 4; pass++)
        for (unsigned at = first[pass]; at < shape->height && rows; at += step[pass], rows--)
            there[at] = true;
    while (!there[y])
        y--;
    return y;
}

static void assert_part(const struct writer *writer, size_t size, const struct shape *shape)
{
    struct doppel_luma_options options = reducing_to(0);
    struct doppel_luma luma;
    struct doppel_error error = {0};
    uint32_t rows = rows_in(writer, size);
    uint32_t known = shape->interlaced ? 8 * rows : rows;
    uint32_t wanted = known < shape->height ? shape->top + known : shape->canvas;
    enum doppel_status status = read_bytes(writer->file.data, size, &options, &luma, &error);
    if (10 * wanted < shape->canvas || (!wanted)) {
        assert_int_equal(status, DOPPEL_E_CORRUPT);
        assert_non_null(strstr(error.message, "cut short"));
        return;
    }
    assert_int_equal(status, DOPPEL_OK);
    assert_int_equal(luma.height, shape->canvas);
    assert_int_equal(luma.there_height, wanted);
    assert_int_equal(luma.plane.height, wanted);
    assert_int_equal(luma.coarse, wanted == shape->canvas);
    for (unsigned y = shape->top; y < wanted && y < shape->top + shape->height; y++) {
        unsigned from = y - shape->top;
        if (shape->interlaced)
            from = stands_for(from, rows, shape);
        assert_int_equal(luma.pixels[y * SIDE + SIDE / 2], 3 * from + 20);
    }
    doppel_luma_free(&luma);
}

static void every_part_has_its_rows(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {64, 0, 64, false}, {64, 0, 64, true},  {80, 9, 60, false},
        {80, 9, 60, true},  {64, 0, 61, false}, {61, 0, 61, true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct writer writer = write_gif(&shapes[i]);
        struct doppel_luma whole = read_good(&writer.file, NULL);
        assert_int_equal(whole.there_height, shapes[i].canvas);
        assert_false(whole.coarse);
        doppel_luma_free(&whole);
        for (size_t size = 810; size < writer.pixels_at[writer.pixels - 1]; size += 37)
            assert_part(&writer, size, &shapes[i]);
        writer_free(&writer);
    }
}

/* What FFmpeg compressed: the rows that are there are the scene's, and more bytes never mean fewer
 * rows. */
static void compressed_files_keep_their_rows(void **state)
{
    (void)state;
    struct scene scene = scene_make(SCENE_GREY, 300, 300);
    struct file file = make_lavc(&scene, DOPPEL_FORMAT_GIF, "gray");
    uint32_t last = 0;
    for (size_t part = 20; part < 99; part += 3) {
        uint32_t rows = rows_of_cut(&file, file.size * part / 100, &scene);
        assert_true(rows >= last && rows < 300);
        last = rows;
    }
    assert_true(last > 250);
    struct doppel_luma whole = read_good(&file, NULL);
    assert_int_equal(whole.there_height, 300);
    doppel_luma_free(&whole);
    file_free(&file);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_has_its_rows),
        cmocka_unit_test(compressed_files_keep_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
