/* Two files that were compared, as a picture. */
#include "tools/pair_chart.h"

#include <math.h>
#include <stdlib.h>

#include "tools/base64.h"
#include "tools/film_chart.h"
#include "tools/sound_chart.h"

/* Twice as many pixels as are drawn: for screens that have them. */
enum { THUMBNAIL_PIXELS = 320 };

static enum doppel_status draw_sounds(const char *path, const struct intake_file files[2],
                                      const struct doppel_match *match, struct doppel_error *error)
{
    struct sound_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    bool sounds = record_read_sound(&files[0].record, &chart.tracks[0]) &&
                  record_read_sound(&files[1].record, &chart.tracks[1]);
    enum doppel_status status =
        sounds ? sound_chart_write(path, &chart, error)
               : doppel_fail(error, DOPPEL_E_ARGUMENT, "'--chart' draws two sounds, or two films");
    doppel_audio_track_free(&chart.tracks[0]);
    doppel_audio_track_free(&chart.tracks[1]);
    return status;
}

/* The frames beside the lines. */
static enum doppel_status take_shots(struct film_looks *looks, const struct intake_file files[2],
                                     struct film_chart *chart, struct doppel_error *error)
{
    struct film_file sources[2] = {{files[0].path, &files[0].stamp},
                                   {files[1].path, &files[1].stamp}};
    struct film_look wanted[2 * FILM_SHOTS] = {0};
    chart->shot_count = film_shots_choose(chart->match, chart->shots);
    for (size_t i = 0; i < 2 * chart->shot_count; i++)
        wanted[i] = (struct film_look){
            .file = &sources[i % 2],
            .task = DOPPEL_VIDEO_THUMBNAIL,
            .from_ms = (uint32_t)lround(chart->shots[i / 2].seconds[i % 2] * 1000),
            .to_ms = THUMBNAIL_PIXELS,
        };
    enum doppel_status status = film_looks_take(looks, wanted, 2 * chart->shot_count, error);
    for (size_t i = 0; i < 2 * chart->shot_count; i++) {
        if (wanted[i].bytes)
            chart->shots[i / 2].pictures[i % 2] = base64_encode(wanted[i].bytes, wanted[i].size);
        free(wanted[i].bytes);
    }
    return status;
}

static enum doppel_status draw_films(const struct settings *settings,
                                     const struct intake_file files[2],
                                     const struct doppel_match *match, struct film_looks *looks,
                                     struct doppel_error *error)
{
    struct film_chart chart = {.names = {files[0].path, files[1].path}, .match = match};
    enum doppel_status status = DOPPEL_OK;
    if (!film_read(&files[0].record, DOPPEL_VIDEO_ALL, &chart.tracks[0]) ||
        !film_read(&files[1].record, DOPPEL_VIDEO_CODES, &chart.tracks[1]))
        status = doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the films is damaged");
    if (!status && settings->thumbnails)
        status = take_shots(looks, files, &chart, error);
    if (!status)
        status = film_chart_write(settings->chart, &chart, error);
    for (size_t i = 0; i < 2 * chart.shot_count; i++)
        free(chart.shots[i / 2].pictures[i % 2]);
    doppel_video_track_free(&chart.tracks[0]);
    doppel_video_track_free(&chart.tracks[1]);
    return status;
}

enum doppel_status pair_chart_write(const struct settings *settings,
                                    const struct intake_file files[2],
                                    const struct pair_match *pair, struct film_looks *looks,
                                    struct doppel_error *error)
{
    bool films = is_film(&files[0].record) && is_film(&files[1].record);
    bool sound_alone = pair->of_film && pair->film.sound && !pair->film.picture;
    if (films && !sound_alone)
        return draw_films(settings, files, &pair->match, looks, error);
    return draw_sounds(settings->chart, files, &pair->match, error);
}
