/* How many bands of how many rows: the choice with the least weighted error of the S-curve. */
#include <doppel/index.h>

#include "index/bands/bands.h"

enum { POINTS = 1000 }; /* of the midpoint rule, on either side of the limit */

/* The default: docs/methods.md, Bands. */
static const double usual_miss_weight = 0.998, usual_rows_per_limit = 8;
enum { USUAL_MOST_ROWS = 4 };

/* One side of the limit: points of similarity, and what is under work for one number of rows. */
struct choice_side {
    double width;           /* of the side, times its weight */
    double similar[POINTS]; /* s */
    double power[POINTS];   /* s^rows */
    double missed[POINTS];  /* (1 - s^rows)^bands */
};

static void side_begin(struct choice_side *side, double from, double to, double weight)
{
    side->width = (to - from) * weight;
    for (int i = 0; i < POINTS; i++) {
        side->similar[i] = from + (to - from) * (i + 0.5) / POINTS;
        side->power[i] = 1;
    }
}

static void add_row(struct choice_side *side)
{
    for (int i = 0; i < POINTS; i++) {
        side->power[i] *= side->similar[i];
        side->missed[i] = 1;
    }
}

/* @return the share of pairs that are missed, over this side, weighed */
static double add_band(struct choice_side *side)
{
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        side->missed[i] *= 1 - side->power[i];
        sum += side->missed[i];
    }
    return sum / POINTS * side->width;
}

struct wish {
    uint32_t lanes, min_rows;
    double limit, miss_weight;
};

static void choose_wish(const struct wish *wish, uint32_t *out_bands, uint32_t *out_rows)
{
    struct choice_side below, above;
    double least = 2;
    side_begin(&below, 0, wish->limit, 1 - wish->miss_weight);
    side_begin(&above, wish->limit, 1, wish->miss_weight);
    for (uint32_t rows = 1; rows <= wish->lanes; rows++) {
        uint32_t most = wish->lanes / rows < BANDS_MAX_BANDS ? wish->lanes / rows : BANDS_MAX_BANDS;
        add_row(&below);
        add_row(&above);
        for (uint32_t bands = 1; rows >= wish->min_rows && bands <= most; bands++) {
            double cost = below.width - add_band(&below) + add_band(&above);
            if (cost >= least)
                continue;
            least = cost;
            *out_bands = bands;
            *out_rows = rows;
        }
    }
}

enum doppel_status doppel_index_bands_choose(uint32_t lanes, double limit, double miss_weight,
                                             uint32_t *out_bands, uint32_t *out_rows,
                                             struct doppel_error *error)
{
    if (!lanes || lanes % 4 || lanes > BANDS_MAX_LANES)
        return doppel_fail(error, DOPPEL_E_ARGUMENT,
                           "%u lanes: a signature has 4 to %d of them, a multiple of 4", lanes,
                           BANDS_MAX_LANES);
    if (!(limit >= 0 && limit <= 1))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "a limit of similarity is 0 to 1, not %g",
                           limit);
    if (!(miss_weight <= 1) || (miss_weight < 0 && miss_weight != DOPPEL_INDEX_BANDS_USUAL))
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "the weight of misses is 0 to 1, not %g",
                           miss_weight);
    struct wish wish = {lanes, 1, limit, miss_weight};
    if (miss_weight < 0) {
        uint32_t rows = (uint32_t)(usual_rows_per_limit * limit);
        wish.min_rows = rows < USUAL_MOST_ROWS ? rows : USUAL_MOST_ROWS;
        wish.miss_weight = usual_miss_weight;
    }
    choose_wish(&wish, out_bands, out_rows);
    return DOPPEL_OK;
}
