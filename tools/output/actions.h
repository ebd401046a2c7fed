/* What is done about the groups that were found. */
#ifndef DOPPEL_TOOLS_OUTPUT_ACTIONS_H
#define DOPPEL_TOOLS_OUTPUT_ACTIONS_H

#include <doppel/act.h>

struct report;
struct settings;

/* An empty plan of what the settings want. @param out given (doppel_plan_free) */
enum doppel_status new_plan(const struct settings *settings, struct doppel_plan **out,
                            struct doppel_error *error);

/* Do it, or with no --yes only look: rows of the output, and what they come to.
 * @return DOPPEL_OK also when some could not be acted on: those are reported */
enum doppel_status run_plan(const struct doppel_plan *plan, const struct settings *settings,
                            struct report *report, struct doppel_error *error);

/* Print a shell script that would do it. */
enum doppel_status print_script(const struct doppel_plan *plan, struct doppel_error *error);

#endif
