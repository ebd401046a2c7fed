/* What is kept of a video. */
#include <doppel/video.h>

#include <stdlib.h>

void doppel_video_track_free(struct doppel_video_track *track)
{
    free(track->frames);
    free(track->cells);
    for (size_t i = 0; i < DOPPEL_VIDEO_RECTANGLES; i++)
        free(track->rectangle_cells[i]);
    free(track->audio);
    *track = (struct doppel_video_track){0};
}
