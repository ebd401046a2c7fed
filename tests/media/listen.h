/* Reading audio in memory, from files and from pipes. */
#ifndef DOPPEL_TESTS_MEDIA_LISTEN_H
#define DOPPEL_TESTS_MEDIA_LISTEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "make_audio.h"

/** What was heard: silence as zeros. */
struct heard {
    enum doppel_status status;
    struct doppel_error error;
    struct doppel_samples_info info;
    float *samples;
    size_t count, silent, silences; /**< samples; how many of them in how many gaps */
};

struct heard listen_to(const struct file *file, const struct doppel_samples_options *options);

/** The same bytes through a pipe, in uneven pieces. */
struct heard listen_to_stream(const struct file *file,
                              const struct doppel_samples_options *options);

void heard_free(struct heard *heard);

/** How far samples [from, until) are from the tune (see tune_value), at most; `scale` its level. */
double heard_error(const struct heard *heard, double from, double until, double scale);

/** Level of a frequency in [from, until) s: the amplitude of its sine. */
double heard_level(const struct heard *heard, double from, double until, double hertz);

/** That a file is refused like this, with these words in the sentence; frees the file. */
void assert_not_heard(struct file file, const struct doppel_samples_options *options,
                      enum doppel_status status, const char *words);

#endif
