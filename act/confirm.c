/* A worker that was taken over by one file may have lied about those that came after it, to have
 * them thrown away. So before a file goes that is not the same byte by byte, both are fingerprinted
 * again, past the cache and each by a worker that sees no other file. */
#include "act/confirm.h"

#include "core/try.h"

/* What was found was rounded on its way through a saved scan. */
static const double ROUNDING = .001;

bool wants_confirmation(const struct doppel_plan_file *file)
{
    bool by_hand = file->mark == DOPPEL_FILE_REMOVE || file->reason == DOPPEL_REASON_MARKED;
    return !file->identical && !by_hand && !file->is_sidecar;
}

/* It could be read when it was found. */
static enum doppel_status read_alone(struct doppel_run *run, const struct doppel_plan *plan,
                                     const char *path, struct doppel_record *out,
                                     struct doppel_error *reason)
{
    struct doppel_error error;
    enum doppel_status status =
        doppel_fingerprint(run, &(struct doppel_input){.path = path}, &plan->read, out, &error);
    if (!status || status == DOPPEL_E_CANCELLED)
        return status ? doppel_fail(reason, status, "%s", error.message) : DOPPEL_OK;
    return doppel_fail(reason, DOPPEL_E_CHANGED, "cannot be read once more: %s", error.message);
}

static enum doppel_status read_keep_alone(struct doppel_run *run, const struct doppel_plan *plan,
                                          const struct doppel_plan_file *kept,
                                          struct confirmation *confirmation,
                                          struct doppel_error *reason)
{
    struct doppel_error *failure = &confirmation->failure;
    if (confirmation->kept != kept) {
        confirmation_free(confirmation);
        confirmation->kept = kept;
        read_alone(run, plan, kept->path, &confirmation->record, failure);
    }
    return failure->status
               ? doppel_fail(reason, failure->status, "the kept file %s", failure->message)
               : DOPPEL_OK;
}

/* By the thresholds of the run, or as near as it was found by whatever thresholds. */
static bool is_confirmed(const struct doppel_comparison *comparison,
                         const struct doppel_plan_file *file)
{
    return comparison->matches ||
           (file->similarity > 0 && comparison->match.similarity >= file->similarity - ROUNDING);
}

enum doppel_status confirm_duplicate(struct doppel_run *run, const struct doppel_plan *plan,
                                     const struct doppel_plan_file *file,
                                     struct confirmation *confirmation, struct doppel_error *reason)
{
    struct doppel_record record = {0};
    struct doppel_comparison comparison = {0};
    enum doppel_status status;
    TRY(read_keep_alone(run, plan, &plan->files.items[file->duplicate_of], confirmation, reason));
    TRY(read_alone(run, plan, file->path, &record, reason));
    TRY(doppel_compare(run, &record, &confirmation->record, &plan->compare, &comparison, reason));
    if (!is_confirmed(&comparison, file))
        TRY(doppel_fail(reason, DOPPEL_E_CHANGED,
                        "is left alone: read once more, it is no duplicate of the file to keep"));
done:
    doppel_comparison_free(&comparison);
    doppel_record_free(&record);
    return status;
}

void confirmation_free(struct confirmation *confirmation)
{
    doppel_record_free(&confirmation->record);
    *confirmation = (struct confirmation){0};
}
