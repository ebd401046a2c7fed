/* Two files that were compared, as a picture. */
#include "report/pair_chart.h"

#include <math.h>
#include <stdlib.h>

#include "tools/output/base64.h"
#include "report/video_chart.h"
#include "report/audio_chart.h"

/* Twice as many pixels as are drawn: for screens that have them. */
enum { THUMBNAIL_PIXELS = 320 };

static enum doppel_status draw_audio(const char *path, const struct intake_file files[2],
                                     const struct doppel_match *match, struct doppel_error *error)
{
    struct audio_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    bool recordings = record_read_audio(&files[0].record, &chart.tracks[0]) &&
                      record_read_audio(&files[1].record, &chart.tracks[1]);
    enum doppel_status status = recordings
                                    ? audio_chart_write(path, &chart, error)
                                    : doppel_fail(error, DOPPEL_E_ARGUMENT,
                                                  "'--chart' draws two recordings, or two videos");
    doppel_audio_track_free(&chart.tracks[0]);
    doppel_audio_track_free(&chart.tracks[1]);
    return status;
}

/* The frames beside the lines. */
static enum doppel_status take_shots(struct video_looks *looks, const struct intake_file files[2],
                                     struct video_chart *chart, struct doppel_error *error)
{
    struct video_file sources[2] = {{files[0].path, &files[0].stamp},
                                    {files[1].path, &files[1].stamp}};
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

static enum doppel_status draw_videos(const struct settings *settings,
                                      const struct intake_file files[2],
                                      const struct doppel_match *match, struct video_looks *looks,
                                      struct doppel_error *error)
{
    struct video_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    enum doppel_status status = DOPPEL_OK;
    if (!video_read(&files[0].record, DOPPEL_VIDEO_ALL, &chart.tracks[0]) ||
        !video_read(&files[1].record, DOPPEL_VIDEO_CODES, &chart.tracks[1]))
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the videos is damaged");
    if (!status && settings->thumbnails)
        status = take_shots(looks, files, &chart, error);
    if (!status)
        status = video_chart_write(settings->chart, &chart, error);
    for (size_t i = 0; i < 2 * chart.shot_count; i++)
        free(chart.shots[i / 2].images[i % 2]);
    doppel_video_track_free(&chart.tracks[0]);
    doppel_video_track_free(&chart.tracks[1]);
    return status;
}

enum doppel_status pair_chart_write(const struct settings *settings,
                                    const struct intake_file files[2],
                                    const struct pair_match *pair, struct video_looks *looks,
                                    struct doppel_error *error)
{
    bool videos = is_video(&files[0].record) && is_video(&files[1].record);
    bool audio_alone = pair->of_video && pair->video.audio && !pair->video.image;
    if (videos && !audio_alone)
        return draw_videos(settings, files, &pair->match, looks, error);
    return draw_audio(settings->chart, files, &pair->match, error);
}
