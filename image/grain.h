/* How far two pictures agree in what is finest, place by place. */
#ifndef DOPPEL_IMAGE_GRAIN_H
#define DOPPEL_IMAGE_GRAIN_H

/** Samples of the part that both show, each way, row after row. */
enum { GRAIN_SIDE = 48, GRAIN_SAMPLES = GRAIN_SIDE * GRAIN_SIDE };

/**
 * The sum over blocks of how surprising it is that they are so alike. A block that is even,
 * or has only edges along rows and columns, says nothing, nor does one that is covered: it is not
 * alike.
 * @param a,b grey levels; what is left in them is what is finest
 * @return 0 to some 2 000
 */
double grain_surprise(double a[GRAIN_SAMPLES], double b[GRAIN_SAMPLES]);

#endif
