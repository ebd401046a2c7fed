/* Files of made films for the tests of the command. */
#include "films.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collection.h"
#include "command.h"

double number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (!at)
        fail_msg("no \"%s\" in %s", key, json);
    return strtod(at + strlen(quoted), NULL);
}

void assert_number(const char *json, const char *key, double wanted, double tolerance)
{
    double number = number_of(json, key);
    if (!(number >= wanted - tolerance && number <= wanted + tolerance))
        fail_msg("%s is %g, wanted %g, in %s", key, number, wanted, json);
}

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
