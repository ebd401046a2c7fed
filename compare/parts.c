/* Pictures compared by their parts. */
#include "compare/parts.h"

#include <math.h>

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
    return record->scheme == DOPPEL_SCHEME_LOCAL;
}

bool parts_read(const struct doppel_record *record, struct doppel_fingerprint *out)
{
    return is_of_parts(record) && record->attachment &&
           !doppel_fingerprint_read(record->attachment, record->attachment_size, out, NULL);
}

bool parts_are_few(const struct doppel_record *record)
{
    struct doppel_fingerprint points;
    if (!parts_read(record, &points))
        return false;
    const bool few = points.count < POINTS_LEAST;
    doppel_fingerprint_free(&points);
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

enum doppel_status parts_match(const struct doppel_compare_options *compare,
                               const struct doppel_record *a, const struct doppel_record *b,
                               struct doppel_comparison *out, struct doppel_error *error)
{
    const struct doppel_local_options options = parts_options_from(compare);
    struct doppel_fingerprint query = {0}, item = {0};
    struct doppel_local_verdict verdict;
    enum doppel_status status = DOPPEL_OK;
    if (!parts_read(a, &query) || !parts_read(b, &item))
        TRY(doppel_fail(error, DOPPEL_E_CORRUPT, "what is known of a picture is damaged"));
    TRY(doppel_local_verify(&query, &item, &options, &verdict, error));
    describe_parts(&verdict, (struct picture_size){a->width, a->height},
                   (struct picture_size){b->width, b->height}, &out->match);
    out->matches = verdict.inliers && verdict.false_positive_rate <= options.max_false_positives &&
                   out->match.similarity >= compare->min_similarity;
done:
    doppel_fingerprint_free(&query);
    doppel_fingerprint_free(&item);
    return status;
}
