/* What a power cut leaves of a folder in which a process with power.c worked. */
#ifndef TESTS_STORE_POWER_CUT_H
#define TESTS_STORE_POWER_CUT_H

#include <stdbool.h>

/**
 * Make the folder `out` of what is lasting of `folder`.
 * @param lucky  of what was not synced, any part may have reached the disk: each sector (512 bytes)
 *               or page (4096), and each name, is drawn; else nothing did
 */
void power_cut(const char *folder, const char *shadow, bool lucky, const char *out);

#endif
