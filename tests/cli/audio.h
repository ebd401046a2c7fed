/* Files of made recordings for the tests of the command. */
#ifndef DOPPEL_TESTS_RECORDINGS_H
#define DOPPEL_TESTS_RECORDINGS_H

#include <stdbool.h>

#include "../audio.h"

/* Write it as WAV, 16 bits, and free it. */
void keep_wav(const char *path, struct recording recording);

/* The same, with tags in a LIST chunk behind the samples; NULL: none. */
void keep_tagged_wav(const char *path, struct recording recording, const char *artist,
                     const char *title, const char *album);

/* Write it in what the name's ending says (.flac, .aac, .m4a, …). @return false when no encoder is
 * at hand */
bool write_encoded(const char *path, const struct recording *recording);

#endif
