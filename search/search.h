/* A library, asked by files and codes: what in it is the same, or shares a part. What can be held
 * in memory is: pictures, texts; recordings and videos lie in indexes that the library keeps. */
#ifndef DOPPEL_SEARCH_SEARCH_H
#define DOPPEL_SEARCH_SEARCH_H

#include <doppel/library.h>

#include "search/results.h"
#include "intake/intake.h"
#include "tools/args/options.h"
#include <doppel/run.h>

struct library_search;

/* It knows nothing before library_search_catch_up. @param settings,compare,run,library borrowed for
 * its life. @param out given (library_search_free) */
enum doppel_status library_search_new(const struct settings *settings,
                                      const struct doppel_compare_options *compare,
                                      struct doppel_run *run, struct doppel_library *library,
                                      struct library_search **out, struct doppel_error *error);
/* From now on only what leads a group is taken in; and what has the same bytes is not looked up. */
void library_search_leaders(struct library_search *search);
void library_search_free(struct library_search *search);

/* Take in what has come into the library since the last time. What is damaged is reported, and left
 * out. */
enum doppel_status library_search_catch_up(struct library_search *search,
                                           struct doppel_error *error);

/* What matches a file, the best first: those of the same bytes before all others. DOPPEL_E_CORRUPT,
 * with a sentence: what is known of the file is damaged. */
enum doppel_status library_search_file(struct library_search *search,
                                       const struct intake_file *file, struct answers *answers,
                                       struct doppel_error *error);

/* The same of a picture or text of which only a code is known. */
enum doppel_status library_search_code(struct library_search *search,
                                       const struct doppel_fingerprint *code,
                                       struct answers *answers, struct doppel_error *error);

#endif
