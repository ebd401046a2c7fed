/*
 * Which of many pictures meet, and pass the gate. Their views differ, in the nearest orientation,
 * by few bits of word 0, and by a weighted sum of all bits; full frames, and crops of the same
 * part, as they are by another. Both say (pigeonhole) that in one of some boxes of 16 bits few
 * differ. So for each box all codes are sorted into buckets by it, and each bucket is compared with
 * those near it: by three more boxes (sweep.h), then by all bits, then by the gate. Source of the
 * thresholds along a ring of boxes: Qin, Xiao, "Pigeonring: A Principle for Faster Thresholded
 * Similarity Search" (2018).
 */
#include "core/try.h"
#include "match/images/sweep_run.h"

enum {
    FULL_CLASS = 0, /* of a gate's `most` */
    PARTS_CLASS = 6,
    FULL_WEIGHT = 2, /* of low bits; of others MOVED_WEIGHT */
    MOVED_WEIGHT = 4
};

static bool is_some_with_all(const struct sweep *sweep)
{
    return sweep->left_out[SWEEP_ROWS] != sweep->left_out[SWEEP_COLUMNS];
}

/* ---- moved views: any query view against any item view, in all orientations ---- */

/* Of the radius; mirroring leaves the first box alone, so that it costs half. */
static const int32_t near_shares[SWEEP_TURNED_BOXES] = {4, 3, 3, 3};
static const int32_t far_shares[SWEEP_TURNED_BOXES] = {4, 4, 4, 4};
_Static_assert(4 + 3 + 3 + 3 + SWEEP_TURNED_BOXES > DOPPEL_IMAGE_NEAR_RADIUS &&
                   4 + 4 + 4 + 4 + SWEEP_TURNED_BOXES > DOPPEL_IMAGE_CANDIDATE_RADIUS,
               "one of the boxes is within its share");

static int32_t radius_of_sweep(const struct sweep *sweep)
{
    const bool near = sweep->join->matcher->radius <= DOPPEL_IMAGE_NEAR_RADIUS;
    return near ? DOPPEL_IMAGE_NEAR_RADIUS : DOPPEL_IMAGE_CANDIDATE_RADIUS;
}

static void measure_parts(struct sweep *sweep)
{
    const struct doppel_image_gate *gate = &sweep->join->gate;
    struct sweep_limit *limit = &sweep->limit;
    const uint64_t low[4] = {0, SWEEP_FIRST_KIND, SWEEP_SECOND_KIND, SWEEP_BOTH_KINDS};
    /* Which of the two kinds is the first when bits are sorted. */
    const uint64_t *kinds[2] = {gate->mirrored, gate->flipped};
    const bool first_is_flipped =
        doppel_image_unsort_bits(SWEEP_FIRST_KIND) & gate->flipped[0] & ~gate->mirrored[0];
    const uint64_t *first = kinds[first_is_flipped], *second = kinds[!first_is_flipped];
    for (unsigned word = 0; word < 4; word++) {
        limit->parts[1][word] = word ? first[word] & ~second[word] : low[1];
        limit->parts[2][word] = word ? second[word] & ~first[word] : low[2];
        limit->parts[3][word] = word ? first[word] & second[word] : low[3];
        limit->parts[0][word] =
            ~(limit->parts[1][word] | limit->parts[2][word] | limit->parts[3][word]);
    }
    for (unsigned part = 0; part < 4; part++) {
        limit->size[part] = limit->weight * __builtin_popcountll(limit->parts[part][0]);
        for (unsigned word = 1; word < 4; word++)
            limit->size[part] += __builtin_popcountll(limit->parts[part][word]);
    }
}

