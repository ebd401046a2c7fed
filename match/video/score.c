/* What a frame that is met tells, and how many chances there are. Measured: docs/methods.md. */
#include <math.h>

#include "match/video/video_internal.h"

/* Bits from one entry of the table to the next. */
enum { STEP = 8, ENTRIES = 256 / STEP / 2 + 1 };

/* log10 of how much likelier a distance of so many times STEP bits is between a frame and its
 * edited copy than between unrelated items. Unrelated items within 62 bits were not met; from there
 * on the slope of what was met goes on, up to as much as a single frame may tell. */
static const double LIKELIHOOD[ENTRIES] = {
    9.0, 9.0, 8.7, 8.1, 7.3, 6.5, 5.7, 4.9, 4.2, 3.6, 3.0, 2.3, 1.4, .1, -.7, -1.1, -1.2,
};

double video_score_frame(uint32_t distance)
{
    if (distance >= STEP * (ENTRIES - 1))
        return LIKELIHOOD[ENTRIES - 1];
    uint32_t entry = distance / STEP, rest = distance % STEP;
    return LIKELIHOOD[entry] + (LIKELIHOOD[entry + 1] - LIKELIHOOD[entry]) * rest / STEP;
}

double video_score_novelty(uint32_t moved)
{
    return fmin(fmax(((double)moved - 8) / 40, 0), 1);
}

/* -log10 of the share of unrelated items within so many times 2 × STEP bits; from 62 on measured.
 */
static const double STILL[] = {12.5, 11, 8.8, 7.2, 6, 5, 3.1, .7, 0};

double video_score_still(uint32_t distance)
{
    const uint32_t step = 2 * STEP;
    if (distance >= step * (sizeof STILL / sizeof *STILL - 1))
        return 0;
    uint32_t entry = distance / step, rest = distance % step;
    return STILL[entry] + (STILL[entry + 1] - STILL[entry]) * rest / step;
}

double video_score_rarity(uint32_t items)
{
    return items <= 16 ? 1 : 1 / (1 + log2(items / 16.0));
}

float video_score_structure(const uint8_t *cells)
{
    const struct doppel_plane plane = {cells, DOPPEL_VIDEO_CELLS, DOPPEL_VIDEO_CELLS,
                                       DOPPEL_VIDEO_CELLS};
    return (float)doppel_image_quality(&plane) / 100;
}

/* Smooth frames are much alike, and more so where they may be warped. */
double video_score_weight(const struct video_view *view, float structure)
{
    double least = view->class == VIDEO_CLASS_PLAIN ? .8 : .3;
    return least + (1 - least) * structure;
}

/* An improved view is the best of hundreds; unrelated items come out near in as many. */
static double views_of(const struct doppel_video_search *options, const struct video_view *view)
{
    if (view->stage == VIDEO_STAGE_IMPROVED)
        return options->same_speed ? 500 : 2000;
    if (view->class == VIDEO_CLASS_RECTANGLE || video_met_part(&view->view))
        return view->class == VIDEO_CLASS_WARPED ? 128 : 16;
    if (view->stage == 0)
        return 2;
    return options->thorough ? 256 : 64;
}

double video_score_choices(uint64_t frames, const struct doppel_video_search *options,
                           const struct video_view *view)
{
    double speeds = options->same_speed ? 1 : 18;
    return log10((double)(frames + 1) * speeds * views_of(options, view));
}
