/* Pairs of videos: the same frames by their digest, the others by what they show. Each video looks
 * for its representative, and one that leads for what follows it: a crop of another finds it, but
 * is not found by it. Groups rest on the image. */
#include "group/timed.h"

#include <math.h>
#include <stdlib.h>

#include "compare/audio.h"
#include "compare/video.h"
#include "core/try.h"

/* Of two videos that are the same throughout. */
static const double LEAST_COVERAGE = .7;

/* ---- in ---- */

/* The frames alone; cells, and the audio, are had again when they are needed. */
static enum doppel_status pack_frames(const struct doppel_video_track *video, struct waiting *out,
                                      struct doppel_error *error)
{
    struct doppel_video_track frames = *video;
    frames.audio = NULL;
    frames.audio_size = 0;
    out->duration_ms = video->duration_ms < UINT32_MAX ? (uint32_t)video->duration_ms : UINT32_MAX;
    return doppel_video_track_write(&frames, DOPPEL_VIDEO_CODES, &out->packed, &out->size, error);
}

enum doppel_status grouping_add_video(struct grouping *grouping, const struct grouping_item *item,
                                      const struct doppel_record *record,
                                      struct doppel_error *error)
{
    struct doppel_video_track video;
    struct waiting waiting = {0};
    if (!video_read(record, DOPPEL_VIDEO_CODES, &video))
        return doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of %s is damaged", item->path);
    /* Without frames there is nothing but the bytes. */
    struct doppel_digest content =
        video.count ? doppel_digest_bytes(record->attachment, record->attachment_size)
                    : item->digest;
    enum doppel_status status = pack_frames(&video, &waiting, error);
    doppel_video_track_free(&video);
    if (status)
        return status;
    if (grouping->options->kind == DOPPEL_KIND_VIDEO)
        return timed_add(grouping, item, &content, waiting, error);
    struct grouping_item among = *item;
    among.pixels = content;
    return timed_add_among_images(grouping, &among, waiting, error);
}

/* ---- who leads ---- */

/* The search for representatives in progress. */
struct video_placing {
    struct grouping *grouping;
    struct doppel_videos *videos; /* all of them, by item number */
    struct group_lead *claims; /* by place in the order: the best representative that claimed it */
    bool *leads;               /* by place in the order */
    uint32_t at;               /* the place of the one at hand */
    struct group_lead best;    /* its representative; item UINT32_MAX: none so far */
    ARRAY(struct group_lead) found;  /* what it claims, if it leads */
    ARRAY(struct group_lead) insets; /* pictures in pictures, of any two */
    bool no_memory;
};

bool videos_load_frames(const struct grouping *grouping, uint32_t number,
                        struct doppel_video_track *out)
{
    struct grouping_item item = item_store_get(&grouping->items, number);
    const struct waiting *waiting = timed_waiting(grouping, number);
    if (grouping->options->video(grouping->options->context, &item, out))
        return true;
    return waiting && doppel_video_track_read(waiting->packed, waiting->size, DOPPEL_VIDEO_CODES,
                                              out, NULL) == DOPPEL_OK;
}

static bool load_audio(const struct grouping *grouping, uint32_t number,
                       struct doppel_audio_track *out)
{
    struct doppel_video_track video;
    if (!videos_load_frames(grouping, number, &video))
        return false;
    bool good = video_read_audio(&video, out);
    doppel_video_track_free(&video);
    return good;
}

/* Whether two videos that show a still image have the same audio, where both have any: songs of an
 * album show its cover. */
static bool audio_agree(const struct grouping *grouping, uint32_t query, uint32_t item)
{
    struct doppel_audio_options options = audio_options_from(&grouping->options->group->compare);
    struct doppel_audio_track a = {0}, b = {0};
    struct doppel_match match = {0};
    bool agree = true;
    if (load_audio(grouping, query, &a) && load_audio(grouping, item, &b)) {
        struct doppel_recording left = audio_of(&a), right = audio_of(&b);
        agree = doppel_match_recordings(&left, &right, &options, &match, NULL) == DOPPEL_OK &&
                match.segment_count;
        free((void *)match.segments);
    }
    doppel_audio_track_free(&a);
    doppel_audio_track_free(&b);
    return agree;
}

static bool is_near_in_time(double a, double b, double length)
{
    return fabs(a - b) <= fmax(1, length / 50);
}

/* Whether two videos are as long as each other, and most of what they share is at the same times
 * in both: the rest of them has too little structure in one of the two, as after more compression.
 */
static bool is_same_throughout(const struct grouping *grouping, const struct group_lead *lead)
{
    const struct doppel_match *match = &lead->match;
    double a = timed_duration(grouping, lead->item) / 1000.0;
    double b = timed_duration(grouping, lead->leader) / 1000.0;
    if (match->has_places || !is_near_in_time(a, b, a) || match->query_coverage < LEAST_COVERAGE ||
        match->item_coverage < LEAST_COVERAGE)
        return false;
    const struct doppel_segment *longest = longest_segment(match);
    return longest && is_near_in_time(longest->a_start, longest->b_start, a) &&
           is_near_in_time(longest->a_end, longest->b_end, a);
}

