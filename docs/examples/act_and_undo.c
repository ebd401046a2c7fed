/* Hard-link the identical files of a folder, or undo the last time. Needs doppel:
 *
 *     cc act_and_undo.c $(pkg-config --cflags --libs doppel) -o act_and_undo
 *     DOPPEL_WORKER=/usr/bin/doppel-worker ./act_and_undo JOURNAL FOLDER
 *     ./act_and_undo JOURNAL
 */
#include <stdio.h>

#include <doppel/act.h>

static void print_step(void *context, const struct doppel_act_step *step)
{
    (void)context;
    if (step->result == DOPPEL_ACT_DONE)
        printf("%s: %s of %s\n", step->path, doppel_action_name(step->action), step->keep);
    else if (step->reason)
        printf("%s: %s\n", step->path, step->reason);
}

static const struct doppel_act_visitor printer = {print_step, NULL};

static enum doppel_status link_identical(struct doppel_run *run, const char *journal,
                                         const char *folder, struct doppel_act_summary *summary,
                                         struct doppel_error *error)
{
    const struct doppel_scan_paths paths = {.paths = &folder, .count = 1};
    struct doppel_act_policy policy = doppel_act_policy_default();
    struct doppel_plan *plan = NULL;
    policy.journal = journal;
    policy.dry_run = false;
    enum doppel_status status = doppel_plan_new(&policy, &plan, error);
    if (status == DOPPEL_OK)
        status = doppel_scan(run, &paths, NULL, doppel_plan_add, plan, NULL, error);
    if (status == DOPPEL_OK)
        status = doppel_plan_run(run, plan, &printer, summary, error);
    doppel_plan_free(plan);
    return status;
}

int main(int argc, char **argv)
{
    struct doppel_act_summary summary = {0};
    struct doppel_run *run = NULL;
    struct doppel_error error = {0};
    if (argc != 2 && argc != 3)
        return fprintf(stderr, "usage: act_and_undo JOURNAL [FOLDER]\n"), 2;
    const struct doppel_undo_options undo = {.journal = argv[1]};
    enum doppel_status status = doppel_run_new(NULL, &run, &error);
    if (status == DOPPEL_OK)
        status = argc == 3 ? link_identical(run, argv[1], argv[2], &summary, &error)
                           : doppel_undo(run, &undo, &printer, &summary, &error);
    printf("%llu files, %llu bytes\n", (unsigned long long)summary.files,
           (unsigned long long)summary.bytes);
    if (status != DOPPEL_OK)
        fprintf(stderr, "%s\n", error.message);
    doppel_run_free(run);
    return status == DOPPEL_OK ? 0 : 2;
}
