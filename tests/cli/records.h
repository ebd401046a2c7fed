/* Records in JSON Lines for the tests of the command, and a way to read its answers. */
#ifndef DOPPEL_TESTS_RECORDS_H
#define DOPPEL_TESTS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Lines of records r0, r1, …: of seven, one is a copy of an earlier one, one a copy with a word
 * changed, one too short, the others are new; given (free). */
char *make_records(size_t count, uint32_t seed);

/* Takes each `,"KEY":number` out of the text, in place. */
void drop_numbers(char *text, const char *key);

#endif
