/* Which parities of coefficients a code says nothing of. */
#ifndef DOPPEL_IMAGE_ORIENT_H
#define DOPPEL_IMAGE_ORIENT_H

#include <doppel/image.h>

/** Bit p: all bits of parity p (phash_parity, 1 to 3) are 0, as those of a picture are that is its
 * own mirror image; mirroring does not touch them. */
unsigned orient_absent(const struct doppel_code *code);

#endif
