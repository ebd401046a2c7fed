/* Made videos for the tests of the matcher: scenes, in which codes walk at random, sampled as the
 * video room does it. */
#ifndef DOPPEL_TEST_MATCH_VIDEOS_H
#define DOPPEL_TEST_MATCH_VIDEOS_H

#include <stdlib.h>
#include <string.h>

#include <doppel/match.h>

/* A small generator of numbers. Source: Marsaglia, "Xorshift RNGs" (2003). */
static inline uint64_t video_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline double video_uniform(uint64_t *state, double least, double most)
{
    return least + (most - least) * (double)(video_random(state) >> 11) / 9007199254740992.0;
}

/* What a video shows: a code every 40 ms. */
struct clip {
    struct doppel_code *codes;
    size_t count;
};

enum { VIDEO_FRAME_MS = 40 };

static inline void video_flip(struct doppel_code *code, unsigned bits, uint64_t *state)
{
    for (unsigned i = 0; i < bits; i++) {
        unsigned bit = (unsigned)(video_random(state) % 256);
        code->word[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
}

static inline struct doppel_code video_code(uint64_t *state)
{
    struct doppel_code code;
    for (int i = 0; i < 4; i++)
        code.word[i] = video_random(state);
    return code;
}

/* Scenes of 1 to 6 s, in which about `moves` bits a second change. */
static inline struct clip video_make(double seconds, double moves, uint64_t *state)
{
    struct clip clip = {.count = (size_t)(seconds * 1000 / VIDEO_FRAME_MS)};
    clip.codes = malloc((clip.count + 1) * sizeof *clip.codes);
    size_t cut = 0;
    struct doppel_code code = {{0}};
    for (size_t i = 0; i < clip.count; i++) {
        if (i == cut) {
            code = video_code(state);
            cut = i + (size_t)(video_uniform(state, 1, 6) * 1000 / VIDEO_FRAME_MS);
        }
        if (video_uniform(state, 0, 1) < moves * VIDEO_FRAME_MS / 1000)
            video_flip(&code, 1, state);
        clip.codes[i] = code;
    }
    return clip;
}

/* How a video is shown. */
struct showing {
    double from, to; /* seconds of the video */
    double speed;    /* seconds of the video a second */
    double phase;    /* seconds of the first sample */
    unsigned noise;  /* bits flipped a sample */
    bool mirrored;
};

/* Add a showing at the end of a track, whose room is enough. */
static inline void video_show(const struct clip *clip, const struct showing *showing,
                              struct doppel_video_track *track, uint64_t *state)
{
    double start = (double)track->duration_ms / 1000, length = showing->to - showing->from;
    double time = start + showing->phase;
    for (; time < start + length / showing->speed; time += DOPPEL_VIDEO_STEP_MS / 1000.0) {
        double there = showing->from + (time - start) * showing->speed;
        size_t frame = (size_t)(there * 1000 / VIDEO_FRAME_MS);
        if (frame >= clip->count)
            break;
        struct doppel_code code = clip->codes[frame];
        video_flip(&code, showing->noise, state);
        code = doppel_image_orient(&code, showing->mirrored);
        uint32_t ms = (uint32_t)(time * 1000);
        struct doppel_video_frame *last = track->frames + track->count - 1;
        track->sampled++;
        if (track->count && doppel_code_distance(&last->code, &code, 64) <= 10 &&
            ms - last->end_ms <= DOPPEL_VIDEO_STEP_MS + 1)
            last->end_ms = ms;
        else
            track->frames[track->count++] = (struct doppel_video_frame){code, ms, ms, {{0}}, {{0}}};
    }
    track->duration_ms += (uint64_t)(length / showing->speed * 1000);
}

/* An empty track with room for so many seconds. */
static inline struct doppel_video_track video_track(double seconds)
{
    struct doppel_video_track track = {.width = 640, .height = 360, .box = {0, 0, 1, 1}};
    size_t room = (size_t)(seconds * 1000 / DOPPEL_VIDEO_STEP_MS) + 64;
    track.frames = calloc(room, sizeof *track.frames);
    return track;
}

static inline struct doppel_video_track clip_shown(const struct clip *clip,
                                                   const struct showing *showing, uint64_t *state)
{
    struct doppel_video_track track = video_track((showing->to - showing->from) / showing->speed);
    video_show(clip, showing, &track, state);
    return track;
}

static inline struct doppel_video_track video_whole(const struct clip *clip, uint64_t *state)
{
    struct showing showing = {0, (double)clip->count * VIDEO_FRAME_MS / 1000, 1, 0, 1, false};
    return clip_shown(clip, &showing, state);
}

#endif
