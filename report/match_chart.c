/* Two files that were compared, as a picture. */
#include <doppel/report.h>

#include <stdlib.h>

#include "compare/video.h"
#include "core/text/base64.h"
#include "core/try.h"
#include "report/audio_chart.h"
#include "report/previews.h"
#include "report/video_chart.h"

/* Twice as many pixels as are drawn: for screens that have them. */
enum { THUMBNAIL_PIXELS = 320 };

static enum doppel_status draw_two_recordings(const char *path,
                                              const struct doppel_chart_side sides[2],
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

static bool want_shots(struct previews *previews, const struct report_member sources[2],
                       const struct video_chart *chart)
{
    bool done = true;
    for (size_t i = 0; i < 2 * chart->shot_count && done; i++)
        done = previews_want_frame(previews, &sources[i % 2], chart->shots[i / 2].seconds[i % 2],
                                   THUMBNAIL_PIXELS);
    return done;
}

static struct report_member chart_source(const struct doppel_chart_side *side)
{
    return (struct report_member){
        .path = (char *)side->path, .size = side->stamp->size, .mtime_ns = side->stamp->mtime_ns};
}

/* The frames beside the lines. */
static enum doppel_status take_shots(struct doppel_run *run,
                                     const struct doppel_chart_side sides[2],
                                     struct video_chart *chart, struct doppel_error *error)
{
    const struct report_member sources[2] = {chart_source(&sides[0]), chart_source(&sides[1])};
    struct previews previews = {.run = run};
    chart->shot_count = video_shots_choose(chart->match, chart->shots);
    enum doppel_status status = want_shots(&previews, sources, chart)
                                    ? previews_take(&previews, error)
                                    : doppel_fail(error, DOPPEL_E_MEMORY, "no memory for frames");
    for (size_t i = 0; i < previews.items.count && !status; i++) {
        const struct preview *seen = &previews.items.items[i];
        if (seen->bytes)
            chart->shots[i / 2].images[i % 2] = base64_encode(seen->bytes, seen->size);
    }
    previews_free(&previews);
    return status;
}

static enum doppel_status draw_two_videos(struct doppel_run *run,
                                          const struct doppel_chart_side sides[2],
                                          const struct doppel_match *match,
                                          const struct doppel_chart_options *options,
                                          struct doppel_error *error)
{
    struct video_chart chart = {.names = {sides[0].path, sides[1].path}, .match = match};
    enum doppel_status status = DOPPEL_OK;
    if (!video_read(sides[0].record, DOPPEL_VIDEO_ALL, &chart.tracks[0]) ||
        !video_read(sides[1].record, DOPPEL_VIDEO_CODES, &chart.tracks[1]))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the videos is damaged"));
    if (options->thumbnails)
        TRY(take_shots(run, sides, &chart, error));
    TRY(video_chart_write(options->output, &chart, error));
done:
    for (size_t i = 0; i < 2 * chart.shot_count; i++)
        free(chart.shots[i / 2].images[i % 2]);
    doppel_video_track_free(&chart.tracks[0]);
    doppel_video_track_free(&chart.tracks[1]);
    return status;
}

enum doppel_status doppel_chart_match(struct doppel_run *run,
                                      const struct doppel_chart_side sides[2],
                                      const struct doppel_match *match,
                                      const struct doppel_chart_options *options,
                                      struct doppel_error *error)
{
    bool videos = is_video(sides[0].record) && is_video(sides[1].record);
    bool audio_alone = match->kind == DOPPEL_KIND_AUDIO;
    if (videos && !audio_alone)
        return draw_two_videos(run, sides, match, options, error);
    return draw_two_recordings(options->output, sides, match, error);
}
