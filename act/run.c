/* Runs: taking the steps of a plan, one file after the other; listing them; taking them back. */
#include <doppel/act.h>

#include "act/confirm.h"
#include "act/plan_internal.h"
#include "act/step.h"
#include "core/try.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct acting {
    struct doppel_run *run;
    const struct doppel_plan *plan;
    const struct doppel_act_visitor *visitor;
    struct doppel_act_summary *summary;
    struct journal *journal; /* NULL in a dry run */
    struct gone_names *gone; /* of each file of the plan */
    struct confirmation confirmation;
};

/* Names of a file that went. */
struct gone_names {
    uint64_t count, links; /* that it had when the first one went */
};

static void report_step(const struct doppel_act_visitor *visitor,
                        const struct doppel_act_step *step)
{
    if (visitor && visitor->visit)
        visitor->visit(visitor->context, step);
}

static void report_unreadable_lines(struct doppel_run *run, const struct journal_content *content)
{
    if (content->unreadable)
        doppel_run_notice(run, "%llu damaged line%s of the journal passed over",
                          (unsigned long long)content->unreadable,
                          content->unreadable == 1 ? "" : "s");
}

/* ---- acting ---- */

/* A duplicate on its way. */
struct acted_file {
    const struct doppel_plan_file *file, *kept;
    struct held_pair pair;
    struct doppel_error reason; /* why nothing was done */
};

/* @param step what was done, or would be; NULL: nothing */
static void report_file(const struct acting *acting, const struct acted_file *acted,
                        enum doppel_act_result result, const struct journal_entry *step)
{
    const char *target = NULL;
    if (step)
        target = step->action == DOPPEL_ACTION_TRASH || step->action == DOPPEL_ACTION_MOVE_TO
                     ? step->target
                     : acted->kept->path;
    bool done = result == DOPPEL_ACT_DONE || result == DOPPEL_ACT_WOULD;
    report_step(acting->visitor, &(struct doppel_act_step){
                                     .result = result,
                                     .action = acting->plan->policy.action,
                                     .run = acting->summary->run,
                                     .group = acted->file->group,
                                     .path = acted->file->path,
                                     .keep = acted->kept->path,
                                     .target = target,
                                     .freed_bytes = step ? step->freed_bytes : 0,
                                     .size_bytes = (uint64_t)acted->file->stamp.size,
                                     .reason = done ? NULL : acted->reason.message,
                                 });
}

/* A step on the way into the journal and out again. What is written there decides. */
static enum doppel_status take_step(struct acting *acting, const struct held_pair *pair,
                                    struct journal_entry *step, struct doppel_error *reason,
                                    struct doppel_error *error)
{
    struct doppel_act_summary *summary = acting->summary;
    enum doppel_status status = DOPPEL_OK;
    if (!summary->run)
        TRY(journal_begin(acting->journal, step->action, &summary->run, error));
    TRY(step_number(step, summary->run, ++summary->steps, error));
    TRY(journal_step(acting->journal, step, error));
    bool taken = step_take(pair, step, reason) == DOPPEL_OK;
    if (taken)
        reason->status = DOPPEL_OK; /* the sentence may be of a way that was tried first */
    return journal_end(acting->journal, step, taken ? STEP_DONE : STEP_FAILED, error);
done:
    return status;
}

static struct gone_names *gone_names_of(const struct acting *acting, const struct acted_file *acted)
{
    return &acting->gone[acted->file->first_name];
}

/* What is freed when this name goes: its file, if it is the last one. Blocks are shared whatever it
 * is called. */
static uint64_t bytes_freed(const struct acting *acting, const struct acted_file *acted)
{
    struct gone_names *gone = gone_names_of(acting, acted);
    const struct stat *stat = &acted->pair.twin.stat;
    if (!gone->count)
        gone->links = stat->st_nlink;
    bool last = gone->count + 1 >= gone->links;
    return last || acting->plan->policy.action == DOPPEL_ACTION_REFLINK ? (uint64_t)stat->st_size
                                                                        : 0;
}

/* The name of its file that the run comes to last; NULL: it is this one. */
static const char *last_name_of(const struct acting *acting, const struct acted_file *acted)
{
    const struct doppel_plan *plan = acting->plan;
    const struct doppel_plan_file *last = acted->file;
    if (acted->pair.twin.stat.st_nlink < 2)
        return NULL;
    for (size_t i = acted->file->first_name; i < plan->files.count; i++) {
        const struct doppel_plan_file *file = &plan->files.items[i];
        if (file->keep != acted->file->keep)
            break;
        if (file->first_name == acted->file->first_name)
            last = file;
    }
    return last == acted->file ? NULL : last->path;
}

