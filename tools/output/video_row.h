/* A video as a row of output: what hash, list and show say of one. */
#ifndef DOPPEL_TOOLS_OUTPUT_VIDEO_ROW_H
#define DOPPEL_TOOLS_OUTPUT_VIDEO_ROW_H

#include <stdbool.h>

#include <jansson.h>

#include <doppel/library.h>

/* What is said of a video: "codes", how many runs of frames it has; "duration", "width", "height",
 * "damaged"; "keyframes" when only these were looked at, "has_audio"; with `codes` all of them,
 * too, as "sequence". Of others nothing. */
void put_video_details(json_t *row, const struct doppel_record *record, bool codes);

#endif
