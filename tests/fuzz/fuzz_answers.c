/* Fuzz target: frames of workers, as the pool and the listener read them; of an answer all that is
 * done with it until it lies in the cache, and a comparison. The first byte says what was ordered.
 */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include <doppel/image.h>
#include <doppel/library.h>
#include <doppel/text.h>

#include "compare/audio.h"
#include "compare/text.h"
#include "compare/video.h"
#include "intake/intake_internal.h"
#include "intake/open_cache.h"
#include "worker/listening.h"
#include "worker/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

unsigned long answers_kept;

enum { MOST_COMPARED = 16 * 1024 /* bytes: more takes long */ };

static void expect(bool good)
{
    if (!good)
        abort();
}

/* ---- an answer ---- */

static bool is_clean(const char *sentence)
{
    for (; *sentence; sentence++)
        if ((unsigned char)*sentence < ' ' || *sentence == 0x7f)
            return false;
    return true;
}

static void check_outcome(const struct doppel_outcome *outcome, const struct doppel_order *wanted)
{
    const struct doppel_fingerprint *codes = &outcome->fingerprint;
    bool failed = outcome->error.status != DOPPEL_OK;
    expect(outcome->tag == ANSWER_SERIAL && outcome->quality <= 100);
    expect(outcome->kind <= DOPPEL_KIND_VIDEO && is_clean(outcome->error.message));
    expect(!failed || (!codes->count && !outcome->attachment && *outcome->error.message));
    expect(failed || wanted->look ||
           (codes->scheme == wanted->scheme && codes->version == wanted->version));
    for (uint32_t i = 1; i < codes->count; i++)
        expect(codes->positions[i] >= codes->positions[i - 1]);
}

/* What is readable is read. */
static void read_parts(const struct doppel_record *record)
{
    struct doppel_error error;
    struct doppel_image_features features = {0};
    struct doppel_audio_track audio = {0};
    struct doppel_video_track video = {0};
    struct text_view text = {0};
    const struct doppel_text_options options = doppel_text_options_default();
    if (record->kind == DOPPEL_KIND_TEXT && !text_view_load(record, &options, &text, &error))
        text_view_free(&text);
    if (record->kind == DOPPEL_KIND_IMAGE && record->attachment)
        expect(
            !doppel_image_attachment_read(record->attachment, record->attachment_size, &features));
    if (record->scheme == DOPPEL_SCHEME_PEAKS32) {
        const struct doppel_audio_zone zone = doppel_audio_item_zone();
        expect(!audio_load(record, &audio, &error));
        (void)doppel_audio_keys(audio.peaks, audio.count, &zone, NULL, 0);
        doppel_audio_track_free(&audio);
    }
    if (record->scheme == DOPPEL_SCHEME_FRAMES64) {
        expect(!video_load(record, DOPPEL_VIDEO_ALL, &video, &error));
        if (video_read_audio(&video, &audio))
            doppel_audio_track_free(&audio);
        doppel_video_track_free(&video);
    }
}

static void compare_with_itself(const struct doppel_record *record)
{
    struct doppel_comparison comparison = {0};
    if (record->attachment_size + record->fingerprint.count * sizeof(struct doppel_code) <=
            MOST_COMPARED &&
        !doppel_compare(NULL, record, record, NULL, &comparison, NULL))
        doppel_comparison_free(&comparison);
}

/* What a cache has taken, it gives again. */
static void keep_record(const struct doppel_record *record)
{
    static struct doppel_run *run;
    static struct doppel_cache *cache;
    struct doppel_record again;
    const struct doppel_record_key key = {&record->digest, record->scheme, record->version, 0};
    if (!cache)
        expect(!doppel_run_new(&(struct doppel_run_options){0}, &run, NULL) &&
               !open_cache(run, &cache, NULL));
    expect(!doppel_cache_put_record(cache, record, NULL));
    expect(!doppel_cache_record(cache, &key, true, &again));
    expect(again.kind == record->kind && again.width == record->width &&
           again.height == record->height && again.quality == record->quality &&
           again.fingerprint.count == record->fingerprint.count &&
           again.attachment_size == record->attachment_size &&
           !strcmp(again.error.message, record->error.message));
    expect(!again.attachment_size ||
           !memcmp(again.attachment, record->attachment, again.attachment_size));
    doppel_record_free(&again);
    answers_kept++;
}

static void take_answer(const uint8_t *data, size_t size, const struct doppel_order *wanted)
{
    const struct worker_order order = {ANSWER_SERIAL, *wanted, -1};
    struct doppel_outcome outcome = {0};
    struct doppel_record record = {.digest = {{1}}};
    if (answer_read(data, size, &order, &outcome) != ANSWER_GOOD)
        return;
    check_outcome(&outcome, wanted);
    struct doppel_scheme scheme = {.id = DOPPEL_SCHEME_NONE};
    if (!wanted->look && wanted->video_task == DOPPEL_VIDEO_FINGERPRINT) {
        scheme = *doppel_scheme_by_id(wanted->scheme);
        scheme.version = wanted->version;
    }
    if (scheme.id && record_take_outcome(&scheme, &record, &outcome) && !record.error.status) {
        read_parts(&record);
        compare_with_itself(&record);
        keep_record(&record);
    }
    doppel_record_free(&record);
    doppel_outcome_free(&outcome);
}

/* ---- frames of other types ---- */

static void take_start(const uint8_t *data, size_t size)
{
    struct doppel_confinement held;
    if (ready_read(data, size, &held))
        expect(strlen(held.libraries) < sizeof held.libraries);
}

static void take_heard(const uint8_t *data, size_t size)
{
    static const uint64_t told = 1000;
    struct stretch stretch;
    struct doppel_error end;
    struct doppel_audio_track track;
    if (end_read(data, size, &end))
        expect(is_clean(end.message));
    if (!stretch_read(data, size, told, &stretch))
        return;
    expect(stretch.until >= told && stretch.from <= stretch.until);
    expect(!stretch.track_size || !stretch.gap);
    if (stretch.track_size &&
        !doppel_audio_track_read(stretch.track, stretch.track_size, &track, NULL))
        doppel_audio_track_free(&track);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t way = data[0] % ANSWER_WAYS;
    if (way == ANSWER_START)
        take_start(data + 1, size - 1);
    else if (way == ANSWER_HEARD)
        take_heard(data + 1, size - 1);
    else {
        struct doppel_order order = answer_order(way);
        take_answer(data + 1, size - 1, &order);
    }
    return 0;
}