static void count_done(struct acting *acting, const struct acted_file *acted,
                       const struct journal_entry *step)
{
    const struct doppel_act_policy *policy = &acting->plan->policy;
    report_file(acting, acted, policy->dry_run ? DOPPEL_ACT_WOULD : DOPPEL_ACT_DONE, step);
    acting->summary->files++;
    acting->summary->bytes += step->freed_bytes;
    gone_names_of(acting, acted)->count++;
}

/* Both files are open, and what is compared is what is held. */
static void compare_held_pair(struct acting *acting, struct acted_file *acted)
{
    const struct held_pair *pair = &acted->pair;
    if (acted->file->identical)
        held_same_bytes(&pair->twin, &pair->kept, &acted->reason);
    else if (wants_confirmation(acted->file) &&
             !confirm_duplicate(acting->run, acting->plan, acted->file, &acting->confirmation,
                                &acted->reason))
        held_both_unchanged(&pair->twin, &pair->kept, &acted->reason);
}

/* Both files are open. @param error ends the run */
static enum doppel_status act_on_pair(struct acting *acting, struct acted_file *acted,
                                      struct doppel_error *error)
{
    const struct doppel_act_policy *policy = &acting->plan->policy;
    struct journal_entry step = {0};
    enum doppel_status status = DOPPEL_OK;
    if (!policy->dry_run)
        compare_held_pair(acting, acted);
    if (!acted->reason.status)
        step_make(&acted->pair, policy, &step, &acted->reason);
    step.freed_bytes = bytes_freed(acting, acted);
    const char *other = acted->reason.status ? NULL : last_name_of(acting, acted);
    if (other && !(step.other = real_place(other)))
        doppel_fail(&acted->reason, DOPPEL_E_IO, "its other name cannot be resolved: %s",
                    strerror(errno));
    if (!acted->reason.status && !policy->dry_run)
        status = take_step(acting, &acted->pair, &step, &acted->reason, error);
    if (!status && !acted->reason.status)
        count_done(acting, acted, &step);
    step_free(&step);
    return status;
}

static enum doppel_status act_on_file(struct acting *acting, struct acted_file *acted,
                                      struct doppel_error *error)
{
    const struct doppel_plan_file *file = acted->file;
    struct pair_files files = {file->path, acted->kept->path, file->stamp, acted->kept->stamp,
                               file->identical};
    enum doppel_status status = DOPPEL_OK;
    if (!acted->reason.status && !pair_open(acting->run, &files, acting->plan->policy.action,
                                            &acted->pair, &acted->reason)) {
        status = act_on_pair(acting, acted, error);
        pair_close(&acted->pair);
    }
    if (acted->reason.status == DOPPEL_E_CANCELLED)
        return doppel_fail(error, DOPPEL_E_CANCELLED, "%s", acted->reason.message);
    if (status || !acted->reason.status)
        return status;
    bool refused =
        acted->reason.status != DOPPEL_E_EMPTY && acted->reason.status != DOPPEL_E_NOT_FOUND;
    acting->summary->left++;
    report_file(acting, acted, refused ? DOPPEL_ACT_REFUSED : DOPPEL_ACT_LEFT, NULL);
    if (refused)
        doppel_run_failed(acting->run, file->path, &acted->reason);
    return DOPPEL_OK;
}

static enum doppel_status act_on_all(struct acting *acting, struct doppel_error *error)
{
    const struct doppel_plan *plan = acting->plan;
    enum doppel_status status = DOPPEL_OK;
    for (size_t i = 0; i < plan->files.count && !status; i++) {
        const struct doppel_plan_file *file = &plan->files.items[i];
        struct acted_file acted = {.file = file, .kept = &plan->files.items[file->duplicate_of]};
        if (doppel_run_cancelled(acting->run))
            return doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted");
        if (file->duplicate_of == i && !file->left)
            continue;
        if (file->is_sidecar && !acting->gone[plan->files.items[file->sidecar_of].first_name].count)
            doppel_fail(&acted.reason, DOPPEL_E_EMPTY, "its image stays");
        if (file->left)
            doppel_fail(&acted.reason, file->refused ? DOPPEL_E_ARGUMENT : DOPPEL_E_EMPTY, "%s",
                        file->left);
        status = act_on_file(acting, &acted, error);
    }
    return status;
}

static void report_cut_short(struct doppel_run *run, const struct journal_content *content)
{
    for (size_t i = content->steps.count; i-- > 0;)
        if (content->steps.items[i].end == STEP_OPEN) {
            unsigned long long number = content->steps.items[i].run;
            doppel_run_notice(run, "run %llu was cut short: 'doppel undo %llu' takes it back",
                              number, number);
            return;
        }
}

