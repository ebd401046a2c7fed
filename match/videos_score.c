/* What a frame that is met tells. The figures are guesses, to be measured. */
#include <math.h>

#include "match/videos_room.h"

double video_score_frame(enum video_class class, uint32_t distance)
{
    (void)class;
    double score = (100 - (double)distance) * .15;
    return fmin(fmax(score, -1.5), 5);
}

double video_score_novelty(uint32_t moved)
{
    return fmin(fmax(((double)moved - 8) / 40, 0), 1);
}

double video_score_still(uint32_t distance)
{
    double far = distance < 128 ? 128 - (double)distance : 0;
    return far * far / (2 * 14 * 14 * 2.302585);
}

double video_score_rarity(uint32_t items)
{
    return items <= 16 ? 1 : 1 / (1 + log2(items / 16.0));
}

double video_score_choices(uint64_t frames, const struct doppel_video_search *options,
                           const struct video_view *view)
{
    double speeds = options->same_speed ? 1 : 18;
    double views = view->stage ? 64 : 2;
    return log10((double)(frames + 1) * speeds * views);
}
