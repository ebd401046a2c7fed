/* The recordings and videos of a library, found by a recording, a video or a picture. */
#include "search/videos.h"

#include "compare/video.h"
#include "compare/audio.h"
#include "core/array.h"
#include "core/try.h"
#include "search/stills.h"
#include "search/wanted.h"

/* A search in progress. */
struct track_lookup {
    const struct track_search *search;
    size_t before;      /* results that were there: of the same bytes */
    bool frames, audio; /* what the query has */
    bool no_memory;
};

/* ---- one found ---- */

static bool was_there_before(const struct track_lookup *lookup, uint64_t id)
{
    const struct doppel_search_results *results = lookup->search->results;
    const struct doppel_search_result *result = doppel_search_results_find(results, id);
    return result && (size_t)(result - results->items) < lookup->before;
}

/* The result of a video, new or met before; NULL without memory. */
static struct doppel_search_result *result_of_video(struct track_lookup *lookup, uint64_t id)
{
    struct doppel_search_results *results = lookup->search->results;
    struct doppel_search_result *result = doppel_search_results_find(results, id);
    struct doppel_search_result fresh = {
        .id = id, .below_threshold = true, .comparison = {.matches = true, .of_video = true}};
    fresh.comparison.by_image.false_positive_rate = -1;
    fresh.comparison.by_audio.false_positive_rate = -1;
    if (result)
        return result;
    return results_append(results, &fresh) ? doppel_search_results_find(results, id) : NULL;
}

/* By its picture, or else by its audio. */
static bool add_evidence(struct track_lookup *lookup, const struct doppel_found *found,
                         bool by_audio)
{
    struct doppel_search_result *result = result_of_video(lookup, found->id);
    if (!result)
        return false;
    struct doppel_comparison *comparison = &result->comparison;
    unsigned which = by_audio ? DOPPEL_EVIDENCE_AUDIO : DOPPEL_EVIDENCE_IMAGE;
    struct doppel_match *match = by_audio ? &comparison->by_audio : &comparison->by_image;
    *match = found->match;
    match->kind = DOPPEL_KIND_VIDEO;
    comparison->compared |= which;
    comparison->evidence |= found->borderline ? 0 : which;
    result->below_threshold &= found->borderline;
    return copy_segments(match);
}

static bool wants_track(const struct track_lookup *lookup, const struct doppel_found *found)
{
    return found->match.similarity >= lookup->search->options->compare.min_similarity &&
           !was_there_before(lookup, found->id);
}

static enum doppel_kind kind_of_found(const struct track_lookup *lookup,
                                      const struct doppel_found *found)
{
    return search_kind_of(lookup->search->options, lookup->search->library, found->id);
}

static bool take_frames(void *context, const struct doppel_found *found)
{
    struct track_lookup *lookup = context;
    if (wants_track(lookup, found) && kind_of_found(lookup, found) == DOPPEL_KIND_VIDEO)
        lookup->no_memory = !add_evidence(lookup, found, false);
    return !lookup->no_memory && !doppel_run_cancelled(lookup->search->run);
}

static bool take_audio(void *context, const struct doppel_found *found)
{
    struct track_lookup *lookup = context;
    if (!wants_track(lookup, found))
        return !doppel_run_cancelled(lookup->search->run);
    enum doppel_kind kind = kind_of_found(lookup, found);
    if (kind == DOPPEL_KIND_VIDEO || (kind == DOPPEL_KIND_AUDIO && lookup->frames))
        lookup->no_memory = !add_evidence(lookup, found, true);
    else if (kind == DOPPEL_KIND_AUDIO)
        lookup->no_memory = !results_append_match(lookup->search->results, found);
    return !lookup->no_memory && !doppel_run_cancelled(lookup->search->run);
}

/* ---- searches ---- */

static struct track_lookup begin_track_lookup(const struct track_search *search)
{
    return (struct track_lookup){.search = search, .before = search->results->count};
}

