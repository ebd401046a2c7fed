/* The sounds and films of a library, found by a sound, a film or a picture. */
#include "tools/find_films.h"

#include "tools/film_judge.h"
#include "tools/film_refine.h"
#include "tools/signals.h"
#include "tools/sound_judge.h"

/* A search under way. */
struct seeking {
    const struct film_search *search;
    size_t before;      /* answers that were there: of the same bytes */
    bool frames, sound; /* what the query has */
    bool no_memory;
};

/* ---- one found ---- */

static bool is_answered(const struct seeking *seeking, uint64_t id)
{
    const struct answers *answers = seeking->search->answers;
    const struct answer *answer = answers_of(answers, id);
    return answer && (size_t)(answer - answers->items.items) < seeking->before;
}

/* The answer of a film, new or met before; NULL without memory. */
static struct answer *answer_of_film(struct seeking *seeking, uint64_t id)
{
    struct answers *answers = seeking->search->answers;
    struct answer *answer = answers_of(answers, id);
    struct answer fresh = {.id = id, .near_miss = true, .pair = {.matches = true, .of_film = true}};
    fresh.pair.film.by_picture.false_positive_rate = -1;
    fresh.pair.film.by_sound.false_positive_rate = -1;
    if (answer)
        return answer;
    return answers_keep(answers, &fresh) ? answers_of(answers, id) : NULL;
}

/* By its picture, or else by its sound. */
static bool add_evidence(struct seeking *seeking, const struct doppel_found *found, bool by_sound)
{
    struct answer *answer = answer_of_film(seeking, found->id);
    if (!answer)
        return false;
    struct film_match *film = &answer->pair.film;
    struct doppel_match *match = by_sound ? &film->by_sound : &film->by_picture;
    *match = found->match;
    match->kind = DOPPEL_KIND_VIDEO;
    match->segments = copy_segments(&found->match);
    *(by_sound ? &film->sounds_compared : &film->pictures_compared) = true;
    *(by_sound ? &film->sound : &film->picture) = !found->borderline;
    answer->near_miss &= found->borderline;
    return true;
}

static bool is_wanted(const struct seeking *seeking, const struct doppel_found *found)
{
    return found->match.similarity >= seeking->search->settings->min_similarity &&
           !is_answered(seeking, found->id);
}

static bool take_frames(void *context, const struct doppel_found *found)
{
    struct seeking *seeking = context;
    if (is_wanted(seeking, found) &&
        find_known_kind(seeking->search->known, found->id) == DOPPEL_KIND_VIDEO)
        seeking->no_memory = !add_evidence(seeking, found, false);
    return !seeking->no_memory && !signals_stopped();
}

static bool take_sound(void *context, const struct doppel_found *found)
{
    struct seeking *seeking = context;
    enum doppel_kind kind = find_known_kind(seeking->search->known, found->id);
    if (!is_wanted(seeking, found))
        return !signals_stopped();
    if (kind == DOPPEL_KIND_VIDEO || (kind == DOPPEL_KIND_AUDIO && seeking->frames))
        seeking->no_memory = !add_evidence(seeking, found, true);
    else if (kind == DOPPEL_KIND_AUDIO)
        seeking->no_memory = !answers_keep_match(seeking->search->answers, found);
    return !seeking->no_memory && !signals_stopped();
}

/* ---- searches ---- */

static struct seeking seeking_of(const struct film_search *search)
{
    return (struct seeking){.search = search, .before = search->answers->items.count};
}

static enum doppel_status seek_sound(struct seeking *seeking,
                                     const struct doppel_audio_track *track,
                                     struct doppel_error *error)
{
    const struct doppel_sounds *sounds;
    struct doppel_sound sound = sound_of(track);
    struct doppel_sound_options options = sound_options_from(seeking->search->settings);
    enum doppel_status status = doppel_library_sounds(seeking->search->library, &sounds, error);
    if (!status)
        status = doppel_sounds_find(sounds, &sound, &options, take_sound, seeking, error);
    return status;
}

