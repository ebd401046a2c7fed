/* doppel --server URL find: what of the service's library is like the files, or a code. */
#include "tools/remote/remote.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tools/memory.h"
#include "tools/output/matches.h"
#include "tools/output/rows/segment_rows.h"
#include "tools/remote/questions.h"
#include "tools/remote/service.h"
#include "tools/signals.h"

struct remote_finding {
    const struct settings *settings;
    struct report *report;
    struct output *output;
    bool matched;
};

/* In a table, a file without a match is no row: the exit code tells. */
static void print_nothing_found(const struct remote_finding *finding, const char *path,
                                const json_t *answer)
{
    if (finding->settings->format != FORMAT_JSON)
        return;
    struct doppel_json *row = output_begin(finding->output);
    doppel_json_path(row, "query", path);
    remote_put_members(row, answer, " query matches ");
    output_end(finding->output);
}

/* Whether its segments are places in time: in a table others are none. */
static bool are_times(const struct remote_finding *finding, const json_t *match)
{
    const char *relation = json_string_value(json_object_get(match, "relation"));
    return finding->settings->format == FORMAT_JSON || !relation ||
           strcmp(relation, "semantic") != 0;
}

static void print_found(const struct remote_finding *finding, const char *path,
                        const json_t *matches)
{
    struct place_rows rows;
    struct doppel_json row = {0};
    size_t number;
    json_t *match;
    place_rows_begin(&rows, finding->settings, finding->output);
    json_array_foreach(matches, number, match)
    {
        doppel_json_clear(&row);
        doppel_json_object_begin(&row, NULL);
        doppel_json_path(&row, "query", path);
        remote_put_members(&row, match, are_times(finding, match) ? " query " : " query segments ");
        doppel_json_object_end(&row);
        place_rows_add(&rows, &row);
    }
    place_rows_end(&rows);
    doppel_json_free(&row);
}

static bool is_match(const json_t *match)
{
    const json_t *segments = json_object_get(match, "segments");
    for (size_t i = 0; i < json_array_size(segments); i++)
        if (!json_is_object(json_array_get(segments, i)))
            return false;
    return json_is_integer(json_object_get(match, "id"));
}

/* Either matches, none perhaps, or why there are none to be had. */
static bool is_finding(const json_t *answer)
{
    const json_t *matches = json_object_get(answer, "matches");
    if (!matches)
        return json_is_string(json_object_get(json_object_get(answer, "error"), "detail"));
    for (size_t i = 0; i < json_array_size(matches); i++)
        if (!is_match(json_array_get(matches, i)))
            return false;
    return json_is_array(matches);
}

static bool take_found(void *context, const char *path, const json_t *answer, const char *failure)
{
    struct remote_finding *finding = context;
    const json_t *wrong = json_object_get(answer, "error");
    const json_t *matches = json_object_get(answer, "matches");
    const char *detail = json_string_value(json_object_get(wrong, "detail"));
    progress_clear(&finding->report->progress);
    if (!json_array_size(matches) && (failure || wrong)) {
        report_input(finding->report, path, failure ? failure : detail ? detail : "no answer");
        return !signals_stopped();
    }
    if (failure)
        report_notice(finding->report, "%s: %s; found by its digest alone", path, failure);
    finding->matched |= json_array_size(matches) > 0;
    if (json_array_size(matches))
        print_found(finding, path, matches);
    else
        print_nothing_found(finding, path, answer);
    return !signals_stopped();
}

/* ---- a code ---- */

static enum doppel_status find_remote_code(const struct remote_question *question,
                                           struct doppel_error *error)
{
    const struct settings *settings = question->settings;
    struct doppel_json body = {0};
    struct doppel_client_answer answer = {0};
    bool go_on;
    enum doppel_status status;
    doppel_json_object_begin(&body, NULL);
    doppel_json_text(&body, "code", settings->code);
    if (settings->scheme_given)
        doppel_json_text(&body, "scheme", settings->scheme->name);
    doppel_json_object_end(&body);
    const struct doppel_client_request request = {.method = "POST",
                                                  .path = question->path,
                                                  .type = "application/json",
                                                  .body = body.bytes,
                                                  .size = body.size};
    TRY(doppel_json_status(&body, error));
    TRY(remote_send(&question->remote, &request, &answer, error));
    TRY(remote_take_result(question, settings->code, &answer, &go_on, error));
done:
    doppel_client_answer_free(&answer);
    doppel_json_free(&body);
    return status;
}

/* ---- the verb ---- */

static void make_find_path(const struct settings *settings, char path[static REMOTE_PATH])
{
    int used = snprintf(path, REMOTE_PATH, "/v1/find?limit=1000");
    if (settings->max_distance >= 0)
        snprintf(path + used, REMOTE_PATH - (size_t)used, "&max_distance=%d",
                 (int)settings->max_distance);
    else if (settings->min_similarity >= 0)
        snprintf(path + used, REMOTE_PATH - (size_t)used, "&min_similarity=%.15g",
                 settings->min_similarity);
    remote_add_meaning(settings, path);
}

int remote_find(const struct settings *settings, struct report *report)
{
    char path[REMOTE_PATH];
    struct doppel_error error;
    struct remote_finding finding = {settings, report, NULL, false};
    struct remote_question question = {.settings = settings,
                                       .report = report,
                                       .path = path,
                                       .is_answer = is_finding,
                                       .answered = take_found,
                                       .context = &finding};
    make_find_path(settings, path);
    enum doppel_status status = remote_open(settings, report, &question.remote, &error);
    if (status)
        return report_fatal(report, "%s", error.message);
    finding.output = find_print_output(settings, report);
    status = settings->code     ? find_remote_code(&question, &error)
             : settings->upload ? remote_upload(&question, &error)
                                : remote_ask(&question, &error);
    bool written = output_finish(finding.output);
    remote_close(&question.remote);
    if (status && status != DOPPEL_E_CANCELLED)
        return report_fatal(report, "%s", error.message);
    if (!written)
        return EXIT_WRONG_USE;
    return finding.matched ? EXIT_DONE : EXIT_NO_MATCH;
}
