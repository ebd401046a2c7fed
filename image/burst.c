/* Whether two images are of one burst, as EXIF has it. */
#include <doppel/image.h>

#include <string.h>

bool doppel_image_is_burst(const struct doppel_image_origin *a, const struct doppel_image_origin *b)
{
    bool one_second = a->taken_s == b->taken_s;
    bool near = one_second || (a->taken_s < b->taken_s ? b->taken_s - 1 == a->taken_s
                                                       : a->taken_s - 1 == b->taken_s);
    bool one_shot = one_second && a->taken_fraction && a->taken_fraction == b->taken_fraction;
    return a->taken_s && b->taken_s && *a->camera && near && !one_shot &&
           strcmp(a->camera, b->camera) == 0;
}
