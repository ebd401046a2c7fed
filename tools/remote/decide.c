/* doppel --server URL check, ingest: what files are to the service's library. */
#include "tools/remote/remote.h"

#include <stdio.h>
#include <string.h>

#include "tools/args/metadata_options.h"
#include "tools/output/decision_output.h"
#include "tools/remote/questions.h"
#include "tools/remote/service.h"
#include "tools/signals.h"

struct remote_deciding {
    const char *left_out; /* of an answer: the id is one of ours, unless one was given */
    struct report *report;
    struct output *output;
    bool matched;
    bool problem_told; /* of a text that was not compared by its meaning */
};

static const char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* It has to do with something that came before, and which is not there to be never found. */
static bool is_of_something(const json_t *answer)
{
    static const char *const keys[] = {"of", "of_item", "of_path", "of_external_id", "semantic"};
    bool of = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        of |= json_object_get(answer, keys[i]) != NULL;
    return of && strcmp(member(answer, "reason"),
                        doppel_decision_reason_name(DOPPEL_BECAUSE_BENIGN)) != 0;
}

static bool is_decision(const json_t *answer)
{
    const char *decision = member(answer, "decision");
    for (int i = DOPPEL_DECISION_NEW; i <= DOPPEL_DECISION_IGNORED; i++)
        if (strcmp(decision, doppel_decision_name((enum doppel_decision)i)) == 0)
            return true;
    return false;
}

static bool take_remote_decision(void *context, const char *path, const json_t *answer,
                                 const char *failure)
{
    struct remote_deciding *deciding = context;
    const char *unreadable = doppel_decision_name(DOPPEL_DECISION_UNREADABLE);
    const char *reason = failure ? failure : member(answer, "reason");
    progress_clear(&deciding->report->progress);
    /* Of what no list of hashes has either, the service knows less than this side. */
    if (failure && strcmp(member(answer, "decision"), unreadable) == 0)
        answer = NULL;
    if (!answer || strcmp(member(answer, "decision"), unreadable) == 0)
        report_input(deciding->report, path, *reason ? reason : "cannot be read");
    deciding->matched |= is_of_something(answer);
    if (*member(answer, "semantic_problem") && !deciding->problem_told) {
        report_notice(deciding->report,
                      "semantic: %s; what this happens to is decided by its words "
                      "alone",
                      member(answer, "semantic_problem"));
        deciding->problem_told = true;
    }
    struct doppel_json *row = output_begin(deciding->output);
    doppel_json_path(row, "path", path);
    if (answer) {
        remote_put_members(row, answer, deciding->left_out);
    } else {
        doppel_json_text(row, "decision", unreadable);
        doppel_json_text(row, "reason", reason);
    }
    output_end(deciding->output);
    return !signals_stopped();
}

int remote_decide(const struct settings *settings, struct report *report, bool only_asked)
{
    char path[REMOTE_PATH];
    struct doppel_error error;
    struct remote_deciding deciding = {
        .left_out = settings->external_id ? " path line " : " path line id ", .report = report};
    struct remote_question question = {.settings = settings,
                                       .report = report,
                                       .path = path,
                                       .writes = !only_asked,
                                       .tells = true,
                                       .is_answer = is_decision,
                                       .answered = take_remote_decision,
                                       .context = &deciding};
    snprintf(path, sizeof path, "/v1/%s", only_asked ? "check" : "ingest");
    remote_add_meaning(settings, path);
    if (settings->upload &&
        (settings->source || settings->meta || settings->lists.count || settings->labels.count))
        return report_fatal(report, "'--upload' sends a file as it is: say the rest by 'tag', or "
                                    "leave it out");
    if (about_check(settings, &error) || remote_open(settings, report, &question.remote, &error))
        return report_fatal(report, "%s", error.message);
    deciding.output = decision_rows(settings, report);
    enum doppel_status status =
        settings->upload ? remote_upload(&question, &error) : remote_ask(&question, &error);
    bool written = output_finish(deciding.output);
    remote_close(&question.remote);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    return deciding.matched || !only_asked ? EXIT_DONE : EXIT_NO_MATCH;
}
