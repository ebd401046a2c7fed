/* Pictures compared by their parts. */
#include "compare/parts.h"

#include <math.h>
#include <stdlib.h>

#include "core/try.h"

enum {
    POINTS_LEAST = 8, /* fewer tell nothing */
    CORNERS = 4,
    CORNERS_MOST = 8, /* of a quadrangle of which four half-planes are cut off */
};

/* So much of a picture is all of it: what lies at its edge has no keypoints. */
static const double ALL_OF_IT = .8;
/* Where what was met fills less of what both could show, they share no more than was met. */
static const double LEAST_FILLED = .3;

bool is_of_parts(const struct doppel_record *record)
{
    return record->scheme == DOPPEL_SCHEME_LOCAL || record->scheme == DOPPEL_SCHEME_FRAMES128;
}

bool parts_read(const struct doppel_record *record, struct doppel_local_video *out)
{
    return is_of_parts(record) && record->attachment &&
           !doppel_local_read(record->scheme, record->attachment, record->attachment_size, out,
                              NULL);
}

bool parts_are_few(const struct doppel_record *record)
{
    struct doppel_local_video video;
    bool few = true;
    if (!parts_read(record, &video))
        return false;
    for (uint32_t i = 0; i < video.count && few; i++)
        few = video.frames[i].points.count < POINTS_LEAST;
    doppel_local_video_free(&video);
    return few;
}

struct doppel_local_options parts_options_from(const struct doppel_compare_options *compare)
{
    struct doppel_local_options options = doppel_local_options_default();
    if (compare->max_false_positives >= 0)
        options.max_false_positives = compare->max_false_positives;
    options.mirrored = compare->orientations;
    options.near_misses = compare->near_misses;
    return options;
}

/* ---- how much of each ---- */

struct corner {
    double x, y;
};

struct polygon {
    size_t count;
    struct corner corners[CORNERS_MOST];
};

static double area_of(const struct polygon *polygon)
{
    double twice = 0;
    for (size_t i = 0; i < polygon->count; i++) {
        const struct corner *a = &polygon->corners[i],
                            *b = &polygon->corners[(i + 1) % polygon->count];
        twice += a->x * b->y - b->x * a->y;
    }
    return fabs(twice) / 2;
}

/* How far a corner lies within one of the four sides of a frame that begins at 0, 0. */
static double within_side(struct corner corner, int side, struct corner frame)
{
    return side == 0   ? corner.x
           : side == 1 ? corner.y
           : side == 2 ? frame.x - corner.x
                       : frame.y - corner.y;
}