static void set_turned_limits(struct sweep *sweep)
{
    const unsigned box = sweep->choice.box;
    const int32_t two = SWEEP_BOX_BITS + (box == 3 ? SWEEP_BOX_BITS : SWEEP_LAST_BITS);
    const int32_t all = 2 * SWEEP_BOX_BITS + SWEEP_LAST_BITS;
    sweep->form = box ? SWEEP_FOLD_TWO : SWEEP_FOLD_THREE;
    sweep->centre = box ? -two : -2 * SWEEP_BOX_BITS;
    for (int32_t distance = 0; distance <= SWEEP_SHARE_MAX; distance++)
        sweep->limits[distance] = 2 * (radius_of_sweep(sweep) - distance) - (box ? two : all);
}

/* Of some with all, either may be the query. */
static enum doppel_status sweep_turned_box(struct sweep *sweep, unsigned box)
{
    const struct doppel_image_gate *gate = &sweep->join->gate;
    const bool some = is_some_with_all(sweep);
    const uint32_t either = gate->query_views | gate->item_views;
    enum doppel_status status;
    sweep->choice.box = box;
    set_turned_limits(sweep);
    sweep->choice.left_out = sweep->left_out[SWEEP_COLUMNS];
    sweep->choice.views = some ? either : gate->query_views;
    sweep->choice.transposed = true;
    sweep_choose_buckets(sweep);
    TRY(sweep_side_make(&sweep->choice, &sweep->sides[SWEEP_COLUMNS]));
    sweep->choice.left_out = sweep->left_out[SWEEP_ROWS];
    sweep->choice.views = some ? either : gate->item_views;
    sweep->choice.transposed = false;
    TRY(sweep_side_make(&sweep->choice, &sweep->sides[SWEEP_ROWS]));
    sweep->rows = &sweep->sides[SWEEP_ROWS];
    sweep->columns = &sweep->sides[SWEEP_COLUMNS];
    const bool near = radius_of_sweep(sweep) == DOPPEL_IMAGE_NEAR_RADIUS;
    TRY(sweep_run(sweep, near ? near_shares[box] : far_shares[box]));
done:
    sweep_side_free(&sweep->sides[SWEEP_ROWS]);
    sweep_side_free(&sweep->sides[SWEEP_COLUMNS]);
    return status;
}

static enum doppel_status sweep_turned(struct sweep *sweep)
{
    const struct doppel_image_gate *gate = &sweep->join->gate;
    enum doppel_status status = DOPPEL_OK;
    sweep->choice.turned = true;
    sweep->limit = (struct sweep_limit){.weight = MOVED_WEIGHT, .most = -1, .turned = true};
    for (int class = FULL_CLASS + 1; class < PARTS_CLASS; class ++)
        if (gate->most[class] > sweep->limit.most)
            sweep->limit.most = gate->most[class];
    measure_parts(sweep);
    for (int group = 0; group < SWEEP_GROUPS; group++)
        sweep->weights[group] = 2; /* doubled: see sweep.h */
    for (unsigned box = 0; box < SWEEP_TURNED_BOXES && !status; box++)
        status = sweep_turned_box(sweep, box);
    return status;
}

/* ---- the same view of both, as it is ---- */

static int32_t weight_of_box(unsigned box)
{
    return box % SWEEP_BOXES < 4 ? FULL_WEIGHT : 1;
}

/* Give the shares away where a bit costs least: -1, the box need not be looked at.
 * @return false when that is not enough */
static bool share_out_boxes(int32_t most, int32_t shares[SWEEP_BOXES])
{
    /* buckets within so many bits, of 16, less those within one bit less */
    static const int32_t cost[SWEEP_SHARE_MAX + 1] = {1, 16, 120, 560, 1820};
    int32_t given = 0;
    for (unsigned box = 0; box < SWEEP_BOXES; box++)
        shares[box] = -1;
    while (given <= most) {
        unsigned best = SWEEP_BOXES;
        for (unsigned box = 0; box < SWEEP_BOXES; box++)
            if (shares[box] < SWEEP_SHARE_MAX &&
                (best == SWEEP_BOXES || cost[shares[box] + 1] * weight_of_box(best) <
                                            cost[shares[best] + 1] * weight_of_box(box)))
                best = box;
        if (best == SWEEP_BOXES)
            return false;
        shares[best]++;
        given += weight_of_box(best);
    }
    return true;
}

