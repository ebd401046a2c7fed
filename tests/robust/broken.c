/* The corpus of broken files. Sources: the PNG, GIF89a, TIFF 6.0, JPEG and BMP specifications. */
#include "broken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "collection.h"
#include "command.h"
#include "core/bytes.h"

/* ---- a growing file in memory ---- */

struct buffer {
    uint8_t *data;
    size_t size, capacity;
};

static uint8_t *grow(struct buffer *buffer, size_t size)
{
    if (!buffer->data || buffer->size + size > buffer->capacity) {
        buffer->capacity = (buffer->size + size) * 2 + 64;
        buffer->data = realloc(buffer->data, buffer->capacity);
        assert_non_null(buffer->data);
    }
    buffer->size += size;
    return buffer->data + buffer->size - size;
}

static void append(struct buffer *buffer, const void *data, size_t size)
{
    memcpy(grow(buffer, size), data, size);
}

static void append_be32(struct buffer *buffer, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    append(buffer, bytes, sizeof bytes);
}

static void append_le16(struct buffer *buffer, uint32_t value)
{
    put_u16(grow(buffer, 2), (uint16_t)value);
}

static void append_le32(struct buffer *buffer, uint32_t value)
{
    put_u32(grow(buffer, 4), value);
}

/* Write it to FOLDER/NAME and free it. */
static void keep(struct buffer *buffer, const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, buffer->data, buffer->size);
    free(buffer->data);
    *buffer = (struct buffer){0};
}

/* ---- zeros, compressed: one block that ends on a byte, again and again ---- */

static void append_zeros_compressed(struct buffer *buffer, uint64_t count)
{
    enum { BLOCK = 1 << 20 };
    static uint8_t zeros[BLOCK], block[BLOCK];
    z_stream stream = {.next_in = zeros, .avail_in = BLOCK, .next_out = block, .avail_out = BLOCK};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    append(buffer, "\x78\xda", 2);
    uint64_t blocks = (count + BLOCK - 1) / BLOCK;
    for (uint64_t i = 0; i < blocks; i++)
        append(buffer, block, size);
    append(buffer, "\x03\x00", 2); /* an empty last block */
    uint32_t adler_b = (uint32_t)(blocks * BLOCK % 65521);
    append_be32(buffer, adler_b << 16 | 1);
}

/* ---- PNG ---- */

static void append_chunk(struct buffer *png, const char *type, const void *data, size_t size)
{
    append_be32(png, (uint32_t)size);
    size_t start = png->size;
    append(png, type, 4);
    append(png, data, size);
    append_be32(png, (uint32_t)crc32(0, png->data + start, (uInt)(size + 4)));
}

static struct buffer png_head(uint32_t width, uint32_t height, unsigned bit_depth,
                              unsigned color_type, int interlaced)
{
    struct buffer png = {0}, header = {0};
    append(&png, "\x89PNG\r\n\x1a\n", 8);
    append_be32(&header, width);
    append_be32(&header, height);
    const uint8_t rest[] = {(uint8_t)bit_depth, (uint8_t)color_type, 0, 0, interlaced != 0};
    append(&header, rest, sizeof rest);
    append_chunk(&png, "IHDR", header.data, header.size);
    free(header.data);
    return png;
}

void write_blank_png(const char *path, uint32_t width, uint32_t height, unsigned bit_depth,
                     unsigned color_type, int interlaced)
{
    static const unsigned channels[] = {1, 0, 3, 1, 2, 0, 4};
    uint64_t row = ((uint64_t)width * channels[color_type] * bit_depth + 7) / 8 + 1;
    struct buffer png = png_head(width, height, bit_depth, color_type, interlaced);
    struct buffer zeros = {0};
    append_zeros_compressed(&zeros, row * height + 15 * (uint64_t)height); /* 15: Adam7's rows */
    append_chunk(&png, "IDAT", zeros.data, zeros.size);
    append_chunk(&png, "IEND", "", 0);
    write_file(path, png.data, png.size);
    free(zeros.data);
    free(png.data);
}

/* ---- GIF ---- */

/* LZW codes of `pixels` times colour 0, 12 bits at most: each code is the one being defined, a run
 * one longer than the last. */
struct lzw {
    struct buffer *out;
    uint32_t bits, held;
    uint8_t block[255];
    unsigned used;
};

static void lzw_byte(struct lzw *lzw, uint8_t byte)
{
    lzw->block[lzw->used++] = byte;
    if (lzw->used == 255) {
        append(lzw->out, "\xff", 1);
        append(lzw->out, lzw->block, 255);
        lzw->used = 0;
    }
}

