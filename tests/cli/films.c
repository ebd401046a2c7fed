/* Files of made films for the tests of the command. */
#include "films.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

void keep_film(const char *path, struct film_how how)
{
    how.rate = how.rate > 0 ? how.rate : 8;
    how.width = how.width ? how.width : 128;
    how.height = how.height ? how.height : 96;
    if (!film_write(path, &how))
        skip();
}

void keep_film_and_sound(const char *path, struct film_how how, struct sound sound)
{
    how.sound = &sound;
    keep_film(path, how);
    free(sound.samples);
}

void keep_shot(const char *path, uint64_t seed, double seconds)
{
    enum { WIDTH = 256, HEIGHT = 192 };
    const struct film_view view = {.seed = seed};
    struct picture picture = {WIDTH, HEIGHT, malloc((size_t)3 * WIDTH * HEIGHT)};
    uint8_t *luma = malloc((size_t)WIDTH * HEIGHT);
    assert_true(picture.pixels && luma);
    film_draw(&view, seconds, WIDTH, HEIGHT, luma);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        memset(picture.pixels + 3 * i, luma[i], 3);
    free(luma);
    keep_picture(path, picture, 90);
}

void make_whole_and_clip(void)
{
    keep_film("whole.mp4", (struct film_how){.view.seed = 1, .seconds = 30});
    keep_film("clip.mp4", (struct film_how){.view = {.seed = 1, .from = 10, .mirrored = true},
                                            .seconds = 9,
                                            .width = 96,
                                            .height = 72,
                                            .quality = 10});
}
