/* How far the intake is: files, and of films how long they are. */
#include "tools/film_judge.h"
#include "tools/intake_room.h"

void slot_count_film(struct intake *intake, const struct slot *slot, bool spared)
{
    struct doppel_video_track film;
    if (!intake->options->report->progress.stream || slot->scheme->kind != DOPPEL_KIND_VIDEO)
        return;
    intake->films.done++;
    if (!film_read(&slot->file.record, DOPPEL_VIDEO_CODES, &film))
        return;
    intake->films.done_ms += film.duration_ms;
    intake->films.spared_ms += spared ? film.duration_ms : 0;
    doppel_video_track_free(&film);
}

/* Films that nobody has looked at yet are taken for as long as the others. */
static struct film_progress estimate(const struct intake *intake)
{
    struct film_progress films = intake->films;
    struct doppel_progress now = {0};
    if (intake->pool)
        now = doppel_pool_progress(intake->pool);
    uint64_t known = films.done + now.films, known_ms = films.done_ms + now.expected_ms;
    films.done_ms += now.done_ms;
    if (!intake->options->report->progress.total) {
        films.total = 0; /* still being counted */
        return films;
    }
    films.total = films.total > known ? films.total : known;
    films.total_ms = known ? known_ms + known_ms / known * (films.total - known) : 0;
    return films;
}

void intake_show_progress(struct intake *intake)
{
    struct report *report = intake->options->report;
    if (!report->progress.stream)
        return;
    struct film_progress films = estimate(intake);
    progress_set_films(&report->progress, &films);
    progress_update(&report->progress, intake->done, report->errors);
}
