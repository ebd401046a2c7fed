/* Judging two pictures: near codes make pairs of points, pairs tell poses, of which the one is
 * taken that most others agree with; and how likely so many are by chance. */
#include "local/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/log_gamma.h"

enum {
    ALIKE_DISTANCE = 32, /* bits in which points of one picture differ that tell the same */
    ABOUT_AS_NEAR = 5,   /* bits more than a pair that others are compared with */
    LEAST_ALIKE = 2,     /* others in the query make a pattern */
    PAIR_DISTANCE = 30,  /* bits that a pair of points may differ in */
    PAIRS_OF_POINT = 4,  /* nearest of them that are looked at */
    ANCHORS = 128,       /* pairs whose poses are tried */
    LEAST_INLIERS = 5,   /* fewer are met by chance in patterns */
    ROUNDS = 4,          /* of fitting */
    ANGLE_SLACK = 7,     /* of a point's angle */
    SCALE_SLACK = 3,
};

struct point_pair {
    uint32_t query, item, distance;
};

typedef ARRAY(struct point_pair) pair_array;

/* What is looked at. */
struct point_pairing {
    const struct pose_points *query, *item;
    const struct angle_order *order; /* of the query */
    pair_array pairs;                /* by item point */
};

/* ---- chance ---- */

/* So many more unrelated pictures are as near as the model of codes has it (docs/figures.md). */
static const double TAIL = 4;

/* -ln of the share of pairs of points of unrelated pictures that differ in so many bits at most. */
static double code_surprise(uint32_t distance)
{
    double off = (46.5 - distance) / 6.6;
    if (off <= 0)
        return .7;
    /* the tail of a normal distribution */
    return .5 * off * off + log(2.5066 * (off + sqrt(off * off + 4)) / 2 + .01);
}

double verify_rate(double surprise)
{
    double rate = TAIL * exp(-fmin(surprise, 600)); /* a number above 0, also times others */
    return rate < 1 ? rate : 1;
}

