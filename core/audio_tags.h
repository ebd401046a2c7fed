/* What the file of a recording says of itself, as it is kept and written. */
#ifndef DOPPEL_CORE_AUDIO_TAGS_H
#define DOPPEL_CORE_AUDIO_TAGS_H

#include <stdbool.h>

#include <doppel/core.h>

/** Copy a text that a file holds as a tag: bytes that are not UTF-8 become U+FFFD, control
 * characters and white space one space, none of them at its ends; what is longer is cut after a
 * whole character. What is a tag already stays as it is. @param out DOPPEL_TAG_BYTES + 1 */
void audio_tag_clean(const char *text, char *out);

/** Whether there is none. */
bool audio_tags_empty(const struct doppel_audio_tags *tags);

#endif
