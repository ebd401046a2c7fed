/* Reading files in memory, and comparing what came with the scene that went in. */
#ifndef DOPPEL_TESTS_MEDIA_CHECK_H
#define DOPPEL_TESTS_MEDIA_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "make.h"

enum doppel_status read_bytes(const void *data, size_t size,
                              const struct doppel_luma_options *options, struct doppel_luma *out,
                              struct doppel_error *error);

/** Read a file that must be good. */
struct doppel_luma read_good(const struct file *file, const struct doppel_luma_options *options);

/** Options that reduce until the shorter side would be under `min_side`. */
struct doppel_luma_options reducing_to(uint32_t min_side);

struct difference {
    double mean, most;
};

/**
 * Compare a plane with the scene, area-averaged over the plane's cells of `cell`×`cell` samples.
 * @param orientation EXIF: how the stored scene was turned before it was shown
 */
struct difference compare(const struct doppel_luma *luma, const struct scene *scene, uint32_t cell,
                          unsigned orientation);

/** That a file reads as the scene it was made of; frees the file. */
void assert_reads_as(struct file file, const struct scene *scene,
                     const struct doppel_luma_options *options, double mean, double most);

/** That a file that says `orientation` (EXIF) reads as the scene turned so; frees the file. */
void assert_turned(struct file file, const struct scene *scene, unsigned orientation);

/** Read the first `size` bytes of a file: some rows of the scene. @return how many */
uint32_t rows_of_cut(const struct file *file, size_t size, const struct scene *scene);

/** That these bytes are refused like this, and the sentence has these words in it. */
void assert_refused(const void *data, size_t size, const struct doppel_luma_options *options,
                    enum doppel_status status, const char *words);

#endif
