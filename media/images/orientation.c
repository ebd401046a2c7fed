/* A picture turned upright, as its orientation has it. */
#include <stdlib.h>
#include <string.h>

#include "media/decode.h"

/* Where the sample shown at (0, 0) lies, and the steps to its right and lower neighbours. */
struct turn {
    ptrdiff_t first, right, down;
    uint32_t width, height; /* as shown */
};

static struct turn turn_of_plane(const struct doppel_plane *plane, unsigned orientation)
{
    bool transposed = orientation >= 5;
    ptrdiff_t width = plane->width, height = plane->height, stride = (ptrdiff_t)plane->stride;
    /* EXIF 2.32, tag 0x0112: which side of the stored picture is its top and its left as shown. */
    bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t along_row = from_right ? -1 : 1, along_column = from_bottom ? -stride : stride;
    return (struct turn){
        .first = (from_right ? width - 1 : 0) + (from_bottom ? (height - 1) * stride : 0),
        .right = transposed ? along_column : along_row,
        .down = transposed ? along_row : along_column,
        .width = transposed ? plane->height : plane->width,
        .height = transposed ? plane->width : plane->height,
    };
}

void orientation_turn(const struct doppel_plane *plane, unsigned orientation, uint8_t *out)
{
    struct turn turn = turn_of_plane(plane, orientation);
    for (uint32_t y = 0; y < turn.height; y++) {
        const uint8_t *in = plane->data + turn.first + (ptrdiff_t)y * turn.down;
        for (uint32_t x = 0; x < turn.width; x++)
            *out++ = in[(ptrdiff_t)x * turn.right];
    }
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

enum doppel_status orientation_apply(struct image *image, const struct doppel_media_limits *limits,
                                     struct doppel_error *error)
{
    if (image->orientation <= 1)
        return DOPPEL_OK;
    struct doppel_plane plane = {image->pixels, image->width, image->height, image->width};
    size_t bytes = (size_t)plane.width * plane.height;
    enum doppel_status status = check_memory(limits, 2 * (uint64_t)bytes, error);
    if (status != DOPPEL_OK)
        return status;
    uint8_t *upright = malloc(bytes);
    if (!upright)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to turn a picture of %u x %u",
                           image->width, image->height);
    orientation_turn(&plane, image->orientation, upright);
    free(image->pixels);
    image->pixels = upright;
    if (image->orientation >= 5) {
        swap(&image->full_width, &image->full_height);
        swap(&image->width, &image->height);
    }
    image->orientation = 1;
    return DOPPEL_OK;
}
