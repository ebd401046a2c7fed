/* Not built yet. */
#include <doppel/match.h>

#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

void doppel_match_video_refine(const struct doppel_video_end *end, struct doppel_segment *segment)
{
}
