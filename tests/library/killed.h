/* Writers that are killed, and waiting. */
#ifndef TESTS_LIBRARY_KILLED_H
#define TESTS_LIBRARY_KILLED_H

#include <stdatomic.h>
#include <stdint.h>

/** Goes on from `*acknowledged` until it is killed, and says there what is lasting. @return of a
 * failure a number that tells which */
typedef int writer(const char *path, atomic_ullong *acknowledged);

void sleep_us(long us);

/** Run the writer in a child, kill it at some moment after it has acknowledged less than `most`
 * writes more. @return how many those were in the end */
uint64_t run_and_kill(writer *write, const char *path, uint64_t already, int most);

#endif
