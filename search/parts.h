/* The pictures of a library of which a picture shows a part, or that show a part of it. */
#ifndef DOPPEL_SEARCH_PARTS_H
#define DOPPEL_SEARCH_PARTS_H

#include "search/videos.h"

/* Among the pictures of scheme local. @param query of that scheme */
enum doppel_status search_by_parts(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error);

#endif
