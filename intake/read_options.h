/* The scheme by which files are read (doppel/intake.h). */
#ifndef DOPPEL_INTAKE_READ_OPTIONS_H
#define DOPPEL_INTAKE_READ_OPTIONS_H

#include <doppel/intake.h>

/* The scheme by which files of a kind are read; NULL when they are not wanted. Borrowed. */
static inline const struct doppel_scheme *read_scheme(const struct doppel_read_options *options,
                                                      enum doppel_kind kind)
{
    const struct doppel_scheme *scheme = &options->schemes[kind];
    return scheme->id == DOPPEL_SCHEME_NONE ? NULL : scheme;
}

#endif