static enum doppel_status seek_frames(struct seeking *seeking,
                                      const struct doppel_video_track *track,
                                      struct doppel_error *error)
{
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(seeking->search->settings);
    if (!seeking->search->known->has_film)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_videos(seeking->search->library, &videos, error);
    if (!status)
        status = doppel_videos_find(videos, track, &options, take_frames, seeking, error);
    return status;
}

/* Whether an item of the library is a film that has frames, or a film that has sound. */
static bool item_has(struct doppel_library *library, uint64_t id, bool sound)
{
    struct doppel_item item;
    struct doppel_video_track film;
    if (doppel_library_get(library, id, true, &item, NULL))
        return false;
    bool has = film_read(&item.record, DOPPEL_VIDEO_CODES, &film);
    if (has) {
        has = sound ? film.sound != NULL : film.count > 0;
        doppel_video_track_free(&film);
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
        struct film_match *film = &answer->pair.film;
        if (film->picture && seeking->sound && !film->sounds_compared)
            film->sounds_compared = item_has(seeking->search->library, answer->id, true);
        if (film->sound && seeking->frames && !film->pictures_compared)
            film->pictures_compared = item_has(seeking->search->library, answer->id, false);
    }
}

static enum doppel_status refine_one(const struct film_search *search,
                                     const struct doppel_record *query, struct answer *answer,
                                     struct doppel_error *error)
{
    struct doppel_item item;
    if (doppel_library_get(search->library, answer->id, true, &item, NULL))
        return DOPPEL_OK;
    const struct film_side sides[2] = {{*search->file, query},
                                       {{item.path, &item.stamp}, &item.record}};
    enum doppel_status status =
        film_refine(search->looks, sides, &answer->pair.film.by_picture, error);
    doppel_item_free(&item);
    return status;
}

/* The ends of what was found by its picture, frame by frame. */
static enum doppel_status refine_found(const struct seeking *seeking,
                                       const struct doppel_record *query,
                                       struct doppel_error *error)
{
    const struct film_search *search = seeking->search;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = seeking->before; i < search->answers->items.count && !status; i++) {
        struct answer *answer = &search->answers->items.items[i];
        if (answer->pair.of_film && answer->pair.film.picture)
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
        if (answers->items.items[i].pair.of_film)
            answers->items.items[i].pair.match =
                *film_match_main(&answers->items.items[i].pair.film);
    return seeking->no_memory ? doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the matches")
                              : status;
}

enum doppel_status find_by_sound(const struct film_search *search,
                                 const struct doppel_record *query, struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    struct doppel_audio_track track;
    if (!sound_read(query, &track))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the sound is damaged");
    seeking.sound = true;
    enum doppel_status status = seek_sound(&seeking, &track, error);
    doppel_audio_track_free(&track);
    return end_search(&seeking, status, error);
}

enum doppel_status find_by_film(const struct film_search *search, const struct doppel_record *query,
                                struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    struct doppel_video_track film;
    struct doppel_audio_track sound;
    if (!film_read(query, DOPPEL_VIDEO_ALL, &film))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of the film is damaged");
    seeking.frames = film.count;
    enum doppel_status status = seeking.frames ? seek_frames(&seeking, &film, error) : DOPPEL_OK;
    seeking.sound = film_read_sound(&film, &sound);
    if (seeking.sound && !status && !seeking.no_memory)
        status = seek_sound(&seeking, &sound, error);
    if (seeking.sound)
        doppel_audio_track_free(&sound);
    doppel_video_track_free(&film);
    if (search->looks && !status && !seeking.no_memory)
        status = refine_found(&seeking, query, error);
    return end_search(&seeking, status, error);
}

enum doppel_status find_by_picture(const struct film_search *search,
                                   const struct doppel_match_item *picture,
                                   struct doppel_error *error)
{
    struct seeking seeking = seeking_of(search);
    const struct doppel_videos *videos;
    struct doppel_video_search options = video_search_from(search->settings);
    if (!search->known->has_film)
        return DOPPEL_OK;
    enum doppel_status status = doppel_library_videos(search->library, &videos, error);
    if (!status)
        status =
            doppel_videos_find_picture(videos, picture, &options, take_frames, &seeking, error);
    return end_search(&seeking, status, error);
}
