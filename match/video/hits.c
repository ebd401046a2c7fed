/* Looking up a query's frames, and what its codes weigh. */
#include <math.h>
#include <stdlib.h>

#include "match/video/search.h"
#include "match/votes.h"

enum {
    MOST_PLAIN = 16384, /* look-ups; of longer queries, some runs are looked up */
    MOST_IN_VIEWS = 2048,
    FEW_FRAMES = 1 << 18, /* of a set, among which no look-up takes long; of larger ones so many: */
    MOST_FAR_PLAIN = 256, /* beyond the near radius */
    MOST_FAR_IN_VIEWS = 128,
    THOROUGHLY = 8, /* times as many */
    MOST_HITS_A_CODE = 512,
    MOST_HITS = 1 << VOTER_BITS,
    SAME_CODE = 6 /* bits of 64 up to which an item has the very code */
};

struct look_ups {
    uint64_t *codes;
    struct video_hit *origins; /* run and view of each */
    size_t count, most;
};

uint64_t video_hit_group(const struct video_task *task, const struct video_hit *hit)
{
    const struct doppel_video_view *view = &task->views[hit->view].view;
    const unsigned of_query = view->middle ? 1 + DOPPEL_VIDEO_RECTANGLES : view->rectangle;
    const unsigned group = (of_query * VIDEO_PARTS + hit->part) * 2 + view->mirrored;
    return (uint64_t)hit->id << VIDEO_GROUP_BITS | group;
}

static size_t most_look_ups(const struct video_task *task, size_t first_view, uint32_t radius)
{
    bool in_views = task->views[first_view].stage > 0;
    size_t most = in_views ? MOST_IN_VIEWS : MOST_PLAIN;
    if (radius > VIDEO_RADIUS && task->frames > FEW_FRAMES)
        most = in_views ? MOST_FAR_IN_VIEWS : MOST_FAR_PLAIN;
    return task->options->thorough ? most * THOROUGHLY : most;
}

/* Every so many-th open run is looked up, other ones in each view. */
static void choose_video_task(struct video_task *task, size_t view, size_t stride,
                              struct look_ups *out)
{
    struct doppel_code code;
    size_t open = view, first = out->count;
    for (size_t i = 0; i < task->query->count && out->count < out->most; i++) {
        if (task->answered[i] || open++ % stride)
            continue;
        if (!video_view_code(task->query, i, &task->views[view].view, &code))
            continue;
        if (out->count > first && out->codes[out->count - 1] == code.word[0])
            continue;
        out->codes[out->count] = code.word[0];
        out->origins[out->count++] = (struct video_hit){.run = (uint32_t)i, .view = (uint16_t)view};
    }
}

static bool look_ups_make(struct video_task *task, size_t first_view, size_t end_view,
                          struct look_ups *out)
{
    size_t open = 0, views = end_view - first_view;
    out->codes = malloc(out->most * sizeof *out->codes);
    out->origins = malloc(out->most * sizeof *out->origins);
    if (!out->codes || !out->origins)
        return false;
    for (size_t i = 0; i < task->query->count; i++)
        open += !task->answered[i];
    size_t stride = (open * views + out->most - 1) / out->most;
    for (size_t view = first_view; stride && view < end_view; view++)
        choose_video_task(task, view, stride, out);
    return true;
}

/* ---- hits ---- */

struct collector {
    const struct look_ups *look_ups;
    ARRAY(struct video_hit) hits;
    bool out_of_memory;
};

static uint8_t part_of_payload(uint64_t payload)
{
    switch ((uint32_t)payload >> VIDEO_PART_SHIFT) {
    case 0:
        return VIDEO_PART_IMAGE;
    case 1:
        return VIDEO_PART_WHOLE;
    default:
        return VIDEO_PART_MIDDLE;
    }
}

static bool collect_frame_hit(void *context, const struct doppel_index_hit *hit)
{
    struct collector *collector = context;
    struct video_hit found = collector->look_ups->origins[hit->query];
    found.id = (uint32_t)(hit->payload >> 32);
    found.start_ms = (uint32_t)hit->payload & VIDEO_TIME_MASK;
    found.part = part_of_payload(hit->payload);
    found.distance = (uint8_t)hit->distance;
    if (!array_push(&collector->hits, found))
        collector->out_of_memory = true;
    return !collector->out_of_memory && collector->hits.count < MOST_HITS;
}

static bool sort_video_task(const struct video_task *task, struct video_hits *hits)
{
    size_t count = hits->count;
    uint64_t *keys = malloc((count + 1) * sizeof *keys);
    uint64_t *scratch = malloc((count + 1) * sizeof *scratch);
    struct video_hit *sorted = malloc((count + 1) * sizeof *sorted);
    bool done = keys && scratch && sorted;
    if (done) {
        for (size_t i = 0; i < count; i++)
            keys[i] = vote_hit(video_hit_group(task, &hits->items[i]), (uint32_t)i);
        const uint64_t *order =
            radix_sort(keys, scratch, count, VOTER_BITS, VOTER_BITS + 32 + VIDEO_GROUP_BITS);
        for (size_t i = 0; i < count; i++)
            sorted[i] = hits->items[vote_voter(order[i])];
        free(hits->items);
        hits->items = sorted;
        sorted = NULL;
    }
    free(sorted);
    free(scratch);
    free(keys);
    return done;
}

/* In how many items a code of the query is, says what it weighs. */
static bool weigh_video_task(struct video_task *task, const struct video_hits *hits)
{
    size_t runs = task->query->count;
    uint32_t *items = calloc(runs + 1, sizeof *items);
    uint32_t *last = calloc(runs + 1, sizeof *last);
    for (size_t i = 0; items && last && i < hits->count; i++) {
        const struct video_hit *hit = &hits->items[i];
        if (hit->distance > SAME_CODE || (items[hit->run] && last[hit->run] == hit->id))
            continue;
        items[hit->run]++;
        last[hit->run] = hit->id;
    }
    for (size_t i = 0; items && last && i < runs; i++)
        task->rarity[i] = fmin(task->rarity[i], video_score_rarity(items[i]));
    bool done = items && last;
    free(items);
    free(last);
    return done;
}

enum doppel_status videos_look_up(struct video_task *task, size_t first_view, size_t end_view,
                                  uint32_t radius, struct video_hits *out,
                                  struct doppel_error *error)
{
    struct look_ups look_ups = {.most = most_look_ups(task, first_view, radius)};
    struct collector collector = {.look_ups = &look_ups};
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (!look_ups_make(task, first_view, end_view, &look_ups))
        goto cleanup;
    struct doppel_index_request request = {.queries = look_ups.codes,
                                           .count = look_ups.count,
                                           .radius = radius,
                                           .cap = MOST_HITS_A_CODE};
    const struct doppel_index *index = videos_index(task->videos);
    status = index ? doppel_index_search(index, &request, collect_frame_hit, &collector, error)
                   : DOPPEL_OK;
    if (status == DOPPEL_E_CANCELLED)
        status = collector.out_of_memory ? DOPPEL_E_MEMORY : DOPPEL_OK;
    struct video_hits hits = {collector.hits.items, collector.hits.count};
    if (!status && !(sort_video_task(task, &hits) && weigh_video_task(task, &hits)))
        status = DOPPEL_E_MEMORY;
    collector.hits.items = hits.items;
    if (!status) {
        *out = hits;
        collector.hits.items = NULL;
    }
cleanup:
    free(collector.hits.items);
    free(look_ups.codes);
    free(look_ups.origins);
    if (status == DOPPEL_E_MEMORY)
        doppel_fail(error, status, "no memory for the frames of a video");
    return status;
}
