/* Groups with what means the same behind them. */
#ifndef DOPPEL_SERVE_ANSWERS_LINKS_H
#define DOPPEL_SERVE_ANSWERS_LINKS_H

#include "serve/answers/answers.h"

/* Fill a reply, at a desk: a put_from_reader. */
put_from_reader put_groups_and_links;

#endif
