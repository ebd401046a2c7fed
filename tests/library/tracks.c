/* Made-up recordings and videos. */
#include "tests/library/tracks.h"

enum { STRONG_A_SECOND = 40, WEAK_A_SECOND = 20, STEPS_A_SECOND = 689 };

const struct track_kind recordings = {"sounds", DOPPEL_SCHEME_PEAKS32, audio_record};
const struct track_kind clips = {"videos", DOPPEL_SCHEME_FRAMES64, video_record};

const struct track_kind *kind;

int set_up_audio(void **state)
{
    kind = &recordings;
    return folder_set_up(state);
}

int set_up_videos(void **state)
{
    kind = &clips;
    return folder_set_up(state);
}

/* Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- recordings ---- */

static int compare_peaks(const void *a, const void *b)
{
    const struct doppel_audio_peak *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->frequency < y->frequency ? -1 : x->frequency > y->frequency;
}

struct doppel_audio_track peaks_make(uint64_t seed, uint32_t seconds)
{
    const size_t a_second = STRONG_A_SECOND + WEAK_A_SECOND;
    struct doppel_audio_track track = {.count = seconds * a_second, .duration_ms = seconds * 1000u};
    track.peaks = calloc(track.count + 1, sizeof *track.peaks);
    assert_non_null(track.peaks);
    for (size_t i = 0; i < track.count; i++)
        track.peaks[i] = (struct doppel_audio_peak){
            .time = (uint32_t)(i / a_second * STEPS_A_SECOND + draw(&seed) % STEPS_A_SECOND),
            .frequency = (uint16_t)(512 + draw(&seed) % 29000),
            .strong = i % a_second < STRONG_A_SECOND};
    qsort(track.peaks, track.count, sizeof *track.peaks, compare_peaks);
    return track;
}

static uint8_t *write_peaks(uint64_t seed, uint32_t seconds, size_t *out_size)
{
    struct doppel_audio_track track = peaks_make(seed, seconds);
    *out_size = doppel_audio_track_size(&track, false);
    uint8_t *bytes = malloc(*out_size);
    assert_non_null(bytes);
    doppel_audio_track_write(&track, false, bytes);
    doppel_audio_track_free(&track);
    return bytes;
}

static struct doppel_record record_of(uint64_t seed, enum doppel_scheme_id id)
{
    const struct doppel_scheme *scheme = doppel_scheme_by_id(id);
    const uint64_t content[] = {seed, (uint64_t)id};
    struct doppel_record record = {
        .digest = doppel_digest_bytes(content, sizeof content),
        .kind = scheme->kind,
        .scheme = scheme->id,
        .version = scheme->version,
        .quality = 100,
    };
    assert_int_equal(doppel_fingerprint_make(scheme, 64, 0, &record.fingerprint, NULL), DOPPEL_OK);
    return record;
}

struct doppel_record audio_record(uint64_t seed, uint32_t seconds)
{
    struct doppel_record record = record_of(seed, DOPPEL_SCHEME_PEAKS32);
    record.attachment = write_peaks(seed, seconds, &record.attachment_size);
    return record;
}

/* ---- videos ---- */

struct doppel_video_track video_make(uint64_t seed, uint32_t seconds)
{
    struct doppel_video_track clip = {
        .count = (size_t)seconds * FRAMES_A_SECOND,
        .box = {0, 0, 1, 1},
        .width = 640,
        .height = 360,
        .sampled = seconds * FRAMES_A_SECOND,
        .duration_ms = seconds * 1000u,
    };
    uint64_t state = seed ^ 77;
    clip.audio = write_peaks(seed, seconds, &clip.audio_size);
    clip.frames = calloc(clip.count + 1, sizeof *clip.frames);
    assert_non_null(clip.frames);
    for (size_t i = 0; i < clip.count; i++) {
        for (unsigned word = 0; word < 4; word++)
            clip.frames[i].code.word[word] = draw(&state);
        clip.frames[i].start_ms = (uint32_t)(i * 1000 / FRAMES_A_SECOND);
        clip.frames[i].end_ms = clip.frames[i].start_ms + (uint32_t)(draw(&state) % 2 * 5);
    }
    return clip;
}

struct doppel_record record_of_video(uint64_t seed, const struct doppel_video_track *clip)
{
    struct doppel_record record = record_of(seed, DOPPEL_SCHEME_FRAMES64);
    record.width = clip->width;
    record.height = clip->height;
    assert_int_equal(doppel_video_track_write(clip, DOPPEL_VIDEO_ALL, &record.attachment,
                                              &record.attachment_size, NULL),
                     DOPPEL_OK);
    return record;
}

struct doppel_record video_record(uint64_t seed, uint32_t seconds)
{
    struct doppel_video_track clip = video_make(seed, seconds);
    struct doppel_record record = record_of_video(seed, &clip);
    doppel_video_track_free(&clip);
    return record;
}

/* ---- adding ---- */

uint64_t add_record(struct doppel_library *library, const char *path, uint64_t inode,
                    const struct doppel_record *record, enum doppel_added expected)
{
    const struct doppel_file_stamp stamp = {.inode = inode};
    struct doppel_error error = {0};
    enum doppel_added added;
    uint64_t id = 0;
    if (doppel_library_add(library, path, &stamp, record, &added, &id, &error))
        fail_msg("%s", error.message);
    assert_int_equal(added, expected);
    return id;
}

uint64_t add_track(struct doppel_library *library, const struct track_kind *of, const char *path,
                   uint64_t seed, uint32_t seconds, enum doppel_added expected)
{
    struct doppel_record record = of->make(seed, seconds);
    uint64_t id = add_record(library, path, seed, &record, expected);
    doppel_record_free(&record);
    return id;
}
