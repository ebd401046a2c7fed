/* How far the intake is: files, and of videos how long they are. */
#include "compare/video.h"
#include "intake/intake_internal.h"

void slot_count_video(struct intake *intake, const struct intake_slot *slot, bool spared)
{
    struct doppel_video_track video;
    if (!doppel_run_shows_progress(intake->options->run) || slot->scheme->kind != DOPPEL_KIND_VIDEO)
        return;
    intake->progress.videos++;
    if (!video_read(&slot->file.record, DOPPEL_VIDEO_CODES, &video))
        return;
    intake->progress.video_ms += video.duration_ms;
    intake->progress.video_cached_ms += spared ? video.duration_ms : 0;
    doppel_video_track_free(&video);
}

/* Videos that nobody has looked at yet are taken for as long as the others. */
static struct doppel_run_progress estimate_remaining(const struct intake *intake)
{
    struct doppel_run_progress progress = intake->progress;
    struct doppel_progress now = {0};
    if (intake->pool)
        now = doppel_pool_progress(intake->pool);
    progress.pages = now.pages;
    progress.pages_total = now.pages_total;
    uint64_t known = progress.videos + now.videos;
    uint64_t known_ms = progress.video_ms + now.expected_ms;
    progress.video_ms += now.done_ms;
    if (!progress.total) {
        progress.videos_total = 0; /* still being counted */
        return progress;
    }
    if (progress.videos_total < known)
        progress.videos_total = known;
    progress.video_total_ms =
        known ? known_ms + known_ms / known * (progress.videos_total - known) : 0;
    return progress;
}

void intake_show_progress(struct intake *intake)
{
    struct doppel_run_progress progress = intake->progress;
    if (doppel_run_shows_progress(intake->options->run))
        progress = estimate_remaining(intake);
    doppel_run_show(intake->options->run, &progress);
}
