/* Scans whose workers are shot at: the short form in robust/, the long one in long/. */
#ifndef DOPPEL_TESTS_FIRE_H
#define DOPPEL_TESTS_FIRE_H

#include <stdint.h>

enum { FIRE_PAIRS = 50, FIRE_FILES = 2 * FIRE_PAIRS };

/* A sandbox with FIRE_PAIRS large pictures in pics/, each in two qualities: cmocka's group setup.
 */
int fire_enter(void **state);

struct fire {
    unsigned kills, lost; /* workers shot, files reported */
};

/* Scan pics/ with two workers and kill one every few milliseconds. Fails the test unless all that
 * is missing was reported, no more files than kills, and all other pairs were found. */
struct fire scan_under_fire(uint32_t seed);

#endif
