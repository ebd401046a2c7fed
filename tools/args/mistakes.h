/* What is said of a word that is in no table, or is no value of its option: the nearest right one.
 * All return DOPPEL_E_ARGUMENT with a sentence. */
#ifndef DOPPEL_TOOLS_ARGS_MISTAKES_H
#define DOPPEL_TOOLS_ARGS_MISTAKES_H

#include "tools/args/options.h"

/* Of a verb that does not exist. */
enum doppel_status unknown_verb(const char *name, struct doppel_error *error);

/* Of a value that is none of the option's words. */
enum doppel_status wrong_choice(const struct option_info *option, const char *value,
                                struct doppel_error *error);

/* Of '-x'. */
enum doppel_status unknown_letter(const struct verb *verb, int letter, struct doppel_error *error);

/* `word` is as typed, "--name" or "--name=value". */
enum doppel_status unknown_option(const struct verb *verb, const char *word,
                                  struct doppel_error *error);

#endif
