/* What the driver of lines starts from. */
#ifndef DOPPEL_TESTS_FUZZ_LINES_H
#define DOPPEL_TESTS_FUZZ_LINES_H

/** Good lines, below 2048 bytes each, ended by NULL. */
extern const char *const line_seeds[];

#endif
