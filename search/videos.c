/* The recordings and videos of a library, found by a recording, a video or a picture. */
#include "search/videos.h"

#include <doppel/run.h>

#include "compare/video.h"
#include "intake/video_refine.h"
#include "compare/audio.h"

/* A search under way. */
struct seeking {
    const struct video_search *search;
    size_t before;      /* answers that were there: of the same bytes */
    bool frames, audio; /* what the query has */
    bool no_memory;
};

/* ---- one found ---- */

static bool is_answered(const struct seeking *seeking, uint64_t id)
{
    const struct answers *answers = seeking->search->answers;
    const struct answer *answer = answers_of(answers, id);
    return answer && (size_t)(answer - answers->items.items) < seeking->before;
}

/* The answer of a video, new or met before; NULL without memory. */
static struct answer *answer_of_video(struct seeking *seeking, uint64_t id)
{
    struct answers *answers = seeking->search->answers;
    struct answer *answer = answers_of(answers, id);
    struct answer fresh = {
        .id = id, .near_miss = true, .pair = {.matches = true, .of_video = true}};
    fresh.pair.by_image.false_positive_rate = -1;
    fresh.pair.by_audio.false_positive_rate = -1;
    if (answer)
        return answer;
    return answers_keep(answers, &fresh) ? answers_of(answers, id) : NULL;
}

/* By its picture, or else by its audio. */
static bool add_evidence(struct seeking *seeking, const struct doppel_found *found, bool by_audio)
{
    struct answer *answer = answer_of_video(seeking, found->id);
    if (!answer)
        return false;
    struct doppel_comparison *video = &answer->pair;
    struct doppel_match *match = by_audio ? &video->by_audio : &video->by_image;
    enum doppel_evidence which = by_audio ? DOPPEL_EVIDENCE_AUDIO : DOPPEL_EVIDENCE_IMAGE;
    *match = found->match;
    match->kind = DOPPEL_KIND_VIDEO;
    video->compared |= which;
    video->evidence |= found->borderline ? 0u : (unsigned)which;
    answer->near_miss &= found->borderline;
    return copy_segments(match);
}

static bool is_wanted(const struct seeking *seeking, const struct doppel_found *found)
{
    return found->match.similarity >= seeking->search->compare->min_similarity &&
           !is_answered(seeking, found->id);
}

static bool take_frames(void *context, const struct doppel_found *found)
{
    struct seeking *seeking = context;
    if (is_wanted(seeking, found) &&
        find_known_kind(seeking->search->known, found->id) == DOPPEL_KIND_VIDEO)
        seeking->no_memory = !add_evidence(seeking, found, false);
    return !seeking->no_memory && !doppel_run_cancelled(seeking->search->run);
}

static bool take_audio(void *context, const struct doppel_found *found)
{
    struct seeking *seeking = context;
    enum doppel_kind kind = find_known_kind(seeking->search->known, found->id);
    if (!is_wanted(seeking, found))
        return !doppel_run_cancelled(seeking->search->run);
    if (kind == DOPPEL_KIND_VIDEO || (kind == DOPPEL_KIND_AUDIO && seeking->frames))
        seeking->no_memory = !add_evidence(seeking, found, true);
    else if (kind == DOPPEL_KIND_AUDIO)
        seeking->no_memory = !answers_keep_match(seeking->search->answers, found);
    return !seeking->no_memory && !doppel_run_cancelled(seeking->search->run);
}

/* ---- searches ---- */

static struct seeking seeking_of(const struct video_search *search)
{
    return (struct seeking){.search = search, .before = search->answers->items.count};
}

static enum doppel_status seek_audio(struct seeking *seeking,
                                     const struct doppel_audio_track *track,
                                     struct doppel_error *error)
{
    const struct doppel_recordings *recordings;
    struct doppel_recording recording = audio_of(track);
    struct doppel_audio_options options = audio_options_from(seeking->search->compare);
    enum doppel_status status =
        doppel_library_recordings(seeking->search->library, &recordings, error);
    if (!status)
        status =
            doppel_recordings_find(recordings, &recording, &options, take_audio, seeking, error);
    return status;
}

static enum doppel_status seek_frames(struct seeking *seeking,
                                      const struct doppel_video_track *track,
                                      struct doppel_error *error)
{
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(seeking->search->compare);
    if (!seeking->search->known->has_video)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_videos(seeking->search->library, &videos, error);
    if (!status)
        status = doppel_videos_find(videos, track, &options, take_frames, seeking, error);
    return status;
}

