/* The sounds and films of a library, to be found by a sound, a film or a picture: one answer an
 * item, whatever found it. */
#ifndef DOPPEL_TOOLS_FIND_FILMS_H
#define DOPPEL_TOOLS_FIND_FILMS_H

#include <doppel/library.h>

#include "tools/answers.h"
#include "tools/film_looks.h"
#include "tools/find_known.h"
#include "tools/options.h"

/* Where to look, and where what is found goes. Items that are not known, and those in the answers
 * already, are passed over. All borrowed. */
struct film_search {
    const struct settings *settings;
    struct doppel_library *library;
    const struct find_known *known;
    struct answers *answers;
    struct film_looks *looks;     /* to refine the ends of what films share; NULL: not wanted */
    const struct film_file *file; /* that the query was read from; NULL: none */
};

/* What a sound is heard in: sounds, and films. */
enum doppel_status find_by_sound(const struct film_search *search,
                                 const struct doppel_record *query, struct doppel_error *error);

/* What a film shares a picture or a sound with. */
enum doppel_status find_by_film(const struct film_search *search, const struct doppel_record *query,
                                struct doppel_error *error);

/* The films that show a picture. */
enum doppel_status find_by_picture(const struct film_search *search,
                                   const struct doppel_match_item *picture,
                                   struct doppel_error *error);

#endif
