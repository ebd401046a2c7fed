/* Finding the videos that show a picture, and when. */
#include <math.h>
#include <stdlib.h>

#include "core/try.h"
#include "match/video/search.h"

enum {
    VIEWS = 2,           /* full, trimmed */
    CODES = 2 * VIEWS,   /* and mirrored */
    MOST_HITS = 1 << 14, /* a code */
    MOST_MISSES = 64     /* items in a row that do not show it */
};

struct found_image {
    struct doppel_code codes[CODES];
    size_t count;
    double weight;  /* of what its frames tell, by how much structure it has */
    double choices; /* log10 of the frames that chance had the choice of */
    double enough;
};

/* The full frame, and without borders where it has some; as they are, then mirrored. */
static size_t image_query_codes(const struct doppel_fingerprint *fingerprint,
                                struct doppel_code *out)
{
    size_t count = 0;
    for (unsigned mirrored = 0; mirrored < 2; mirrored++)
        for (size_t i = 0; i < fingerprint->count && count < CODES; i++)
            if (fingerprint->positions[i] == DOPPEL_VIEW_FULL ||
                fingerprint->positions[i] == DOPPEL_VIEW_TRIMMED)
                out[count++] = doppel_image_orient(&fingerprint->codes[i], mirrored);
    return count;
}

static struct found_image image_view(const struct doppel_match_item *item, uint64_t frames,
                                     const struct doppel_video_search *options)
{
    const struct video_view as_it_is = {.class = VIDEO_CLASS_PLAIN};
    float structure = (float)fmin(item->quality / 100.0, 1);
    struct found_image image = {.weight = video_score_weight(&as_it_is, structure),
                                .enough = -log10(options->max_expected)};
    image.count = image_query_codes(item->fingerprint, image.codes);
    image.choices = log10((double)(frames + 1) * CODES);
    return image;
}

/* ---- one video ---- */

/* The nearest code to a frame. @return its number */
static size_t nearest_shown_image(const struct found_image *image, const struct doppel_code *code,
                                  uint32_t *out_distance)
{
    size_t best = 0;
    *out_distance = UINT32_MAX;
    for (size_t i = 0; i < image->count; i++) {
        uint32_t distance = doppel_code_distance(&image->codes[i], code, 256);
        if (distance >= *out_distance)
            continue;
        *out_distance = distance;
        best = i;
    }
    return best;
}

static struct video_stretch stretch_of(const struct found_image *image,
                                       const struct doppel_video_track *item, uint32_t run)
{
    uint32_t distance;
    size_t code = nearest_shown_image(image, &item->frames[run].code, &distance);
    return (struct video_stretch){
        .segment = {.b_start = video_shown_from(item, run),
                    .b_end = video_shown_until(item, run),
                    .speed = 1},
        .score = video_score_still(distance) * image->weight - image->choices,
        .distance = distance,
        .view = {.mirrored = code >= image->count / 2, .warp = {.scale_x = 1, .scale_y = 1}}};
}

/* One showing of several runs is one. */
static bool add_shown_image(video_stretches *stretches, const struct video_stretch *next)
{
    struct video_stretch *last = stretches->count ? &stretches->items[stretches->count - 1] : NULL;
    if (!last || next->segment.b_start - last->segment.b_end > VIDEO_SAMPLED)
        return array_push(stretches, *next);
    double end = next->segment.b_end, start = last->segment.b_start;
    if (next->score > last->score)
        *last = *next;
    last->segment.b_start = start;
    last->segment.b_end = end;
    return true;
}

static bool search_frames_for_image(const struct found_image *image, const struct video_item *item,
                                    struct video_finding *finding)
{
    struct video_stretch near = {.score = -HUGE_VAL};
    finding->seconds = video_shown(&item->track);
    for (uint32_t run = 0; run < item->track.count; run++) {
        struct video_stretch stretch = stretch_of(image, &item->track, run);
        near = stretch.score > near.score ? stretch : near;
        if (stretch.score >= image->enough && !add_shown_image(&finding->stretches, &stretch))
            return false;
    }
    finding->rejected = !finding->stretches.count;
    return !finding->rejected || !item->track.count || array_push(&finding->stretches, near);
}

