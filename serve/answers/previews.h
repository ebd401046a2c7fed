/* What inputs and items look like, as a report shows them. */
#ifndef DOPPEL_SERVE_ANSWERS_PREVIEWS_H
#define DOPPEL_SERVE_ANSWERS_PREVIEWS_H

#include "serve/answers/answers.h"

enum { MOST_PREVIEWS = 32 };

/* A group whose members are to be previewed, the first one alone, the others beside it. */
struct preview_group;

/* @param out given (preview_group_free) */
enum doppel_status preview_group_new(enum doppel_kind kind, struct preview_group **out,
                                     struct doppel_error *error);
void preview_group_free(struct preview_group *group);

/* Add what was asked about. @param record what is known of it, as long as the group lasts */
enum doppel_status preview_group_add_input(struct preview_group *group,
                                           const struct service *service,
                                           const struct request_input *input,
                                           const struct doppel_record *record,
                                           struct doppel_error *error);

/* Add an item. @param match it as the item, the first member as the query; NULL: not known. What is
 * beyond MOST_PREVIEWS is left out. DOPPEL_E_NOT_FOUND */
enum doppel_status preview_group_add_item(struct preview_group *group,
                                          struct doppel_library *library, uint64_t id,
                                          const struct doppel_match *match,
                                          struct doppel_error *error);

/* Have them previewed: an object {"members":[…]} (docs/formats.md). @param pixels as of
 * doppel_previews_to_json */
enum doppel_status preview_group_to_json(const struct preview_group *group,
                                         const struct service *service, uint32_t pixels,
                                         struct doppel_json *json, struct doppel_error *error);

#endif