static double log_choose(double n, double k)
{
    return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

/* ---- queries ---- */

static bool order_by_angle(const struct pose_points *points, struct angle_order *out)
{
    uint32_t *numbers = malloc((points->count + 1) * sizeof *numbers);
    if (!numbers)
        return false;
    *out = (struct angle_order){.numbers = numbers};
    for (size_t i = 0; i < points->count; i++)
        out->starts[points->items[i].angle + 1]++;
    for (size_t i = 0; i < POSITION_ANGLES; i++)
        out->starts[i + 1] += out->starts[i];
    uint32_t next[POSITION_ANGLES];
    memcpy(next, out->starts, sizeof next);
    for (uint32_t i = 0; i < points->count; i++)
        numbers[next[points->items[i].angle]++] = i;
    return true;
}

bool verify_query_make(const struct doppel_fingerprint *fingerprint, bool mirrored,
                       struct verify_query *out)
{
    struct verify_query query = {0};
    bool done = true;
    for (unsigned side = 0; done && side <= mirrored; side++)
        done = pose_points_make(fingerprint, side, &query.sides[side]) &&
               order_by_angle(&query.sides[side], &query.orders[side]);
    for (size_t i = 0; done && i < query.sides[0].count; i++) {
        query.width = fmax(query.width, query.sides[0].items[i].x);
        query.height = fmax(query.height, query.sides[0].items[i].y);
    }
    if (done)
        *out = query;
    else
        verify_query_free(&query);
    return done;
}

void verify_query_free(struct verify_query *query)
{
    for (unsigned side = 0; side < 2; side++) {
        free(query->sides[side].items);
        free(query->orders[side].numbers);
    }
    *query = (struct verify_query){0};
}

/* ---- pairs ---- */

static int32_t angle_apart(int32_t a, int32_t b)
{
    int32_t apart = (a - b) & (POSITION_ANGLES - 1);
    return apart <= POSITION_ANGLES / 2 ? apart : POSITION_ANGLES - apart;
}

/* The nearest pairs of an item's point. */
struct nearest_pairs {
    struct point_pair items[PAIRS_OF_POINT];
    size_t count;
};

/* Of equal distances the first point of the query. */
static bool is_nearer_pair(const struct point_pair *a, const struct point_pair *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->query < b->query;
}

static void insert_pair(struct nearest_pairs *nearest, struct point_pair pair)
{
    struct point_pair *items = nearest->items;
    if (nearest->count == PAIRS_OF_POINT && !is_nearer_pair(&pair, &items[nearest->count - 1]))
        return;
    size_t at = nearest->count < PAIRS_OF_POINT ? nearest->count++ : nearest->count - 1;
    for (; at && is_nearer_pair(&pair, &items[at - 1]); at--)
        items[at] = items[at - 1];
    items[at] = pair;
}

/* Among the query's points of one angle. */
static void find_pairs_at(const struct point_pairing *pairing, const struct verify_hint *hint,
                          uint32_t number, uint32_t angle, struct nearest_pairs *out)
{
    const struct pose_point *item = &pairing->item->items[number];
    const struct angle_order *order = pairing->order;
    for (uint32_t i = order->starts[angle]; i < order->starts[angle + 1]; i++) {
        const struct pose_point *query = &pairing->query->items[order->numbers[i]];
        if (abs(query->scale - item->scale - hint->scale) > hint->scale_range)
            continue;
        const uint32_t distance = point_distance(&query->code, &item->code);
        if (distance <= PAIR_DISTANCE)
            insert_pair(out, (struct point_pair){order->numbers[i], number, distance});
    }
}

static bool find_pairs(struct point_pairing *pairing, const struct verify_hint *hint)
{
    const bool any = hint->angle_range >= POSITION_ANGLES / 2;
    const int32_t angles = any ? POSITION_ANGLES : 2 * hint->angle_range + 1;
    for (uint32_t i = 0; i < pairing->item->count; i++) {
        const int32_t first = pairing->item->items[i].angle + hint->angle - (angles - 1) / 2;
        struct nearest_pairs nearest = {.count = 0};
        for (int32_t k = 0; k < angles; k++)
            find_pairs_at(pairing, hint, i, (uint32_t)(first + k) & (POSITION_ANGLES - 1),
                          &nearest);
        for (size_t k = 0; k < nearest.count; k++)
            if (!array_push(&pairing->pairs, nearest.items[k]))
                return false;
    }
    return true;
}

/* ---- poses ---- */

/* How far a pair may lie from where a pose has it: `near` and a share of the sigma; and a share of
 * the way from a point that it is known at. */
struct tolerance {
    double near, sigma, far;
    const struct pose_point *anchor;
};

static bool agrees(int32_t angle, int32_t scale, const struct pose_point *query,
                   const struct pose_point *item)
{
    return abs(query->scale - item->scale - scale) <= SCALE_SLACK &&
           angle_apart(query->angle - item->angle, angle) <= ANGLE_SLACK;
}

static bool is_close(const struct pose *pose, const struct tolerance *tolerance,
                     const struct pose_point *query, const struct pose_point *item)
{
    double most = tolerance->near + tolerance->sigma * query->sigma;
    if (tolerance->anchor)
        most += tolerance->far *
                hypot(query->x - tolerance->anchor->x, query->y - tolerance->anchor->y);
    return pose_error2(pose, query, item) <= most * most;
}

/* Of each item point the nearest pair that agrees with a pose: into `out`, room for one a point.
 * @return how many */
static size_t take_agreeing(const struct point_pairing *pairing, const struct pose *pose,
                            const struct tolerance *tolerance, struct point_pair *out,
                            double *out_weight)
{
    const int32_t angle = pose_angle(pose), scale = pose_scale(pose);
    size_t count = 0;
    *out_weight = 0;
    for (size_t i = 0; i < pairing->pairs.count; i++) {
        const struct point_pair *pair = &pairing->pairs.items[i];
        if (count && out[count - 1].item == pair->item)
            continue;
        const struct pose_point *query = &pairing->query->items[pair->query];
        const struct pose_point *item = &pairing->item->items[pair->item];
        if (!agrees(angle, scale, query, item) || !is_close(pose, tolerance, query, item))
            continue;
        out[count++] = *pair;
        *out_weight += code_surprise(pair->distance);
    }
    return count;
}

static bool fit_pose(const struct point_pairing *pairing, const struct point_pair *pairs,
                     size_t count, struct pose *out)
{
    struct pose_fit fit = {0};
    for (size_t i = 0; i < count; i++)
        pose_fit_add(&fit, &pairing->query->items[pairs[i].query],
                     &pairing->item->items[pairs[i].item]);
    return pose_fit_solve(&fit, out);
}

static int compare_distances(const void *a, const void *b)
{
    const struct point_pair *left = a, *right = b;
    if (left->distance != right->distance)
        return left->distance < right->distance ? -1 : 1;
    if (left->item != right->item)
        return left->item < right->item ? -1 : 1;
    return (left->query > right->query) - (left->query < right->query);
}

/* The pose of the pair with which most others agree. @return their weight */
static double best_anchor(const struct point_pairing *pairing, struct point_pair *anchors,
                          struct point_pair *scratch, struct tolerance *tolerance, struct pose *out)
{
    double best = 0;
    size_t count = pairing->pairs.count;
    const struct pose_point *at = NULL;
    for (size_t i = 0; i < count; i++)
        anchors[i] = pairing->pairs.items[i];
    qsort(anchors, count, sizeof *anchors, compare_distances);
    for (size_t i = 0; i < count && i < ANCHORS; i++) {
        const struct pose_point *query = &pairing->query->items[anchors[i].query];
        struct pose pose = pose_of_points(query, &pairing->item->items[anchors[i].item]);
        double weight;
        tolerance->anchor = query;
        take_agreeing(pairing, &pose, tolerance, scratch, &weight);
        if (weight > best) {
            best = weight;
            *out = pose;
            at = query;
        }
    }
    tolerance->anchor = at;
    return best;
}

/* ---- verdicts ---- */

/* Points of the query that a pose turns and scales as an inlier's. */
struct rivals {
    uint32_t all;
    uint32_t near;  /* that lie where it does */
    uint32_t alike; /* that lie elsewhere, with codes about as near to the item's point */
};

static struct rivals count_rivals(const struct point_pairing *pairing, const struct pose *pose,
                                  const struct tolerance *tolerance, const struct point_pair *pair)
{
    const struct pose_points *query = pairing->query;
    const struct pose_point *item = &pairing->item->items[pair->item];
    const int32_t angle = pose_angle(pose), scale = pose_scale(pose);
    struct rivals rivals = {0};
    for (size_t q = 0; q < query->count; q++) {
        if (!agrees(angle, scale, &query->items[q], item))
            continue;
        rivals.all++;
        if (is_close(pose, tolerance, &query->items[q], item))
            rivals.near++;
        else
            rivals.alike += point_distance(&query->items[q].code, &item->code) <=
                            pair->distance + ABOUT_AS_NEAR;
    }
    return rivals;
}

/* -ln of the chance that a point which is there looks like the item's. In patterns a share of all
 * points does, whatever unrelated ones do. */
static double surprise_of_pair(const struct point_pair *pair, const struct rivals *rivals)
{
    double surprise = code_surprise(pair->distance) - log(rivals->near > 1 ? rivals->near : 1);
    if (rivals->alike >= LEAST_ALIKE)
        surprise = fmin(surprise, log((double)rivals->all / (rivals->alike + 1)));
    return surprise > 0 ? surprise : 0;
}

static bool look_alike(const struct pose_point *a, const struct pose_point *b)
{
    return point_distance(&a->code, &b->code) <= ALIKE_DISTANCE;
}

/* Whether something was counted that is nearly at the same place, and as large; or looks the same,
 * in one of the two pictures, as in a pattern that repeats itself, or along an edge. */
static bool is_counted(const struct point_pairing *pairing, const struct point_pair *pairs,
                       size_t count, const struct point_pair *pair)
{
    const struct pose_point *at = &pairing->item->items[pair->item];
    const struct pose_point *asked = pairing->query->items;
    for (size_t i = 0; i < count; i++) {
        const struct pose_point *other = &pairing->item->items[pairs[i].item];
        double least = 2 * fmin(at->sigma, other->sigma);
        double x = at->x - other->x, y = at->y - other->y;
        bool as_large = abs(at->scale - other->scale) <= SCALE_SLACK;
        bool alike =
            look_alike(at, other) || look_alike(&asked[pair->query], &asked[pairs[i].query]);
        if (pairs[i].query == pair->query || alike || (as_large && x * x + y * y < least * least))
            return true;
    }
    return false;
}

/* Points of the item that lie within the query. */
static uint32_t count_visible(const struct pose_points *item, const struct pose *pose, double left,
                              const struct verify_query *query)
{
    uint32_t count = 0;
    for (size_t i = 0; i < item->count; i++) {
        const struct pose_point *at = &item->items[i];
        double x = pose->a * at->x - pose->b * at->y + pose->dx - left;
        double y = pose->b * at->x + pose->a * at->y + pose->dy;
        count += x >= 0 && x <= query->width && y >= 0 && y <= query->height;
    }
    return count;
}

/* The sum over inliers; two of them, the most surprising ones, tell the pose and prove nothing. */
static double surprise_of(const struct point_pairing *pairing, const struct pose *pose,
                          const struct tolerance *tolerance, struct point_pair *pairs,
                          size_t *count)
{
    double sum = 0, first = 0, second = 0;
    size_t counted = 0;
    for (size_t i = 0; i < *count; i++) {
        if (is_counted(pairing, pairs, counted, &pairs[i]))
            continue;
        const struct rivals rivals = count_rivals(pairing, pose, tolerance, &pairs[i]);
        const double surprise = surprise_of_pair(&pairs[i], &rivals);
        second = fmax(second, fmin(first, surprise));
        first = fmax(first, surprise);
        sum += surprise;
        pairs[counted++] = pairs[i];
    }
    *count = counted;
    return sum - first - second;
}

static void fill_where(const struct point_pairing *pairing, const struct point_pair *pairs,
                       size_t count, const struct pose *pose, struct doppel_local_where *out)
{
    double left = POSITION_SIDE, top = POSITION_SIDE, right = 0, bottom = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pose_point *at = &pairing->item->items[pairs[i].item];
        double reach = at->sigma * CODE_PATCH / 2;
        left = fmin(left, fmax(at->x - reach, 0));
        top = fmin(top, fmax(at->y - reach, 0));
        right = fmax(right, fmin(at->x + reach, POSITION_SIDE));
        bottom = fmax(bottom, fmin(at->y + reach, POSITION_SIDE));
    }
    double scale = sqrt(pose->a * pose->a + pose->b * pose->b);
    double x = (left + right) / 2, y = (top + bottom) / 2;
    double width = (right - left) / POSITION_SIDE, height = (bottom - top) / POSITION_SIDE;
    out->item =
        (struct doppel_local_rectangle){x / POSITION_SIDE, y / POSITION_SIDE, width, height, 0};
    out->query = (struct doppel_local_rectangle){
        (pose->a * x - pose->b * y + pose->dx) / POSITION_SIDE,
        (pose->b * x + pose->a * y + pose->dy) / POSITION_SIDE, width * scale, height * scale,
        fmod(atan2(pose->b, pose->a) * 180 / 3.14159265358979323846 + 360, 360)};
    out->scale = scale;
}