/* Along the ring from some box on, all sums of boxes are under those of what was given away. */
static void set_plain_limits(struct sweep *sweep, const int32_t shares[SWEEP_BOXES])
{
    const unsigned box = sweep->choice.box;
    int32_t given = 0;
    for (unsigned i = 0; i <= SWEEP_GROUPS; i++)
        given += weight_of_box(box + i) * (shares[(box + i) % SWEEP_BOXES] + 1);
    for (unsigned i = 0; i < SWEEP_GROUPS; i++)
        sweep->weights[i] = weight_of_box(box + i + 1);
    for (int32_t distance = 0; distance <= SWEEP_SHARE_MAX; distance++)
        sweep->limits[distance] = given - 1 - weight_of_box(box) * distance;
}

static enum doppel_status sweep_view_box(struct sweep *sweep, unsigned box,
                                         const int32_t shares[SWEEP_BOXES])
{
    const bool some = is_some_with_all(sweep);
    enum doppel_status status;
    sweep->choice.box = box;
    set_plain_limits(sweep, shares);
    sweep->choice.left_out = sweep->left_out[SWEEP_COLUMNS];
    sweep_choose_buckets(sweep);
    TRY(sweep_side_make(&sweep->choice, &sweep->sides[SWEEP_COLUMNS]));
    sweep->choice.left_out = sweep->left_out[SWEEP_ROWS];
    if (some)
        TRY(sweep_side_make(&sweep->choice, &sweep->sides[SWEEP_ROWS]));
    sweep->columns = &sweep->sides[SWEEP_COLUMNS];
    sweep->rows = some ? &sweep->sides[SWEEP_ROWS] : sweep->columns;
    status = sweep_run(sweep, shares[box]);
done:
    sweep_side_free(&sweep->sides[SWEEP_ROWS]);
    sweep_side_free(&sweep->sides[SWEEP_COLUMNS]);
    return status;
}

static enum doppel_status sweep_view(struct sweep *sweep, uint32_t view, int32_t most)
{
    int32_t shares[SWEEP_BOXES];
    enum doppel_status status = DOPPEL_OK;
    sweep->choice.turned = sweep->choice.transposed = false;
    sweep->choice.views = UINT32_C(1) << view;
    sweep->form = SWEEP_SUM;
    sweep->centre = 0;
    sweep->limit = (struct sweep_limit){.weight = FULL_WEIGHT, .most = most};
    if (most < 0)
        return DOPPEL_OK;
    if (!share_out_boxes(most, shares))
        return DOPPEL_E_LIMIT;
    for (unsigned box = 0; box < SWEEP_BOXES && !status; box++)
        if (shares[box] >= 0)
            status = sweep_view_box(sweep, box, shares);
    return status;
}

/* Full frames pass by what they differ in, or by the mean of that and of what a crop of both
 * differs in: one of the two is no more. */
static enum doppel_status sweep_parts(struct sweep *sweep, uint32_t views)
{
    const struct doppel_image_gate *gate = &sweep->join->gate;
    const bool parts = gate->options.views == DOPPEL_VIEWS_ALL && views >> DOPPEL_VIEW_CENTRE;
    const int32_t by_parts = parts ? gate->most[PARTS_CLASS] : -1;
    const int32_t full = gate->most[FULL_CLASS] > by_parts ? gate->most[FULL_CLASS] : by_parts;
    enum doppel_status status = sweep_view(sweep, DOPPEL_VIEW_FULL, full);
    for (uint32_t view = DOPPEL_VIEW_CENTRE; view < DOPPEL_VIEW_COUNT && parts && !status; view++)
        if (views >> view & 1)
            status = sweep_view(sweep, view, by_parts);
    return status;
}

/* ---- the whole ---- */

