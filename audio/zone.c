/* Which pairs of peaks make keys, and what their times mean. */
#include <doppel/audio.h>

#include <math.h>

static const double STEPS_A_SECOND =
    (double)DOPPEL_AUDIO_RATE * DOPPEL_AUDIO_TIME_STEPS / DOPPEL_AUDIO_HOP;
static const double WINDOW_MIDDLE = DOPPEL_AUDIO_WINDOW / 2.0 / DOPPEL_AUDIO_RATE; /* seconds */

double doppel_audio_seconds(double time)
{
    return time / STEPS_A_SECOND + WINDOW_MIDDLE;
}

double doppel_audio_time(double seconds)
{
    return fmax(0, round((seconds - WINDOW_MIDDLE) * STEPS_A_SECOND));
}

struct doppel_audio_zone doppel_audio_item_zone(void)
{
    return (struct doppel_audio_zone){6, true, 1, 1, {0, 0}};
}

struct doppel_audio_zone doppel_audio_query_zone(void)
{
    return (struct doppel_audio_zone){10, false, 1, 1, {0, 0}};
}

struct doppel_audio_zone doppel_audio_clip_zone(void)
{
    return (struct doppel_audio_zone){10, false, 1, 1, {5, 10}};
}

uint32_t doppel_audio_zone_pairs(const struct doppel_audio_zone *zone)
{
    return zone->fan_out + zone->faint_fan_out[0] + zone->faint_fan_out[1];
}
