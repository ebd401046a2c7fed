/* How far the intake is: files, and of videos how long they are. */
#include "compare/video.h"
#include "intake/intake_internal.h"

void slot_count_video(struct intake *intake, const struct slot *slot, bool spared)
{
    struct doppel_video_track video;
    if (!intake->options->report->progress.stream || slot->scheme->kind != DOPPEL_KIND_VIDEO)
        return;
    intake->videos.done++;
    if (!video_read(&slot->file.record, DOPPEL_VIDEO_CODES, &video))
        return;
    intake->videos.done_ms += video.duration_ms;
    intake->videos.spared_ms += spared ? video.duration_ms : 0;
    doppel_video_track_free(&video);
}

/* Videos that nobody has looked at yet are taken for as long as the others. */
static struct video_progress estimate(const struct intake *intake)
{
    struct video_progress videos = intake->videos;
    struct doppel_progress now = {0};
    if (intake->pool)
        now = doppel_pool_progress(intake->pool);
    uint64_t known = videos.done + now.videos, known_ms = videos.done_ms + now.expected_ms;
    videos.done_ms += now.done_ms;
    if (!intake->options->report->progress.total) {
        videos.total = 0; /* still being counted */
        return videos;
    }
    videos.total = videos.total > known ? videos.total : known;
    videos.total_ms = known ? known_ms + known_ms / known * (videos.total - known) : 0;
    return videos;
}

void intake_show_progress(struct intake *intake)
{
    struct report *report = intake->options->report;
    if (!report->progress.stream)
        return;
    struct video_progress videos = estimate(intake);
    progress_set_videos(&report->progress, &videos);
    progress_update(&report->progress, intake->done, report->errors);
}
