/* Names that cameras, and programs that develop, give to files which belong together. */
#ifndef DOPPEL_CORE_CAMERA_NAMES_H
#define DOPPEL_CORE_CAMERA_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/** Whether a path ends like a raw file of a camera. */
bool is_raw_name(const char *path);

/** Whether a path ends like what programs write beside an image: how it is to be developed. */
bool is_sidecar_name(const char *path);

/** Bytes of a path without the extension of its name; all of them where it has none. */
size_t stem_length(const char *path);

/** Endings of sidecars, and of the short video beside a live photo: with their dots, small and
 * capital letters; NULL behind the last. */
extern const char *const sidecar_endings[], *const live_video_endings[];

#endif
