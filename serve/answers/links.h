/* GET /v1/groups?semantic=1. */
#ifndef DOPPEL_SERVE_ANSWERS_LINKS_H
#define DOPPEL_SERVE_ANSWERS_LINKS_H

#include "serve/answers/answers.h"

/* Fill a reply with groups, and then links of texts that mean the same; at a desk. */
put_from_reader put_groups_and_links;

#endif
