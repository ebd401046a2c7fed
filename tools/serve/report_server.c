/* What the page of a report asks for: its own bytes, what is gone, to act on marks, to undo. */
#include "tools/serve/report_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doppel/act.h>
#include <jansson.h>

#include "core/array.h"
#include "core/try.h"
#include "tools/args/engine_options.h"
#include "tools/args/paths.h"
#include "tools/output/actions.h"
#include "tools/serve/http_server.h"
#include "tools/signals.h"

/* A file that is gone by an action of the page. */
struct gone_file {
    char *path, *target; /* as in its group; where it is now */
    uint64_t run;
};

struct report_server {
    const struct served_report *served;
    ARRAY(struct gone_file) gone;
    struct doppel_json failed; /* of the request in hand: why files stayed */
    uint64_t requests;
    bool no_memory;
};

enum { HTTP_OK = 200, HTTP_BAD_REQUEST = 400, HTTP_FAILED = 500, HTTP_NOT_ALLOWED = 405 };

/* ---- what is gone ---- */

static void gone_file_free(struct gone_file *gone)
{
    free(gone->path);
    free(gone->target);
}

static void note_stayed(struct report_server *server, const struct doppel_act_step *step)
{
    if (step->result != DOPPEL_ACT_REFUSED)
        return;
    doppel_json_object_begin(&server->failed, NULL);
    doppel_json_path(&server->failed, "path", step->path);
    doppel_json_text(&server->failed, "reason", step->reason);
    doppel_json_object_end(&server->failed);
}

static void note_acted(void *context, const struct doppel_act_step *step)
{
    struct report_server *server = context;
    note_stayed(server, step);
    if (step->result != DOPPEL_ACT_DONE)
        return;
    struct gone_file gone = {strdup(step->path), strdup(step->target ? step->target : ""),
                             step->run};
    if (gone.path && gone.target && array_push(&server->gone, gone))
        return;
    gone_file_free(&gone);
    server->no_memory = true;
}

static void note_brought_back(void *context, const struct doppel_act_step *step)
{
    struct report_server *server = context;
    note_stayed(server, step);
    for (size_t i = 0; step->result == DOPPEL_ACT_DONE && i < server->gone.count; i++) {
        struct gone_file *gone = &server->gone.items[i];
        if (gone->run != step->run || strcmp(gone->target, step->target ? step->target : "") != 0)
            continue;
        gone_file_free(gone);
        *gone = server->gone.items[--server->gone.count];
        return;
    }
}

static void put_gone(struct doppel_json *json, const struct report_server *server)
{
    doppel_json_array_begin(json, "gone");
    for (size_t i = 0; i < server->gone.count; i++) {
        const struct gone_file *gone = &server->gone.items[i];
        doppel_json_object_begin(json, NULL);
        doppel_json_path(json, "path", gone->path);
        doppel_json_path(json, "target", gone->target);
        doppel_json_integer(json, "run", gone->run);
        doppel_json_object_end(json);
    }
    doppel_json_array_end(json);
}

/* ---- what is asked for ---- */

static enum doppel_status act_by_marks(struct report_server *server,
                                       const struct settings *settings,
                                       struct doppel_act_summary *summary,
                                       struct doppel_error *error)
{
    const struct doppel_act_visitor visitor = {note_acted, server};
    struct report *report = server->served->report;
    struct doppel_plan *plan = NULL;
    enum doppel_status status;
    TRY(new_plan(settings, &plan, error));
    TRY(server->served->source(
        settings, report, &(struct group_visit){.visit = doppel_plan_add, .context = plan}, error));
    TRY(doppel_plan_run(report->run, plan, &visitor, summary, error));
done:
    doppel_plan_free(plan);
    return status;
}

/* The groups are found again, as they are by now, with the marks of the page. */
static enum doppel_status act_on_request(struct report_server *server,
                                         const struct http_request *request,
                                         struct doppel_act_summary *summary,
                                         struct doppel_error *error)
{
    struct settings settings = *server->served->settings;
    if (strlen(request->body) != request->size)
        return doppel_fail(error, DOPPEL_E_FORMAT, "the marks of the page are no text");
    settings.marks_text = request->body;
    return act_by_marks(server, &settings, summary, error);
}

