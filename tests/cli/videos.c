/* Files of made videos for the tests of the command. */
#include "videos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

void keep_video(const char *path, struct video_how how)
{
    how.rate = how.rate > 0 ? how.rate : 8;
    how.width = how.width ? how.width : 128;
    how.height = how.height ? how.height : 96;
    if (!video_write(path, &how))
        skip();
}

void keep_video_and_audio(const char *path, struct video_how how, struct recording recording)
{
    how.audio = &recording;
    keep_video(path, how);
    free(recording.samples);
}

void keep_shot(const char *path, uint64_t seed, double seconds)
{
    enum { WIDTH = 256, HEIGHT = 192 };
    const struct video_view view = {.seed = seed};
    struct image image = {WIDTH, HEIGHT, malloc((size_t)3 * WIDTH * HEIGHT)};
    uint8_t *luma = malloc((size_t)WIDTH * HEIGHT);
    assert_true(image.pixels && luma);
    video_draw(&view, seconds, WIDTH, HEIGHT, luma);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        memset(image.pixels + 3 * i, luma[i], 3);
    free(luma);
    keep_image(path, image, 90);
}

void make_whole_and_clip(void)
{
    keep_video("whole.mp4", (struct video_how){.view.seed = 1, .seconds = 30});
    keep_video("clip.mp4", (struct video_how){.view = {.seed = 1, .from = 10, .mirrored = true},
                                              .seconds = 9,
                                              .width = 96,
                                              .height = 72,
                                              .quality = 10});
}