static void lzw_code(struct lzw *lzw, uint32_t code, unsigned width)
{
    lzw->bits |= code << lzw->held;
    for (lzw->held += width; lzw->held >= 8; lzw->held -= 8, lzw->bits >>= 8)
        lzw_byte(lzw, (uint8_t)lzw->bits);
}

static void append_gif_pixels(struct buffer *gif, uint64_t pixels)
{
    enum { CLEAR = 4, END = 5 };
    struct lzw lzw = {.out = gif};
    append(gif, "\x02", 1);
    while (pixels > 0) {
        unsigned width = 3;
        lzw_code(&lzw, CLEAR, width);
        lzw_code(&lzw, 0, width);
        pixels--;
        for (uint32_t code = 6, run = 2; code < 4095 && pixels >= run; code++, run++) {
            if (code == 1u << width)
                width++;
            lzw_code(&lzw, code, width);
            pixels -= run;
        }
    }
    lzw_code(&lzw, END, 12);
    lzw_code(&lzw, 0, 8);
    uint8_t size = (uint8_t)lzw.used;
    append(gif, &size, 1);
    append(gif, lzw.block, lzw.used);
    append(gif, "\0", 1);
}

static struct buffer gif_head(uint32_t width, uint32_t height)
{
    struct buffer gif = {0};
    append(&gif, "GIF89a", 6);
    append_le16(&gif, width);
    append_le16(&gif, height);
    append(&gif, "\x91\0\0\x20\x40\x60\xff\xff\xff\0\0\0\x80\x80\x80", 15); /* four colours */
    append(&gif, ",\0\0\0\0", 5);
    append_le16(&gif, width);
    append_le16(&gif, height);
    append(&gif, "\0", 1);
    return gif;
}

static void keep_gif(const char *folder, const char *name, uint32_t width, uint32_t height,
                     uint64_t pixels)
{
    struct buffer gif = gif_head(width, height);
    append_gif_pixels(&gif, pixels);
    append(&gif, ";", 1);
    keep(&gif, folder, name);
}

/* ---- TIFF, BMP, TGA ---- */

static void append_tiff_entry(struct buffer *tiff, uint32_t tag, uint32_t type, uint32_t value)
{
    append_le16(tiff, tag);
    append_le16(tiff, type);
    append_le32(tiff, 1);
    append_le32(tiff, value);
}

/* One strip of RGB, deflated. */
static void keep_tiff(const char *folder, const char *name, uint32_t side, bool whole)
{
    enum { SHORT = 3, LONG = 4, ENTRIES = 9, HEAD = 8 + 2 + 12 * ENTRIES + 4 };
    struct buffer tiff = {0}, strip = {0};
    append_zeros_compressed(&strip, whole ? (uint64_t)side * side * 3 : 1000);
    append(&tiff, "II*\0\x08\0\0\0", 8);
    append_le16(&tiff, ENTRIES);
    append_tiff_entry(&tiff, 256, LONG, side);
    append_tiff_entry(&tiff, 257, LONG, side);
    append_tiff_entry(&tiff, 258, SHORT, 8);
    append_tiff_entry(&tiff, 259, SHORT, 8); /* deflate */
    append_tiff_entry(&tiff, 262, SHORT, 2); /* RGB */
    append_tiff_entry(&tiff, 273, LONG, HEAD);
    append_tiff_entry(&tiff, 277, SHORT, 3);
    append_tiff_entry(&tiff, 278, LONG, side);
    append_tiff_entry(&tiff, 279, LONG, (uint32_t)strip.size);
    append_le32(&tiff, 0);
    append(&tiff, strip.data, strip.size);
    free(strip.data);
    keep(&tiff, folder, name);
}

static void keep_bmp(const char *folder, const char *name, uint32_t side)
{
    struct buffer bmp = {0};
    append(&bmp, "BM", 2);
    append_le32(&bmp, 2048);
    append_le32(&bmp, 0);
    append_le32(&bmp, 54);
    append_le32(&bmp, 40);
    append_le32(&bmp, side);
    append_le32(&bmp, side);
    append_le16(&bmp, 1);
    append_le16(&bmp, 24);
    memset(grow(&bmp, 2048 - 30), 0, 2048 - 30);
    keep(&bmp, folder, name);
}

static void keep_tga(const char *folder, const char *name)
{
    struct buffer tga = {0};
    append(&tga, "\0\0\x0a\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\x18\0", 18); /* RLE, RGB */
    memset(grow(&tga, 2000), 0xff, 2000);
    append(&tga, "\0\0\0\0\0\0\0\0TRUEVISION-XFILE.\0", 26);
    keep(&tga, folder, name);
}