/* What of a polygon lies within a side (Sutherland and Hodgman). */
static struct polygon cut_off(const struct polygon *from, int side, struct corner frame)
{
    struct polygon out = {0};
    for (size_t i = 0; i < from->count; i++) {
        struct corner a = from->corners[i], b = from->corners[(i + 1) % from->count];
        const double at_a = within_side(a, side, frame), at_b = within_side(b, side, frame);
        if (at_a >= 0 && out.count < CORNERS_MOST)
            out.corners[out.count++] = a;
        if ((at_a >= 0) != (at_b >= 0) && out.count < CORNERS_MOST) {
            const double share = at_a / (at_a - at_b);
            out.corners[out.count++] =
                (struct corner){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
        }
    }
    return out;
}

/* A size in longer sides. */
static struct corner frame_of(struct picture_size size)
{
    const double longer = size.width > size.height ? size.width : size.height;
    if (longer < 1)
        return (struct corner){1, 1};
    return (struct corner){size.width / longer, size.height / longer};
}

/* Where a place of the item lies in the query. */
static struct corner place_in_query(const struct doppel_local_where *where, struct corner of_item)
{
    const double turn = where->query.angle * M_PI / 180;
    double x = where->scale * (of_item.x - where->item.x),
           y = where->scale * (of_item.y - where->item.y);
    if (where->mirrored)
        x = -x;
    return (struct corner){where->query.x + x * cos(turn) - y * sin(turn),
                           where->query.y + x * sin(turn) + y * cos(turn)};
}

/* The frame of the item, laid over the query and cut to it. */
static struct polygon common_frame(const struct doppel_local_where *where, struct corner query,
                                   struct corner item)
{
    const struct corner corners[CORNERS] = {{0, 0}, {item.x, 0}, {item.x, item.y}, {0, item.y}};
    struct polygon common = {.count = CORNERS};
    for (size_t i = 0; i < CORNERS; i++)
        common.corners[i] = place_in_query(where, corners[i]);
    for (int side = 0; side < 4; side++)
        common = cut_off(&common, side, query);
    return common;
}

static double share_of_area(double part, double whole)
{
    return whole > 0 ? fmin(1, part / whole) : 0;
}

static enum doppel_relation relation_of(const struct doppel_match *match)
{
    const bool all_of_query = match->query_coverage >= ALL_OF_IT,
               all_of_item = match->item_coverage >= ALL_OF_IT;
    return all_of_query && all_of_item ? DOPPEL_RELATION_SAME
           : all_of_query              ? DOPPEL_RELATION_CONTAINED
           : all_of_item               ? DOPPEL_RELATION_CONTAINS
                                       : DOPPEL_RELATION_OVERLAPS;
}

/* Where one lies in the other, both show all that their frames have in common; but pictures that
 * share a logo, say, share no more. */
static void describe_coverage(const struct doppel_local_where *where, struct corner query,
                              struct corner item, struct doppel_match *out)
{
    const struct polygon common = common_frame(where, query, item);
    const double met = where->query.width * where->query.height, both = area_of(&common);
    const double area = met < LEAST_FILLED * both ? met : both;
    const double item_area = where->scale * where->scale * item.x * item.y;
    out->has_coverage = true;
    out->query_coverage = share_of_area(area, query.x * query.y);
    out->item_coverage = share_of_area(area, item_area);
    out->relation = relation_of(out);
}

/* ---- what is said of it ---- */

/* Where a place of the query lies in the item. */
static struct corner place_in_item(const struct doppel_local_where *where, struct corner of_query)
{
    const double turn = where->query.angle * M_PI / 180;
    const double x = of_query.x - where->query.x, y = of_query.y - where->query.y;
    const double across = (x * cos(turn) + y * sin(turn)) / where->scale,
                 down = (y * cos(turn) - x * sin(turn)) / where->scale;
    return (struct corner){where->item.x + (where->mirrored ? -across : across),
                           where->item.y + down};
}

/* The smallest upright rectangle of the item around what both frames have in common. */
static struct doppel_local_rectangle common_of_item(const struct doppel_local_where *where,
                                                    const struct polygon *common)
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
    for (size_t i = 0; i < common->count; i++) {
        const struct corner at = place_in_item(where, common->corners[i]);
        left = fmin(left, at.x);
        top = fmin(top, at.y);
        right = fmax(right, at.x);
        bottom = fmax(bottom, at.y);
    }
    return (struct doppel_local_rectangle){.x = (left + right) / 2,
                                           .y = (top + bottom) / 2,
                                           .width = right - left,
                                           .height = bottom - top};
}

/* What two lengths along an axis, each around a middle, have in common. */
static void cut_stretch(double *middle, double *length, double other_middle, double other_length)
{
    const double from = fmax(*middle - *length / 2, other_middle - other_length / 2),
                 to = fmin(*middle + *length / 2, other_middle + other_length / 2);
    *middle = (from + to) / 2;
    *length = fmax(0, to - from);
}

/* Only what lies within both frames: what was met at an edge reaches beyond it. */
static struct doppel_local_where cut_to_frames(const struct doppel_local_where *where,
                                               struct corner query, struct corner item)
{
    struct doppel_local_where cut = *where;
    const struct polygon common = common_frame(where, query, item);
    if (common.count) {
        const struct doppel_local_rectangle of_item = common_of_item(where, &common);
        cut_stretch(&cut.item.x, &cut.item.width, of_item.x, of_item.width);
        cut_stretch(&cut.item.y, &cut.item.height, of_item.y, of_item.height);
    }
    const struct corner middle = place_in_query(where, (struct corner){cut.item.x, cut.item.y});
    cut.query.x = middle.x;
    cut.query.y = middle.y;
    cut.query.width = cut.item.width * where->scale;
    cut.query.height = cut.item.height * where->scale;
    return cut;
}