static void fill_found(const struct point_pairing *pairing, const struct verify_query *query,
                       bool mirrored, const struct pose *pose, struct point_pair *pairs,
                       size_t count, struct verify_found *out)
{
    const struct tolerance tolerance = {.near = 4, .sigma = .8};
    size_t all = count;
    double surprise = surprise_of(pairing, pose, &tolerance, pairs, &count);
    double visible = count_visible(pairing->item, pose, mirrored ? -query->width : 0, query);
    visible = visible > (double)all ? visible : (double)all;
    surprise -= log_choose(visible, (double)count);
    if (surprise <= out->surprise || count < LEAST_INLIERS)
        return;
    uint32_t distances = 0;
    for (size_t i = 0; i < count; i++)
        distances += pairs[i].distance;
    out->surprise = surprise;
    out->verdict = (struct doppel_local_verdict){.points = (uint32_t)visible,
                                                 .inliers = (uint32_t)count,
                                                 .distance = distances / (uint32_t)count};
    fill_where(pairing, pairs, count, pose, &out->verdict.where);
    out->verdict.where.mirrored = mirrored;
    if (mirrored) {
        out->verdict.where.query.x = -out->verdict.where.query.x;
        out->verdict.where.query.angle = fmod(360 - out->verdict.where.query.angle, 360);
    }
}