static void note_unreadable_of(const struct track_search *search, enum doppel_kind kind)
{
    doppel_library_take_unreadable(search->library, kind, &search->results->unreadable);
}

static enum doppel_status look_up_audio(struct track_lookup *lookup,
                                        const struct doppel_audio_track *track,
                                        struct doppel_error *error)
{
    const struct doppel_recordings *recordings;
    struct doppel_recording recording = audio_of(track);
    struct doppel_audio_options options = audio_options_from(&lookup->search->options->compare);
    enum doppel_status status =
        doppel_library_recordings(lookup->search->library, &recordings, error);
    if (!status)
        status =
            doppel_recordings_find(recordings, &recording, &options, take_audio, lookup, error);
    note_unreadable_of(lookup->search, DOPPEL_KIND_AUDIO);
    return status;
}

static bool has_videos(const struct track_search *search)
{
    return doppel_compare_scheme(&search->options->compare, DOPPEL_KIND_VIDEO) &&
           doppel_library_has_scheme(search->library, DOPPEL_SCHEME_FRAMES64);
}

static enum doppel_status look_up_frames(struct track_lookup *lookup,
                                         const struct doppel_video_track *track,
                                         struct doppel_error *error)
{
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(&lookup->search->options->compare);
    if (!has_videos(lookup->search))
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_videos(lookup->search->library, &videos, error);
    if (!status)
        status = doppel_videos_find(videos, track, &options, take_frames, lookup, error);
    note_unreadable_of(lookup->search, DOPPEL_KIND_VIDEO);
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
static void note_what_differs(const struct track_lookup *lookup)
{
    const struct doppel_search_results *results = lookup->search->results;
    for (size_t i = lookup->before; i < results->count; i++) {
        struct doppel_search_result *result = &results->items[i];
        struct doppel_comparison *video = &result->comparison;
        if (video->evidence & DOPPEL_EVIDENCE_IMAGE && lookup->audio &&
            !(video->compared & DOPPEL_EVIDENCE_AUDIO) &&
            item_has(lookup->search->library, result->id, true))
            video->compared |= DOPPEL_EVIDENCE_AUDIO;
        if (video->evidence & DOPPEL_EVIDENCE_AUDIO && lookup->frames &&
            !(video->compared & DOPPEL_EVIDENCE_IMAGE) &&
            item_has(lookup->search->library, result->id, false))
            video->compared |= DOPPEL_EVIDENCE_IMAGE;
    }
}

static enum doppel_status refine_one(const struct track_search *search,
                                     const struct doppel_record *query,
                                     struct doppel_search_result *result,
                                     struct doppel_error *error)
{
    struct doppel_item item;
    if (doppel_library_get(search->library, result->id, true, &item, NULL))
        return DOPPEL_OK;
    const struct doppel_search_options *options = search->options;
    enum doppel_status status =
        options->refine(options->context, query, &item, &result->comparison.by_image, error);
    doppel_item_free(&item);
    return status;
}

/* The ends of what was found by its picture, frame by frame. */
static enum doppel_status refine_found(const struct track_lookup *lookup,
                                       const struct doppel_record *query,
                                       struct doppel_error *error)
{
    const struct track_search *search = lookup->search;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = lookup->before; i < search->results->count && !status; i++) {
        struct doppel_search_result *result = &search->results->items[i];
        if (result->comparison.of_video && result->comparison.evidence & DOPPEL_EVIDENCE_IMAGE)
            status = refine_one(search, query, result, error);
    }
    return status;
}

static enum doppel_status end_search(const struct track_lookup *lookup, enum doppel_status status,
                                     struct doppel_error *error)
{
    const struct doppel_search_results *results = lookup->search->results;
    note_what_differs(lookup);
    for (size_t i = lookup->before; i < results->count; i++)
        if (results->items[i].comparison.of_video)
            comparison_choose(&results->items[i].comparison);
    return lookup->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches")
                             : status;
}