/* An angle as it is printed, in tenths. */
static double turned_by(double angle)
{
    return angle > 360 - .05 ? 0 : angle;
}

static struct doppel_place place_shown(const struct doppel_local_rectangle *rectangle,
                                       struct corner frame)
{
    return (struct doppel_place){.left = (rectangle->x - rectangle->width / 2) / frame.x,
                                 .top = (rectangle->y - rectangle->height / 2) / frame.y,
                                 .right = (rectangle->x + rectangle->width / 2) / frame.x,
                                 .bottom = (rectangle->y + rectangle->height / 2) / frame.y,
                                 .angle = turned_by(rectangle->angle)};
}

void describe_parts(const struct doppel_local_verdict *verdict, struct picture_size query,
                    struct picture_size item, struct doppel_match *out)
{
    const struct corner query_frame = frame_of(query), item_frame = frame_of(item);
    const double rate = verdict->false_positive_rate;
    *out = (struct doppel_match){.kind = DOPPEL_KIND_IMAGE,
                                 .scheme = DOPPEL_SCHEME_LOCAL,
                                 .relation = DOPPEL_RELATION_OVERLAPS,
                                 .verified = DOPPEL_VERIFIED_ALIGNMENT,
                                 .distance = verdict->distance,
                                 .bits = DOPPEL_LOCAL_BITS,
                                 .score = rate > 0 && rate < 1 ? -log10(rate) : 0,
                                 .false_positive_rate = rate};
    if (!verdict->inliers)
        return;
    const struct doppel_local_where where = cut_to_frames(&verdict->where, query_frame, item_frame);
    out->similarity = fmax(0, 1 - 2. * verdict->distance / DOPPEL_LOCAL_BITS);
    out->transform.mirrored = where.mirrored;
    out->has_places = true;
    out->query_place = place_shown(&where.query, query_frame);
    out->item_place = place_shown(&where.item, item_frame);
    describe_coverage(&where, query_frame, item_frame, out);
}

/* ---- when ---- */

static uint64_t add_times(const struct doppel_local_verdict *verdict, struct doppel_segment *out)
{
    uint64_t query_ms = 0;
    for (size_t i = 0; i < verdict->span_count; i++) {
        const struct doppel_local_span *span = &verdict->spans[i];
        out[i] = (struct doppel_segment){.a_start = span->query_from_ms / 1000.,
                                         .a_end = span->query_to_ms / 1000.,
                                         .b_start = span->item_from_ms / 1000.,
                                         .b_end = span->item_to_ms / 1000.,
                                         .speed = 1};
        query_ms += span->query_to_ms - span->query_from_ms;
    }
    return query_ms;
}

static int compare_item_times(const void *left, const void *right)
{
    const struct doppel_segment *a = left, *b = right;
    return (a->b_start > b->b_start) - (a->b_start < b->b_start);
}

/* What the segments cover of the item, each second once. @param segments in any order, after it in
 * that of the item */
static double item_seconds(struct doppel_segment *segments, size_t count)
{
    double sum = 0, until = 0;
    qsort(segments, count, sizeof *segments, compare_item_times);
    for (size_t i = 0; i < count; i++) {
        sum += fmax(0, segments[i].b_end - fmax(until, segments[i].b_start));
        until = fmax(until, segments[i].b_end);
    }
    return sum;
}

static double share_of_time(double seconds, uint64_t whole_ms)
{
    return whole_ms ? fmin(1, seconds * 1000 / (double)whole_ms) : 1;
}