/* ---- all videos ---- */

/* Items in the order in which they are looked at. */
struct near_item {
    uint64_t id;
    uint32_t distance;
};

typedef ARRAY(struct near_item) near_items;

static bool collect_image_hit(void *context, const struct doppel_index_hit *hit)
{
    struct near_item item = {hit->payload >> 32, hit->distance};
    return array_push((near_items *)context, item);
}

static int compare_image_hit_ids(const void *a, const void *b)
{
    const struct near_item *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

static int by_distance(const void *a, const void *b)
{
    const struct near_item *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Each item once, the nearest first. */
static void sort_image_hits(near_items *items)
{
    size_t kept = 0;
    if (!items->count)
        return;
    qsort(items->items, items->count, sizeof *items->items, compare_image_hit_ids);
    for (size_t i = 0; i < items->count; i++)
        if (!i || items->items[i].id != items->items[kept - 1].id)
            items->items[kept++] = items->items[i];
    items->count = kept;
    qsort(items->items, items->count, sizeof *items->items, by_distance);
}

static enum doppel_status look_up_videos(const struct doppel_videos *videos,
                                         const struct found_image *image, near_items *out,
                                         struct doppel_error *error)
{
    uint64_t codes[CODES];
    for (size_t i = 0; i < image->count; i++)
        codes[i] = image->codes[i].word[0];
    struct doppel_index_request request = {
        .queries = codes, .count = image->count, .radius = VIDEO_RADIUS_FAR, .cap = MOST_HITS};
    const struct doppel_index *index = videos_index(videos);
    if (!index)
        return DOPPEL_OK;
    enum doppel_status status = doppel_index_search(index, &request, collect_image_hit, out, error);
    if (status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory for %zu frames", out->count);
    sort_image_hits(out);
    return status;
}

static bool verify_videos(const struct doppel_videos *videos, const struct found_image *image,
                          const near_items *items, video_findings *findings)
{
    size_t misses = 0;
    for (size_t i = 0; i < items->count && misses < MOST_MISSES; i++) {
        struct video_finding finding = {.id = items->items[i].id};
        struct video_item item;
        if (!videos_item(videos, finding.id, &item))
            continue;
        bool done =
            search_frames_for_image(image, &item, &finding) && array_push(findings, finding);
        videos_item_free(&item);
        if (!done) {
            array_free(&finding.stretches);
            return false;
        }
        misses = finding.rejected ? misses + 1 : 0;
    }
    return true;
}

enum doppel_status doppel_videos_find_image(const struct doppel_videos *videos,
                                            const struct doppel_match_item *image,
                                            const struct doppel_video_search *options,
                                            doppel_found_visitor *visitor, void *context,
                                            struct doppel_error *error)
{
    const struct doppel_fingerprint *fingerprint = image->fingerprint;
    if (fingerprint->scheme != DOPPEL_SCHEME_PHASH64 || fingerprint->code_bits != 256)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "only pictures of scheme phash64 are looked for in videos");
    if (image->quality < DOPPEL_IMAGE_MIN_QUALITY)
        return DOPPEL_OK;
    struct found_image wanted = image_view(image, doppel_videos_frames(videos), options);
    const struct video_visit visit = {NULL, options->near_misses, visitor, context};
    near_items items = {0};
    video_findings findings = {0};
    enum doppel_status status;
    TRY(look_up_videos(videos, &wanted, &items, error));
    if (!verify_videos(videos, &wanted, &items, &findings))
        TRY(doppel_fail(error, DOPPEL_E_MEMORY, "no memory for what was found"));
    TRY(video_findings_visit(&findings, &visit, error));
done:
    video_findings_free(&findings);
    array_free(&items);
    return status;
}
