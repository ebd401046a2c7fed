/* Rows by the million on stdout: JSON Lines that are gathered, and written at once. */
#ifndef DOPPEL_TOOLS_OUTPUT_WRITE_STDOUT_H
#define DOPPEL_TOOLS_OUTPUT_WRITE_STDOUT_H

#include <stdbool.h>
#include <stddef.h>

struct settings;

/* Whether rows are printed as JSON Lines: a table is for people; who reads it by a program gets
 * what programs read, unless told otherwise. */
bool wants_json_lines(const struct settings *settings);

/* All of it, unless a signal ends the run. A closed pipe ends it, too. @return 0, or errno */
int write_stdout(const char *bytes, size_t size);

#endif
