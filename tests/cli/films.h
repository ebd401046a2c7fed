/* Files of made films for the tests of the command. */
#ifndef DOPPEL_TESTS_FILMS_H
#define DOPPEL_TESTS_FILMS_H

#include "film.h"
#include "sound.h"

/* Write a film: 8 frames a second of 128 × 96, unless `how` says otherwise. Skips the test where
 * films cannot be written. */
void keep_film(const char *path, struct film_how how);
/* With a sound, which is freed. */
void keep_film_and_sound(const char *path, struct film_how how, struct sound sound);

/* A moment of a film as a picture: one with enough structure. */
void keep_shot(const char *path, uint64_t seed, double seconds);

/* whole.mp4, of 30 s, and clip.mp4, of 9 s of it from 10 s on, mirrored and smaller. */
void make_whole_and_clip(void);

#endif