enum doppel_status doppel_plan_run(struct doppel_run *run, const struct doppel_plan *plan,
                                   const struct doppel_act_visitor *visitor,
                                   struct doppel_act_summary *out_summary,
                                   struct doppel_error *error)
{
    struct acting acting = {.run = run, .plan = plan, .visitor = visitor, .summary = out_summary};
    struct journal_content content = {0};
    struct doppel_error late;
    *out_summary = (struct doppel_act_summary){0};
    enum doppel_status status =
        plan->policy.dry_run ? DOPPEL_OK
                             : journal_open(plan->policy.journal, &acting.journal, &content, error);
    if (status)
        return status;
    out_summary->begun = true;
    report_cut_short(run, &content);
    journal_content_free(&content);
    acting.gone = calloc(plan->files.count + 1, sizeof *acting.gone);
    status = acting.gone ? act_on_all(&acting, error)
                         : doppel_fail(error, DOPPEL_E_MEMORY, "no memory to act");
    free(acting.gone);
    confirmation_free(&acting.confirmation);
    if (journal_close(acting.journal, &late) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s", late.message);
    return status;
}

/* ---- listing ---- */

static struct doppel_act_run count_run(const struct journal_content *content,
                                       const struct journal_run *run)
{
    struct doppel_act_run counted = {
        .number = run->run, .time_s = run->time_s, .action = run->action};
    for (size_t i = 0; i < content->steps.count; i++) {
        const struct journal_entry *step = &content->steps.items[i];
        if (step->run != run->run)
            continue;
        bool done = step->end == STEP_DONE || step->end == STEP_UNDONE;
        counted.files += done;
        counted.bytes += done ? step->freed_bytes : 0;
        counted.undone += step->end == STEP_UNDONE;
        counted.unfinished += step->end == STEP_OPEN;
    }
    return counted;
}

enum doppel_status doppel_act_runs(struct doppel_run *run, const char *journal,
                                   doppel_act_run_visitor *visit, void *context,
                                   struct doppel_error *error)
{
    struct journal_content content;
    if (!journal)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no journal is named");
    enum doppel_status status = journal_read(journal, &content, error);
    if (status)
        return status;
    for (size_t i = 0; i < content.runs.count; i++) {
        struct doppel_act_run counted = count_run(&content, &content.runs.items[i]);
        visit(context, &counted);
    }
    report_unreadable_lines(run, &content);
    journal_content_free(&content);
    return DOPPEL_OK;
}

/* ---- undoing ---- */

struct undoing {
    struct doppel_run *run;
    const struct doppel_undo_options *options;
    const struct doppel_act_visitor *visitor;
    struct doppel_act_summary *summary;
    struct journal *journal; /* NULL in a dry run */
    struct journal_content content;
    ARRAY(const struct journal_entry *) by_file; /* steps of the run, those about a file together */
};

static int compare_stamps(const struct journal_entry *a, const struct journal_entry *b)
{
    if (a->stamp.device != b->stamp.device)
        return a->stamp.device < b->stamp.device ? -1 : 1;
    return (a->stamp.inode > b->stamp.inode) - (a->stamp.inode < b->stamp.inode);
}

static int compare_steps_by_file(const void *left, const void *right)
{
    const struct journal_entry *a = *(const struct journal_entry *const *)left,
                               *b = *(const struct journal_entry *const *)right;
    int order = compare_stamps(a, b);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* @return false without memory */
static bool sort_by_file(struct undoing *undoing, uint64_t number)
{
    for (size_t i = 0; i < undoing->content.steps.count; i++) {
        const struct journal_entry *step = &undoing->content.steps.items[i];
        if (step->run == number && !array_push(&undoing->by_file, step))
            return false;
    }
    if (undoing->by_file.count)
        qsort(undoing->by_file.items, undoing->by_file.count, sizeof *undoing->by_file.items,
              compare_steps_by_file);
    return true;
}

static struct steps_of_file steps_of_file(const struct undoing *undoing,
                                          const struct journal_entry *step)
{
    const struct journal_entry *const *steps = undoing->by_file.items;
    const struct journal_entry *const *at =
        bsearch(&step, steps, undoing->by_file.count, sizeof *steps, compare_steps_by_file);
    size_t first = (size_t)(at - steps), end = first + 1;
    while (first && compare_stamps(steps[first - 1], step) == 0)
        first--;
    while (end < undoing->by_file.count && compare_stamps(steps[end], step) == 0)
        end++;
    return (struct steps_of_file){steps + first, end - first};
}

static void report_undone(const struct undoing *undoing, const struct journal_entry *step,
                          enum undone undone, const char *reason)
{
    bool moves = step->action == DOPPEL_ACTION_TRASH || step->action == DOPPEL_ACTION_MOVE_TO;
    bool dry_run = undoing->options->dry_run;
    enum doppel_act_result result = undone == UNDO_REFUSED   ? DOPPEL_ACT_REFUSED
                                    : undone == UNDO_NOTHING ? DOPPEL_ACT_LEFT
                                    : dry_run                ? DOPPEL_ACT_WOULD
                                                             : DOPPEL_ACT_DONE;
    report_step(undoing->visitor, &(struct doppel_act_step){
                                      .result = result,
                                      .action = step->action,
                                      .run = step->run,
                                      .path = step->path,
                                      .keep = step->kept,
                                      .target = moves ? step->target : NULL,
                                      .size_bytes = (uint64_t)step->stamp.size,
                                      .freed_bytes = step->freed_bytes,
                                      .reason = undone == UNDO_DONE ? NULL : reason,
                                  });
}

static enum doppel_status undo_one(struct undoing *undoing, const struct journal_entry *step,
                                   struct doppel_error *error)
{
    struct doppel_error reason;
    bool dry_run = undoing->options->dry_run;
    const struct steps_of_file same = steps_of_file(undoing, step);
    enum undone undone = step_undo(undoing->run, step, &same, dry_run, &reason);
    bool never_taken = undone == UNDO_NOTHING && step->end == STEP_OPEN; /* a run was cut short */
    undoing->summary->steps++;
    undoing->summary->files += undone == UNDO_DONE;
    undoing->summary->left += undone != UNDO_DONE && !never_taken;
    undoing->summary->bytes += undone == UNDO_DONE ? step->freed_bytes : 0;
    if (!never_taken)
        report_undone(undoing, step, undone, reason.message);
    if (undone == UNDO_REFUSED)
        doppel_run_failed(undoing->run, step->path, &reason);
    if (undone == UNDO_REFUSED || dry_run)
        return DOPPEL_OK;
    return journal_end(undoing->journal, step, never_taken ? STEP_FAILED : STEP_UNDONE, error);
}

/* The last run that did anything. 0: there is none */
static uint64_t last_run(const struct journal_content *content)
{
    for (size_t i = content->steps.count; i-- > 0;)
        if (content->steps.items[i].end != STEP_FAILED)
            return content->steps.items[i].run;
    return 0;
}

static bool has_run(const struct journal_content *content, uint64_t number)
{
    for (size_t i = 0; i < content->runs.count; i++)
        if (content->runs.items[i].run == number)
            return true;
    return false;
}

/* The last step first. */
static enum doppel_status undo_steps(struct undoing *undoing, uint64_t number,
                                     struct doppel_error *error)
{
    const struct journal_content *content = &undoing->content;
    enum doppel_status status = DOPPEL_OK;
    undoing->summary->run = number;
    if (!sort_by_file(undoing, number))
        return doppel_fail(error, DOPPEL_E_MEMORY, "no memory to undo");
    for (size_t i = content->steps.count; i-- > 0 && !status;) {
        const struct journal_entry *step = &content->steps.items[i];
        if (step->run != number || (step->end != STEP_DONE && step->end != STEP_OPEN))
            continue;
        status = doppel_run_cancelled(undoing->run)
                     ? doppel_fail(error, DOPPEL_E_CANCELLED, "interrupted")
                     : undo_one(undoing, step, error);
    }
    return status;
}

enum doppel_status doppel_undo(struct doppel_run *run, const struct doppel_undo_options *options,
                               const struct doppel_act_visitor *visitor,
                               struct doppel_act_summary *out_summary, struct doppel_error *error)
{
    struct undoing undoing = {
        .run = run, .options = options, .visitor = visitor, .summary = out_summary};
    struct doppel_error late;
    *out_summary = (struct doppel_act_summary){0};
    if (!options || !options->journal)
        return doppel_fail(error, DOPPEL_E_ARGUMENT, "no journal is named");
    /* What was never made is not made to be read. */
    bool reads = options->dry_run || (access(options->journal, F_OK) && errno == ENOENT);
    enum doppel_status status =
        reads ? journal_read(options->journal, &undoing.content, error)
              : journal_open(options->journal, &undoing.journal, &undoing.content, error);
    if (status)
        return status;
    out_summary->begun = true;
    report_unreadable_lines(run, &undoing.content);
    uint64_t number = options->number ? options->number : last_run(&undoing.content);
    if (options->number && !has_run(&undoing.content, number))
        status = doppel_fail(error, DOPPEL_E_NOT_FOUND, "there is no run %llu",
                             (unsigned long long)number);
    else if (number)
        status = undo_steps(&undoing, number, error);
    array_free(&undoing.by_file);
    journal_content_free(&undoing.content);
    if (journal_close(undoing.journal, &late) && !status)
        status = doppel_fail(error, DOPPEL_E_IO, "%s", late.message);
    return status;
}
