/* What is worth knowing of a file that was read: what is damaged, or cannot be known. */
#include <doppel/image.h>

#include "compare/video.h"
#include "intake/intake_internal.h"
#include "compare/audio.h"

/* What is damaged so near to its end breaks off there. */
enum { BREAK_MS = 1000 };

/* @param until_ms where it ends, as far as it was read */
static void report_damage(struct doppel_run *run, const char *path, const char *what,
                          uint64_t damaged_ms, uint64_t until_ms)
{
    if (damaged_ms && damaged_ms + BREAK_MS >= until_ms)
        doppel_run_notice(run, "%s: the %s off at %.1f s; what comes before is used", path, what,
                          (double)until_ms / 1000);
    else if (damaged_ms)
        doppel_run_notice(run, "%s: damaged at %.1f s; what can be decoded is used", path,
                          (double)damaged_ms / 1000);
}

static void say_of_audio(struct doppel_run *run, const char *path,
                         const struct doppel_record *record)
{
    struct doppel_audio_track track;
    if (!audio_read_length(record, &track))
        return;
    report_damage(run, path, "audio breaks", track.damaged_ms, track.duration_ms);
    doppel_audio_track_free(&track);
}

static void say_of_video(struct doppel_run *run, const char *path,
                         const struct doppel_record *record)
{
    struct doppel_video_track video;
    struct doppel_audio_track recording;
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return;
    uint64_t last_ms = video.count ? video.frames[video.count - 1].end_ms : 0;
    uint64_t until_ms = video.damaged_ms > last_ms ? video.damaged_ms : last_ms;
    report_damage(run, path, "pictures break", video.damaged_ms, until_ms);
    if (video_read_audio(&video, &recording)) {
        if (!video.damaged_ms)
            report_damage(run, path, "audio breaks", recording.damaged_ms, recording.duration_ms);
        doppel_audio_track_free(&recording);
    }
    doppel_video_track_free(&video);
}

static bool is_poor(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_PHASH64 && record->quality < DOPPEL_IMAGE_MIN_QUALITY;
}

void intake_say_poor(struct intake *intake)
{
    const bool one = intake->poor == 1;
    if (intake->poor)
        doppel_run_notice(intake->options->run,
                          "%llu picture%s too little structure to be distinguished (a quality "
                          "below %d): only copies that are nearly equal to %s are found",
                          (unsigned long long)intake->poor, one ? " has" : "s have",
                          DOPPEL_IMAGE_MIN_QUALITY, one ? "it" : "them");
    intake->poor = 0;
}

static bool is_hinted_ocr(const struct doppel_record *record)
{
    struct doppel_text_extra extra;
    return record->kind == DOPPEL_KIND_TEXT &&
           doppel_text_attachment_head(record->attachment, record->attachment_size, &extra) &&
           extra.looks_like_ocr;
}

void intake_say_ocr(struct intake *intake)
{
    const uint64_t count = intake->looks_like_ocr;
    if (count && intake->options->read.text.unit != DOPPEL_TEXT_CHARACTERS)
        doppel_run_notice(intake->options->run,
                          "%llu text%s like OCR: --preset ocr finds copies that differ by its "
                          "errors",
                          (unsigned long long)count, count == 1 ? " looks" : "s look");
    intake->looks_like_ocr = 0;
}

void slot_say(struct intake *intake, const struct intake_slot *slot)
{
    struct doppel_run *run = intake->options->run;
    const struct doppel_record *record = &slot->file.record;
    const char *path = slot->file.path;
    say_of_audio(run, path, record);
    say_of_video(run, path, record);
    intake->poor += is_poor(record);
    intake->looks_like_ocr += is_hinted_ocr(record);
    if (record->error.message[0]) /* a remark */
        doppel_run_notice(run, "%s: %s", path, record->error.message);
    const char *blank = audio_is_blank(record)   ? AUDIO_IS_BLANK
                        : video_is_blank(record) ? VIDEO_IS_BLANK
                                                 : NULL;
    if (blank && named_on_command_line(intake, slot))
        doppel_run_notice(run, "%s: %s", path, blank);
    else if (blank)
        doppel_run_detail(run, path, blank);
}
