/* The pictures and videos of a library of which a picture or a video shows a part, or that show a
 * part of it. */
#ifndef DOPPEL_SEARCH_PARTS_H
#define DOPPEL_SEARCH_PARTS_H

#include "search/videos.h"

/* Among those of the schemes local and frames128. @param query of one of them */
enum doppel_status search_by_parts(const struct track_search *search,
                                   const struct doppel_record *query, struct doppel_error *error);

#endif