/* Whether an item of the library is a video that has frames, or a video that has audio. */
static bool item_has(struct doppel_library *library, uint64_t id, bool recording)
{
    struct doppel_item item;
    struct doppel_video_track video;
    if (doppel_library_get(library, id, true, &item, NULL))
        return false;
    bool has = video_read(&item.record, DOPPEL_VIDEO_CODES, &video);
    if (has) {
        has = recording ? video.audio != NULL : video.count > 0;
        doppel_video_track_free(&video);
    }
    doppel_item_free(&item);
    return has;
}

/* What the query and an item both have, and share nothing of, says something, too. */
static void note_what_differs(const struct seeking *seeking)
{
    const struct answers *answers = seeking->search->answers;
    for (size_t i = seeking->before; i < answers->items.count; i++) {
        struct answer *answer = &answers->items.items[i];
        struct doppel_comparison *video = &answer->pair;
        if (video->evidence & DOPPEL_EVIDENCE_IMAGE && seeking->audio &&
            !(video->compared & DOPPEL_EVIDENCE_AUDIO) &&
            item_has(seeking->search->library, answer->id, true))
            video->compared |= DOPPEL_EVIDENCE_AUDIO;
        if (video->evidence & DOPPEL_EVIDENCE_AUDIO && seeking->frames &&
            !(video->compared & DOPPEL_EVIDENCE_IMAGE) &&
            item_has(seeking->search->library, answer->id, false))
            video->compared |= DOPPEL_EVIDENCE_IMAGE;
    }
}

static enum doppel_status refine_one(const struct video_search *search,
                                     const struct doppel_record *query, struct answer *answer,
                                     struct doppel_error *error)
{
    struct doppel_item item;
    if (doppel_library_get(search->library, answer->id, true, &item, NULL))
        return DOPPEL_OK;
    const struct video_side sides[2] = {{*search->file, query},
                                        {{item.path, &item.stamp}, &item.record}};
    enum doppel_status status = video_refine(search->looks, sides, &answer->pair.by_image, error);
    doppel_item_free(&item);
    return status;
}

/* The ends of what was found by its picture, frame by frame. */
static enum doppel_status refine_found(const struct seeking *seeking,
                                       const struct doppel_record *query,
                                       struct doppel_error *error)
{
    const struct video_search *search = seeking->search;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = seeking->before; i < search->answers->items.count && !status; i++) {
        struct answer *answer = &search->answers->items.items[i];
        if (answer->pair.of_video && answer->pair.evidence & DOPPEL_EVIDENCE_IMAGE)
            status = refine_one(search, query, answer, error);
    }
    return status;
}

static enum doppel_status end_search(const struct seeking *seeking, enum doppel_status status,
                                     struct doppel_error *error)
{
    const struct answers *answers = seeking->search->answers;
    note_what_differs(seeking);
    for (size_t i = seeking->before; i < answers->items.count; i++)
        if (answers->items.items[i].pair.of_video)
            comparison_choose(&answers->items.items[i].pair);
    return seeking->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches")
                              : status;
}

enum doppel_status find_by_audio(const struct video_search *search,
                                 const struct doppel_record *query, struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    struct doppel_audio_track track;
    if (!audio_read(query, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the audio is damaged");
    seeking.audio = true;
    enum doppel_status status = seek_audio(&seeking, &track, error);
    doppel_audio_track_free(&track);
    return end_search(&seeking, status, error);
}

enum doppel_status find_by_video(const struct video_search *search,
                                 const struct doppel_record *query, struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    struct doppel_video_track video;
    struct doppel_audio_track recording;
    if (!video_read(query, DOPPEL_VIDEO_ALL, &video))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the video is damaged");
    seeking.frames = video.count;
    enum doppel_status status = seeking.frames ? seek_frames(&seeking, &video, error) : DOPPEL_OK;
    seeking.audio = video_read_audio(&video, &recording);
    if (seeking.audio && !status && !seeking.no_memory)
        status = seek_audio(&seeking, &recording, error);
    if (seeking.audio)
        doppel_audio_track_free(&recording);
    doppel_video_track_free(&video);
    if (search->looks && !status && !seeking.no_memory)
        status = refine_found(&seeking, query, error);
    return end_search(&seeking, status, error);
}

enum doppel_status find_by_image(const struct video_search *search,
                                 const struct doppel_match_item *image, struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(search->compare);
    if (!search->known->has_video)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_videos(search->library, &videos, error);
    if (!status)
        status = doppel_videos_find_image(videos, image, &options, take_frames, &seeking, error);
    return end_search(&seeking, status, error);
}