/* Whether `item` is led by `leader`, by a match whose query is the item. */
static bool is_led(const struct grouping *grouping, const struct group_lead *lead)
{
    const struct doppel_match *match = &lead->match;
    if (match->relation != DOPPEL_RELATION_SAME && match->relation != DOPPEL_RELATION_CONTAINED)
        return false;
    if (grouping_is_reference(grouping, lead->leader) &&
        grouping_is_reference(grouping, lead->item))
        return false;
    if (grouping_are_distinct(grouping, lead->leader, lead->item))
        return false;
    return match->similarity >= grouping->options->group->compare.min_similarity &&
           (!match->time_uncertain || audio_agree(grouping, lead->item, lead->leader));
}

/* Of a picture in a picture the one that shows it leads. @param lead its match may be turned */
static void lead_by_container(struct group_lead *lead)
{
    if (!lead->match.has_places || lead->match.relation != DOPPEL_RELATION_CONTAINS)
        return;
    const uint32_t item = lead->item;
    lead->item = lead->leader;
    lead->leader = item;
    timed_turn(lead);
}

/* Keep the better of two. @param lead taken */
static void keep_better(struct group_lead *best, const struct group_lead *lead)
{
    struct group_lead worse = *lead;
    if (best->item == UINT32_MAX || lead->match.score > best->match.score) {
        worse = *best;
        *best = *lead;
    }
    if (worse.item != UINT32_MAX)
        free((void *)worse.match.segments);
}

/* @param lead taken. @return false without memory */
static bool add_inset(struct video_placing *placing, const struct group_lead *lead)
{
    if (array_push(&placing->insets, *lead))
        return true;
    free((void *)lead->match.segments);
    return false;
}

static bool claim_found(void *context, const struct doppel_found *found)
{
    struct video_placing *placing = context;
    struct grouping *grouping = placing->grouping;
    uint32_t other = (uint32_t)found->id, here = grouping->waiting.items[placing->at].number;
    uint32_t place = grouping->waiting_at[other];
    bool later = place > placing->at;
    if (found->borderline) {
        placing->no_memory |= !near_pairs_add(grouping, here, other, &found->match);
        return !placing->no_memory && !doppel_run_cancelled(grouping->options->run);
    }
    if (place == placing->at || (!later && !placing->leads[place]))
        return !doppel_run_cancelled(placing->grouping->options->run);
    struct group_lead lead = {later ? other : here, later ? here : other, found->match, false};
    placing->no_memory |= !copy_segments(&lead.match);
    if (later)
        timed_turn(&lead);
    if (is_same_throughout(grouping, &lead))
        lead.match.relation = DOPPEL_RELATION_SAME;
    lead_by_container(&lead);
    if (!is_led(grouping, &lead)) {
        free((void *)lead.match.segments);
    } else if (lead.match.has_places) {
        placing->no_memory |= !add_inset(placing, &lead);
    } else if (!later) {
        keep_better(&placing->best, &lead);
    } else if (!array_push(&placing->found, lead)) {
        free((void *)lead.match.segments);
        placing->no_memory = true;
    }
    return !placing->no_memory && !doppel_run_cancelled(placing->grouping->options->run);
}

/* What was found to follow is claimed by one that leads, else forgotten. */
static void settle_claims(struct video_placing *placing, bool leads)
{
    for (size_t i = 0; i < placing->found.count; i++) {
        struct group_lead *lead = &placing->found.items[i];
        if (leads)
            keep_better(&placing->claims[placing->grouping->waiting_at[lead->item]], lead);
        else
            free((void *)lead->match.segments);
    }
    placing->found.count = 0;
}

static enum doppel_status search_leaders(struct video_placing *placing, uint32_t number,
                                         struct doppel_error *error)
{
    const struct grouping *grouping = placing->grouping;
    struct doppel_video_search options = video_search_from(&grouping->options->group->compare);
    struct doppel_video_track video;
    if (!near_pairs_wanted(grouping))
        options.near_misses = 0;
    if (!videos_load_frames(grouping, number, &video))
        return DOPPEL_OK;
    enum doppel_status status = video.count ? doppel_videos_find(placing->videos, &video, &options,
                                                                 claim_found, placing, error)
                                            : DOPPEL_OK;
    doppel_video_track_free(&video);
    if (placing->no_memory)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for the pairs");
    return status;
}

static enum doppel_status place_video(void *context, const struct waiting *waiting,
                                      struct doppel_error *error)
{
    struct video_placing *placing = context;
    enum doppel_status status = DOPPEL_OK;
    placing->at = placing->grouping->waiting_at[waiting->number];
    placing->best = placing->claims[placing->at];
    if (placing->best.item == UINT32_MAX)
        status = search_leaders(placing, waiting->number, error);
    bool leads = placing->best.item == UINT32_MAX;
    placing->leads[placing->at] = leads;
    settle_claims(placing, leads && !status);
    placing->claims[placing->at].item = UINT32_MAX;
    if (leads)
        return status;
    enum doppel_status added = timed_add_lead(placing->grouping, &placing->best, error);
    return status ? status : added;
}

