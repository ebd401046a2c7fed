/* Two pictures of which one is partly covered, by a sticker or words: what differs is left out of
 * both. */
#ifndef DOPPEL_IMAGE_COVERED_H
#define DOPPEL_IMAGE_COVERED_H

#include <stdbool.h>

enum { COVERED_SIDE = 32, COVERED_CELLS = COVERED_SIDE * COVERED_SIDE };

/**
 * Leave out the cells of two pictures, laid over each other, that differ far more than the others
 * do, three eighths at most, with what is next to them: both are filled from around them there.
 *
 * @param a,b COVERED_SIDE² cells each, row after row, in 1/256 of a level; changed
 * @return false: nothing stands out, or too little of the pictures would be left; `a` and `b` are
 * then as they were
 */
bool covered_leave_out(double a[COVERED_CELLS], double b[COVERED_CELLS]);

#endif
