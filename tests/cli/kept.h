/* A library of the drawn collection, changed behind doppel's back, and what verify says. */
#ifndef DOPPEL_TESTS_KEPT_H
#define DOPPEL_TESTS_KEPT_H

/* Make the collection, and `library` of it. */
void make_library(void);

/* Run SQL on its catalogue. */
void run_sql(const char *sql);

/* What `verify --json` prints (free). @param mode "--repair", or NULL */
char *verify(int code, const char *mode);

#endif
