/* What the build makes of the tables: the man page and the completions of three shells. */
#ifndef DOPPEL_TOOLS_ARGS_GENERATE_H
#define DOPPEL_TOOLS_ARGS_GENERATE_H

#include <stdio.h>

#include "tools/args/options.h"

void generate_man(FILE *stream);
void generate_bash(FILE *stream);
void generate_zsh(FILE *stream);
void generate_fish(FILE *stream);

#endif