static int best_inset_first(const void *left, const void *right)
{
    const struct group_lead *a = left, *b = right;
    if (a->match.score != b->match.score)
        return a->match.score > b->match.score ? -1 : 1;
    return a->item != b->item ? (a->item > b->item) - (a->item < b->item)
                              : (a->leader > b->leader) - (a->leader < b->leader);
}

/* What nobody follows, and is no copy of another one, follows the video that shows it. */
static enum doppel_status join_insets(struct video_placing *placing, bool *followed,
                                      struct doppel_error *error)
{
    struct grouping *grouping = placing->grouping;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < grouping->leads.count; i++)
        followed[grouping->waiting_at[grouping->leads.items[i].leader]] = true;
    if (placing->insets.count)
        qsort(placing->insets.items, placing->insets.count, sizeof *placing->insets.items,
              best_inset_first);
    for (size_t i = 0; i < placing->insets.count && !status; i++) {
        struct group_lead *inset = &placing->insets.items[i];
        const uint32_t item = grouping->waiting_at[inset->item],
                       leader = grouping->waiting_at[inset->leader];
        if (!placing->leads[item] || !placing->leads[leader] || followed[item])
            continue;
        placing->leads[item] = false;
        followed[leader] = true;
        status = timed_add_lead(grouping, inset, error);
        inset->match.segments = NULL;
    }
    return status;
}

static enum doppel_status add_all(struct video_placing *placing, struct doppel_error *error)
{
    const struct grouping *grouping = placing->grouping;
    enum doppel_status status = doppel_videos_new(&placing->videos, error);
    for (size_t i = 0; i < grouping->waiting.count && !status; i++) {
        const struct waiting *waiting = &grouping->waiting.items[i];
        struct doppel_video_track video;
        status = doppel_video_track_read(waiting->packed, waiting->size, DOPPEL_VIDEO_CODES, &video,
                                         error);
        if (status)
            break;
        if (video.count)
            status = doppel_videos_add(placing->videos, waiting->number, &video, error);
        doppel_video_track_free(&video);
    }
    return status;
}

enum doppel_status videos_find_leaders(struct grouping *grouping, struct doppel_error *error)
{
    size_t count = grouping->waiting.count;
    struct video_placing placing = {.grouping = grouping,
                                    .claims = calloc(count + 1, sizeof *placing.claims),
                                    .leads = calloc(count + 1, sizeof *placing.leads)};
    bool *followed = calloc(count + 1, sizeof *followed);
    bool room = placing.claims && placing.leads && followed;
    for (size_t i = 0; i < count && room; i++)
        placing.claims[i].item = UINT32_MAX;
    enum doppel_status status;
    TRY(room ? timed_order(grouping, error)
             : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to compare %zu videos", count));
    TRY(add_all(&placing, error));
    TRY(timed_place_all(grouping, "videos compared", place_video, &placing, error));
    TRY(join_insets(&placing, followed, error));
    timed_sort_leads(grouping);
done:
    for (size_t i = 0; i < count && room; i++)
        if (placing.claims[i].item != UINT32_MAX)
            free((void *)placing.claims[i].match.segments);
    doppel_videos_free(placing.videos);
    for (size_t i = 0; i < placing.insets.count; i++)
        free((void *)placing.insets.items[i].match.segments);
    array_free(&placing.insets);
    array_free(&placing.found);
    free(followed);
    free(placing.claims);
    free(placing.leads);
    return status;
}

/* ---- what one is to another ---- */

bool videos_compare(const struct grouping *grouping, uint32_t query, uint32_t item,
                    struct doppel_match *out)
{
    struct doppel_video_search options = video_search_from(&grouping->options->group->compare);
    struct doppel_video_track a = {0}, b = {0};
    if (timed_joined(grouping, query, item, out))
        return true;
    bool done = videos_load_frames(grouping, query, &a) && videos_load_frames(grouping, item, &b) &&
                doppel_match_videos(&a, &b, &options, out, NULL) == DOPPEL_OK;
    doppel_video_track_free(&a);
    doppel_video_track_free(&b);
    if (done && is_same_throughout(grouping, &(struct group_lead){query, item, *out, false}))
        out->relation = DOPPEL_RELATION_SAME;
    return done;
}

static bool is_whole(const struct grouping *grouping, uint32_t item)
{
    const struct group_lead *lead = timed_lead(grouping, item);
    if (!lead || lead->match.has_places)
        return true;
    double seconds = timed_duration(grouping, lead->leader) / 1000.0;
    double lacks = seconds * (1 - lead->match.item_coverage);
    return lead->match.relation == DOPPEL_RELATION_SAME &&
           (lacks <= 1 || lacks <= seconds / 50 || is_same_throughout(grouping, lead));
}

int videos_prefer(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    return is_whole(grouping, a) - is_whole(grouping, b);
}
