/* Two files that were compared, as a picture. */
#include "report/match_chart.h"

#include <math.h>
#include <stdlib.h>

#include "compare/video.h"
#include "core/base64.h"
#include "report/audio_chart.h"
#include "report/video_chart.h"
#include "core/base64.h"

/* Twice as many pixels as are drawn: for screens that have them. */
enum { THUMBNAIL_PIXELS = 320 };

static enum doppel_status draw_two_recordings(const char *path, const struct chart_side sides[2],
                                              const struct doppel_match *match,
                                              struct doppel_error *error)
{
    struct audio_chart chart = {.names = {sides[0].path, sides[1].path}, .match = match};
    bool recordings = record_read_audio(sides[0].record, &chart.tracks[0]) &&
                      record_read_audio(sides[1].record, &chart.tracks[1]);
    enum doppel_status status = recordings
                                    ? audio_chart_write(path, &chart, error)
                                    : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                                  "'--chart' draws two recordings, or two videos");
    doppel_audio_track_free(&chart.tracks[0]);
    doppel_audio_track_free(&chart.tracks[1]);
    return status;
}

/* The frames beside the lines. */
static enum doppel_status take_frames(struct video_looks *looks, const struct chart_side sides[2],
                                      struct video_chart *chart, struct doppel_error *error)
{
    struct video_file sources[2] = {{sides[0].path, sides[0].stamp},
                                    {sides[1].path, sides[1].stamp}};
    struct video_look wanted[2 * VIDEO_SHOTS] = {0};
    chart->shot_count = video_shots_choose(chart->match, chart->shots);
    for (size_t i = 0; i < 2 * chart->shot_count; i++)
        wanted[i] = (struct video_look){
            .file = &sources[i % 2],
            .task = DOPPEL_VIDEO_THUMBNAIL,
            .from_ms = (uint32_t)lround(chart->shots[i / 2].seconds[i % 2] * 1000),
            .to_ms = THUMBNAIL_PIXELS,
        };
    enum doppel_status status = video_looks_take(looks, wanted, 2 * chart->shot_count, error);
    for (size_t i = 0; i < 2 * chart->shot_count; i++) {
        if (wanted[i].bytes)
            chart->shots[i / 2].images[i % 2] = base64_encode(wanted[i].bytes, wanted[i].size);
        free(wanted[i].bytes);
    }
    return status;
}

static enum doppel_status draw_two_videos(const char *path, const struct chart_side sides[2],
                                          const struct doppel_match *match,
                                          struct video_looks *looks, struct doppel_error *error)
{
    struct video_chart chart = {.names = {sides[0].path, sides[1].path}, .match = match};
    enum doppel_status status = DOPPEL_OK;
    if (!video_read(sides[0].record, DOPPEL_VIDEO_ALL, &chart.tracks[0]) ||
        !video_read(sides[1].record, DOPPEL_VIDEO_CODES, &chart.tracks[1]))
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the videos is damaged");
    if (!status && looks)
        status = take_frames(looks, sides, &chart, error);
    if (!status)
        status = video_chart_write(path, &chart, error);
    for (size_t i = 0; i < 2 * chart.shot_count; i++)
        free(chart.shots[i / 2].images[i % 2]);
    doppel_video_track_free(&chart.tracks[0]);
    doppel_video_track_free(&chart.tracks[1]);
    return status;
}

enum doppel_status match_chart_write(const char *path, const struct chart_side sides[2],
                                     const struct doppel_match *match, struct video_looks *looks,
                                     struct doppel_error *error)
{
    bool videos = is_video(sides[0].record) && is_video(sides[1].record);
    bool audio_alone = match->kind == DOPPEL_KIND_AUDIO;
    if (videos && !audio_alone)
        return draw_two_videos(path, sides, match, looks, error);
    return draw_two_recordings(path, sides, match, error);
}