/* Whether all codes have bits of each kind: mirroring negates them without a look. */
static bool is_mirrored_whole(const struct join *join, uint32_t rank)
{
    const struct doppel_image_gate *gate = &join->gate;
    const struct place *place = &join->places[rank];
    const struct doppel_code *code = join->matcher->codes.items + place->first;
    bool whole = true;
    for (int left = __builtin_popcount(place->views); left > 0; left--, code++) {
        uint64_t across = 0, down = 0, both = 0;
        for (unsigned i = 0; i < 4; i++) {
            across |= code->word[i] & gate->mirrored[i] & ~gate->flipped[i];
            down |= code->word[i] & gate->flipped[i] & ~gate->mirrored[i];
            both |= code->word[i] & gate->flipped[i] & gate->mirrored[i];
        }
        whole = whole && across && down && both;
    }
    return whole;
}

bool join_can_sweep(const struct join *join)
{
    int32_t shares[SWEEP_BOXES];
    const int32_t *most = join->gate.most;
    return join->gated && join->gate.options.orientations && join->start == 0 &&
           join->end == join->count &&
           share_out_boxes(
               most[FULL_CLASS] > most[PARTS_CLASS] ? most[FULL_CLASS] : most[PARTS_CLASS], shares);
}

/* What has crops asks in few orientations, and would be swept crop by crop. */
bool join_sweeps_faster(const struct join *join)
{
    enum { LEAST_IMAGES = 1 << 16, CROPS_MAX = 16 }; /* one picture of so many */
    uint32_t with_crops = 0;
    for (uint32_t rank = 0; rank < join->count; rank++)
        with_crops += join->places[rank].views >> DOPPEL_VIEW_CENTRE != 0;
    return join->count >= LEAST_IMAGES && with_crops <= join->count / CROPS_MAX &&
           join_can_sweep(join);
}

/* Those that cannot be swept are looked up. */
static enum doppel_status sweep_all(struct sweep *sweep)
{
    const struct join *join = sweep->join;
    const bool *left_out = sweep->left_out[SWEEP_COLUMNS];
    uint32_t views = 0;
    bool any = false;
    enum doppel_status status;
    for (uint32_t rank = 0; rank < join->count; rank++) {
        views |= join->places[rank].views;
        any |= left_out[rank];
    }
    TRY(sweep_turned(sweep));
    TRY(sweep_parts(sweep, views));
    if (any)
        TRY(join_look_up_some(sweep->join, left_out));
done:
    return status;
}

/* By rank: what cannot be swept, and what is not among `some`, NULL: all are; given (free) */
static bool *mark_left_out(const struct join *join, const bool *some)
{
    bool *out = malloc((size_t)join->count + 1);
    for (uint32_t rank = 0; out && rank < join->count; rank++)
        out[rank] = (some && !some[rank]) || !is_mirrored_whole(join, rank);
    return out;
}

enum doppel_status join_sweep(struct join *join, const bool *some, uint32_t box_bits)
{
    struct sweep_sorter *sorter = malloc(sizeof *sorter);
    struct sweep *sweep = aligned_alloc(_Alignof(struct sweep), sizeof *sweep);
    bool *left_out = mark_left_out(join, NULL),
         *of_rows = some ? mark_left_out(join, some) : left_out;
    enum doppel_status status = DOPPEL_E_MEMORY;
    if (sorter && sweep && left_out && of_rows) {
        *sweep = (struct sweep){.join = join,
                                .kernels = sweep_kernels_choose(),
                                .box_bits = box_bits,
                                .left_out = {of_rows, left_out}};
        sweep->choice.join = join;
        sweep->choice.sorter = sorter;
        sweep_sorter_make(sorter);
        sweep_make_tables(sweep);
        status = sweep_all(sweep);
        array_free(&sweep->near);
    }
    if (of_rows != left_out)
        free(of_rows);
    free(left_out);
    free(sweep);
    free(sorter);
    return status;
}
