/* A page of a long answer: {"KEY":[…],"next":N}, N where the next one begins. */
#ifndef DOPPEL_SERVE_ANSWERS_PAGE_H
#define DOPPEL_SERVE_ANSWERS_PAGE_H

#include "serve/answers/answers.h"

struct library_page {
    struct exchange *exchange;
    struct doppel_library *library; /* that is looked through */
    uint64_t first;                 /* where it begins: `cursor` */
    uint64_t left;                  /* entries that it has room for, at first `limit` */
    uint64_t next;                  /* the first that it has no room for; 0: none */
    enum doppel_status status;      /* of what fills it */
    struct doppel_error error;
};

/* @param key NULL: the object alone is begun, for what comes before the array
 * @return false: 'cursor' or 'limit' is wrong, and the reply says so */
bool page_begin(struct library_page *page, struct exchange *exchange, struct library_reader *reader,
                const char *key);

/* Whether an entry has a place; else the next page begins with it. */
bool page_takes(struct library_page *page, uint64_t entry);

/* @param status of the visit that filled it, which damaged entries do not end, nor that it is full
 */
enum doppel_status page_end(struct library_page *page, enum doppel_status status,
                            struct doppel_error *error);

#endif
