/* The rest of the collection that README.md and the guides work with: texts, music, videos. */
#ifndef DOPPEL_DEMO_MEDIA_H
#define DOPPEL_DEMO_MEDIA_H

#include <stdio.h>

/* Into the working folder. What cannot be written ends the program. */

/* texts/: a licence, as a page of HTML, and the first 85 % of it. @param path of the licence */
void make_texts(const char *path);

/* articles.jsonl: nine records; of six articles one is there in upper case, too, one with words
 * around it, and one in other words. articles/: a file each. */
void make_articles(void);

/* music/: three tunes and a part of one; heard.wav: five seconds of one, with noise; broadcast.wav:
 * fifteen seconds of another one between music that is in no folder. */
void make_music(void);

/* diver.avi, of 12 s; trailer.avi: 6 s of it from 2 s on, smaller and compressed hard. */
void make_videos(void);

/* Say what could not be written, and end. */
_Noreturn void demo_fail(const char *path);

/* fopen, or demo_fail. */
FILE *demo_open(const char *path, const char *mode);

#endif
