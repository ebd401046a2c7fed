/* Help from the tables. */
#ifndef DOPPEL_TOOLS_ARGS_HELP_H
#define DOPPEL_TOOLS_ARGS_HELP_H

#include <stdbool.h>
#include <stdio.h>

struct verb;

/* A few lines for who typed `doppel` alone. */
void help_short(FILE *stream);

/* `doppel --help`: the verbs, and where to read on. */
void help_main(FILE *stream);

/* `doppel index`: the verbs that begin with a word. */
void help_family(FILE *stream, const char *family);

/* `doppel VERB --help`: what it does, two examples, the common options with defaults: a screen.
 * With `whole` in detail, and all options. */
void help_verb(FILE *stream, const struct verb *verb, bool whole);

#endif
