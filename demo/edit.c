/* Copies of a drawn picture, as people make them. */
#include "draw.h"

#include <stdlib.h>
#include <string.h>

static struct image blank(uint32_t width, uint32_t height)
{
    return (struct image){width, height, malloc((size_t)width * height * 3)};
}

static uint8_t *at(const struct image *image, uint32_t x, uint32_t y)
{
    return image->pixels + ((size_t)y * image->width + x) * 3;
}

/* The mean of the source pixels under a target pixel. */
static void average(const struct image *from, const struct image *to, uint32_t x, uint32_t y)
{
    uint32_t left = (uint32_t)((uint64_t)x * from->width / to->width);
    uint32_t right = (uint32_t)(((uint64_t)x + 1) * from->width / to->width);
    uint32_t top = (uint32_t)((uint64_t)y * from->height / to->height);
    uint32_t bottom = (uint32_t)(((uint64_t)y + 1) * from->height / to->height);
    uint32_t sum[3] = {0, 0, 0}, count = 0;
    for (uint32_t j = top; j < bottom || j == top; j++)
        for (uint32_t i = left; i < right || i == left; i++, count++)
            for (int c = 0; c < 3; c++)
                sum[c] += at(from, i, j)[c];
    for (int c = 0; c < 3; c++)
        at(to, x, y)[c] = (uint8_t)((sum[c] + count / 2) / count);
}

struct image edit_shrink(const struct image *from, uint32_t width, uint32_t height)
{
    struct image to = blank(width, height);
    for (uint32_t y = 0; to.pixels && y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            average(from, &to, x, y);
    return to;
}

struct image edit_crop(const struct image *from, uint32_t left, uint32_t top, uint32_t width,
                       uint32_t height)
{
    struct image to = blank(width, height);
    for (uint32_t y = 0; to.pixels && y < height; y++)
        memcpy(at(&to, 0, y), at(from, left, top + y), (size_t)width * 3);
    return to;
}

struct image edit_border(const struct image *from, uint32_t size, uint8_t grey)
{
    struct image to = blank(from->width + 2 * size, from->height + 2 * size);
    if (!to.pixels)
        return to;
    memset(to.pixels, grey, (size_t)to.width * to.height * 3);
    for (uint32_t y = 0; y < from->height; y++)
        memcpy(at(&to, size, size + y), at(from, 0, y), (size_t)from->width * 3);
    return to;
}

struct image edit_mirror(const struct image *from)
{
    struct image to = blank(from->width, from->height);
    for (uint32_t y = 0; to.pixels && y < to.height; y++)
        for (uint32_t x = 0; x < to.width; x++)
            memcpy(at(&to, x, y), at(from, from->width - 1 - x, y), 3);
    return to;
}

struct image edit_turn(const struct image *from)
{
    struct image to = blank(from->height, from->width);
    for (uint32_t y = 0; to.pixels && y < to.height; y++)
        for (uint32_t x = 0; x < to.width; x++)
            memcpy(at(&to, x, y), at(from, y, from->height - 1 - x), 3);
    return to;
}