enum doppel_status search_by_audio(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error)
{
    struct track_lookup lookup = begin_track_lookup(search);
    struct doppel_audio_track track;
    if (!audio_read(query, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the audio is damaged");
    lookup.audio = true;
    enum doppel_status status = look_up_audio(&lookup, &track, error);
    doppel_audio_track_free(&track);
    return end_search(&lookup, status, error);
}

enum doppel_status search_by_video(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error)
{
    struct track_lookup lookup = begin_track_lookup(search);
    struct doppel_video_track video;
    struct doppel_audio_track recording;
    if (!video_read(query, DOPPEL_VIDEO_ALL, &video))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the video is damaged");
    lookup.frames = video.count;
    enum doppel_status status = lookup.frames ? look_up_frames(&lookup, &video, error) : DOPPEL_OK;
    lookup.audio = video_read_audio(&video, &recording);
    if (lookup.audio && !status && !lookup.no_memory)
        status = look_up_audio(&lookup, &recording, error);
    if (lookup.audio)
        doppel_audio_track_free(&recording);
    doppel_video_track_free(&video);
    if (search->options->refine && !status && !lookup.no_memory)
        status = refine_found(&lookup, query, error);
    return end_search(&lookup, status, error);
}

/* ---- images ---- */

/* What an image is looked for in. */
struct image_shown {
    struct track_lookup *lookup;
    ARRAY(struct still_candidate) near; /* by codes alone */
};

/* A frame is read if so many unrelated ones come as near, at most: of the pictures that are in no
 * video each tenth reads one. The latter is of `thorough`. */
static const double STILL_EXPECTED = .1, STILL_THOROUGH_EXPECTED = 100;

static bool take_shown_image(void *context, const struct doppel_found *found)
{
    struct image_shown *shown = context;
    struct still_candidate candidate = {.found = *found};
    if (!found->borderline || !found->match.segment_count)
        return take_frames(shown->lookup, found);
    candidate.segment = found->match.segments[0];
    shown->lookup->no_memory |= !array_push(&shown->near, candidate);
    return !shown->lookup->no_memory;
}

/* In order, the frames are read; those that show it no more than nearly are told as such, as many
 * as are wanted. */
static enum doppel_status check_stills(struct image_shown *shown,
                                       const struct doppel_record *record, uint64_t frames,
                                       struct doppel_error *error)
{
    const struct track_search *search = shown->lookup->search;
    const struct doppel_compare_options *compare = &search->options->compare;
    const double most = compare->thorough ? STILL_THOROUGH_EXPECTED : STILL_EXPECTED;
    size_t misses = compare->near_misses;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < shown->near.count && !status; i++) {
        struct still_candidate *near = &shown->near.items[i];
        near->found.match.segments = &near->segment;
        near->found.match.segment_count = 1;
        if (search->options->still && record && i < STILLS_MOST &&
            near->found.match.false_positive_rate <= most)
            status = still_check(search, record, frames, near, error);
        if (!status && (!near->found.borderline || misses) &&
            !take_frames(shown->lookup, &near->found))
            break;
        misses -= near->found.borderline && misses;
    }
    return status;
}

enum doppel_status search_by_image(const struct track_search *search,
                                   const struct doppel_match_item *image,
                                   const struct doppel_record *record, struct doppel_error *error)
{
    struct track_lookup lookup = begin_track_lookup(search);
    struct image_shown shown = {.lookup = &lookup};
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(&search->options->compare);
    enum doppel_status status;
    if (!has_videos(search))
        return DOPPEL_OK;
    if (search->options->still && options.near_misses < STILLS_MOST)
        options.near_misses = STILLS_MOST;
    TRY(doppel_library_videos(search->library, &videos, error));
    TRY(doppel_videos_find_image(videos, image, &options, take_shown_image, &shown, error));
    TRY(check_stills(&shown, record, doppel_videos_frames(videos), error));
done:
    array_free(&shown.near);
    note_unreadable_of(search, DOPPEL_KIND_VIDEO);
    return end_search(&lookup, status, error);
}
