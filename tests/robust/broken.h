/* Files as nobody should make them: cut short, lying about themselves, or bombs. */
#ifndef DOPPEL_TESTS_BROKEN_H
#define DOPPEL_TESTS_BROKEN_H

#include <stddef.h>
#include <stdint.h>

/* A recording JPEG and PNG cut at 0, 1, 2, 10 and so on bytes, into the folder; only the longest
 * parts can be of use. @return how many files */
unsigned make_truncated(const char *folder);

/* No pictures at all, under names of pictures; tiny ones; and such as declare 65 535 × 65 535 in 2
 * KB. @return how many files; each has to be reported but those named ok-… */
unsigned make_liars(const char *folder);

/* Decompression bombs: small files of huge pictures, audio from end to end. @return how many files
 */
unsigned make_bombs(const char *folder);

/* A recording PNG of one colour; `interlaced` is Adam7. The compressed bytes are one block,
 * repeated.
 */
void write_blank_png(const char *path, uint32_t width, uint32_t height, unsigned bit_depth,
                     unsigned color_type, int interlaced);

#endif
