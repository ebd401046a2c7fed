/* How files are read. */
#ifndef DOPPEL_INTAKE_READ_OPTIONS_H
#define DOPPEL_INTAKE_READ_OPTIONS_H

#include <doppel/core.h>
#include <doppel/text.h>

#include "intake/pcm.h"

struct doppel_read_options {
    struct doppel_scheme schemes[DOPPEL_KIND_VIDEO + 1]; /* by kind, with the version of the options
                                                            below; id NONE: not wanted */
    enum doppel_kind kind; /* the one kind that was named; UNKNOWN: none was */
    struct doppel_text_options text;
    bool text_format_given; /* text.format is not of the file itself */
    struct pcm pcm;         /* all is raw audio; format 0: nothing is */
    bool fast;              /* of videos the keyframes alone */
    bool no_audio;          /* videos without their audio */
};

/* The scheme by which files of a kind are read; NULL when they are not wanted. Borrowed. */
static inline const struct doppel_scheme *read_scheme(const struct doppel_read_options *options,
                                                      enum doppel_kind kind)
{
    const struct doppel_scheme *scheme = &options->schemes[kind];
    return scheme->id == DOPPEL_SCHEME_NONE ? NULL : scheme;
}

#endif