/* {"run":N} */
static enum doppel_status undo_on_request(struct report_server *server,
                                          const struct http_request *request,
                                          struct doppel_act_summary *summary,
                                          struct doppel_error *error)
{
    const struct doppel_act_visitor visitor = {note_brought_back, server};
    char *journal = journal_file(server->served->settings);
    json_t *wish = json_loadb(request->body, request->size, 0, NULL);
    json_int_t number = json_integer_value(json_object_get(wish, "run"));
    const struct doppel_undo_options options = {journal, (uint64_t)number, false};
    enum doppel_status status =
        number > 0 ? doppel_undo(server->served->report->run, &options, &visitor, summary, error)
                   : doppel_fail(error, DOPPEL_E_ARGUMENT, "no run is named");
    json_decref(wish);
    free(journal);
    return status;
}

static void put_summary(struct doppel_json *json, const struct report_server *server,
                        const struct doppel_act_summary *summary)
{
    doppel_json_integer(json, "run", summary->run);
    doppel_json_integer(json, "files", summary->files);
    doppel_json_integer(json, "bytes", summary->bytes);
    doppel_json_array_begin(json, "failed");
    if (server->failed.size)
        doppel_json_raw(json, NULL, server->failed.bytes, server->failed.size);
    doppel_json_array_end(json);
}

static void reply_with_json(struct http_reply *reply, unsigned status, struct doppel_json *json)
{
    if (json->failed) {
        doppel_json_free(json);
        reply->status = HTTP_FAILED;
        return;
    }
    reply->status = status;
    reply->type = "application/json";
    reply->body = json->bytes;
    reply->size = json->size;
    reply->borrowed = false;
}

typedef enum doppel_status change_by_request(struct report_server *server,
                                             const struct http_request *request,
                                             struct doppel_act_summary *summary,
                                             struct doppel_error *error);

/* What was done until it failed is told as well. */
static void answer_change(struct report_server *server, change_by_request *change,
                          const struct http_request *request, struct http_reply *reply)
{
    struct doppel_act_summary summary = {0};
    struct doppel_error error = {0};
    struct doppel_json json = {0};
    doppel_json_clear(&server->failed);
    enum doppel_status status = change(server, request, &summary, &error);
    doppel_json_object_begin(&json, NULL);
    if (status)
        doppel_json_text(&json, "error", error.message);
    put_summary(&json, server, &summary);
    put_gone(&json, server);
    doppel_json_object_end(&json);
    json.failed |= server->no_memory;
    reply_with_json(reply, status ? HTTP_BAD_REQUEST : HTTP_OK, &json);
}

static void answer_state(const struct report_server *server, struct http_reply *reply)
{
    struct doppel_json json = {0};
    doppel_json_object_begin(&json, NULL);
    put_gone(&json, server);
    doppel_json_object_end(&json);
    reply_with_json(reply, HTTP_OK, &json);
}

static void answer_page(const struct report_server *server, struct http_reply *reply)
{
    *reply = (struct http_reply){.status = HTTP_OK,
                                 .type = "text/html; charset=utf-8",
                                 .body = server->served->page,
                                 .size = server->served->page_size,
                                 .borrowed = true};
}

static void answer_report_request(void *context, const struct http_request *request,
                                  struct http_reply *reply)
{
    struct report_server *server = context;
    bool changes = strcmp(request->path, "act") == 0 || strcmp(request->path, "undo") == 0;
    server->requests++;
    if (changes != request->post)
        reply->status = changes || request->post ? HTTP_NOT_ALLOWED : reply->status;
    else if (changes)
        answer_change(server, *request->path == 'a' ? act_on_request : undo_on_request, request,
                      reply);
    else if (!*request->path)
        answer_page(server, reply);
    else if (strcmp(request->path, "state") == 0)
        answer_state(server, reply);
}

enum doppel_status serve_report(const struct served_report *served, struct doppel_error *error)
{
    struct report_server state = {.served = served};
    struct http_server *server = NULL;
    enum doppel_status status;
    TRY(http_server_start(answer_report_request, &state, &server, error));
    printf("%s\n", http_server_address(server));
    (void)fflush(stdout);
    report_notice(served->report, "open it in a browser of this machine; Ctrl-C ends it");
    TRY(http_server_run(server, signals_stopped, error));
    doppel_run_begin(served->report->run, "requests answered", 0);
    doppel_run_advance(served->report->run, state.requests);
done:
    http_server_stop(server);
    for (size_t i = 0; i < state.gone.count; i++)
        gone_file_free(&state.gone.items[i]);
    array_free(&state.gone);
    doppel_json_free(&state.failed);
    return status;
}
