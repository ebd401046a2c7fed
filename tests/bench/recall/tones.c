/* Edits that leave every pixel where it is: compression, brightness, blur, noise, colour. */
#include "edits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct image compressed(const struct image *in, struct encoding *encoding, int kind,
                               double quality)
{
    encoding->kind = (unsigned)kind;
    encoding->quality = (int)quality;
    return image_copy(in);
}

struct image edit_jpeg90(const struct image *in, struct random *random, struct encoding *encoding)
{
    return compressed(in, encoding, ENCODE_JPEG, random_between(random, 86, 94));
}

struct image edit_jpeg50(const struct image *in, struct random *random, struct encoding *encoding)
{
    return compressed(in, encoding, ENCODE_JPEG, random_between(random, 45, 55));
}

struct image edit_jpeg10(const struct image *in, struct random *random, struct encoding *encoding)
{
    return compressed(in, encoding, ENCODE_JPEG, random_between(random, 8, 13));
}

struct image edit_webp60(const struct image *in, struct random *random, struct encoding *encoding)
{
    return compressed(in, encoding, ENCODE_WEBP, random_between(random, 50, 70));
}

/* ---- tone curves ---- */

/** Every channel through a table. */
static struct image through(const struct image *in, const uint8_t table[256])
{
    struct image out = image_copy(in);
    for (size_t i = 0; i < (size_t)in->width * (size_t)in->height; i++) {
        uint32_t p = in->pixels[i];
        out.pixels[i] = (uint32_t)table[pixel_red(p)] << 16 | (uint32_t)table[pixel_green(p)] << 8 |
                        table[pixel_blue(p)];
    }
    return out;
}

static struct image linear(const struct image *in, double gain, double offset)
{
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = clamp_byte(128 + gain * (i - 128) + offset);
    return through(in, table);
}

struct image edit_bright(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double amount = random_between(random, 15, 35);
    return linear(in, 1, random_below(random, 2) ? amount : -amount);
}

struct image edit_contrast_up(const struct image *in, struct random *random,
                              struct encoding *encoding)
{
    (void)encoding;
    return linear(in, random_between(random, 1.35, 1.65), 0);
}

struct image edit_contrast_down(const struct image *in, struct random *random,
                                struct encoding *encoding)
{
    (void)encoding;
    return linear(in, random_between(random, .5, .7), 0);
}

struct image edit_gamma(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double gamma = random_between(random, 1.5, 1.9);
    if (random_below(random, 2))
        gamma = 1 / gamma;
    uint8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = clamp_byte(255 * pow(i / 255., gamma));
    return through(in, table);
}

struct image edit_equalize(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)random, (void)encoding;
    size_t count[256] = {0}, total = (size_t)in->width * (size_t)in->height, below = 0;
    for (size_t i = 0; i < total; i++)
        count[clamp_byte(pixel_luma(in->pixels[i]))]++;
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        table[i] = clamp_byte(255. * ((double)below + (double)count[i] / 2) / (double)total);
        below += count[i];
    }
    return through(in, table);
}

static struct image tinted(const struct image *in, double red, double green, double blue)
{
    struct image out = image_copy(in);
    for (size_t i = 0; i < (size_t)in->width * (size_t)in->height; i++) {
        double luma = pixel_luma(in->pixels[i]);
        out.pixels[i] = pixel_rgb(luma * red, luma * green, luma * blue);
    }
    return out;
}

struct image edit_grey(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)random, (void)encoding;
    return tinted(in, 1, 1, 1);
}

struct image edit_sepia(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    double strength = random_between(random, .7, 1.1);
    return tinted(in, 1 + .18 * strength, 1, 1 - .25 * strength);
}

/* ---- blur and noise ---- */

/** One pass of a box blur along a line of `count` pixels, `step` apart. */
static void box_line(const uint32_t *in, uint32_t *out, int count, size_t step, int radius)
{
    for (int shift = 0; shift < 24; shift += 8) {
        int sum = 0, width = 2 * radius + 1;
        for (int i = -radius - 1; i < radius; i++)
            sum += (int)(in[(size_t)(i < 0        ? 0
                                     : i >= count ? count - 1
                                                  : i) *
                            step] >>
                             shift &
                         255);
        for (int i = 0; i < count; i++) {
            int enter = i + radius < count ? i + radius : count - 1;
            int leave = i - radius - 1 > 0 ? i - radius - 1 : 0;
            sum += (int)(in[(size_t)enter * step] >> shift & 255) -
                   (int)(in[(size_t)leave * step] >> shift & 255);
            uint32_t value = (uint32_t)((sum + radius) / width);
            size_t at = (size_t)i * step;
            out[at] = (out[at] & ~(255u << shift)) | value << shift;
        }
    }
}

static void box_blur(struct image *image, int radius)
{
    struct image other = image_copy(image);
    size_t width = (size_t)image->width;
    for (int y = 0; y < image->height; y++)
        box_line(image->pixels + (size_t)y * width, other.pixels + (size_t)y * width, image->width,
                 1, radius);
    for (int x = 0; x < image->width; x++)
        box_line(other.pixels + x, image->pixels + x, image->height, width, radius);
    image_free(&other);
}

/** Three box blurs are near a Gaussian of `sigma` pixels. */
static struct image blurred(const struct image *in, double sigma)
{
    struct image out = image_copy(in);
    int radius = (int)lround((sqrt(4 * sigma * sigma + 1) - 1) / 2);
    for (int pass = 0; pass < 3; pass++)
        box_blur(&out, radius > 0 ? radius : 1);
    return out;
}

struct image edit_blur2(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return blurred(in, random_between(random, 1.6, 2.4));
}

struct image edit_blur5(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return blurred(in, random_between(random, 4.4, 5.6));
}

static struct image noisy(const struct image *in, struct random *random, double deviation)
{
    struct image out = image_copy(in);
    for (size_t i = 0; i < (size_t)in->width * (size_t)in->height; i++) {
        uint32_t p = in->pixels[i];
        out.pixels[i] = pixel_rgb(pixel_red(p) + deviation * random_normal(random),
                                  pixel_green(p) + deviation * random_normal(random),
                                  pixel_blue(p) + deviation * random_normal(random));
    }
    return out;
}

struct image edit_noise12(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return noisy(in, random, random_between(random, 9, 15));
}

struct image edit_noise30(const struct image *in, struct random *random, struct encoding *encoding)
{
    (void)encoding;
    return noisy(in, random, random_between(random, 25, 35));
}