/* A recording JPEG of 2 KB that says that it is 65 535 × 65 535. */
static void keep_jpeg_giant(const char *folder, const char *name)
{
    struct buffer jpeg = {0};
    keep_image("small.jpg", draw_image(0, 1, 48, 36), 40);
    jpeg.data = (uint8_t *)read_file("small.jpg", &jpeg.size);
    assert_int_equal(unlink("small.jpg"), 0);
    uint8_t *frame = memmem(jpeg.data, jpeg.size, "\xff\xc0\0\x11\x08", 5);
    assert_non_null(frame);
    memset(frame + 5, 0xff, 4);
    keep(&jpeg, folder, name);
}

static void keep_png_giant(const char *folder, const char *name)
{
    struct buffer png = png_head(65535, 65535, 8, 2, 0), zeros = {0};
    append_zeros_compressed(&zeros, 1000);
    append_chunk(&png, "IDAT", zeros.data, zeros.size);
    append_chunk(&png, "IEND", "", 0);
    free(zeros.data);
    keep(&png, folder, name);
}

static void keep_text(const char *folder, const char *name, const char *text)
{
    struct buffer buffer = {0};
    append(&buffer, text, strlen(text));
    keep(&buffer, folder, name);
}

/* ---- the three folders ---- */

static unsigned make_parts(const char *folder, const char *whole, const char *extension)
{
    size_t size;
    free(read_file(whole, &size));
    const size_t sizes[] = {0,  1,  2,   3,   4,        7,        8,        16,       20,
                            33, 64, 200, 600, size / 9, size / 4, size / 2, size - 2, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%02zu-of-%zu-bytes%s", folder, i, sizes[i], extension);
        copy_part(whole, path, sizes[i]);
    }
    return sizeof sizes / sizeof *sizes;
}

unsigned make_truncated(const char *folder)
{
    make_folder(folder);
    keep_drawing("whole.jpg", 5, 1);
    keep_drawing("whole.png", 5, 1);
    unsigned count = make_parts(folder, "whole.jpg", ".jpg");
    count += make_parts(folder, "whole.png", ".png");
    assert_int_equal(unlink("whole.jpg") | unlink("whole.png"), 0);
    return count;
}

unsigned make_liars(const char *folder)
{
    make_folder(folder);
    keep_text(folder, "empty.jpg", "");
    keep_text(folder, "text.jpg", "Dear reader, I am no picture.\n");
    keep_text(folder, "program.png",
              "\x7f"
              "ELF\x02\x01\x01");
    keep_text(folder, "page.gif", "<!DOCTYPE html><html><body>404</body></html>\n");
    keep_text(folder, "only-magic.jpg", "\xff\xd8\xff");
    keep_text(folder, "only-magic.gif", "GIF89a");
    keep_text(folder, "only-magic.webp", "RIFF\xff\xff\xff\x7fWEBPVP8 ");
    keep_text(folder, "only-magic.heic",
              "\x01\x01\x01\x18"
              "ftypheic");
    keep_jpeg_giant(folder, "giant.jpg");
    keep_png_giant(folder, "giant.png");
    keep_bmp(folder, "giant.bmp", 65535);
    keep_tga(folder, "giant.tga");
    keep_tiff(folder, "giant.tiff", 65535, false);
    keep_gif(folder, "giant.gif", 65535, 65535, 1000);
    char path[256];
    snprintf(path, sizeof path, "%s/ok-1x1.png", folder);
    write_blank_png(path, 1, 1, 8, 2, 0);
    snprintf(path, sizeof path, "%s/ok-1x1.jpg", folder);
    keep_image(path, draw_image(0, 1, 1, 1), 90);
    snprintf(path, sizeof path, "%s/ok-1x4000.png", folder);
    write_blank_png(path, 1, 4000, 8, 0, 0);
    return 17;
}

unsigned make_bombs(const char *folder)
{
    static const struct {
        const char *name;
        uint32_t width, height;
        unsigned bit_depth, color_type;
        int interlaced;
    } pngs[] = {
        {"grey-60000.png", 60000, 60000, 1, 0, 0},
        {"rgb-12000.png", 12000, 12000, 8, 2, 0},
        {"interlaced-16-bit.png", 12000, 12000, 16, 6, 1},
        {"interlaced-16-bit-20000.png", 20000, 20000, 16, 2, 1},
        {"wide.png", 400000000, 1, 8, 0, 0},
    };
    make_folder(folder);
    for (size_t i = 0; i < sizeof pngs / sizeof *pngs; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, pngs[i].name);
        write_blank_png(path, pngs[i].width, pngs[i].height, pngs[i].bit_depth, pngs[i].color_type,
                        pngs[i].interlaced);
    }
    keep_gif(folder, "20000.gif", 20000, 20000, UINT64_C(20000) * 20000);
    keep_tiff(folder, "20000.tiff", 20000, true);
    keep_tiff(folder, "12000.tiff", 12000, true);
    return sizeof pngs / sizeof *pngs + 3;
}
