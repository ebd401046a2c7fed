/* What a library has to tell goes to a run. */
#include <doppel/search.h>

static void pass_notice_on(void *run, const char *sentence)
{
    doppel_run_notice(run, "%s", sentence);
}

static void pass_progress_on(void *context, uint64_t done, uint64_t total)
{
    struct doppel_run *run = context;
    if (!done)
        doppel_run_begin(run, "items", total);
    if (done < total)
        doppel_run_advance(run, done);
    else
        doppel_run_end(run);
}

void doppel_run_watch(struct doppel_run *run, struct doppel_library *library)
{
    const struct doppel_library_watch watch = {
        pass_notice_on, doppel_run_shows_progress(run) ? pass_progress_on : NULL, run};
    doppel_library_set_watch(library, &watch);
}