bool describe_part_times(const struct doppel_local_verdict *verdict, uint64_t query_ms,
                         uint64_t item_ms, struct doppel_match *match)
{
    const size_t count = verdict->span_count;
    if (!count)
        return true;
    struct doppel_segment *by_item = malloc(count * sizeof *by_item),
                          *segments = malloc(count * sizeof *segments);
    if (!by_item || !segments) {
        free(by_item);
        free(segments);
        return false;
    }
    (void)add_times(verdict, by_item);
    const double of_query = (double)add_times(verdict, segments) / 1000;
    match->kind = DOPPEL_KIND_VIDEO;
    match->scheme = DOPPEL_SCHEME_FRAMES128;
    match->segments = segments;
    match->segment_count = count;
    match->time_uncertain = verdict->time_uncertain;
    match->query_coverage *= share_of_time(of_query, query_ms);
    match->item_coverage *= share_of_time(item_seconds(by_item, count), item_ms);
    match->relation = relation_of(match);
    free(by_item);
    return true;
}

/* ---- two records ---- */

struct one_verdict {
    struct parts_pair {
        const struct doppel_record *a, *b;
        uint64_t a_ms, b_ms;
    } pair;
    double min_similarity;
    struct doppel_comparison *out;
    bool no_memory;
};

static bool take_verdict(void *context, uint64_t id, bool is_match,
                         const struct doppel_local_verdict *verdict)
{
    (void)id;
    struct one_verdict *one = context;
    const struct doppel_record *a = one->pair.a, *b = one->pair.b;
    struct doppel_match *match = &one->out->match;
    describe_parts(verdict, (struct picture_size){a->width, a->height},
                   (struct picture_size){b->width, b->height}, match);
    one->no_memory = !describe_part_times(verdict, one->pair.a_ms, one->pair.b_ms, match);
    one->out->matches = is_match && match->similarity >= one->min_similarity;
    return false;
}

/* By the frames of which a library would keep the item. */
static enum doppel_status match_videos_by_parts(const struct doppel_local_options *options,
                                                const struct doppel_local_video *query,
                                                const struct doppel_local_video *item,
                                                struct one_verdict *one, struct doppel_error *error)
{
    struct doppel_local_set *set = NULL;
    enum doppel_status status;
    TRY(doppel_local_set_new(&set, error));
    TRY(doppel_local_set_add_video(set, 0, item, error));
    status = doppel_local_find_video(set, query, options, take_verdict, one, error);
    status = status == DOPPEL_E_CANCELLED ? DOPPEL_OK : status;
    if (one->no_memory)
        status = doppel_fail(error, DOPPEL_E_MEMORY, "no memory for a match");
done:
    doppel_local_set_free(set);
    return status;
}

static enum doppel_status match_pictures_by_parts(const struct doppel_local_options *options,
                                                  const struct doppel_local_video *query,
                                                  const struct doppel_local_video *item,
                                                  struct one_verdict *one,
                                                  struct doppel_error *error)
{
    struct doppel_local_verdict verdict;
    enum doppel_status status = doppel_local_verify(&query->frames->points, &item->frames->points,
                                                    options, &verdict, error);
    if (!status)
        take_verdict(one, 0,
                     verdict.inliers && verdict.false_positive_rate <= options->max_false_positives,
                     &verdict);
    return status;
}

enum doppel_status parts_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error)
{
    struct doppel_local_options options = parts_options_from(compare);
    struct doppel_local_video query = {0}, item = {0};
    const bool videos = a->kind == DOPPEL_KIND_VIDEO || b->kind == DOPPEL_KIND_VIDEO;
    struct one_verdict one = {
        .pair = {a, b, 0, 0}, .min_similarity = compare->min_similarity, .out = out};
    const struct doppel_local_verdict nothing = {.false_positive_rate = 1};
    enum doppel_status status = DOPPEL_OK;
    options.near_misses = 1; /* what is below the threshold is told, too */
    if (!parts_read(a, &query) || !parts_read(b, &item))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of a picture is damaged"));
    one.pair.a_ms = query.duration_ms;
    one.pair.b_ms = item.duration_ms;
    take_verdict(&one, 0, false, &nothing);
    if (videos) {
        out->match.kind = DOPPEL_KIND_VIDEO;
        out->match.scheme = DOPPEL_SCHEME_FRAMES128;
        TRY(match_videos_by_parts(&options, &query, &item, &one, error));
    } else if (query.count && item.count) {
        TRY(match_pictures_by_parts(&options, &query, &item, &one, error));
    }
done:
    doppel_local_video_free(&query);
    doppel_local_video_free(&item);
    return status;
}
