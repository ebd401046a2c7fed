/* The fit with vectors of eight. */
#include "image/align_loop.h"

bool align_avx2(const struct align_stage *stage, const struct align_map *from,
                struct align_map *map)
{
    return align_loop(stage, from, map);
}