bool verify_points(const struct verify_query *query, const struct pose_points *item,
                   const struct verify_hint *hint, struct verify_found *out)
{
    struct point_pairing pairing = {.query = &query->sides[hint->mirrored],
                                    .item = item,
                                    .order = &query->orders[hint->mirrored]};
    struct point_pair *anchors = NULL, *agreeing = NULL;
    bool done = find_pairs(&pairing, hint);
    if (done && pairing.pairs.count >= 3) {
        anchors = malloc(pairing.pairs.count * sizeof *anchors);
        agreeing = malloc((item->count + 1) * sizeof *agreeing);
        done = anchors && agreeing;
        struct tolerance tolerance = {.near = 2, .sigma = 1.5, .far = .2};
        struct pose pose;
        double weight = done ? best_anchor(&pairing, anchors, agreeing, &tolerance, &pose) : 0;
        size_t count = 0;
        for (int round = 0; weight > 0 && round < ROUNDS; round++) {
            count = take_agreeing(&pairing, &pose, &tolerance, agreeing, &weight);
            if (count < 3 || !fit_pose(&pairing, agreeing, count, &pose))
                weight = 0;
            tolerance = (struct tolerance){.near = round ? 4 : 10, .sigma = .8};
        }
        if (weight > 0)
            count = take_agreeing(&pairing, &pose, &tolerance, agreeing, &weight);
        if (weight > 0 && count >= 3)
            fill_found(&pairing, query, hint->mirrored, &pose, agreeing, count, out);
    }
    free(anchors);
    free(agreeing);
    array_free(&pairing.pairs);
    return done;
}
