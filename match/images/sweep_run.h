/* One sweep: the codes of two sides, sorted by a box, bucket against near buckets. */
#ifndef DOPPEL_MATCH_IMAGES_SWEEP_RUN_H
#define DOPPEL_MATCH_IMAGES_SWEEP_RUN_H

#include "match/images/sweep_side.h"

enum { SWEEP_SHARE_MAX = 4 }; /* bits of a box: one of 26 buckets is as near */

/* A bucket that is near another one, by what their numbers differ in. */
struct near_bucket {
    uint16_t bits;
    uint8_t distance;
    bool negated; /* near in the mirror image that negates the box */
};

enum sweep_role { SWEEP_ROWS, SWEEP_COLUMNS, SWEEP_ROLES };

struct sweep {
    struct join *join;
    const bool *left_out[SWEEP_ROLES]; /* by rank; the same: all are compared with all */
    const struct sweep_kernels *kernels;
    struct sweep_choice choice;
    uint32_t box_bits; /* 0: as many as suit how many codes there are */
    enum sweep_form form;
    int32_t centre, limits[SWEEP_BOX_BITS + 1]; /* the latter by the distance of the box */
    int32_t weights[SWEEP_GROUPS];
    struct sweep_limit limit;
    ARRAY(struct near_bucket) near; /* in order of bits */
    struct sweep_side sides[SWEEP_ROLES];
    const struct sweep_side *rows, *columns; /* the same: each pair once */
    uint32_t piece_tiles;
    struct sweep_work *works;              /* one a slot */
    _Alignas(16) int8_t tables[2][16][16]; /* distances of half-bytes, by weight less 1 */
};

/* Choose how many bits of the box sort the codes, by how many there are of the choice. */
void sweep_choose_buckets(struct sweep *sweep);

/* The tables of half-bytes. */
void sweep_make_tables(struct sweep *sweep);

/* Compare the rows with the columns, bucket by bucket, where they differ by at most `share` bits of
 * the box, and add to the meetings what meets. @return as join_meet does */
enum doppel_status sweep_run(struct sweep *sweep, int32_t share);

#endif
