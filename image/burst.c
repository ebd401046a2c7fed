/* Whether two images are of one burst, as EXIF has it. */
#include <doppel/image.h>

#include <string.h>

bool doppel_image_is_burst(const struct doppel_image_origin *a, const struct doppel_image_origin *b)
{
    enum { MOST_SECONDS = 2 };
    const bool a_first = a->taken_s < b->taken_s;
    const uint64_t early = (uint64_t)(a_first ? a : b)->taken_s;
    const uint64_t late = (uint64_t)(a_first ? b : a)->taken_s;
    bool one_shot = early == late && a->taken_fraction && a->taken_fraction == b->taken_fraction;
    return a->taken_s && b->taken_s && *a->camera && late - early <= MOST_SECONDS && !one_shot &&
           strcmp(a->camera, b->camera) == 0;
}
